package vector

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// written returns a segment of vs whose lists are adapted from those of from.
func written(t testing.TB, vs [][]float32, from *Segment) *Segment {
	t.Helper()
	var out bytes.Buffer
	o := *smallIVF
	o.From = from
	require.NoError(t, WriteSegment(&out, len(vs[0]), InnerProduct, len(vs), func(i int) []float32 { return vs[i] }, &o))
	s, err := OpenSegment(out.Bytes())
	require.NoError(t, err)
	require.NoError(t, s.Verify())
	return s
}

// longest returns the length of the longest list divided by the mean length.
func (s *Segment) longest() float64 {
	most := uint32(0)
	for i, end := range s.ivf.offsets[1:] {
		most = max(most, end-s.ivf.offsets[i])
	}
	return float64(most) * float64(s.h.lists) / float64(s.h.n)
}

// TestListsAreReused adapts lists to segments that gain similar rows, gain rows of another kind, or lose a region. The number of lists,
// their balance and the recall must be like those of newly trained lists.
func TestListsAreReused(t *testing.T) {
	t.Parallel()
	for _, dim := range dimensions(64, 256) {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			t.Parallel()
			old, other := newClusters(1, dim, 30, 1.5), newClusters(2, dim, 10, 1)
			vs := old.take(4000)
			s := written(t, vs, nil)
			for step, more := range [][][]float32{old.take(1500), other.take(3000), nil} {
				if more == nil { // drop the first rows
					vs = slices.Clone(vs[3000:])
				}
				vs = append(slices.Clone(vs), more...)
				fresh := written(t, vs, nil)
				next := written(t, vs, s)
				require.Equal(t, next.data, written(t, vs, s).data, "equal input gives equal bytes")
				require.NotEqual(t, fresh.ivf.centroids, next.ivf.centroids)
				require.Equal(t, fresh.h.lists, next.h.lists)
				require.Less(t, next.longest(), 3*fresh.longest(), "step %d", step)
				queries := append(old.take(20), other.take(20)...)
				o := newOracle(vs, InnerProduct)
				for _, accept := range []float64{1, .1} {
					got := ivfRecall(t, next, o, queries, accept, .95)
					require.GreaterOrEqual(t, got[0], float32(.95), "step %d, accept %v", step, accept)
				}
				s = next
			}
		})
	}
}

// TestListsOfOthers checks that an unsuitable earlier segment changes nothing.
func TestListsOfOthers(t *testing.T) {
	t.Parallel()
	gen := newClusters(5, 64, 20, 1)
	vs := gen.take(3000)
	want := written(t, vs, nil)
	exact := segmentOf(t, 64, InnerProduct, vs[:90], smallIVF)
	small := written(t, vs[:1000], nil)
	wide := written(t, newClusters(5, 100, 20, 1).take(3000), nil)
	for _, from := range []*Segment{exact, small, wide} {
		require.Equal(t, want.data, written(t, vs, from).data)
	}
}

// TestSplitOfEqualRows checks that lists of equal rows can be split, and that their rows are found.
func TestSplitOfEqualRows(t *testing.T) {
	t.Parallel()
	gen := newClusters(6, 64, 5, 1)
	vs := gen.take(1000)
	s := written(t, vs, nil)
	for range 900 {
		vs = append(vs, vs[0])
	}
	s = written(t, vs, s)
	hits, err := s.Search(t.Context(), &Query{Vector: vs[0], K: 500}, nil)
	require.NoError(t, err)
	require.Len(t, hits, 500)
}

// BenchmarkGrow writes 50,000 rows of which 40,000 were in an earlier segment.
func BenchmarkGrow(b *testing.B) {
	for _, dim := range []int{128, 384} {
		vs := newClusters(9, dim, 200, 1.5).take(50_000)
		from := written(b, vs[:40_000], nil)
		for name, from := range map[string]*Segment{"anew": nil, "from": from} {
			b.Run(fmt.Sprintf("dim=%d/%s", dim, name), func(b *testing.B) {
				start := cpuTime(b)
				for b.Loop() {
					written(b, vs, from)
				}
				b.ReportMetric((cpuTime(b)-start).Seconds()*1000/float64(b.N), "cpu-ms/op")
			})
		}
	}
}
