package ingest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/embed"
)

// readingEmbedder is an embedder that records the texts it reads. of is its embedder for memories.
type readingEmbedder struct {
	of   embed.Embedder
	slow bool

	mu        sync.Mutex
	documents []string
	questions []string
}

func (r *readingEmbedder) Model() string { return "reader" }
func (r *readingEmbedder) Dim() int      { return 4 }
func (r *readingEmbedder) Slow() bool    { return r.slow }

func (r *readingEmbedder) Memories() embed.Embedder { return r.of }

func (r *readingEmbedder) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.questions = append(r.questions, text)
	return []float32{1, 0, 0, 0}, nil
}

func (r *readingEmbedder) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.documents = append(r.documents, texts...)
	return slices.Repeat([][]float32{{1, 0, 0, 0}}, len(texts)), nil
}

func (r *readingEmbedder) read(word string) (documents, questions bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	has := func(t string) bool { return strings.Contains(t, word) }
	return slices.ContainsFunc(r.documents, has), slices.ContainsFunc(r.questions, has)
}

// TestMemoryEmbedder checks which of two embedders reads memories, files, and queries for each.
func TestMemoryEmbedder(t *testing.T) {
	for _, slow := range []bool{false, true} {
		t.Run(map[bool]string{false: "at once", true: "refined"}[slow], func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			told := &readingEmbedder{}
			written := &readingEmbedder{of: told, slow: slow}
			svc, err := contextmem.New(ctx, inmem.New(), &contextmem.Options{Embedder: written})
			require.NoError(t, err)
			defer svc.Close()
			_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "t"})
			require.NoError(t, err)
			sub := svc.Tenant("t").Sub("")
			_, err = sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "we keep a quokka"}}})
			require.NoError(t, err)
			_, err = sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "a.txt", Data: []byte("The wombat sleeps by day.")}}})
			require.NoError(t, err)
			require.NoError(t, svc.Drain(ctx))
			require.NoError(t, sub.WaitRefined(ctx))
			_, err = sub.Recall(ctx, contextmem.Recall{Query: "quokka pet", Class: contextmem.ClassMemory})
			require.NoError(t, err)
			_, err = sub.Recall(ctx, contextmem.Recall{Query: "wombat sleep", Class: contextmem.ClassKnowledge})
			require.NoError(t, err)
			for _, x := range []struct {
				word          string
				by            *readingEmbedder
				read, isAsked bool
			}{{"quokka", told, true, true}, {"quokka", written, false, false}, {"wombat", written, true, true}, {"wombat", told, false, false}} {
				d, q := x.by.read(x.word)
				assert.Equal(t, x.read, d, "texts of %s, memories %v", x.word, x.by == told)
				assert.Equal(t, x.isAsked, q, "questions of %s, memories %v", x.word, x.by == told)
			}
		})
	}
}
