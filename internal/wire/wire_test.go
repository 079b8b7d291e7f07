package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
)

// fill gives every field of a value something that is not zero.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(rune('a' + *n%26)))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 1000).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	default:
		require.Fail(t, "no value for a field", v.Kind().String())
	}
}

// there returns what comes back of a value that goes over the wire as a W.
func there[W, T any](t *testing.T, write func(*T) W, read func(*W) T, full bool) {
	t.Helper()
	var in T
	if full {
		n := 0
		fill(t, reflect.ValueOf(&in).Elem(), &n)
	}
	b, err := json.Marshal(write(&in))
	require.NoError(t, err)
	assert.NotContains(t, string(b), "null", "lists are never null")
	var w W
	require.NoError(t, json.Unmarshal(b, &w))
	assert.Equal(t, in, read(&w))
}

// Everything that the library's types hold comes back, also what is empty.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]bool{"full": true, "empty": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there(t, OfFact, (*Fact).Fact, full)
			there(t, OfFactsPage, func(w *FactsPage) facts.Page {
				p, err := w.Page()
				require.NoError(t, err)
				return *p
			}, full)
			there(t, OfProfile, func(w *Profile) facts.Profile { return *w.Profile() }, full)
			there(t, func(l *[]content.PastVersion) []Version { return OfVersions(*l) }, func(w *[]Version) []content.PastVersion { return Versions(*w) }, full)
		})
	}
}

func TestPageWithoutCursor(t *testing.T) {
	t.Parallel()
	_, err := (&FactsPage{Next: "x"}).Page()
	require.Error(t, err)
}
