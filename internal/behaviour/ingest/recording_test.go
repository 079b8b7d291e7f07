package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/transcribe"
)

// TestRecordings uploads a recording and recalls it, with a server that implements the OpenAI protocol.
func TestRecordings(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"text":"x","segments":[{"start":1,"end":3,"text":"The heron takes fish."},{"start":65,"end":70,"text":"Its nest is high."}]}`))
	}))
	t.Cleanup(server.Close)
	heard, err := transcribe.New(transcribe.Config{BaseURL: server.URL})
	require.NoError(t, err)
	svc, acme := servicetest.Open(t, &contextmem.Options{Transcriber: heard})
	require.True(t, svc.Supported("birds.mp3", ""))
	plain, _ := servicetest.Open(t, nil)
	require.False(t, plain.Supported("birds.mp3", ""))
	s := acme.Sub("")
	res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "birds.mp3", Data: []byte("ID3\x03\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00")}}})
	require.NoError(t, err)
	servicetest.Done(t, s, res.IDs()...)
	f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: res.Items[0].ID, Mode: contextmem.FetchContent})
	require.NoError(t, err)
	assert.True(t, f.Binary || f.Text != "")
	hits, err := s.Recall(t.Context(), contextmem.Recall{Query: "where is the nest?"})
	require.NoError(t, err)
	require.NotEmpty(t, hits.Chunks)
	assert.Contains(t, hits.Chunks[0].Text, "[00:01:05] Its nest is high.")
}

// slowOCR waits before it recognises a page.
type slowOCR struct{ on chan struct{} }

func (o slowOCR) Recognise(ctx context.Context, _ []byte, _ string) (string, error) {
	document.Progress(ctx, 3, 12)
	select {
	case <-o.on:
	case <-ctx.Done():
	}
	return "The heron takes fish.", errors.New("page 4 cannot be read")
}

// TestPagesAreCounted checks that the status has the number of recognised pages meanwhile, and that recognised pages
// are kept.
func TestPagesAreCounted(t *testing.T) {
	t.Parallel()
	ocr := slowOCR{make(chan struct{})}
	_, acme := servicetest.Open(t, &contextmem.Options{OCR: ocr})
	s := acme.Sub("")
	told := make(chan contextmem.ItemProgress, 100)
	res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "page.png", Data: []byte("\x89PNG\r\n\x1a\n")}},
		Progress: func(p contextmem.ItemProgress) { told <- p }})
	require.NoError(t, err)
	deadline := time.After(time.Minute)
	for seen := false; !seen; {
		select {
		case p := <-told:
			seen = p.ReadPages == 3 && p.TotalPages == 12
		case <-deadline:
			t.Fatal("nobody said how many pages were read")
		}
	}
	st, err := s.Status(t.Context(), res.IDs()...)
	require.NoError(t, err)
	require.Equal(t, 3, st[0].ReadPages)
	close(ocr.on)
	servicetest.Done(t, s, res.IDs()...)
	st, err = s.Status(t.Context(), res.IDs()...)
	require.NoError(t, err)
	assert.Zero(t, st[0].ReadPages)
	assert.NotEmpty(t, st[0].Partial, "the page that could not be read")
}

// TestFrontMatterIsMetadata checks that filters and lists know the front matter of a Markdown file, and that the
// caller's metadata takes precedence.
func TestFrontMatterIsMetadata(t *testing.T) {
	t.Parallel()
	inEachBackend(t, func(t *testing.T, _ *contextmem.Service, acme contextmem.Tenant) {
		s := acme.Sub("")
		long := make([]byte, 3000)
		for i := range long {
			long[i] = 'x'
		}
		res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Additional: map[string]any{"team": "birds"}, Files: []contextmem.File{
			{Name: "heron.md", Data: []byte("---\ntitle: Heron\nbird: wader\nrows: 5\ndraft: false\ntags: [water, fish]\nteam: mine\nlong: " + string(long) + "\nplaces:\n  - reeds\n  - \"trees\"\nempty:\n---\n\nThe heron takes fish.\n")},
			{Name: "robin.md", Data: []byte("---\nbird: songbird\n---\n\nThe robin takes worms and fish.\n"), Additional: map[string]any{"bird": "robin"}},
			{Name: "note.txt", Data: []byte("---\nbird: wader\n---\n\nNot Markdown, and fish.\n")}}})
		require.NoError(t, err)
		servicetest.Done(t, s, res.IDs()...)
		l, err := s.List(t.Context(), contextmem.ListRequest{IDs: res.IDs()})
		require.NoError(t, err)
		got := map[string]map[string]any{}
		for _, x := range l.Sources {
			got[x.Filename] = x.Additional
		}
		assert.Equal(t, map[string]any{"title": "Heron", "bird": "wader", "rows": json.Number("5"), "draft": false, "tags": []any{"water", "fish"}, "places": []any{"reeds", "trees"}, "team": "birds"}, got["heron.md"])
		assert.Equal(t, map[string]any{"bird": "robin", "team": "birds"}, got["robin.md"])
		assert.Equal(t, map[string]any{"team": "birds"}, got["note.txt"])
	})
}
