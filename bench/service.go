package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/contextmem/contextmem"
)

// vectorTenant opens a service in dir with a tenant for vectors of one length.
func vectorTenant(ctx context.Context, dir string, dim int) (*contextmem.Service, contextmem.Tenant, error) {
	svc, err := contextmem.Open(ctx, dir, nil)
	if err != nil {
		return nil, contextmem.Tenant{}, err
	}
	tn := svc.Tenant("bench")
	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "bench", Embeddings: true, Dimension: dim})
	if err == nil {
		err = tn.WaitReady(ctx)
	}
	if err != nil {
		_ = svc.Close()
		return nil, contextmem.Tenant{}, err
	}
	return svc, tn, nil
}

// DurableInsert inserts one vector a call, durable and searchable when the call returns. It compares
// with inserting a row of the same bytes into a SQLite table that is as durable.
func DurableInsert(ctx context.Context, c *Config) (*Report, error) {
	n, dim := c.pick(3000, 100), 384
	v := Clusters(c.Seed, n, dim, 1)
	dir, remove, err := c.scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	svc, tn, err := vectorTenant(ctx, filepath.Join(dir, "service"), dim)
	if err != nil {
		return nil, err
	}
	defer func() { _ = svc.Close() }() // scratch
	db, err := openSQLite(ctx, filepath.Join(dir, "plain.db"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, "CREATE TABLE rows(id TEXT PRIMARY KEY, vector BLOB)"); err != nil {
		return nil, err
	}
	insert, err := db.PrepareContext(ctx, "INSERT INTO rows VALUES(?, ?)")
	if err != nil {
		return nil, err
	}
	defer insert.Close()
	sub := tn.Sub("bench")
	alone := context.WithoutCancel(ctx) // else the driver starts a goroutine for each row, to watch ctx
	var ours, plain []time.Duration
	var oursCPU, plainCPU time.Duration
	for i := range n {
		id := fmt.Sprintf("row-%08d", i)
		start := begin()
		_, err := sub.InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{
			{SourceID: id, Vectors: []contextmem.Vector{{ChunkID: id, Vector: v.Row(i)}}},
		}})
		if err != nil {
			return nil, err
		}
		wall, cpu := start.since()
		ours, oursCPU = append(ours, wall), oursCPU+cpu
		start = begin()
		if _, err := insert.ExecContext(alone, id, bytesOf(v.Row(i))); err != nil {
			return nil, err
		}
		wall, cpu = start.since()
		plain, plainCPU = append(plain, wall), plainCPU+cpu
		if i%500 == 0 {
			found, err := sub.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: v.Row(i), Limit: 1})
			if err != nil {
				return nil, err
			}
			if len(found) == 0 || found[0].ChunkID != id {
				return nil, fmt.Errorf("row %d is not found on return", i)
			}
		}
	}
	r := &Report{
		Title: "Durable insert of one vector, searchable on return", Data: fmt.Sprintf("%d vectors of %d dimensions, one a call, taking turns; both with synchronous=FULL in WAL mode.", n, dim),
		Columns: []string{"insert", "p50", "p99", "CPU each"},
	}
	p50, p99 := Percentiles(ours)
	q50, q99 := Percentiles(plain)
	r.row("contextmem, InsertVectors", took(p50), took(p99), took(oursCPU/time.Duration(n)))
	r.row("SQLite, one row of the same bytes", took(q50), took(q99), took(plainCPU/time.Duration(n)))
	r.target("p50 over a plain row", true, 1.4, ratio(p50, q50), "x", c.Full)
	return r, nil
}

// BulkIngest loads vectors that the caller supplies: through the durable service, and into the index alone.
func BulkIngest(ctx context.Context, c *Config) (*Report, error) {
	n := c.pick(200_000, 4000)
	t, err := c.texts(ctx, n, 1)
	if err != nil {
		return nil, err
	}
	dir, remove, err := c.scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	r := &Report{
		Title: "Bulk ingest of chunks with vectors", Data: t.what + fmt.Sprintf(", vectors of %d dimensions; %d processors.", t.v.Dim, runtime.GOMAXPROCS(0)),
		Columns: []string{"ingest", "chunks a second", "chunks a CPU second"},
	}
	line := func(name string, e elapsed) float64 {
		wall, cpu := e.since()
		rate := float64(n) / wall.Seconds()
		r.row(name, fmt.Sprintf("%.0f", rate), fmt.Sprintf("%.0f", float64(n)/cpu.Seconds()))
		return rate
	}

	svc, tn, err := vectorTenant(ctx, filepath.Join(dir, "service"), t.v.Dim)
	if err != nil {
		return nil, err
	}
	defer func() { _ = svc.Close() }() // scratch
	sub := tn.Sub("bench")
	start := begin()
	const perSource, perCall = 20, 2000 // the most that a call takes
	for at := 0; at < n; at += perCall {
		var in contextmem.InsertVectorsRequest
		for s := at; s < min(at+perCall, n); s += perSource {
			src := contextmem.VectorSource{SourceID: fmt.Sprintf("s%08d", s)}
			for i := s; i < min(s+perSource, n); i++ {
				src.Vectors = append(src.Vectors, contextmem.Vector{ChunkID: fmt.Sprintf("c%08d", i), Vector: unitOf(t.v.Row(i))})
			}
			in.Sources = append(in.Sources, src)
		}
		if _, err := sub.InsertVectors(ctx, in); err != nil {
			return nil, err
		}
	}
	rate := line("contextmem, InsertVectors: durable, indexed, 2000 a call", start)
	r.target("chunks a second, durable and searchable (vectors alone)", false, 33_000, rate, "", c.Full)

	l, err := OpenLocal(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }() // scratch
	start = begin()
	if err := l.Apply(ctx, 0, n, t.v.Row, func(i int) string { return t.docs[i] }); err != nil {
		return nil, err
	}
	if err := l.index.Flush(ctx); err != nil {
		return nil, err
	}
	rate = line(localName+": vectors and texts, flushed to files", start)
	r.target("chunks a second into the index (vectors and texts)", false, 33_000, rate, "", c.Full)
	if err := l.Settle(ctx); err != nil {
		return nil, err
	}
	line("the same, with all background work done", start)
	return r, nil
}

// unitOf returns v, or a unit vector in place of the zero vector, which tenants reject.
func unitOf(v []float32) []float32 {
	for _, x := range v {
		if x != 0 {
			return v
		}
	}
	out := make([]float32, len(v))
	out[0] = 1
	return out
}
