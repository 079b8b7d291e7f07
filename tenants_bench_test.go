package contextmem_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem"
)

// chunksPerTenant is the size of the tenants that these benchmarks make: a user with
// some dozens of memories.
const chunksPerTenant = 48

// BenchmarkTenants creates many small tenants, opens the service again, and uses each tenant once. It reports the cost
// of the open service, the time of a tenant's first recall, and the files that stay open.
func BenchmarkTenants(b *testing.B) {
	for _, n := range []int{1000, 20_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			if n > 1000 && testing.Short() {
				b.Skip("makes 20,000 tenants")
			}
			for b.Loop() {
				benchTenants(b, n)
			}
		})
	}
}

func benchTenants(b *testing.B, n int) {
	dir := b.TempDir()
	svc, err := contextmem.Open(b.Context(), dir, nil)
	require.NoError(b, err)
	start := time.Now()
	makeTenants(b, svc, n)
	b.ReportMetric(float64(n)/time.Since(start).Seconds(), "made/s")
	require.NoError(b, svc.Close())

	empty := heap()
	start = time.Now()
	svc, err = contextmem.Open(b.Context(), dir, nil)
	require.NoError(b, err)
	b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "open-ms")
	fixed := heap() // the model and the page cache of the registry are there either way
	b.ReportMetric(float64(fixed-empty)/float64(n), "B/tenant-opened")

	took := make([]time.Duration, n)
	for i := range n {
		at := i * 7919 % n // any order
		start := time.Now()
		recallOne(b, svc, at)
		took[i] = time.Since(start)
	}
	percentiles(b, took)
	b.ReportMetric(float64(heap()-fixed)/float64(n), "B/tenant-used")
	b.ReportMetric(float64(countFiles()), "files")
	b.ReportMetric(float64(countMaps()), "maps")
	b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines")
	b.ReportMetric(float64(residentBytes())/(1<<20), "resident-MiB")

	start = time.Now()
	const warm = 2000
	for range warm {
		recallOne(b, svc, 1)
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/warm, "warm-µs")
	require.NoError(b, svc.Close())
}

func tenantName(i int) string { return fmt.Sprintf("tenant-%05d", i) }

// makeTenants creates tenants with chunksPerTenant memories each, several at once.
func makeTenants(b *testing.B, svc *contextmem.Service, n int) {
	g, ctx := errgroup.WithContext(b.Context())
	g.SetLimit(16)
	for i := range n {
		g.Go(func() error { return makeTenant(ctx, svc, i) })
	}
	require.NoError(b, g.Wait())
	require.NoError(b, svc.Drain(b.Context()))
}

func makeTenant(ctx context.Context, svc *contextmem.Service, i int) error {
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: tenantName(i)}); err != nil {
		return err
	}
	tn := svc.Tenant(tenantName(i))
	if err := tn.WaitReady(ctx); err != nil {
		return err
	}
	var batch contextmem.MemoryBatch
	for m := range chunksPerTenant {
		batch.Memories = append(batch.Memories, contextmem.Memory{ID: fmt.Sprint(m), Text: note(uint64(i*chunksPerTenant+m), 12)})
	}
	_, err := tn.Sub("u").AddMemories(ctx, batch)
	return err
}

// recallOne recalls by two words of one memory of a tenant.
func recallOne(b *testing.B, svc *contextmem.Service, i int) {
	words := strings.Fields(note(uint64(i*chunksPerTenant+i%chunksPerTenant), 12))
	q := "what about the " + words[1] + " and the " + words[2]
	res, err := svc.Tenant(tenantName(i)).Sub("u").Recall(b.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: q})
	if err != nil || len(res.Chunks) == 0 {
		b.Fatal("no answer of ", tenantName(i), " ", err)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// countFiles returns the number of open descriptors of the process, or 0 if the system does not report them.
func countFiles() int {
	es, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(es)
}

// countMaps returns the number of memory mappings of the process, or 0 if the system does not report them.
func countMaps() int {
	data, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	return strings.Count(string(data), "\n")
}
