package contextmem_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// vocabulary has a few hundred ordinary words, so that texts look like notes.
var vocabulary = strings.Fields(`kettle harbour window garden market bridge winter summer letter silver copper engine ticket
station river mountain forest island village castle kitchen table chair bottle basket ladder hammer pencil paper camera
mirror carpet curtain blanket pillow candle lantern battery machine computer keyboard printer screen number meeting project
report budget invoice payment customer supplier delivery contract schedule deadline holiday birthday wedding festival concert
museum library school teacher student doctor nurse hospital medicine headache allergy breakfast lunch dinner coffee bread
butter cheese tomato potato onion garlic pepper lemon orange apple cherry almond walnut honey sugar flour yeast recipe oven
bicycle tractor airplane ferry passport luggage hotel reservation weather thunder snow rainbow sunrise evening morning
neighbour cousin brother sister mother father daughter uncle friend colleague manager painter sailor farmer baker carpenter
likes prefers bought sold moved visited painted repaired forgot promised ordered cancelled finished started borrowed returned
quickly slowly early late often never always yesterday together alone outside upstairs green yellow purple heavy broken quiet`)

// note returns a sentence of n words, which depends on seed only.
func note(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 99))
	var b strings.Builder
	fmt.Fprintf(&b, "Anna%d", seed%500)
	for range n {
		b.WriteByte(' ')
		b.WriteString(vocabulary[int(float64(len(vocabulary))*rng.Float64()*rng.Float64())])
	}
	b.WriteByte('.')
	return b.String()
}

func openDir(b *testing.B) (*contextmem.Service, contextmem.Tenant) {
	b.Helper()
	svc, err := contextmem.Open(b.Context(), b.TempDir(), nil)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, svc.Close()) })
	_, err = svc.CreateTenant(b.Context(), contextmem.TenantSpec{ID: "bench"})
	require.NoError(b, err)
	tn := svc.Tenant("bench")
	require.NoError(b, tn.WaitReady(b.Context()))
	return svc, tn
}

func fill(b *testing.B, svc *contextmem.Service, s contextmem.Sub, from, n int) {
	b.Helper()
	for start := from; start < from+n; start += 500 {
		var batch contextmem.MemoryBatch
		for i := start; i < min(start+500, from+n); i++ {
			batch.Memories = append(batch.Memories, contextmem.Memory{ID: fmt.Sprintf("m%07d", i), Text: note(uint64(i), 20)})
		}
		_, err := s.AddMemories(b.Context(), batch)
		require.NoError(b, err)
	}
	require.NoError(b, svc.Drain(b.Context()))
}

// BenchmarkIngest measures short memories from the first call to completed,
// graph included.
func BenchmarkIngest(b *testing.B) {
	svc, tn := openDir(b)
	const n = 5000
	round := 0
	for b.Loop() {
		fill(b, svc, tn.Sub(fmt.Sprintf("s%d", round)), 0, n)
		round++
	}
	b.ReportMetric(float64(n*round)/b.Elapsed().Seconds(), "memories/s")
}

// BenchmarkAcknowledge measures one durable AddMemories of one memory.
func BenchmarkAcknowledge(b *testing.B) {
	svc, tn := openDir(b)
	s := tn.Sub("s")
	var took []time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		_, err := s.AddMemories(b.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: note(uint64(i), 20)}}})
		took = append(took, time.Since(start))
		require.NoError(b, err)
		i++
	}
	percentiles(b, took)
	require.NoError(b, svc.Drain(b.Context()))
}

func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkRecall measures recall of ten chunks out of 5,000.
func BenchmarkRecall(b *testing.B) {
	svc, tn := openDir(b)
	s := tn.Sub("s")
	fill(b, svc, s, 0, 5000)
	for _, way := range []struct {
		name  string
		mode  contextmem.Mode
		graph bool
	}{{"fast", contextmem.ModeFast, false}, {"thinking", contextmem.ModeThinking, false}, {"fast with graph", contextmem.ModeFast, true}, {"thinking with graph", contextmem.ModeThinking, true}} {
		b.Run(way.name, func(b *testing.B) {
			var took []time.Duration
			i, cpu := 0, cpuTime()
			for b.Loop() {
				q := contextmem.Recall{Class: contextmem.ClassMemory, Mode: way.mode, GraphContext: way.graph, Query: "When did Anna" + fmt.Sprint(i%500) + " buy the " + vocabulary[i%len(vocabulary)] + " for her " + vocabulary[(i*7)%len(vocabulary)] + "?"}
				start := time.Now()
				res, err := s.Recall(b.Context(), q)
				took = append(took, time.Since(start))
				if err != nil || len(res.Chunks) == 0 {
					b.Fatal("no result", err)
				}
				i++
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(i), "cpu-µs")
			percentiles(b, took)
		})
	}
}

// BenchmarkMemory reports the heap in use while 100,000 chunks are served, after a restart and 1,000 recalls.
func BenchmarkMemory(b *testing.B) {
	if testing.Short() {
		b.Skip("fills 100,000 chunks")
	}
	dir := b.TempDir()
	const n = 100_000
	for b.Loop() {
		svc, err := contextmem.Open(b.Context(), dir, nil)
		require.NoError(b, err)
		tn := svc.Tenant("bench")
		if _, err := svc.CreateTenant(b.Context(), contextmem.TenantSpec{ID: "bench"}); err == nil {
			require.NoError(b, tn.WaitReady(b.Context()))
			fill(b, svc, tn.Sub("s"), 0, n)
			require.NoError(b, svc.Close())
			svc, err = contextmem.Open(b.Context(), dir, nil)
			require.NoError(b, err)
			tn = svc.Tenant("bench")
		}
		for i := range 1000 {
			_, err := tn.Sub("s").Recall(b.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: note(uint64(i), 5)})
			require.NoError(b, err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MiB")
		b.ReportMetric(float64(residentBytes())/(1<<20), "resident-MiB")
		require.NoError(b, svc.Close())
	}
}
