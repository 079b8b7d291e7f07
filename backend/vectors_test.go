package backend_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

// apart opens the Vectors of one backend beside the rest of another, and keeps them
// over restarts.
type apart struct {
	mu    sync.Mutex
	rest  map[string]*inmem.Backend // by folder
	dense map[string]*inmem.Backend
}

func (a *apart) open(t testing.TB, dir string) backend.Indexers {
	a.mu.Lock()
	defer a.mu.Unlock()
	reopen := func(m map[string]*inmem.Backend) *inmem.Backend {
		b := m[dir]
		if b == nil {
			b = inmem.New()
		} else {
			var err error
			b, err = b.Reopen()
			require.NoError(t, err)
		}
		m[dir] = b
		return b
	}
	dense := reopen(a.dense)
	return closing{backend.WithVectors(reopen(a.rest), func(uid string) (backend.Vectors, error) {
		set, err := dense.OpenIndexes(context.Background(), uid)
		if err != nil {
			return nil, err
		}
		return closer{set.Vectors(), set}, nil
	}), dense}
}

// closer is a dense index that closes the set it comes from.
type closer struct {
	backend.Vectors
	set backend.IndexSet
}

func (c closer) Close() error { return c.set.Close() }

// closing closes the backend of the vectors too.
type closing struct {
	backend.Indexers
	dense *inmem.Backend
}

func (c closing) Close() error { return errors.Join(c.Indexers.Close(), c.dense.Close()) }

func TestWithVectorsContract(t *testing.T) {
	a := &apart{rest: map[string]*inmem.Backend{}, dense: map[string]*inmem.Backend{}}
	backendtest.RunIndexers(t, backendtest.IndexersHarness{Open: a.open})
}

func TestWithVectors(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const uid = "0123456789abcdef0123456789abcdef"
	part := backend.Partition{Class: backend.Memory, Sub: "s"}
	put := backend.Change{Seq: 1, Kind: backend.PutChunks, Part: part, Source: 1, SourceID: "a",
		Rows: []backend.Row{{Chunk: 1, Key: "k", Text: "hello", Vector: []float32{1, 0}}}}
	t.Run("the index beside them gets none", func(t *testing.T) {
		t.Parallel()
		rest := inmem.New()
		own := newBrute()
		x := backend.WithVectors(rest, func(string) (backend.Vectors, error) { return own, nil })
		set, err := x.OpenIndexes(ctx, uid)
		require.NoError(t, err)
		require.Len(t, set.Indexes(), 2)
		for _, ix := range set.Indexes() {
			require.NoError(t, ix.Apply(ctx, []backend.Change{put}))
		}
		assert.NotNil(t, put.Rows[0].Vector, "the caller's rows are left alone")
		hits, err := set.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: []float32{1, 0}, K: 1})
		require.NoError(t, err)
		assert.Equal(t, []backend.Hit{{Chunk: 1, Source: 1, Score: 1}}, hits)
		hits, err = set.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: part, Text: "hello", K: 1})
		require.NoError(t, err)
		assert.Len(t, hits, 1)
		require.NoError(t, set.Close())
		real, err := rest.OpenIndexes(ctx, uid)
		require.NoError(t, err)
		hits, err = real.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: []float32{1, 0}, K: 1})
		require.NoError(t, err)
		assert.Empty(t, hits)
		require.NoError(t, real.Close())
		require.NoError(t, x.RemoveIndexes(ctx, uid))
		assert.Empty(t, own.rows, "removed with the workspace")
	})
	t.Run("an error of open closes the rest", func(t *testing.T) {
		t.Parallel()
		rest := inmem.New()
		x := backend.WithVectors(rest, func(string) (backend.Vectors, error) { return nil, errors.New("no such host") })
		_, err := x.OpenIndexes(ctx, uid)
		require.ErrorContains(t, err, "no such host")
		_, err = rest.OpenIndexes(ctx, uid)
		require.NoError(t, err)
	})
}

// brute is a dense index that compares a query with every vector.
type brute struct {
	mu      sync.Mutex
	applied uint64
	rows    map[int64][]bruteRow // by source
}

type bruteRow struct {
	backend.Row
	part backend.Partition
	tags []uint64
}

func newBrute() *brute { return &brute{rows: map[int64][]bruteRow{}} }

func (b *brute) Applied() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.applied
}

func (b *brute) Apply(_ context.Context, changes []backend.Change) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range changes {
		switch c.Kind {
		case backend.PutChunks:
			b.rows[c.Source] = nil
			for _, r := range c.Rows {
				b.rows[c.Source] = append(b.rows[c.Source], bruteRow{r, c.Part, c.Tags})
			}
		case backend.PutTags:
			for i := range b.rows[c.Source] {
				b.rows[c.Source][i].tags = c.Tags
			}
		case backend.Drop:
			delete(b.rows, c.Source)
		case backend.DropSub:
			for src, rows := range b.rows {
				if len(rows) > 0 && rows[0].part.Sub == c.Part.Sub {
					delete(b.rows, src)
				}
			}
		}
		b.applied = c.Seq
	}
	return nil
}

func (b *brute) Flush(context.Context) error { return nil }

func (b *brute) Reset(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applied = 0
	clear(b.rows)
	return nil
}

func (b *brute) SearchVectors(_ context.Context, q backend.VectorQuery) (hits []backend.Hit, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for src, rows := range b.rows {
		for _, r := range rows {
			if r.part != q.Part || len(r.Vector) != len(q.Vector) || !q.Filter.Matches(r.tags) {
				continue
			}
			var score float32
			for i, x := range r.Vector {
				score += x * q.Vector[i]
			}
			hits = append(hits, backend.Hit{Chunk: r.Chunk, Source: src, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b backend.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Chunk, b.Chunk))
	})
	return hits[:min(q.K, len(hits))], nil
}

// A deployment keeps everything in memory but its vectors, which another index has.
func ExampleWithVectors() {
	be := inmem.New()
	b := backend.Compose(be, backend.WithVectors(be, func(uid string) (backend.Vectors, error) {
		return newBrute(), nil // connect to the index of workspace uid
	}))
	ctx := context.Background()
	ws, err := b.OpenWorkspace(ctx, "0123456789abcdef0123456789abcdef")
	if err != nil {
		panic(err)
	}
	part := backend.Partition{Class: backend.Raw, Sub: "photos"}
	placed, err := ws.Store().Place(ctx, []backend.Placed{{
		Incoming: backend.Incoming{Source: backend.Source{Part: part, ID: "harbour"}},
		Chunks:   []backend.Chunk{{Key: "harbour-1", Vector: []float32{0.6, 0.8}}},
	}})
	if err != nil {
		panic(err)
	}
	for _, ix := range ws.Indexes() {
		if err := ix.Apply(ctx, placed.Changes); err != nil {
			panic(err)
		}
	}
	hits, err := ws.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: []float32{0, 1}, K: 1})
	fmt.Println(len(hits), hits[0].Score, err)
	// Output: 1 0.8 <nil>
}
