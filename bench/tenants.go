package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
)

// tenantChunks is the number of chunks of a small tenant.
const tenantChunks = 48

// Tenants opens 20,000 tenants of 48 chunks each in one process and asks some of them.
func Tenants(ctx context.Context, c *Config) (*Report, error) {
	n := c.pick(20_000, 100)
	t, err := c.texts(ctx, tenantChunks*50, 50)
	if err != nil {
		return nil, err
	}
	part := backend.Partition{Class: backend.Memory, Sub: "user"}
	var made time.Duration
	dir, remove, err := c.kept(fmt.Sprintf("tenants-%d", n), func(dir string) error {
		start := time.Now()
		defer func() { made = time.Since(start) }()
		return fillTenants(ctx, dir, part, t, n)
	}, func(dir string) bool { return tenantWhole(ctx, dir, n-1) })
	if err != nil {
		return nil, err
	}
	defer remove()

	// The cache is unbounded at first: all opened tenants stay open. An idle tenant is one that was opened but not queried.
	x, err := local.Open(dir, &local.Options{CacheBytes: -1})
	if err != nil {
		return nil, err
	}
	defer func() { _ = x.Close() }() // nothing was written
	before := MeasureMemory(dir)
	all := make([]backend.IndexSet, n)
	start := time.Now()
	for i := range all {
		if all[i], err = x.OpenIndexes(ctx, tenantUID(i)); err != nil {
			return nil, err
		}
	}
	open := time.Since(start) / time.Duration(n)
	idle := MeasureMemory(dir).since(before)

	ask := func(tenant, q int) error {
		hits, err := all[tenant].Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: t.v.Queries[q], K: TopK})
		if err == nil && len(hits) != TopK {
			err = fmt.Errorf("tenant %d: %d hits", tenant, len(hits))
		}
		return err
	}
	var first, hot []time.Duration
	asked := min(n, 1000)
	for i := range asked {
		tenant := i * (n / asked)
		if err := all[tenant].Close(); err != nil {
			return nil, err
		}
		start := time.Now()
		if all[tenant], err = x.OpenIndexes(ctx, tenantUID(tenant)); err != nil {
			return nil, err
		}
		if err := ask(tenant, i%len(t.v.Queries)); err != nil {
			return nil, err
		}
		first = append(first, time.Since(start))
	}
	loaded := MeasureMemory(dir).since(before)
	for round := range 20 {
		for i := range asked {
			start := time.Now()
			if err := ask(i*(n/asked), (i+round)%len(t.v.Queries)); err != nil {
				return nil, err
			}
			hot = append(hot, time.Since(start))
		}
	}
	var same []time.Duration // repeated queries of the same tenant
	for i := range 20 * asked {
		start := time.Now()
		if err := ask(0, i%len(t.v.Queries)); err != nil {
			return nil, err
		}
		same = append(same, time.Since(start))
	}
	r := &Report{
		Title: fmt.Sprintf("%d tenants of %d chunks, open in one process", n, tenantChunks), Data: t.what + ", vectors of 128 dimensions by the default model, one index folder each.",
		Columns: []string{"what", "p50", "p99"},
	}
	p50, p99 := Percentiles(same)
	r.row("query of one tenant again and again", took(p50), took(p99))
	target := float64(p50.Nanoseconds()) / 1e3
	p50, p99 = Percentiles(hot)
	r.row(fmt.Sprintf("query of %d loaded tenants in turn", asked), took(p50), took(p99))
	p50, p99 = Percentiles(first)
	r.row("opening a tenant and its first answer", took(p50), took(p99))
	each := func(bytes int64, n int) float64 { return float64(bytes) / float64(n) }
	r.target("bytes an open, idle tenant", true, 1024, each(idle.index(), n), "", c.Full)
	r.target(fmt.Sprintf("query of %d chunks, p50", tenantChunks), true, 5, target, " µs", c.Full)
	r.target("cold tenant to its first answer, p50", true, 1, float64(p50.Microseconds())/1e3, " ms", c.Full)
	r.note("opening alone: %s each; of the bytes of an idle tenant %.0f are Go heap and %.0f resident pages of files (all pages of the process: %.0f, %.0f of them anonymous)",
		took(open), each(idle.Heap, n), each(idle.Mapped, n), each(idle.Resident, n), each(idle.Anonymous, n))
	r.note("a tenant that was asked keeps %.0f bytes until it is evicted", each(loaded.index()-idle.index(), asked))
	if made > 0 {
		r.note("making the tenants took %s: %s each", took(made), took(made/time.Duration(n)))
	}
	return r, nil
}

func tenantUID(i int) string { return fmt.Sprintf("%032x", uint64(i+1)*0x9e3779b97f4a7c15) }

// tenantWhole reports whether a tenant of an earlier run is complete and can be reused.
func tenantWhole(ctx context.Context, dir string, tenant int) bool {
	x, err := local.Open(dir, nil)
	if err != nil {
		return false
	}
	defer func() { _ = x.Close() }() // nothing was written
	ix, err := x.OpenIndexes(ctx, tenantUID(tenant))
	return err == nil && ix.Indexes()[0].Applied() == tenantChunks
}

func fillTenants(ctx context.Context, dir string, part backend.Partition, t *texts, n int) error {
	x, err := local.Open(dir, &local.Options{CacheBytes: -1})
	if err != nil {
		return err
	}
	for tenant := range n {
		if err := fillTenant(ctx, x, part, t, tenant); err != nil {
			return errors.Join(err, x.Close())
		}
	}
	return x.Close()
}

func fillTenant(ctx context.Context, x *local.Indexers, part backend.Partition, t *texts, tenant int) error {
	ix, err := x.OpenIndexes(ctx, tenantUID(tenant))
	if err != nil {
		return err
	}
	changes := make([]backend.Change, tenantChunks)
	for i := range changes {
		row := (tenant*tenantChunks + i) % t.v.N
		changes[i] = backend.Change{
			Seq: uint64(i + 1), Kind: backend.PutChunks, Part: part, Source: int64(i + 1), Tags: tagsOf(i),
			Rows: []backend.Row{{Chunk: int64(i + 1), Text: t.docs[row], Vector: t.v.Row(row)}},
		}
	}
	index := ix.Indexes()[0]
	if err := index.Apply(ctx, changes); err != nil {
		return err
	}
	if err := index.Flush(ctx); err != nil {
		return err
	}
	return ix.Close()
}
