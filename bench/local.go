package bench

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
)

// Local is contextmem's own index of one workspace, used through its backend interface as
// the service does.
type Local struct {
	dir   string
	x     *local.Indexers
	ix    backend.IndexSet
	part  backend.Partition
	seq   uint64
	index backend.Index
}

// Tags of the rows of an experiment, for filters by share.
const (
	tagAll  uint64 = 1
	tag50   uint64 = 2
	tag10   uint64 = 3
	tag1    uint64 = 4
	workUID        = "00000000000000000000000000000001"
)

// OpenLocal opens the indexes in dir, which may be empty. The cache is unbounded.
func OpenLocal(dir string) (*Local, error) { return openLocal(dir, &local.Options{CacheBytes: -1}) }

// OpenMapped opens the indexes in dir so that they memory-map float32 rows.
func OpenMapped(dir string) (*Local, error) {
	return openLocal(dir, &local.Options{CacheBytes: -1, MapVectors: true})
}

func openLocal(dir string, o *local.Options) (*Local, error) {
	x, err := local.Open(dir, o)
	if err != nil {
		return nil, err
	}
	l := &Local{dir: dir, x: x, part: backend.Partition{Class: backend.Knowledge, Sub: "bench"}}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Local) open() (err error) {
	if l.ix, err = l.x.OpenIndexes(context.Background(), workUID); err != nil {
		return err
	}
	l.index = l.ix.Indexes()[0]
	l.seq = l.index.Applied()
	return nil
}

// Close ends background work and closes the indexes.
func (l *Local) Close() error { return l.x.Close() }

// Reopen closes the workspace and opens it from its files.
func (l *Local) Reopen() error {
	if err := l.ix.Close(); err != nil {
		return err
	}
	return l.open()
}

// Refill clears the index and fills it again.
func (l *Local) Refill(ctx context.Context, n int, vec func(i int) []float32, text func(i int) string) error {
	if err := l.index.Reset(ctx); err != nil {
		return err
	}
	l.seq = 0
	return l.Fill(ctx, n, vec, text)
}

// Batch is the number of rows applied in one call.
const Batch = 1000

// Fill applies n rows, flushes, and waits until the resulting background work is done. Row i
// is chunk i+1 of source i+1; vec and text may be nil.
func (l *Local) Fill(ctx context.Context, n int, vec func(i int) []float32, text func(i int) string) error {
	if err := l.Apply(ctx, 0, n, vec, text); err != nil {
		return err
	}
	if err := l.index.Flush(ctx); err != nil {
		return err
	}
	return l.Settle(ctx)
}

// Apply applies rows from..to-1.
func (l *Local) Apply(ctx context.Context, from, to int, vec func(i int) []float32, text func(i int) string) error {
	for at := from; at < to; at += Batch {
		changes := make([]backend.Change, 0, Batch)
		for i := at; i < min(at+Batch, to); i++ {
			l.seq++
			row := backend.Row{Chunk: int64(i + 1)}
			if vec != nil {
				row.Vector = vec(i)
			}
			if text != nil {
				row.Text = text(i)
			}
			changes = append(changes, backend.Change{
				Seq: l.seq, Kind: backend.PutChunks, Part: l.part, Source: int64(i + 1),
				Tags: tagsOf(i), Rows: []backend.Row{row},
			})
		}
		if err := l.index.Apply(ctx, changes); err != nil {
			return err
		}
	}
	return nil
}

// Settle waits until the index has no background work left.
func (l *Local) Settle(ctx context.Context) error {
	for {
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			return err
		}
		if !bytes.Contains(stacks.Bytes(), []byte("backend/local.(*background)")) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("background work of the index: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// SearchVectors returns the rows nearest to q that pass the filter.
func (l *Local) SearchVectors(ctx context.Context, q []float32, f backend.Filter) ([]int, error) {
	hits, err := l.ix.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: l.part, Vector: q, K: TopK, Filter: f})
	return rowsOf(hits), err
}

// SearchKeywords returns the best rows for text that pass the filter.
func (l *Local) SearchKeywords(ctx context.Context, text string, f backend.Filter) ([]int, error) {
	hits, err := l.ix.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: l.part, Text: text, K: TopK, Filter: f})
	return rowsOf(hits), err
}

func rowsOf(hits []backend.Hit) []int {
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = int(h.Chunk - 1)
	}
	return out
}

// Share is a filter with the share of rows that pass it.
type Share struct {
	Name   string
	Filter backend.Filter
	tag    uint64
}

// Shares lists the filters of the experiments. The first is no filter.
var Shares = []Share{
	{Name: "none"},
	{Name: "50%", Filter: backend.Filter{All: [][]uint64{{tag50}}}, tag: tag50},
	{Name: "10%", Filter: backend.Filter{All: [][]uint64{{tag10}}}, tag: tag10},
	{Name: "1%", Filter: backend.Filter{All: [][]uint64{{tag1}}}, tag: tag1},
}

// Allows returns a function that reports whether row i passes the filter; nil if all rows pass.
func (s Share) Allows() func(i int) bool {
	if s.tag == 0 {
		return nil
	}
	return func(i int) bool { return hasTag(i, s.tag) }
}

// hasTag reports whether row i has the tag. It decides by a hash, so that tags are independent of the vectors.
func hasTag(i int, tag uint64) bool {
	h := (uint64(i)+1)*0x9e3779b97f4a7c15 ^ tag*0xbf58476d1ce4e5b9
	h ^= h >> 29
	h *= 0x94d049bb133111eb
	h = (h ^ h>>32) % 100
	switch tag {
	case tag50:
		return h < 50
	case tag10:
		return h < 10
	case tag1:
		return h < 1
	}
	return true
}

func tagsOf(i int) []uint64 {
	tags := []uint64{tagAll}
	for _, t := range []uint64{tag50, tag10, tag1} {
		if hasTag(i, t) {
			tags = append(tags, t)
		}
	}
	return tags
}
