package local

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checks that the decoder reads numbers like package binary, in any bytes.
func TestDecoderNumbers(t *testing.T) {
	t.Parallel()
	check := func(buf []byte) {
		t.Helper()
		want, n := binary.Uvarint(buf)
		d := decoder{buf: buf}
		got := d.uint()
		signed, _ := binary.Varint(buf)
		e := decoder{buf: buf}
		gotSigned := e.int()
		if n <= 0 {
			require.ErrorIs(t, d.err, errFormat, buf)
			require.ErrorIs(t, e.err, errFormat, buf)
			require.Zero(t, got)
			require.Zero(t, gotSigned)
			return
		}
		require.NoError(t, d.err, buf)
		require.Equal(t, want, got, buf)
		require.Equal(t, signed, gotSigned, buf)
		require.Len(t, d.buf, len(buf)-n, buf)
		require.Len(t, e.buf, len(buf)-n, buf)
	}
	for shift := range 64 {
		for _, v := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1, math.MaxUint64 >> shift} {
			check(binary.AppendUvarint(nil, v))
			check(append(binary.AppendUvarint(nil, v), 7, 200, 3))
		}
	}
	r := rand.New(rand.NewPCG(4, 1))
	for range 20_000 {
		buf := make([]byte, r.IntN(12))
		for i := range buf {
			buf[i] = byte(r.Uint32())
			if r.IntN(2) == 0 {
				buf[i] |= 0x80
			}
		}
		check(buf)
	}
}
