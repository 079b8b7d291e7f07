package contextmem_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/meter"
	"github.com/contextmem/contextmem/observe"
)

// BenchmarkMeasured reports which share of a recall's processor time measuring and counting take.
func BenchmarkMeasured(b *testing.B) {
	for _, n := range []int{20, 1000} {
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			ctx := b.Context()
			svc, err := contextmem.Open(ctx, b.TempDir(), nil)
			require.NoError(b, err)
			defer svc.Close()
			_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
			require.NoError(b, err)
			sub := svc.Tenant("acme").Sub("u")
			var ms []contextmem.Memory
			for i := range n {
				ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("Note %d: the harbour master of berth %d keeps the %d keys of the lantern room.", i, i%17, i%5)})
			}
			_, err = sub.Remember(ctx, ms...)
			require.NoError(b, err)
			var recall time.Duration
			begun := cpuTime()
			rounds := 0
			for b.Loop() {
				_, err := sub.Recall(ctx, contextmem.Recall{Query: "who keeps the keys of the lantern room?", Class: contextmem.ClassMemory})
				require.NoError(b, err)
				rounds++
			}
			recall = (cpuTime() - begun) / time.Duration(rounds)
			const k = 200_000
			o := observe.Several(meter.NewService())
			begun = cpuTime()
			var l observe.Laps // recalls take theirs from a pool
			for range k {
				l.Begin(observe.Recall, true)
				for _, name := range []string{"open", "rank", "read", "order", "succeed", "judge", "context", "shape"} { // those of a plain recall
					l.Lap(name)
				}
				l.Mode = "fast"
				l.End(ctx, o, nil)
			}
			measuring := (cpuTime() - begun) / k
			b.ReportMetric(float64(measuring.Nanoseconds()), "measuring-ns/op")
			b.ReportMetric(100*float64(measuring)/float64(recall), "%measuring")
		})
	}
}
