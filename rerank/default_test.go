package rerank_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/rerank"
)

// fixed gives every text the same score.
type fixed float64

func (f fixed) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	out := make([]float64, len(texts))
	for i := range out {
		out[i] = float64(f)
	}
	return out, nil
}

func TestDefaults(t *testing.T) {
	open := func() (rerank.Reranker, error) { return fixed(.5), nil }
	t.Run("none", func(t *testing.T) {
		r, err := new(rerank.Defaults).Default()
		require.NoError(t, err)
		assert.Nil(t, r)
	})
	t.Run("one", func(t *testing.T) {
		var d rerank.Defaults
		d.Register("a", func() (rerank.Reranker, error) { return nil, errors.New("older") })
		d.Register("a", open)
		r, err := d.Default()
		require.NoError(t, err)
		assert.Equal(t, fixed(.5), r)
	})
	t.Run("several", func(t *testing.T) {
		var d rerank.Defaults
		d.Register("a", open)
		d.Register("b", open)
		_, err := d.Default()
		require.ErrorContains(t, err, "a, b")
	})
	t.Run("broken", func(t *testing.T) {
		var d rerank.Defaults
		broken := errors.New("broken")
		d.Register("a", func() (rerank.Reranker, error) { return nil, broken })
		_, err := d.Default()
		require.ErrorIs(t, err, broken)
	})
}
