package embed_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/static"
)

func TestDefaults(t *testing.T) {
	open := func() (embed.Embedder, error) { return static.New(), nil }
	t.Run("none", func(t *testing.T) {
		e, err := new(embed.Defaults).Default()
		require.NoError(t, err)
		assert.Nil(t, e)
	})
	t.Run("one", func(t *testing.T) {
		var d embed.Defaults
		d.Register("a", func() (embed.Embedder, error) { return nil, errors.New("older") })
		d.Register("a", open)
		e, err := d.Default()
		require.NoError(t, err)
		assert.Equal(t, static.New().Model(), e.Model())
	})
	t.Run("several", func(t *testing.T) {
		var d embed.Defaults
		d.Register("a", open)
		d.Register("b", open)
		_, err := d.Default()
		require.ErrorContains(t, err, "a, b")
	})
	t.Run("one of others", func(t *testing.T) {
		var d embed.Defaults
		none := func() (embed.Embedder, error) { return nil, errors.New("a part") }
		d.Register("a", none)
		d.Register("both", open, "a", "b")
		d.Register("b", none)
		e, err := d.Default()
		require.NoError(t, err)
		assert.Equal(t, static.New().Model(), e.Model())
	})
	t.Run("broken", func(t *testing.T) {
		var d embed.Defaults
		broken := errors.New("broken")
		d.Register("a", func() (embed.Embedder, error) { return nil, broken })
		_, err := d.Default()
		require.ErrorIs(t, err, broken)
	})
}
