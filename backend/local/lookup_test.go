package local

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLookup compares a lookup with a map, under hashes many of which are equal or near.
func TestLookup(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var values []int64
	hash := func(at uint32) uint64 { return uint64(values[at]) % 37 * 3 }
	want := map[int64]uint32{}
	var x lookup
	find := func(v int64) (uint32, bool) {
		return x.find(uint64(v)%37*3, func(at uint32) bool { return values[at] == v })
	}
	for range 20_000 {
		v := int64(rng.IntN(150))
		at, ok := find(v)
		place, known := want[v]
		require.Equal(t, known, ok)
		require.Equal(t, place, at)
		switch {
		case !ok:
			values = append(values, v)
			x.put(uint32(len(values)-1), hash)
			want[v] = uint32(len(values) - 1)
		case rng.IntN(3) == 0:
			x.remove(at, hash)
			delete(want, v)
		}
		require.Equal(t, len(want), x.used)
	}
	require.Less(t, len(x.slots), 1024)
	_, ok := new(lookup).find(1, nil)
	require.False(t, ok)
}
