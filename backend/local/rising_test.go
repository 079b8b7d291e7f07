package local

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFindRisingAgreesWithBinarySearch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 11))
	for round := range 300 {
		var chunks []int64
		for at := int64(rnd.IntN(50)); len(chunks) < round; at += 1 + int64(rnd.IntN(3)) {
			if rnd.IntN(20) == 0 { // a gap, so that the rise is uneven
				at += int64(rnd.IntN(100_000))
			}
			chunks = append(chunks, at)
		}
		asked := []int64{math.MinInt64, -1, 0, math.MaxInt64}
		for _, c := range chunks {
			asked = append(asked, c-1, c, c+1)
		}
		for _, c := range asked {
			i, ok := slices.BinarySearch(chunks, c)
			if got, found := findRising(chunks, c); found != ok || ok && got != uint32(i) {
				t.Fatalf("findRising(%d chunks, %d) = %d, %v; want %d, %v", len(chunks), c, got, found, i, ok)
			}
		}
	}
}
