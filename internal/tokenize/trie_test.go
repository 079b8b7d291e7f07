package tokenize

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// prefixes returns the values of all keys that s begins with.
func (t trie) prefixes(s string) map[int]int32 {
	found := map[int]int32{}
	n := t.root()
	for i := range len(s) {
		v, ok := t.step(&n, s[i])
		if !ok {
			break
		}
		if v >= 0 {
			found[i+1] = v
		}
	}
	return found
}

func TestTrie(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, 1+r.IntN(6))
		for i := range b {
			b[i] = byte(1 + r.IntN(1+r.IntN(255)))
		}
		return string(b)
	}
	want := map[string]int32{}
	var keys []string
	var values []int32
	for len(keys) < 20000 {
		k := word()
		if _, dup := want[k]; dup {
			continue
		}
		v := int32(r.IntN(1 << 30))
		want[k] = v
		keys, values = append(keys, k), append(values, v)
	}
	built, err := buildTrie(keys, values)
	require.NoError(t, err)
	for k, v := range want {
		require.Equal(t, v, built.prefixes(k + "x")[len(k)])
	}
	for range 20000 {
		s := word() + word()
		for n, v := range built.prefixes(s) {
			require.Equal(t, want[s[:n]], v)
		}
		for n := 1; n <= len(s); n++ {
			if v, ok := want[s[:n]]; ok {
				require.Equal(t, v, built.prefixes(s)[n])
			}
		}
	}
	t.Run("damaged", func(t *testing.T) {
		bad := append(trie(nil), built...)
		for range 2000 {
			bad[r.IntN(len(bad))] = byte(r.IntN(256))
		}
		for range 20000 {
			bad[:r.IntN(len(bad))].prefixes(word() + word())
		}
	})
	t.Run("bad keys", func(t *testing.T) {
		for _, keys := range [][]string{{"a", ""}, {"a", "a"}, {"a\x00"}} {
			_, err := buildTrie(keys, make([]int32, len(keys)))
			assert.Error(t, err)
		}
	})
}
