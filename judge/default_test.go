package judge

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type named string

func (n named) Model() string                                              { return string(n) }
func (named) Replaces(context.Context, []Pair) ([]float64, error)          { return nil, nil }
func (named) Answers(context.Context, string, []string) ([]float64, error) { return nil, nil }

func TestDefaults(t *testing.T) {
	t.Parallel()
	var d Defaults
	j, err := d.Default()
	require.NoError(t, err)
	assert.Nil(t, j)
	d.Register("one", func() (Judge, error) { return named("first"), nil })
	d.Register("one", func() (Judge, error) { return named("second"), nil })
	j, err = d.Default()
	require.NoError(t, err)
	assert.Equal(t, "second", j.Model())
	d.Register("two", func() (Judge, error) { return nil, nil })
	_, err = d.Default()
	require.ErrorContains(t, err, "one, two")
	var broken Defaults
	broken.Register("one", func() (Judge, error) { return nil, errors.New("no weights") })
	_, err = broken.Default()
	require.ErrorContains(t, err, "no weights")
}
