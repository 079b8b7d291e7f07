package recall_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// keywordReranker is a reranker of English that records its input. Texts with a given word score high.
type keywordReranker struct {
	word string
	mu   sync.Mutex
	read []string
}

func (r *keywordReranker) Languages() []string { return []string{"en"} }

func (r *keywordReranker) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = append(r.read, texts...)
	out := make([]float64, len(texts))
	for i, t := range texts {
		out[i] = .01
		if strings.Contains(t, r.word) {
			out[i] = .99
		}
	}
	return out, nil
}

// TestRerankerReadsThePrecedingMemory checks that the reranker gets a memory after the end of the preceding one of its
// session, if it has the reranker's language and the caller may read it, and that reranking counts less for memories
// than for knowledge.
func TestRerankerReadsThePrecedingMemory(t *testing.T) {
	t.Parallel()
	r := &keywordReranker{word: "lighthouse"}
	_, acme := servicetest.Open(t, &contextmem.Options{Reranker: r})
	s := acme.Sub("c")
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	long := "Where did you leave the key of the shed? " + strings.Repeat("It was here all week. ", 30) + "Is it under the lighthouse?"
	said := []contextmem.Memory{
		{ID: "asks", Text: long}, {ID: "replies", Text: "The key is where you said."},
		{ID: "fremd", Text: "Wo ist denn jetzt der Schlüssel von dem alten Schuppen hinter dem Haus?"}, {ID: "behind", Text: "The key of the car is on the table."},
		{ID: "elsewhere", Text: "The key is in the drawer."},
	}
	for i := range said {
		said[i].Time, said[i].Session = at.Add(time.Duration(i)*time.Minute), "one"
	}
	said[4].Session = "two"
	servicetest.Remember(t, s, said...)
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "where is the key?", Mode: contextmem.ModeThinking})
	require.NoError(t, err)
	reads := map[string]string{}
	for _, text := range r.read {
		reads[text[strings.LastIndexByte(text, '\n')+1:]] = text
	}
	text, ok := reads["The key is where you said."]
	require.True(t, ok, "%q", r.read)
	before, _, found := strings.Cut(text, "\n")
	require.True(t, found)
	assert.True(t, strings.HasSuffix(long, before), before)
	assert.LessOrEqual(t, len(before), 400)
	assert.Greater(t, len(before), 300)
	assert.Contains(t, reads, "The key of the car is on the table.")
	assert.Equal(t, "The key of the car is on the table.", reads["The key of the car is on the table."], "what stands before it is not English")
	assert.Equal(t, "The key is in the drawer.", reads["The key is in the drawer."], "another session")
	parts := func(res *contextmem.Result) (least, most float64) {
		for _, c := range res.Chunks {
			least, most = min(least, c.Explain.Rerank), max(most, c.Explain.Rerank)
		}
		return least, most
	}
	least, most := parts(res)
	told := (most - least) / res.Chunks[0].Score
	assert.Positive(t, told)

	servicetest.AddDocuments(t, s, contextmem.File{ID: "k", Data: []byte("The key of the office is at the lighthouse.")}, contextmem.File{ID: "l", Data: []byte("The key of the mill is in the mill.")})
	res, err = s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: "where is the key?", Mode: contextmem.ModeThinking})
	require.NoError(t, err)
	least, most = parts(res)
	assert.Greater(t, (most-least)/res.Chunks[0].Score, 2*told, "of passages a cross-encoder knows more")
}
