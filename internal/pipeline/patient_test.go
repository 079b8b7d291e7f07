package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lengths embeds a text as its length, and notes the sizes of its calls.
type lengths struct {
	calls []int
	fail  error
}

func (*lengths) Dim() int { return 1 }

func (l *lengths) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	l.calls = append(l.calls, len(texts))
	var out [][]float32
	for _, t := range texts {
		out = append(out, []float32{float32(len(t))})
	}
	return out, l.fail
}

func TestPatient(t *testing.T) {
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("%0*d", 200+i%8, 0)) // 16 texts have 3,256 bytes
	}
	t.Run("waits before a long document and between its calls", func(t *testing.T) {
		l, waits := &lengths{}, []int{}
		vecs, err := Patient(l, func() { waits = append(waits, len(l.calls)) }).EmbedDocuments(t.Context(), texts)
		require.NoError(t, err)
		require.Len(t, vecs, len(texts))
		for i, v := range vecs {
			require.Equal(t, float32(200+i%8), v[0])
		}
		assert.Equal(t, append(slices.Repeat([]int{16}, 18), 12), l.calls)
		assert.Equal(t, []int{0, 5, 10, 15}, waits, "calls before each wait")
	})
	t.Run("counts the texts of short items together", func(t *testing.T) {
		l, waits := &lengths{}, 0
		e := Patient(l, func() { waits++ })
		for range 100 {
			_, err := ForMemories(e).EmbedDocuments(t.Context(), texts[:1])
			require.NoError(t, err)
		}
		assert.Equal(t, 1, waits)
	})
	t.Run("does not wait before a few messages", func(t *testing.T) {
		l := &lengths{}
		_, err := Patient(l, func() { t.Error("waits") }).EmbedDocuments(t.Context(), texts[:64])
		require.NoError(t, err)
		assert.Len(t, l.calls, 4)
	})
	t.Run("ends with the first error", func(t *testing.T) {
		l := &lengths{fail: errors.New("down")}
		_, err := Patient(l, func() {}).EmbedDocuments(t.Context(), texts)
		require.ErrorIs(t, err, l.fail)
		assert.Len(t, l.calls, 1)
	})
	t.Run("ends while it waits", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := &lengths{}
		_, err := Patient(l, cancel).EmbedDocuments(ctx, texts)
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, l.calls)
	})
}
