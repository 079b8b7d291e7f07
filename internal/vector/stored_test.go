package vector

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/fixed"
)

// stepped rounds vectors to 12 bits.
func stepped(t *testing.T, vs [][]float32) [][]float32 {
	out := make([][]float32, len(vs))
	for i, v := range vs {
		var ok bool
		out[i], ok = fixed.Rounded(nil, v)
		require.True(t, ok)
	}
	return out
}

// TestForms checks that rows which a short form represents exactly, with few exceptions, take the space of that form, and that every answer
// equals that of the oracle.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, dim := range dimensions(20, 100, 128, 384) {
		for _, odd := range []int{0, 70} {
			t.Run(fmt.Sprintf("%d dimensions, %d odd", dim, odd), func(t *testing.T) {
				t.Parallel()
				c := newClusters(5, dim, 12, .3)
				given := c.take(wholeRows + 100)
				form, vs := rowHalves, halved(given)
				if dim >= fixed.MinDim && dim <= fixed.MaxDim {
					form, vs = rowTwelves, stepped(t, given)
				}
				r := rand.New(rand.NewPCG(3, 4))
				for i := range odd {
					vs[i*29] = append([]float32(nil), vs[i*29]...)
					vs[i*29][3] += 1e-5
				}
				vs[11] = make([]float32, dim)
				parts := map[string]*Segment{}
				for name, o := range map[string]*WriteOptions{"lists": smallIVF, "no lists": nil} {
					data := segmentBytes(t, dim, InnerProduct, vs, o)
					s, err := OpenSegment(data)
					require.NoError(t, err)
					require.NoError(t, s.Verify())
					require.Equal(t, form, s.h.form)
					require.Equal(t, odd, s.h.odd)
					if form == rowTwelves {
						require.EqualValues(t, formsVersion, s.h.version())
						assert.Equal(t, s.h.n*codeStride(dim)/2, s.h.oddAt())
					}
					read, err := OpenSegment(data)
					require.NoError(t, err)
					read.ReadRows(bytes.NewReader(data))
					parts[name], parts[name+", read"] = s, read
				}
				for name, s := range parts {
					buf := make([]float32, codeStride(dim))
					for i := range vs {
						require.Equal(t, vs[i], s.Vector(uint32(i), buf), name)
						require.Equal(t, vs[i], s.Vector(uint32(i), nil), name)
					}
				}
				for i := range 15 {
					q := &Query{Vector: c.next(), K: 10, Recall: 1}
					switch i % 5 {
					case 1:
						q.Accept = share(r, len(vs), .5)
					case 2:
						q.Accept = share(r, len(vs), .02)
					case 3:
						q.K = len(vs)
					case 4:
						q.Vector = vs[29*(i/5)]
					}
					want := brute(vs, InnerProduct, q)
					rows := []uint32{0, 5, 29, uint32(len(vs) - 1)}
					scores := make([]float32, len(rows))
					for j, row := range rows {
						scores[j] = brute(vs[row:row+1], InnerProduct, &Query{Vector: q.Vector, K: 1})[0].Score
					}
					for name, p := range parts {
						q.Recall = 1
						got, err := p.Search(t.Context(), q, nil)
						require.NoError(t, err, name)
						require.Equal(t, want, got, name)
						q.Recall = .95
						got, err = p.Search(t.Context(), q, nil)
						require.NoError(t, err, name)
						require.GreaterOrEqual(t, common(got, want), len(want)*7/10, name)
						have, err := p.Score(t.Context(), q.Vector, rows, nil)
						require.NoError(t, err)
						require.Equal(t, scores, have, name)
					}
				}
				// A merge reads the rows of a segment and may reuse its lists.
				again := segmentBytes(t, dim, InnerProduct, vs, &WriteOptions{ExactRows: smallIVF.ExactRows, From: parts["lists"]})
				m, err := OpenSegment(again)
				require.NoError(t, err)
				require.Equal(t, form, m.h.form)
				require.NoError(t, m.Verify())
			})
		}
	}
}

// TestMixedForms checks that the form that fits most rows is chosen, and float32 if both fit too few.
func TestMixedForms(t *testing.T) {
	t.Parallel()
	c := newClusters(5, 128, 12, .3)
	given := c.take(wholeRows + 100)
	halves, steps := halved(given), stepped(t, given)
	for _, x := range []struct {
		halves, steps int // rows that fit these forms; the rest fit neither
		want          rowForm
		odd           int
	}{
		{len(given), 0, rowHalves, 0}, {len(given) - 100, 100, rowHalves, 100}, {100, len(given) - 100, rowTwelves, 100}, {0, len(given), rowTwelves, 0}, {50, 50, rowFloats, 0},
	} {
		vs := append([][]float32(nil), given...)
		copy(vs, halves[:x.halves])
		copy(vs[x.halves:], steps[x.halves:x.halves+x.steps])
		s := segmentOf(t, 128, InnerProduct, vs, nil)
		assert.Equal(t, x.want, s.h.form, x)
		assert.Equal(t, x.odd, s.h.odd, x)
		for i := range vs {
			require.Equal(t, vs[i], s.Vector(uint32(i), nil))
		}
	}
}

// TestFormsOfHeaders checks that a header that no release writes is refused, even with a correct checksum.
func TestFormsOfHeaders(t *testing.T) {
	t.Parallel()
	vs := stepped(t, newClusters(5, 64, 12, .3).take(wholeRows+1))
	data := segmentBytes(t, 64, InnerProduct, vs, nil)
	for name, change := range map[string]func(b []byte){
		"later":           func(b []byte) { b[8] = formsVersion + 1 },
		"earlier":         func(b []byte) { b[8] = halvesVersion },
		"another form":    func(b []byte) { b[formAt] = 3 },
		"odd of none":     func(b []byte) { b[8], b[formAt], b[oddAt] = formatVersion, 0, 1 },
		"more than there": func(b []byte) { binary.LittleEndian.PutUint32(b[oddAt:], wholeRows+2) },
	} {
		b := append([]byte(nil), data...)
		change(b)
		binary.LittleEndian.PutUint32(b[headerSumAt:], crc32.Checksum(b[:headerSumAt], castagnoli))
		_, err := OpenSegment(b)
		assert.ErrorIs(t, err, ErrFormat, name)
	}
}
