package contextmem_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// BenchmarkEncryption measures the cost of encryption at rest: the processor time per memory in batches of 500, the
// median recall, and the first recall after the deployment is opened again.
func BenchmarkEncryption(b *testing.B) {
	const total, batch = 10_000, 500
	for name, key := range map[string][]byte{"plain": nil, "encrypted": bytes.Repeat([]byte{1}, 32)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				dir, r := b.TempDir(), rand.New(rand.NewPCG(1, 2))
				open := func() (*contextmem.Service, contextmem.Sub) {
					svc, err := contextmem.Open(b.Context(), dir, &contextmem.Options{EncryptionKey: key})
					require.NoError(b, err)
					return svc, svc.Tenant("t").Sub("s")
				}
				svc, sub := open()
				_, err := svc.CreateTenant(b.Context(), contextmem.TenantSpec{ID: "t"})
				require.NoError(b, err)
				require.NoError(b, svc.Tenant("t").WaitReady(b.Context()))
				cpu := cpuTime()
				for n := 0; n < total; n += batch {
					var m []contextmem.Memory
					for i := range batch {
						m = append(m, contextmem.Memory{Text: fmt.Sprintf("On day %d Anna met guest %d in room %d and spoke of boat %d.", n+i, r.IntN(900), r.IntN(400), r.IntN(5000))})
					}
					_, err := sub.AddMemories(b.Context(), contextmem.MemoryBatch{Memories: m})
					require.NoError(b, err)
				}
				require.NoError(b, svc.Drain(b.Context()))
				b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/total, "cpu-us/memory")
				recall := func() time.Duration {
					start := time.Now()
					_, err := sub.Recall(b.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: fmt.Sprintf("what was said of boat %d in room %d?", r.IntN(5000), r.IntN(400))})
					require.NoError(b, err)
					return time.Since(start)
				}
				var took []time.Duration
				for range 400 {
					took = append(took, recall())
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "us/recall")
				require.NoError(b, svc.Close())
				svc, sub = open()
				b.ReportMetric(float64(recall().Microseconds()), "us/first-recall")
				require.NoError(b, svc.Close())
			}
		})
	}
}
