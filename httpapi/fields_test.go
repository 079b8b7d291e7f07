package httpapi

import (
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Fields are what a map with the same values is.
func TestFields(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var f fields
		want := map[string]any{}
		names := 1 + r.IntN(30)
		for range 60 {
			name := "field" + strconv.Itoa(r.IntN(names))
			var v any
			if r.IntN(4) > 0 {
				v = r.IntN(10)
			}
			switch r.IntN(8) {
			case 0:
				f.drop(func(n string, _ any) bool { return n == name })
				delete(want, name)
			case 1:
				f.drop(func(_ string, v any) bool { return v == nil })
				maps.DeleteFunc(want, func(_ string, v any) bool { return v == nil })
			default:
				f.set(name, v)
				want[name] = v
			}
			for i := range names {
				name := "field" + strconv.Itoa(i)
				_, has := want[name]
				require.Equal(t, has, f.has(name))
				require.Equal(t, want[name], f.get(name))
			}
			require.Equal(t, want, f.object())
		}
	}
}
