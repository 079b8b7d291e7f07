package recall

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/rank"
)

// TestDiversify checks that a source may have four of ten hits and three of five, and that its further
// hits come behind the others in their order.
func TestDiversify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sources string // the sources of hits by rank; each letter is a source
		n       int
		want    string // the ranks of hits in the new order
	}{
		{"aaaabb", 10, "012345"},
		{"aaaaabab", 10, "01235746"},
		{"aaaaabab", 5, "01257346"},
		{"aaaaaa", 3, "012345"}, // there is no hit of another source
		{"abababab", 6, "01234567"},
		{"aab", 1, "012"},
		{"", 10, ""},
	} {
		t.Run(c.sources, func(t *testing.T) {
			hits := make([]*Hit, len(c.sources))
			place := map[*Hit]byte{}
			for i := range hits {
				hits[i] = &Hit{ranked: rank.Scored{Chunk: int64(i), Source: int64(c.sources[i])}}
				place[hits[i]] = byte('0' + i)
			}
			var got []byte
			for _, h := range counting(c.n).diversify(hits) {
				got = append(got, place[h])
			}
			require.Equal(t, c.want, string(got), "%s, %d", c.sources, c.n)
		})
	}
}

// TestDiversifyRandom checks with random lists that diversify loses no hit, and keeps the order of
// hits within their share and of hits beyond it. No hit beyond its source's share may come before
// a hit within its source's share.
func TestDiversifyRandom(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		n, kinds := 1+rng.IntN(20), 1+rng.IntN(12)
		share := max(3, (n+2)/3)
		hits := make([]*Hit, rng.IntN(60))
		count := map[int64]int{}
		var within, over []int64
		for i := range hits {
			s := int64(1 + rng.IntN(kinds))
			hits[i] = &Hit{ranked: rank.Scored{Chunk: int64(i), Source: s}}
			if count[s]++; count[s] > share {
				over = append(over, int64(i))
			} else {
				within = append(within, int64(i))
			}
		}
		got := []int64{}
		for _, h := range counting(n).diversify(hits) {
			got = append(got, h.ranked.Chunk)
		}
		require.Equal(t, append(within, over...), append([]int64(nil), got...))
	}
}

// counting returns a run that asks for n results.
func counting(n int) *run {
	return &run{Request: &Request{MaxResults: n}}
}
