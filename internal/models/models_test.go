package models_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/models"
)

func TestDefault(t *testing.T) {
	t.Parallel()
	opens := func(s string) func() (*string, error) { return func() (*string, error) { return &s, nil } }
	broken := errors.New("broken")
	breaks := func() (*string, error) { return new(string), broken }
	tests := map[string]struct {
		register func(*models.Registry[*string])
		want     string // "": none
		err      string
	}{
		"none": {func(*models.Registry[*string]) {}, "", ""},
		"one":  {func(r *models.Registry[*string]) { r.Register("a", opens("a")) }, "a", ""},
		"the later of one name": {func(r *models.Registry[*string]) {
			r.Register("a", breaks)
			r.Register("a", opens("newer"))
		}, "newer", ""},
		"several": {func(r *models.Registry[*string]) {
			r.Register("b", opens("b"))
			r.Register("a", opens("a"))
		}, "", "several colours are imported (a, b): name one in Options.Colour"},
		"one made of others": {func(r *models.Registry[*string]) {
			r.Register("a", breaks)
			r.Register("both", opens("both"), "a", "b")
			r.Register("b", breaks)
		}, "both", ""},
		"broken": {func(r *models.Registry[*string]) { r.Register("a", breaks) }, "", "colour a: broken"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := models.Registry[*string]{Kind: "colour", Kinds: "colours", Option: "Options.Colour"}
			test.register(&r)
			m, err := r.Default()
			if test.err != "" {
				require.EqualError(t, err, test.err)
			} else {
				require.NoError(t, err)
			}
			if test.want == "" {
				assert.Nil(t, m)
				return
			}
			assert.Equal(t, test.want, *m)
		})
	}
}
