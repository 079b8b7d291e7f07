package memory_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// fixedSummarizer is a Summarizer that returns a fixed text or error and records its requests.
type fixedSummarizer struct {
	mu    sync.Mutex
	text  string
	err   error
	asked []facts.SummaryRequest
}

func (*fixedSummarizer) Model() string { return "pen" }

func (p *fixedSummarizer) Summarize(_ context.Context, r facts.SummaryRequest) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r)
	if p.text == "panic" {
		panic("a summarizer that fails")
	}
	return p.text, p.err
}

// TestSummarizer checks that a Summarizer writes the summary of current facts. If it fails or exceeds the limit, the
// summary consists of the sources' sentences, and the profile says so.
func TestSummarizer(t *testing.T) {
	t.Parallel()
	w := &fixedSummarizer{text: "Anna lives in Lisbon."}
	_, acme := servicetest.Open(t, &contextmem.Options{Summarizer: w})
	anna, ctx := acme.Sub("anna"), t.Context()
	rememberStatements(t, anna, "I live in Oslo.", "I moved to Lisbon.", "I have a dog named Rex.", "I'm vegetarian.")
	p, err := anna.Profile(ctx, facts.ProfileRequest{Subject: "Anna", MaxTokens: 20})
	require.NoError(t, err)
	assert.Equal(t, "Anna lives in Lisbon.", p.Summary)
	assert.Equal(t, "pen", p.SummaryBy)
	assert.Positive(t, p.Tokens)
	require.Len(t, w.asked, 1)
	read := strings.Join(w.asked[0].Statements, "\n")
	for _, x := range []string{"Lisbon", "Rex", "vegetarian"} {
		assert.Contains(t, read, x, "it reads more than the summary may hold")
	}
	assert.NotContains(t, read, "Oslo")
	assert.Equal(t, 20, w.asked[0].MaxTokens)
	for name, x := range map[string]struct {
		text string
		err  error
	}{"an error": {"x", errors.New("down")}, "nothing": {" ", nil}, "too much": {strings.Repeat("Anna lives in Lisbon. ", 9), nil}, "a panic": {"panic", nil}} {
		t.Run(name, func(t *testing.T) {
			w.text, w.err = x.text, x.err
			p, err := anna.Profile(ctx, facts.ProfileRequest{Subject: "Anna", MaxTokens: 20})
			require.NoError(t, err)
			assert.Equal(t, facts.BySources, p.SummaryBy)
			assert.Contains(t, p.Summary, "Lisbon")
			assert.LessOrEqual(t, p.Tokens, 20)
		})
	}
	n := len(w.asked)
	nobody, err := anna.Profile(ctx, facts.ProfileRequest{Subject: "Zoe"})
	require.NoError(t, err)
	assert.Empty(t, nobody.Summary)
	assert.Len(t, w.asked, n, "nobody is asked about nothing")
	gone, cancel := context.WithCancel(ctx)
	w.err = context.Canceled
	cancel()
	_, err = anna.Profile(gone, facts.ProfileRequest{Subject: "Anna"})
	require.Error(t, err)
	_, err = contextmem.New(ctx, inmem.New(), &contextmem.Options{Summarizer: unnamedSummarizer{}})
	require.ErrorContains(t, err, "Summarizer")
}

type unnamedSummarizer struct{ facts.Summarizer }

func (unnamedSummarizer) Model() string { return "" }
