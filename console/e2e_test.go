package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector/filesystem"
	"github.com/contextmem/contextmem/console"
	"github.com/contextmem/contextmem/httpapi"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestBrowser visits every page and makes every action in headless Chromium, and stores screenshots in
// CONTEXTMEM_ARTIFACTS.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	node := testtool.Find(t, "node", "Debian: nodejs")
	chromium := testtool.Find(t, "chromium", "Debian: chromium")
	if _, err := os.Stat(filepath.Join("e2e", "node_modules", "playwright-core", "package.json")); err != nil {
		testtool.Missing(t, "console/e2e/node_modules (npm ci)")
	}
	out := os.Getenv("CONTEXTMEM_ARTIFACTS")
	if out == "" {
		out = os.TempDir()
	}
	out = filepath.Join(out, "console-e2e")
	t.Logf("pictures are in %s", out)

	ctx := t.Context()
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "note.md"), []byte("# Note\n\nThe keys hang behind the door."), 0o600))
	files, err := filesystem.New(root)
	require.NoError(t, err)
	svc, err := contextmem.Open(ctx, t.TempDir(), &contextmem.Options{Providers: []contextmem.Provider{files}, AllowLocalWebhooks: true})
	require.NoError(t, err)
	fill(ctx, t, svc)
	c, err := console.New(svc, console.Options{BackupDir: filepath.Join(t.TempDir(), "backup")})
	require.NoError(t, err)
	api, err := httpapi.New(svc, httpapi.Options{StoredKeys: true, Console: c})
	require.NoError(t, err)
	var refuse atomic.Bool
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(contextmem.HeaderSignature) == "" || refuse.Swap(false) {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.HandleFunc("POST /make", func(w http.ResponseWriter, r *http.Request) { // items end, and the first event is refused
		refuse.Store(true)
		list := make([]contextmem.Memory, 40)
		for i := range list {
			list[i] = contextmem.Memory{ID: fmt.Sprintf("hooked-%d", i), Text: "It rings."}
		}
		if _, err := svc.Tenant("demo").Sub("hook").Remember(r.Context(), list...); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	srv := httptest.NewServer(mux)
	defer func() {
		srv.Close()
		hook.Close()
		require.NoError(t, c.Close())
		require.NoError(t, svc.Close())
	}()
	_, key, err := svc.CreateKey(ctx, contextmem.KeySpec{Owner: "admin"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "walk.mjs")
	cmd.Dir = "e2e"
	cmd.Env = append(os.Environ(), "CONSOLE_URL="+srv.URL+"/console/", "CONSOLE_KEY="+key, "CONSOLE_CHROMIUM="+chromium, "CONSOLE_OUT="+out, "CONSOLE_HOOK="+hook.URL+"/hook", "CONSOLE_MAKE="+srv.URL+"/make")
	cmd.WaitDelay = 5 * time.Second
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	require.NoError(t, err)
	routes, err := os.ReadFile("console.go")
	require.NoError(t, err)
	acts := regexp.MustCompile(`\tact\("([^"]+)"`).FindAllStringSubmatch(string(routes), -1)
	require.Greater(t, len(acts), 20)
	for _, m := range acts {
		require.Regexp(t, "(?m): post "+regexp.QuoteMeta(regexp.MustCompile(`\{\w+\}`).ReplaceAllString(m[1], "*"))+` \(`, string(text), "the walk does every action")
	}
}

// fill stores the data for the pages.
func fill(ctx context.Context, t *testing.T, svc *contextmem.Service) {
	t.Helper()
	ids := []string{"demo", "private", "large"}
	for i := range 14 { // more than a page of them
		ids = append(ids, fmt.Sprintf("quiet-%02d", i))
	}
	for _, id := range ids {
		_, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: id})
		require.NoError(t, err)
	}
	fillLarge(ctx, t, svc.Tenant("large"))
	demo := svc.Tenant("demo")
	day := func(s string) time.Time {
		d, err := time.Parse("2006-01-02", s)
		require.NoError(t, err)
		return d
	}
	know := contextmem.KnowledgeBatch{Files: []contextmem.File{
		{ID: "handbook.md", Name: "handbook.md", Data: []byte("# Harbour Bakery handbook\n\n## Opening hours\n\nThe bakery opens at six in the morning from Tuesday to Saturday.\n\n## Sourdough\n\nEvery loaf starts with the rye culture that Ingrid Solberg brought from Bergen in 1998.\n\n## When the oven fails\n\nCall Marta Okafor, who services the burners.\n")},
		{ID: "allergens.html", Name: "allergens.html", Data: []byte("<h1>Allergens</h1><p>The seed crackers of the bakery contain sesame. All loaves contain gluten.</p>")},
		{ID: "suppliers.csv", Name: "suppliers.csv", Data: []byte("supplier,product,contact\nNordmill,stone-ground rye,Pavel Horak\nValley Dairy,cultured butter,June Abara\n")},
		{ID: "market.txt", Name: "market.txt", Data: []byte("On Sundays the bakery sells at the market on the quay until two.")},
		{ID: "broken.pdf", Name: "broken.pdf", Data: []byte("%PDF-1.4 this is cut off")},
	}}
	_, err := demo.AddKnowledge(ctx, know)
	require.NoError(t, err)
	_, err = demo.Sub("evil").AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "evil.md", Name: "evil.md", Data: []byte("# <script>alert(1)</script>\n\n<img src=x onerror=alert(2)> <svg onload=alert(3)> \u202eright to left\u202c [click](javascript:alert(4))\n")}}})
	require.NoError(t, err)
	_, err = demo.Sub("noor").Remember(ctx,
		contextmem.Memory{ID: "home-1", UserName: "Noor", Text: "I live in Lyon with my brother Samir.", Infer: true, Time: day("2026-02-03")},
		contextmem.Memory{ID: "name", UserName: "Noor", Text: "My bakery is called Little Anchor.", Infer: true, Time: day("2026-04-02")},
		contextmem.Memory{ID: "home-2", UserName: "Noor", Text: "I no longer live in Lyon, I moved to Marseille.", Infer: true, Time: day("2026-05-20")},
		contextmem.Memory{ID: "diet-1", UserName: "Noor", Text: "I like cinnamon buns with butter.", Infer: true, Time: day("2026-03-01")},
		contextmem.Memory{ID: "diet-2", UserName: "Noor", Text: "I can't have dairy any more.", Infer: true, Time: day("2026-06-01")})
	require.NoError(t, err)
	for i, text := range []string{"Anna Lind works at Zorblax since March 2019. Anna Lind lives in Oslo.", "Anna Lind works at Quux since May 2021. Anna Lind lives in Bergen."} {
		at := day([]string{"2020-01-01", "2022-01-01"}[i])
		_, err = demo.Sub("staff").AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: fmt.Sprintf("staff-%d", i), Name: fmt.Sprintf("staff-%d.md", i), Data: []byte(text), Time: at}}})
		require.NoError(t, err)
		require.NoError(t, svc.Drain(ctx))
		_, err = demo.Sub("people").Remember(ctx, contextmem.Memory{ID: fmt.Sprintf("people-%d", i), Text: text, Time: at})
		require.NoError(t, err)
	}
	_, err = demo.Sub("people").Remember(ctx, contextmem.Memory{ID: "bob", Text: "Bob Hale works at Quux with Robert Hale.", Time: day("2022-02-01")})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(ctx))
	for _, sub := range []string{"noor", "people", "staff"} {
		require.NoError(t, demo.Sub(sub).WaitRefined(ctx))
	}
	_, err = demo.Sub("people").MergeEntities(ctx, contextmem.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: "Bob Hale", Into: "Robert Hale", Reason: "the same man"})
	require.NoError(t, err)
	require.NoError(t, demo.Sub("noor").Supersede(ctx, "home-1", "home-2", "she has moved"))
	require.NoError(t, demo.Sub("noor").Supersede(ctx, "diet-1", "diet-2", "butter is dairy"))
	_, err = svc.Tenant("private").Remember(ctx, contextmem.Memory{ID: "p", Text: "The private word is abracadabra."})
	require.NoError(t, err)
}

// fillLarge stores more items, sub-tenants, chunks and entities than fit on a page.
func fillLarge(ctx context.Context, t *testing.T, tn contextmem.Tenant) {
	t.Helper()
	var b contextmem.MemoryBatch
	for i := range 60 {
		b.Memories = append(b.Memories, contextmem.Memory{ID: fmt.Sprintf("note-%02d", i), Text: fmt.Sprintf("Note %d: the tide is out.", i)})
	}
	_, err := tn.Sub("u").AddMemories(ctx, b)
	require.NoError(t, err)
	for i := range 52 {
		_, err := tn.Sub(fmt.Sprintf("room-%02d", i)).AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "A room."}}})
		require.NoError(t, err)
	}
	var text strings.Builder
	for i := range 120 {
		name := string(rune('A'+i%26)) + strings.Repeat(string(rune('a'+i/26)), 3) + "ton"
		fmt.Fprintf(&text, "## Part %d\n\nAnna %s works at %s Works in the town of %s. %s\n\n", i, name, name, name, strings.Repeat("The harbour is quiet and the boats lie still. ", 12))
	}
	_, err = tn.Sub("docs").AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "long.md", Name: "long.md", Data: []byte(text.String())}}})
	require.NoError(t, err)
}
