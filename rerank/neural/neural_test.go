package neural_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/checkpoint/tiny"
	"github.com/contextmem/contextmem/rerank/neural"
)

var _ contextmem.Reranker = (*neural.Reranker)(nil)

// directory writes a model with random weights and some labels.
func directory(t *testing.T, labels int) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, tiny.Write(dir, tiny.Files(7, labels)))
	return dir
}

func load(t *testing.T, dir string, o *neural.Options) *neural.Reranker {
	t.Helper()
	r, err := neural.Load(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// question and passages of very different lengths.
const question = "where is the cat?"

func passages() []string {
	return []string{"the cat sat on the mat.", "", "Ann lives in Oslo.", strings.Repeat("the dog ran. ", 50), "cat", "the dog sat on the mat. the cat ran."}
}

func TestRerank(t *testing.T) {
	t.Parallel()
	dir := directory(t, 1)
	r := load(t, dir, nil)
	texts := passages()
	scores, err := r.Rerank(t.Context(), question, texts)
	require.NoError(t, err)
	require.Len(t, scores, len(texts))
	for i, text := range texts {
		require.True(t, scores[i] > 0 && scores[i] < 1)
		alone, err := r.Rerank(t.Context(), question, []string{text})
		require.NoError(t, err)
		assert.InDelta(t, alone[0], scores[i], 1e-5, "a passage alone has the score that it has among others")
		other, err := r.Rerank(t.Context(), "who ran?", []string{text})
		require.NoError(t, err)
		assert.Greater(t, math.Abs(other[0]-scores[i]), 1e-6, "the question counts")
	}
	for _, threads := range []int{1, 2, 16} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			again, err := load(t, dir, &neural.Options{Threads: threads}).Rerank(t.Context(), question, texts)
			require.NoError(t, err)
			assert.InDeltaSlice(t, scores, again, 1e-5, "%d threads", threads)
		})
	}
	none, err := r.Rerank(t.Context(), question, nil)
	require.NoError(t, err)
	assert.Empty(t, none)

	f := tiny.Files(7, 1)
	memory, err := neural.New(neural.Files{Config: f.Config, Tokenizer: f.Tokenizer, Weights: f.Weights}, nil)
	require.NoError(t, err)
	same, err := memory.Rerank(t.Context(), question, texts)
	require.NoError(t, err)
	assert.InDeltaSlice(t, scores, same, 1e-6)
	assert.NoError(t, memory.Close())
}

func TestLabels(t *testing.T) {
	t.Parallel()
	dir := directory(t, 3)
	first, err := load(t, dir, nil).Rerank(t.Context(), question, passages())
	require.NoError(t, err)
	third, err := load(t, dir, &neural.Options{Label: 2}).Rerank(t.Context(), question, passages())
	require.NoError(t, err)
	assert.NotEqual(t, first, third)
}

func TestMaxTokens(t *testing.T) {
	t.Parallel()
	r := load(t, directory(t, 1), &neural.Options{MaxTokens: 16})
	long := "the cat sat on the mat " + strings.Repeat("oslo ", 100)
	scores, err := r.Rerank(t.Context(), question, []string{long, long + "the dog ran"})
	require.NoError(t, err)
	assert.InDelta(t, scores[0], scores[1], 1e-9, "what is cut off does not count")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	r := load(t, directory(t, 1), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Rerank(ctx, question, passages())
	assert.ErrorIs(t, err, context.Canceled)
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for what, o := range map[string]*neural.Options{
		"label 1, want 0 to 0": {Label: 1}, "label -1": {Label: -1}, "65 tokens at most": {MaxTokens: 65}, "3 tokens at most": {MaxTokens: 3}, "-1 threads": {Threads: -1},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := neural.Load(directory(t, 1), o)
			assert.ErrorContains(t, err, what)
		})
	}
	_, err := neural.Load(directory(t, 0), nil)
	assert.ErrorContains(t, err, "not a model for sequence classification")
	dir := directory(t, 1)
	require.NoError(t, os.Remove(filepath.Join(dir, "model.safetensors")))
	_, err = neural.Load(dir, nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.NotContains(t, err.Error(), dir)
	_, err = neural.New(neural.Files{}, nil)
	assert.Error(t, err)
}
