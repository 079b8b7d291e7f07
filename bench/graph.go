package bench

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/contextmem/contextmem/bench/internal/hnsw"
)

// graph is the hnswlib index of an experiment, with M = 16 and ef_construction = 200.
type graph struct {
	*hnsw.Index
	cpu   time.Duration // to build
	bytes int64         // resident
}

// buildGraph builds a graph of the rows of v in order, or loads one that an earlier run kept.
func buildGraph(c *Config, v *Vectors) (*graph, error) {
	path := filepath.Join(c.Keep, fmt.Sprintf("hnsw-%d-%dx%d", c.Seed, v.N, v.Dim))
	before := MeasureMemory("").Resident
	if c.Keep != "" {
		if b, err := os.ReadFile(path + ".cpu"); err == nil && len(b) == 8 {
			x, err := hnsw.Load(v.Dim, path)
			if err != nil {
				return nil, err
			}
			return &graph{x, time.Duration(binary.LittleEndian.Uint64(b)), MeasureMemory("").Resident - before}, nil
		}
	}
	x, err := hnsw.New(v.Dim, v.N, 16, 200)
	if err != nil {
		return nil, err
	}
	start := begin()
	for i := range v.N {
		if err := x.Add(v.Row(i), i); err != nil {
			return nil, err
		}
	}
	_, cpu := start.since()
	g := &graph{x, cpu, MeasureMemory("").Resident - before}
	if c.Keep == "" {
		return g, nil
	}
	if err := x.Save(path); err != nil {
		return nil, err
	}
	return g, os.WriteFile(path+".cpu", binary.LittleEndian.AppendUint64(nil, uint64(cpu)), 0o600)
}

// tune returns the smallest ef, to within 5 %, whose recall over the queries is at least
// want.
func (g *graph) tune(v *Vectors, t *Truth, want float64) (ef int, err error) {
	reached := func(ef int) (bool, error) {
		g.SetEf(ef)
		sum := 0.0
		for q, vec := range v.Queries {
			rows, err := g.Search(vec, TopK)
			if err != nil {
				return false, err
			}
			sum += t.Recall(q, rows)
		}
		return sum >= want*float64(len(v.Queries)), nil
	}
	low, high := TopK, 2*TopK
	for ; high < v.N; high *= 2 {
		ok, err := reached(high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		low = high
	}
	for high-low > max(1, low/20) {
		mid := (low + high) / 2
		ok, err := reached(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, nil
}
