package ingest_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/internal/testtool"
)

// progressRecorder records the calls of a progress function.
type progressRecorder struct {
	mu  sync.Mutex
	all []contextmem.ItemProgress
}

func (r *progressRecorder) add(p contextmem.ItemProgress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
}

func (r *progressRecorder) of(id string) (out []contextmem.ItemProgress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.all {
		if p.ID == id {
			out = append(out, p)
		}
	}
	return out
}

func TestProgressOfItems(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, _ *servicetest.ScriptedProvider) {
		rank := map[contextmem.Status]int{contextmem.StatusQueued: 0, contextmem.StatusProcessing: 1, contextmem.StatusGraphCreation: 2, contextmem.StatusCompleted: 3, contextmem.StatusErrored: 3}
		var r progressRecorder
		batch := contextmem.KnowledgeBatch{Progress: r.add, Apps: []contextmem.AppItem{{ID: "refused", Kind: "fax"}}}
		for i := range 20 {
			batch.Files = append(batch.Files, contextmem.File{ID: fmt.Sprint(i), Name: "a.txt", Data: []byte(fmt.Sprintf("Shelf %d holds parcels.", i))})
		}
		batch.Files = append(batch.Files, contextmem.File{ID: "bad", Name: "a.pdf", Data: []byte("%PDF-1.4 and nothing else")})
		res, err := acme.AddKnowledge(t.Context(), batch)
		require.NoError(t, err)
		require.Equal(t, 21, res.Accepted)
		require.NoError(t, svc.Drain(t.Context()))
		synctest.Wait()
		done := 0
		for _, id := range res.IDs() {
			ps := r.of(id)
			require.NotEmpty(t, ps)
			for i, p := range ps {
				require.Equal(t, 21, p.Total)
				require.Equal(t, i == len(ps)-1, p.Status.Terminal(), "the final state comes once, and last")
				if i > 0 {
					require.GreaterOrEqual(t, rank[p.Status], rank[ps[i-1].Status])
				}
			}
			last := ps[len(ps)-1]
			done = max(done, last.Done)
			if id == "bad" {
				require.Equal(t, contextmem.StatusErrored, last.Status)
				require.Equal(t, "E2001", last.ErrorCode)
			} else {
				require.Equal(t, contextmem.StatusCompleted, last.Status)
			}
		}
		require.Equal(t, 21, done)
		require.Empty(t, r.of("refused"))
	})
}

func TestSlowProgressDelaysNothing(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, _ *servicetest.ScriptedProvider) {
		hold := make(chan struct{})
		var r progressRecorder
		add := func(id string, f contextmem.ProgressFunc) {
			_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Progress: f, Memories: []contextmem.Memory{{ID: id, Text: "The kettle is on the shelf."}}})
			require.NoError(t, err)
		}
		add("slow", func(p contextmem.ItemProgress) {
			<-hold
			r.add(p)
		})
		calls := 0
		add("panics", func(contextmem.ItemProgress) {
			calls++
			panic("no")
		})
		add("gone", r.add)
		require.NoError(t, svc.Drain(t.Context()))
		st, err := acme.Status(t.Context(), "slow", "panics")
		require.NoError(t, err)
		for _, x := range st {
			require.Equal(t, contextmem.StatusCompleted, x.Status)
		}
		synctest.Wait()
		require.Equal(t, 1, calls)
		require.Empty(t, r.of("slow"))
		close(hold)
		synctest.Wait()
		ps := r.of("slow")
		require.Equal(t, contextmem.StatusCompleted, ps[len(ps)-1].Status)
		require.NotEmpty(t, r.of("gone"))
	})
}

func TestProgressEndsWithTheService(t *testing.T) {
	t.Parallel()
	g := servicetest.NewGate()
	svc, acme := servicetest.Open(t, &contextmem.Options{Embedder: g})
	hold := make(chan struct{})
	defer close(hold)
	g.Set(hold, nil)
	var r progressRecorder
	began := make(chan struct{}, 1)
	_, err := acme.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "x"}}, Progress: func(p contextmem.ItemProgress) {
		r.add(p)
		select {
		case began <- struct{}{}:
		default:
		}
	}})
	require.NoError(t, err)
	select {
	case <-began:
	case <-time.After(time.Minute):
		t.Fatal("nothing was reported")
	}
	require.NoError(t, svc.Close())
	for _, p := range r.of("m") {
		require.False(t, p.Status.Terminal())
	}
}

// installScript writes a shell script in place of an installed program.
func installScript(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tool")
	testtool.Script(t, path, script)
	return path
}

func TestOCRAndPDFTools(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{
		OCR:     document.Tesseract{Program: installScript(t, "cat >/dev/null; echo The sign forbids bathing.")},
		PDFTool: document.PDFToText{Program: installScript(t, "cat >/dev/null; echo The plan shows a pergola.")},
	})
	page := []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Contents 4 0 R>>endobj\n" +
		"4 0 obj<</Length 36>>stream\nBT /F 12 Tf 10 100 Td (words) Tj ET \nendstream endobj\ntrailer<</Root 1 0 R>>\n")
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{
		{ID: "photo", Name: "gate.png", Data: []byte("\x89PNG\r\n\x1a\n0000")}, {ID: "plan", Name: "plan.pdf", Data: page}}})
	require.NoError(t, err)
	servicetest.Done(t, acme.Sub(""), res.IDs()...)
	for q, want := range map[string]string{"may I bathe here? bathing": "forbids bathing", "where is the pergola?": "shows a pergola"} {
		t.Run(q, func(t *testing.T) {
			hit, err := acme.Recall(t.Context(), contextmem.Recall{Query: q})
			require.NoError(t, err)
			require.Contains(t, hit.Chunks[0].Text, want)
		})
	}
}
