package vector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func never() error { return nil }

// TestGroups checks that groups hold every centroid once, and that rows find the nearest centroid or
// one almost as near.
func TestGroups(t *testing.T) {
	t.Parallel()
	const dim, rows = 48, 3000
	for _, lists := range []int{1, groupFrom - 1, groupFrom, 1500} {
		t.Run(fmt.Sprint(lists), func(t *testing.T) {
			gen := newClusters(uint64(lists), dim, 60, 1)
			book := newCodebook(dim, lists)
			for i := range lists {
				book.set(i, gen.next())
			}
			g, err := newGroups(book, 2, rand.New(rand.NewPCG(1, 7)), never)
			require.NoError(t, err)
			require.Equal(t, lists >= groupFrom, g.coarse != nil)
			all := func(c *codebook) (out []string) {
				v := make([]float32, dim)
				for i := range c.scales {
					c.get(i, v)
					out = append(out, fmt.Sprint(v, c.scales[i], c.halves[i]))
				}
				slices.Sort(out)
				return out
			}
			require.Equal(t, all(book), all(g.book))

			p := newProber(dim)
			same := 0
			var far, near float64 // sums of squared distances
			for range rows {
				v := gen.next()
				var square float64
				for _, x := range v {
					square += float64(x) * float64(x)
				}
				list, score := g.nearest(p, v)
				found := slices.Clone(p.q8)
				scale, bias := quantiseQuery(p.q8, v)
				require.Equal(t, found, p.q8)
				want, best := g.book.search(p, scale, bias)
				require.LessOrEqual(t, score, best)
				if list == want {
					same++
					require.Equal(t, best, score)
				}
				far, near = far+square-2*float64(score), near+square-2*float64(best)
			}
			if lists < groupFrom {
				assert.Equal(t, rows, same)
				return
			}
			assert.Greater(t, same, rows*9/10)
			assert.Less(t, far, near*1.01)
		})
	}
}

// TestGroupsRecall checks the recall of a segment that has enough lists to be grouped.
func TestGroupsRecall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("measures recall in many rows")
	}
	const dim, n = 24, 70_000
	gen := newClusters(8, dim, 300, 1.5)
	vs := gen.take(n)
	s := segmentOf(t, dim, InnerProduct, vs, nil)
	require.GreaterOrEqual(t, s.h.lists, groupFrom)
	got := ivfRecall(t, s, newOracle(vs, InnerProduct), gen.take(30), 1, .9, DefaultRecall)
	assert.GreaterOrEqual(t, got[0], float32(.88))
	assert.GreaterOrEqual(t, got[1], float32(.96))
}
