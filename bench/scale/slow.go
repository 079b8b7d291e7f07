package scale

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// database opens stores with simulated latencies.
type database struct {
	*inmem.Backend
	read, write  time.Duration
	conns        chan struct{}
	reads, opens atomic.Int64
	writes       atomic.Int64
}

// take simulates one round trip over one of the connections and counts it.
func (d *database) take(latency time.Duration, count *atomic.Int64) {
	d.conns <- struct{}{}
	time.Sleep(latency)
	<-d.conns
	count.Add(1)
}

// OpenStore implements backend.Stores.
func (d *database) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	d.opens.Add(1)
	d.take(d.read, &d.reads)
	s, err := d.Backend.OpenStore(ctx, uid)
	if err != nil {
		return nil, err
	}
	return &slow{s, d}, nil
}

// slow is a store with simulated latencies in the calls that recall and ingestion make.
type slow struct {
	backend.Store
	d *database
}

func (s *slow) reading() { s.d.take(s.d.read, &s.d.reads) }
func (s *slow) writing() { s.d.take(s.d.write, &s.d.writes) }

// Get implements backend.Store.
func (s *slow) Get(ctx context.Context, name string) ([]byte, error) {
	s.reading()
	return s.Store.Get(ctx, name)
}

// Accept implements backend.Store.
func (s *slow) Accept(ctx context.Context, items []backend.Incoming) ([]backend.Accepted, error) {
	s.writing()
	return s.Store.Accept(ctx, items)
}

// Claim implements backend.Store.
func (s *slow) Claim(ctx context.Context, token string, now, leaseUntil time.Time, limit int, maxBytes int64) ([]backend.Claim, error) {
	s.writing()
	return s.Store.Claim(ctx, token, now, leaseUntil, limit, maxBytes)
}

// Index implements backend.Store.
func (s *slow) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	s.writing()
	return s.Store.Index(ctx, items)
}

// Finish implements backend.Store.
func (s *slow) Finish(ctx context.Context, items []backend.Finished) ([]bool, error) {
	s.writing()
	return s.Store.Finish(ctx, items)
}

// Chunks implements backend.Store.
func (s *slow) Chunks(ctx context.Context, nums []int64, now time.Time) ([]*backend.Hydrated, error) {
	s.reading()
	return s.Store.Chunks(ctx, nums, now)
}

// Sources implements backend.Store.
func (s *slow) Sources(ctx context.Context, part backend.Partition, ids []string) ([]*backend.Source, error) {
	s.reading()
	return s.Store.Sources(ctx, part, ids)
}

// Changes implements backend.Store.
func (s *slow) Changes(ctx context.Context, after uint64, limit int) ([]backend.Change, error) {
	s.reading()
	return s.Store.Changes(ctx, after, limit)
}

// Relations implements backend.Store.
func (s *slow) Relations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	s.reading()
	return s.Store.Relations(ctx, q)
}
