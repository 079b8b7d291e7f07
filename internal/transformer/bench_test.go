package transformer

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// realSize is a checkpoint of the size of multilingual-e5-small or bge-small, but for its vocabulary.
var realSize = sync.OnceValue(func() checkpoint {
	return randomCheckpoint(Config{
		ModelType: "bert", Vocab: 1000, Hidden: 384, Layers: 12, Heads: 12, Intermediate: 1536,
		MaxPositions: 512, TypeVocab: 2, LayerNormEps: 1e-12, Act: "gelu",
	}, 3)
})

// BenchmarkEncode runs batches on one goroutine, at every level that the machine has
// but the portable one.
func BenchmarkEncode(b *testing.B) {
	m := realSize().load(b)
	for _, k := range testKernels()[1:] {
		m.k = k
		for _, size := range []struct{ texts, tokens int }{{1, 12}, {1, 40}, {1, 120}, {1, 512}, {32, 40}} {
			b.Run(fmt.Sprintf("%s/%dx%d", k.name, size.texts, size.tokens), func(b *testing.B) {
				lengths := make([]int, size.texts)
				for i := range lengths {
					lengths[i] = size.tokens
				}
				texts := randomTexts(m.cfg, lengths...)
				for b.Loop() {
					_, err := m.Encode(context.Background(), texts, PoolMean)
					require.NoError(b, err)
				}
				b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N*size.texts), "ms/text")
			})
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	c := realSize()
	for name, f := range forms {
		file := c.as(f)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := Load(c.cfg, file, nil)
				require.NoError(b, err)
			}
		})
	}
}
