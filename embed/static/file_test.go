package static

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// table builds a small CMSE1 file.
func table(dim int, words []string, scale float32) []byte {
	slots := 4
	for slots < 2*len(words) {
		slots *= 2
	}
	index := make([]uint32, slots)
	var text []byte
	offsets := []uint32{0}
	for i, w := range words {
		h, _ := hash(w)
		s := h & uint32(slots-1)
		for index[s] != 0 {
			s = (s + 1) & uint32(slots-1)
		}
		index[s] = uint32(i + 1)
		text = append(text, w...)
		offsets = append(offsets, uint32(len(text)))
	}
	for len(text)%4 != 0 {
		text = append(text, 0)
	}
	le := binary.LittleEndian
	b := []byte(magic)
	for _, n := range []int{dim, len(words), slots, len(text)} {
		b = le.AppendUint32(b, uint32(n))
	}
	b = le.AppendUint32(b, math.Float32bits(2))
	b = le.AppendUint32(b, math.Float32bits(0.05))
	for _, list := range [][]uint32{index, offsets} {
		for _, n := range list {
			b = le.AppendUint32(b, n)
		}
	}
	b = append(b, text...)
	for range words {
		b = le.AppendUint32(b, math.Float32bits(scale))
	}
	for i := range len(words) * dim {
		b = append(b, byte(i*37+1))
	}
	return b
}

func TestOpen(t *testing.T) {
	t.Parallel()
	data := table(11, []string{"tea", "rye", "bread"}, 0.01)
	e, err := Open(data)
	require.NoError(t, err)
	assert.Equal(t, 11, e.Dim())
	assert.Regexp(t, `^static-[0-9a-f]{16}$`, e.Model())
	docs, err := e.EmbedDocuments(t.Context(), []string{"Tea, rye", "unknown"})
	require.NoError(t, err)
	assert.Greater(t, norm(docs[0]), 0.0)
	for _, x := range docs[1] { // 11 times +-oov, divided by (norm + shrink)
		assert.InDelta(t, 0.05/(0.05*math.Sqrt(11)+2), math.Abs(float64(x)), 1e-7)
	}
	v, ok := e.AppendWord(nil, "bread")
	assert.True(t, ok)
	assert.InDelta(t, 1, norm(v), 1e-6)

	other, err := Open(table(11, []string{"tea", "rye", "cake"}, 0.01))
	require.NoError(t, err)
	assert.NotEqual(t, e.Model(), other.Model())

	tiny, err := Open(table(8, []string{"tea"}, math.SmallestNonzeroFloat32))
	require.NoError(t, err)
	q, err := tiny.EmbedQuery(t.Context(), "tea")
	require.NoError(t, err)
	assert.InDelta(t, 1, norm(q), 1e-6)
	zero, err := Open(table(8, []string{"tea"}, 0))
	require.NoError(t, err)
	_, ok = zero.AppendWord(nil, "tea")
	assert.False(t, ok)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	good := table(8, []string{"tea", "rye", "bread"}, 0.01) // 8 slots
	const index, offsets, scales = 32, 32 + 4*8, 32 + 4*8 + 4*4 + 12
	set := func(at int, n uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], n); return b }
	}
	for name, damage := range map[string]func([]byte) []byte{
		"empty":             func([]byte) []byte { return nil },
		"magic":             func(b []byte) []byte { b[4] = '2'; return b },
		"header only":       func(b []byte) []byte { return b[:headerSize] },
		"short by one":      func(b []byte) []byte { return b[:len(b)-1] },
		"long by one":       func(b []byte) []byte { return append(b, 0) },
		"no dimensions":     set(8, 0),
		"many dimensions":   set(8, 1<<31),
		"many words":        set(12, math.MaxUint32),
		"no slots":          set(16, 0),
		"slots not a power": set(16, 7),
		"many slots":        set(16, 1<<31),
		"fewer slots":       set(16, 2),
		"many string bytes": set(20, math.MaxUint32),
		"shrink NaN":        set(24, math.Float32bits(float32(math.NaN()))),
		"oov negative":      set(28, math.Float32bits(-1)),
		"id out of range":   func(b []byte) []byte { return set(index, 4)(set(index+4, 4)(b)) },
		"id repeated":       func(b []byte) []byte { return set(index, 1)(set(index+4, 1)(b)) },
		"full table": func(b []byte) []byte {
			return bytes.Join([][]byte{b[:32], bytes.Repeat([]byte{1, 0, 0, 0}, 8), b[64:]}, nil)
		},
		"offset falls":       set(offsets+4, 11),
		"offset out of text": set(offsets+12, 13),
		"scale infinite":     set(scales, math.Float32bits(float32(math.Inf(1)))),
		"scale NaN":          set(scales+8, math.Float32bits(float32(math.NaN()))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := Open(damage(bytes.Clone(good)))
			require.ErrorIs(t, err, ErrFormat)
			assert.Nil(t, e)
		})
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(table(8, []string{"tea", "rye", "bread"}, 0.01), "tea with zzxqv")
	f.Add(table(3, nil, 1), "x")
	f.Add([]byte(magic), "")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		e, err := Open(data)
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		q, err := e.EmbedQuery(t.Context(), text)
		require.NoError(t, err)
		require.Len(t, q, e.Dim())
		if n := norm(q); n != 0 {
			require.InDelta(t, 1, n, 1e-4)
		}
		c := e.Coverage(text)
		require.True(t, c >= 0 && c <= 1)
		_, _ = e.AppendWord(nil, text)
		vec, coverage := e.ReadQuery(text)
		require.Equal(t, q, vec)
		require.Equal(t, c, coverage)
	})
}
