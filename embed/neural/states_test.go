package neural_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/checkpoint/tiny"
)

func TestStates(t *testing.T) {
	t.Parallel()
	files, none := tiny.Files(1, 0), ""
	e, err := neural.New(neural.Files{Config: files.Config, Tokenizer: files.Tokenizer, Weights: files.Weights},
		&neural.Options{Model: "tiny", QueryPrefix: &none, DocumentPrefix: &none})
	require.NoError(t, err)
	ctx := context.Background()
	texts := []string{" the cat sat on the mat ", "", strings.Repeat("the dog ran ", 50)}
	all, err := e.States(ctx, texts, 2, 20)
	require.NoError(t, err)
	require.Len(t, all, len(texts))
	for i, tokens := range []int{8, 2, 20} {
		t.Run(fmt.Sprint(tokens), func(t *testing.T) {
			assert.Len(t, all[i], tokens*e.Dim(), "text %d", i)
		})
	}

	// The mean over the states of all layers is the vector that the embedder gives.
	vs, err := e.EmbedDocuments(ctx, texts[:1])
	require.NoError(t, err)
	mean, length := make([]float64, e.Dim()), 0.0
	for i, x := range all[0] {
		mean[i%e.Dim()] += float64(x)
	}
	for _, x := range mean {
		length += x * x
	}
	for i, x := range mean {
		assert.InDelta(t, vs[0][i], x/math.Sqrt(length), 1e-4)
	}

	fewer, err := e.States(ctx, texts, 1, 20)
	require.NoError(t, err)
	assert.NotEqual(t, all[0], fewer[0])
	for _, wrong := range [][2]int{{-1, 20}, {3, 20}, {2, 2}, {2, tiny.MaxTokens + 1}} {
		_, err := e.States(ctx, texts, wrong[0], wrong[1])
		assert.Error(t, err, "%d layers, %d tokens", wrong[0], wrong[1])
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = e.States(cancelled, texts, 1, 20)
	require.ErrorIs(t, err, context.Canceled)
}
