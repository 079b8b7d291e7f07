package vector

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/half"
)

// halved rounds vectors to 16 bits.
func halved(vs [][]float32) [][]float32 {
	out := make([][]float32, len(vs))
	for i, v := range vs {
		out[i] = half.Rounded(nil, v)
	}
	return out
}

// TestHalfRows checks that rows that 16-bit numbers represent exactly take half the space, and that
// answers equal those of the oracle and of a segment of format version 1.
func TestHalfRows(t *testing.T) {
	t.Parallel()
	for _, dim := range dimensions(20, 128, 384) {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			t.Parallel()
			c := newClusters(5, dim, 12, .3)
			vs := halved(c.take(wholeRows + 1))
			last := len(vs) - 1
			data := segmentBytes(t, dim, InnerProduct, vs, smallIVF)
			s, err := OpenSegment(data)
			require.NoError(t, err)
			require.NoError(t, s.Verify())
			require.Equal(t, rowHalves, s.h.form)
			require.EqualValues(t, halvesVersion, s.h.version(), "earlier releases read it")
			plain := make([][]float32, len(vs))
			for i := range vs {
				plain[i] = append([]float32(nil), vs[i]...)
				plain[i][0] += 1e-5
			}
			f := segmentOf(t, dim, InnerProduct, plain, smallIVF)
			require.Equal(t, rowFloats, f.h.form, "some numbers need more")
			assert.Equal(t, 2*floatStride(dim)*len(vs), f.h.n*(f.h.rowBytes()-s.h.rowBytes()))
			exact := segmentOf(t, dim, InnerProduct, vs, nil)
			require.Equal(t, rowHalves, exact.h.form)
			require.Equal(t, rowFloats, segmentOf(t, dim, InnerProduct, vs[:last], smallIVF).h.form, "all rows of small segments are scored")
			cosine := segmentOf(t, dim, Cosine, vs, smallIVF)
			require.Equal(t, rowFloats, cosine.h.form)

			read, err := OpenSegment(data)
			require.NoError(t, err)
			read.ReadRows(bytes.NewReader(data))
			buf := make([]float32, floatStride(dim))
			for i := range vs {
				require.Equal(t, vs[i], s.Vector(uint32(i), buf))
			}
			r := rand.New(rand.NewPCG(3, 4))
			for i := range 40 {
				q := &Query{Vector: c.next(), K: 10, Recall: 1}
				switch i % 4 {
				case 1:
					q.Accept = share(r, len(vs), .5)
				case 2:
					q.Accept = share(r, len(vs), .02)
				case 3:
					q.K = len(vs)
				}
				want := brute(vs, InnerProduct, q)
				for name, p := range map[string]*Segment{"in place": s, "read": read, "without lists": exact} {
					got, err := p.Search(t.Context(), q, nil)
					require.NoError(t, err, name)
					require.Equal(t, want, got, name)
					q.Recall = .95
					a, err := p.Search(t.Context(), q, nil)
					require.NoError(t, err, name)
					b, err := exact.Search(t.Context(), q, nil)
					require.NoError(t, err, name)
					require.GreaterOrEqual(t, common(a, b), len(b)*7/10, name)
					q.Recall = 1
				}
				scores, err := s.Score(t.Context(), q.Vector, []uint32{0, 5, uint32(last)}, nil)
				require.NoError(t, err)
				wantScores, err := exact.Score(t.Context(), q.Vector, []uint32{0, 5, uint32(last)}, nil)
				require.NoError(t, err)
				require.Equal(t, wantScores, scores)
			}

			// A merge reads the rows of a segment and may use its lists again.
			again := segmentBytes(t, dim, InnerProduct, vs, &WriteOptions{ExactRows: smallIVF.ExactRows, From: s})
			m, err := OpenSegment(again)
			require.NoError(t, err)
			require.Equal(t, rowHalves, m.h.form)
			got, err := m.Search(t.Context(), &Query{Vector: vs[7], K: 5, Recall: 1}, nil)
			require.NoError(t, err)
			assert.Equal(t, brute(vs, InnerProduct, &Query{Vector: vs[7], K: 5}), got)
		})
	}
}
