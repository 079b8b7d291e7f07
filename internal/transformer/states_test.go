package transformer

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStates(t *testing.T) {
	t.Parallel()
	c := randomCheckpoint(small("bert"), 3)
	m := c.load(t)
	texts := randomTexts(c.cfg, 3, 50, 1, 40, 44, 48, 50, 31)
	for layers := range 3 {
		shallow := c
		shallow.cfg.Layers = layers
		got, err := m.States(context.Background(), texts, layers)
		require.NoError(t, err)
		for i, text := range texts {
			require.Len(t, got[i], len(text)*c.cfg.Hidden)
			for k, want := range shallow.encode(text, nil) {
				assert.Greater(t, cosine(got[i][k*c.cfg.Hidden:][:c.cfg.Hidden], want), .99, "layers %d text %d token %d", layers, i, k)
			}
		}
	}
	_, err := m.States(context.Background(), texts, 3)
	require.Error(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = m.States(ctx, texts, 1)
	require.ErrorIs(t, err, context.Canceled)
}
