package ingest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// cutRTF is an RTF document that ends inside a group.
const cutRTF = `{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}} The heron stands in the reeds.\par Its nest is {\b high`

// inEachBackend runs f on a tenant in memory and on one in files.
func inEachBackend(t *testing.T, f func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant)) {
	t.Run("inmem", func(t *testing.T) {
		t.Parallel()
		svc, acme := servicetest.Open(t, &contextmem.Options{AllowLocalWebhooks: true})
		f(t, svc, acme)
	})
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		svc, err := contextmem.Open(t.Context(), t.TempDir(), &contextmem.Options{AllowLocalWebhooks: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, svc.Close()) })
		f(t, svc, servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}))
	})
}

func TestPartialDocumentsAreReported(t *testing.T) {
	t.Parallel()
	inEachBackend(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant) {
		said := make(chan contextmem.WebhookPayload, 4)
		hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			var p contextmem.WebhookPayload
			if json.Unmarshal(b, &p) == nil {
				said <- p
			}
		}))
		defer hook.Close()
		_, err := svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: hook.URL, Secret: "a secret of the tests"})
		require.NoError(t, err)
		s := acme.Sub("")
		res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "birds.rtf", Data: []byte(cutRTF)}}})
		require.NoError(t, err)
		servicetest.Done(t, s, res.IDs()...)
		st, err := s.Status(t.Context(), res.IDs()...)
		require.NoError(t, err)
		require.NotEmpty(t, st[0].Partial)
		f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: st[0].ID})
		require.NoError(t, err)
		assert.Equal(t, st[0].Partial, f.Partial)
		l, err := s.List(t.Context(), contextmem.ListRequest{})
		require.NoError(t, err)
		assert.Equal(t, st[0].Partial, l.Sources[0].Partial)
		hits, err := s.Recall(t.Context(), contextmem.Recall{Query: "heron"})
		require.NoError(t, err)
		assert.Equal(t, st[0].Partial, hits.Sources[0].Partial)
		select {
		case p := <-said:
			assert.Equal(t, st[0].Partial, p.Partial)
		case <-time.After(time.Minute):
			t.Error("no webhook")
		}
	})
}

func TestOneFileFailsAlone(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	s := acme.Sub("")
	files := []contextmem.File{{Name: "a.txt", Data: []byte("Swifts sleep on the wing.")}, {Name: "b.7z", Data: []byte("7z")}, {Name: "c.txt"},
		{Name: "d.txt", Data: []byte("Wrens build several nests.")}, {Name: "e.txt", Data: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")}}
	res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: files})
	require.NoError(t, err)
	require.Equal(t, []int{3, 2, 0}, []int{res.Accepted, res.Failed, res.Skipped})
	for i, want := range []contextmem.Status{contextmem.StatusQueued, contextmem.StatusFailed, contextmem.StatusFailed, contextmem.StatusQueued, contextmem.StatusQueued} {
		t.Run(string(want), func(t *testing.T) {
			assert.Equal(t, want, res.Items[i].Status, i)
			assert.Equal(t, files[i].Name, res.Items[i].Filename)
		})
	}
	require.ErrorIs(t, res.Items[1].Err, contextmem.ErrFormat)
	require.ErrorContains(t, res.Items[1].Err, "one by one", "with the hint of the parser")
	servicetest.Done(t, s, res.Items[0].ID, res.Items[3].ID)
	st, err := s.Wait(t.Context(), res.Items[4].ID)
	require.NoError(t, err)
	require.Equal(t, contextmem.StatusErrored, st[0].Status)
	require.Equal(t, document.Unsupported.Code(), st[0].ErrorCode)
	require.Contains(t, st[0].ErrorMessage, "OCR", "with the hint of the parser")

	assert.True(t, svc.Supported("a.docx", ""))
	assert.False(t, svc.Supported("b.7z", ""))
	assert.True(t, svc.Supported("", ""))

	res, err = s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: files[:4], SkipUnsupported: true})
	require.NoError(t, err)
	require.Equal(t, []int{2, 0, 2}, []int{res.Accepted, res.Failed, res.Skipped})
	assert.Equal(t, contextmem.StatusSkipped, res.Items[1].Status)
	assert.Equal(t, contextmem.SkippedUnsupported, res.Items[1].Skipped)
	require.Len(t, res.IDs(), 2)
}

func TestUnchangedFilesAreSkipped(t *testing.T) {
	t.Parallel()
	inEachBackend(t, func(t *testing.T, _ *contextmem.Service, acme contextmem.Tenant) {
		s := acme.Sub("")
		add := func(b contextmem.KnowledgeBatch) *contextmem.IngestResult {
			b.SkipUnchanged = true
			res, err := s.AddKnowledge(t.Context(), b)
			require.NoError(t, err)
			_, err = s.Wait(t.Context(), res.IDs()...)
			require.NoError(t, err)
			return res
		}
		files := []contextmem.File{{Name: "x/a.md", Data: []byte("# Swifts\n\nThey sleep on the wing.")}, {Name: "x/b.txt", Data: []byte("Wrens.")},
			{Name: "c.txt", Data: []byte{1, 2, 3}}}
		first := add(contextmem.KnowledgeBatch{Files: files})
		require.Equal(t, 3, first.Accepted)
		_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: first.Items[1].ID, Metadata: map[string]any{"read": true}})
		require.NoError(t, err)
		files[0].Data = []byte("# Swifts\n\nThey eat on the wing.")
		again := add(contextmem.KnowledgeBatch{Files: files})
		require.Equal(t, []int{2, 1}, []int{again.Accepted, again.Skipped}, "what failed is tried again")
		require.Equal(t, []string{"", contextmem.SkippedUnchanged, ""}, []string{again.Items[0].Skipped, again.Items[1].Skipped, again.Items[2].Skipped})
		for i := range files {
			require.Equal(t, first.Items[i].ID, again.Items[i].ID)
		}
		l, err := s.List(t.Context(), contextmem.ListRequest{IDs: []string{first.Items[1].ID}})
		require.NoError(t, err)
		require.Equal(t, map[string]any{"read": true}, l.Sources[0].Metadata, "edits stay")

		files = files[:2]
		require.Equal(t, 2, add(contextmem.KnowledgeBatch{Files: files}).Skipped)
		require.Equal(t, 2, add(contextmem.KnowledgeBatch{Files: files, Metadata: map[string]any{"k": 1}}).Accepted, "what is said of them changed")
		files[1].Title = "Small birds"
		require.Equal(t, 1, add(contextmem.KnowledgeBatch{Files: files, Metadata: map[string]any{"k": 1}}).Accepted)
		newer := files[1]
		newer.ID, newer.Data = first.Items[1].ID, []byte("Wrens sing.")
		older := files[1]
		older.ID = newer.ID
		require.Equal(t, 2, add(contextmem.KnowledgeBatch{Files: []contextmem.File{newer, older}, Metadata: map[string]any{"k": 1}}).Accepted,
			"the last of equal ids counts")
	})
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	inEachBackend(t, func(t *testing.T, _ *contextmem.Service, acme contextmem.Tenant) {
		s := acme.Sub("")
		res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{
			{Name: `handbook\payroll/readme.md`, Data: []byte("# Salaries\n\nThey are paid on the last day.")},
			{Name: "/handbook/garden/../travel/readme.md", Data: []byte("# Trips\n\nThey are booked early.")},
			{Name: "named.md", Title: "By the caller", Data: []byte("# Of the document\n\nSomething else.")}}})
		require.NoError(t, err)
		servicetest.Done(t, s, res.IDs()...)
		require.NotEqual(t, res.Items[0].ID, res.Items[1].ID)
		l, err := s.List(t.Context(), contextmem.ListRequest{IDs: res.IDs()})
		require.NoError(t, err)
		titles := map[string]string{}
		for _, x := range l.Sources {
			titles[x.ID] = x.Filename + ": " + x.Title
		}
		require.Equal(t, map[string]string{res.Items[0].ID: "readme.md: Salaries", res.Items[1].ID: "readme.md: Trips", res.Items[2].ID: "named.md: By the caller"}, titles)
		for query, want := range map[string]string{"payroll": "Salaries", "travel": "Trips", "readme": ""} {
			hits, err := s.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Query: query})
			require.NoError(t, err)
			require.NotEmpty(t, hits.Chunks, query)
			if want != "" {
				require.Len(t, hits.Chunks, 1, query)
				require.Equal(t, want, hits.Chunks[0].Title)
			}
		}
		for _, title := range []string{"Trips", "trips", "readme.md"} {
			hits, err := s.Recall(t.Context(), contextmem.Recall{Query: "booked", Titles: []string{title}})
			require.NoError(t, err)
			require.NotEmpty(t, hits.Chunks, title)
			require.Equal(t, "Trips", hits.Chunks[0].Title)
		}
		p, err := s.List(t.Context(), contextmem.ListRequest{Fields: contextmem.SourceFilter{Title: "Trips"}})
		require.NoError(t, err)
		require.Equal(t, 1, p.Total)
		_, err = s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: res.Items[1].ID, Metadata: map[string]any{"x": 1}})
		require.NoError(t, err)
		p, err = s.List(t.Context(), contextmem.ListRequest{Fields: contextmem.SourceFilter{Title: "readme.md"}})
		require.NoError(t, err)
		require.Equal(t, 2, p.Total, "an edit keeps the names")
	})
}

func TestReadBack(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("")
	mail := "From: Ann <ann@example.com>\r\nTo: Bob <bob@example.com>\r\nSubject: Herons\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThe heron =E2=80=93 a wader.\r\n"
	for name, c := range map[string]struct{ data, text string }{
		"a.rtf":  {`{\rtf1\ansi The heron\'73 nest.\par}`, "The herons nest."},
		"a.eml":  {mail, "The heron – a wader."},
		"a.json": {`{"bird": {"name": "heron"}}`, "heron"},
		"a.md":   {"# Heron\r\n\r\nA wader.\r\n", "# Heron\r\n\r\nA wader.\r\n"},
		"a.html": {"<h1>Heron</h1><p>A wader.", "<h1>Heron</h1><p>A wader."},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: name, Data: []byte(c.data)}}})
			require.NoError(t, err)
			servicetest.Done(t, s, res.IDs()...)
			f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: res.Items[0].ID})
			require.NoError(t, err)
			assert.Contains(t, f.Text, c.text)
			if c.data != c.text {
				assert.NotEqual(t, c.data, f.Text)
			}
			l, err := s.List(t.Context(), contextmem.ListRequest{IDs: res.IDs(), Content: true})
			require.NoError(t, err)
			assert.Equal(t, f.Text, l.Sources[0].Content)
			f, err = s.Fetch(t.Context(), contextmem.FetchRequest{ID: res.Items[0].ID, Original: true})
			require.NoError(t, err)
			assert.Equal(t, c.data, f.Text)
			assert.False(t, f.Binary)
		})
	}
}

func TestOfficeFilesAreReadBack(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("")
	for _, name := range []string{"nested.docx", "formats.xlsx", "old.doc", "formats.xls", "old.ppt"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("..", "..", "parse", "testdata", "made", name))
			require.NoError(t, err)
			res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: name, Data: data}}})
			require.NoError(t, err)
			servicetest.Done(t, s, res.IDs()...)
			f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: res.Items[0].ID})
			require.NoError(t, err)
			assert.True(t, utf8.ValidString(f.Text))
			assert.Greater(t, len(strings.Fields(f.Text)), 5)
			l, err := s.List(t.Context(), contextmem.ListRequest{IDs: res.IDs(), Content: true})
			require.NoError(t, err)
			assert.Equal(t, f.Text, l.Sources[0].Content)
			f, err = s.Fetch(t.Context(), contextmem.FetchRequest{ID: res.Items[0].ID, Original: true})
			require.NoError(t, err)
			assert.True(t, f.Binary)
			assert.Equal(t, data, f.Data)
		})
	}
}
