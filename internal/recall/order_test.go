package recall

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/rank"
)

// TestUnflood: of ten places a source may hold four, of five three; what it has over that
// comes behind the others, in order.
func TestUnflood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sources string // by rank; a letter is a source
		n       int
		want    string // ranks, in the new order
	}{
		{"aaaabb", 10, "012345"},
		{"aaaaabab", 10, "01235746"},
		{"aaaaabab", 5, "01257346"},
		{"aaaaaa", 3, "012345"}, // none waits
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
			for _, h := range counting(c.n).unflood(hits) {
				got = append(got, place[h])
			}
			require.Equal(t, c.want, string(got), "%s, %d", c.sources, c.n)
		})
	}
}

// TestUnfloodRandom holds, over random lists, that unflood moves hits and never loses one,
// keeps the order of those within their share and of those over it, and lets no source
// beyond its share stand before another that waits.
func TestUnfloodRandom(t *testing.T) {
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
		for _, h := range counting(n).unflood(hits) {
			got = append(got, h.ranked.Chunk)
		}
		require.Equal(t, append(within, over...), append([]int64(nil), got...))
	}
}

// counting is a run that asks for n results.
func counting(n int) *run {
	return &run{Request: &Request{MaxResults: n}}
}
