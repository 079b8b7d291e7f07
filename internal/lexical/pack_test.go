package lexical

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for width := range 33 {
		var values, got [blockDocs]uint32
		for i := range values {
			values[i] = uint32(r.Uint64() & (1<<width - 1))
		}
		values[r.IntN(blockDocs)] = uint32(uint64(1)<<width - 1)
		require.Equal(t, width, widthOf(&values))
		packed := pack([]byte{1, 2}, &values, width)
		require.Len(t, packed, 2+width*blockDocs/8)
		unpack(&got, append(packed[2:], make([]byte, tailBytes)...), width)
		require.Equal(t, values, got, "width %d", width)
	}
}

func BenchmarkUnpack(b *testing.B) {
	var values [blockDocs]uint32
	data := make([]byte, 32*blockDocs/8+tailBytes)
	for b.Loop() {
		unpack(&values, data, 7)
	}
}
