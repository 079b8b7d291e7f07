package contextmem_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// BenchmarkRecallBeside reports the time of recalls while memories are ingested in bulk, a fifth of them is replaced,
// and a fifth is deleted.
func BenchmarkRecallBeside(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 6000
	}
	svc, tn := openDir(b)
	s := tn.Sub("s")
	fill(b, svc, s, 0, 2500)
	for _, work := range []struct {
		name string
		run  func(b *testing.B)
	}{
		{"ingest", func(b *testing.B) { fill(b, svc, s, 2500, n) }},
		{"replace", func(b *testing.B) {
			for from := 0; from < n; from += n / 20 {
				var batch contextmem.MemoryBatch
				for i := range n / 100 {
					batch.Memories = append(batch.Memories, contextmem.Memory{ID: fmt.Sprintf("m%07d", from+i), Text: note(uint64(from+i+7_000_000), 20)})
				}
				_, err := s.AddMemories(b.Context(), batch)
				require.NoError(b, err)
			}
			require.NoError(b, svc.Drain(b.Context()))
		}},
		{"delete", func(b *testing.B) {
			for from := 0; from < n; from += n / 20 {
				var ids []string
				for i := range n / 100 {
					ids = append(ids, fmt.Sprintf("m%07d", from+n/50+i))
				}
				for ids := range slices.Chunk(ids, 100) {
					_, err := s.DeleteItems(b.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: ids})
					require.NoError(b, err)
				}
			}
		}},
	} {
		b.Run(work.name, func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			var took, worked []time.Duration
			var asking sync.WaitGroup
			asking.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					q := contextmem.Recall{Class: contextmem.ClassMemory, Query: "When did Anna" + fmt.Sprint(i%500) + " buy the " + vocabulary[i%len(vocabulary)] + "?"}
					start, cpu := time.Now(), cpuTime()
					if _, err := s.Recall(context.WithoutCancel(ctx), q); err != nil {
						b.Error(err)
						return
					}
					took, worked = append(took, time.Since(start)), append(worked, cpuTime()-cpu)
					time.Sleep(2 * time.Millisecond)
				}
			})
			for b.Loop() {
				work.run(b)
			}
			stop()
			asking.Wait()
			percentiles(b, took)
			b.ReportMetric(float64(took[len(took)*999/1000].Microseconds()), "p99.9-µs")
			b.ReportMetric(float64(took[len(took)-1].Microseconds()), "slowest-µs")
			// What this process worked meanwhile is what a recall waited for, whatever else the machine does.
			slices.Sort(worked)
			b.ReportMetric(float64(worked[len(worked)*99/100].Microseconds()), "p99-cpu-µs")
			b.ReportMetric(float64(worked[len(worked)-1].Microseconds()), "slowest-cpu-µs")
		})
	}
}
