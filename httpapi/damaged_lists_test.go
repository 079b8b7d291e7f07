//go:build cgo

package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/testtool"
)

// flipText flips a bit in each occurrence of a text in the stores of a deployment.
func flipText(t *testing.T, dir, text string) {
	t.Helper()
	n := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) != "store.db" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n += bytes.Count(b, []byte(text))
		other := []byte(text)
		other[len(other)/2] ^= 1
		return os.WriteFile(path, bytes.ReplaceAll(b, []byte(text), other), 0o600)
	}))
	require.Positive(t, n, text)
}

// TestListsLeaveOutWhatIsDamaged damages one stored text after the other, and asks all routes that list something. Each answers with
// what is whole, and those that lack something say so, in both generations. The log and the metrics count each row once.
func TestListsLeaveOutWhatIsDamaged(t *testing.T) {
	t.Parallel()
	// A text that is damaged wherever it is stored, and the routes that meet it.
	for text, lacking := range map[string][]string{
		"Quillon Labs":               {"entities", "list", "list 1", "facts", "relations"},
		"Mara Quillon lives in Oslo": {"list", "list 1", "messages"},
		`"shelf-of-mara"`:            {"list", "list 1", "messages", "facts", "relations"},
		"Title of Mara":              {"list", "list 1", "messages", "facts", "relations"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			var log testtool.Log
			open := func() *contextmem.Service {
				svc, err := contextmem.Open(t.Context(), dir, &contextmem.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				require.NoError(t, err)
				_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
				require.NoError(t, err)
				return svc
			}
			svc := open()
			sub := svc.Tenant("acme").Sub("")
			remember := func(id, title, shelf, text string) {
				_, err := sub.Remember(t.Context(), contextmem.Memory{ID: id, Title: title, Text: text, Infer: true, Session: "s", Metadata: map[string]any{"shelf": shelf}})
				require.NoError(t, err)
			}
			remember("bad", "Title of Mara", "shelf-of-mara", "Mara Quillon lives in Oslo. Mara Quillon works at Quillon Labs.")
			remember("good", "Title of Tom", "shelf-of-tom", "Tom Okafor lives in Rome. Tom Okafor works at Okafor Labs.")
			require.NoError(t, svc.Close())
			flipText(t, dir, text)

			svc = open()
			defer func() { require.NoError(t, svc.Close()) }()
			h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
			require.NoError(t, err)
			ask := func(method, target, body string) string {
				r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+fullKey)
				if body != "" {
					r.Header.Set("Content-Type", "application/json")
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				require.Equal(t, http.StatusOK, w.Code, "%s %s", target, w.Body)
				return w.Body.String()
			}
			routes := map[string][3]string{
				"list":        {"POST", "/context/list", `{"database":"acme","type":"memory"}`},
				"list 1":      {"POST", "/list/data", `{"tenant_id":"acme","kind":"memories"}`},
				"messages":    {"GET", "/ext/sessions/messages?database=acme&session_id=s", ""},
				"sessions":    {"GET", "/ext/sessions?database=acme", ""},
				"facts":       {"POST", "/ext/facts", `{"database":"acme"}`},
				"profile":     {"POST", "/ext/profile", `{"database":"acme","subject":"Mara"}`},
				"entities":    {"GET", "/ext/entities?database=acme&type=memory", ""},
				"relations":   {"GET", "/context/relations?database=acme&type=memory", ""},
				"relations 1": {"GET", "/list/graph_relations_by_id?tenant_id=acme&source_id=good&is_memory=true", ""},
				"conflicts":   {"GET", "/ext/conflicts?database=acme", ""},
				"recall":      {"POST", "/query", `{"database":"acme","type":"memory","query":"who lives in Rome?"}`},
			}
			for range 2 {
				for name, r := range routes {
					body := ask(r[0], r[1], r[2])
					var a struct {
						Meta     struct{ Warnings []struct{ Code string } }
						Warnings []struct{ Code string }
					}
					require.NoError(t, json.Unmarshal([]byte(body), &a))
					said := slices.ContainsFunc(append(a.Meta.Warnings, a.Warnings...), func(w struct{ Code string }) bool { return w.Code == "damaged" })
					if slices.Contains(lacking, name) {
						assert.True(t, said, "%s: %s", name, body)
					}
					if name != "profile" && name != "conflicts" && name != "sessions" {
						assert.Contains(t, strings.ToLower(body), "okafor", name)
					}
				}
			}
			rep, err := svc.Verify(t.Context())
			require.NoError(t, err)
			require.NotEmpty(t, rep.Problems)
			found := strings.Count(log.String(), "a stored row is damaged")
			require.Positive(t, found)
			var metrics bytes.Buffer
			require.NoError(t, svc.WriteMetrics(t.Context(), &metrics))
			assert.Contains(t, metrics.String(), fmt.Sprintf("\ncontextmem_damaged_rows_total %d\n", found))
			for _, line := range strings.Split(log.String(), "\n") {
				if strings.Contains(line, "a stored row is damaged") {
					_, row, _ := strings.Cut(line, "err=")
					assert.Equal(t, 1, strings.Count(log.String(), row), row)
				}
			}
		})
	}
}
