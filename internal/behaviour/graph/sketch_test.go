package graph_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// plainStore has none of the optional interfaces of a store, but counts the relations that it reads.
type plainStore struct {
	backend.Store
	whole *atomic.Int64
}

func (s plainStore) Relations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	out, err := s.Store.Relations(ctx, q)
	s.whole.Add(int64(len(out)))
	return out, err
}

// sketchingStore is a plainStore that sketches relations.
type sketchingStore struct{ plainStore }

func (s sketchingStore) SketchRelations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	return s.Store.(backend.RelationSketcher).SketchRelations(ctx, q)
}

func (s sketchingStore) RelationsByNum(ctx context.Context, part backend.Partition, nums []int64) ([]*backend.Relation, error) {
	out, err := s.Store.(backend.RelationSketcher).RelationsByNum(ctx, part, nums)
	s.whole.Add(int64(len(out)))
	return out, err
}

// largeIndexes have memories that seem to be many. They find no vectors before relations were sketched.
type largeIndexes struct {
	backend.Indexers
	sketched chan struct{}
}

func (x largeIndexes) OpenIndexes(ctx context.Context, uid string) (backend.IndexSet, error) {
	set, err := x.Indexers.OpenIndexes(ctx, uid)
	return largeSet{set, x.sketched}, err
}

type largeSet struct {
	backend.IndexSet
	sketched chan struct{}
}

func (s largeSet) Vectors() backend.Vectors { return lateVectors{s.IndexSet.Vectors(), s.sketched} }
func (s largeSet) Graph() backend.Graph     { return largeGraph{s.IndexSet.Graph()} }

type lateVectors struct {
	backend.Vectors
	sketched chan struct{}
}

func (v lateVectors) SearchVectors(ctx context.Context, q backend.VectorQuery) ([]backend.Hit, error) {
	if q.Part.Class == backend.Memory {
		select {
		case <-v.sketched:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return v.Vectors.SearchVectors(ctx, q)
}

type largeGraph struct{ backend.Graph }

func (g largeGraph) Info(ctx context.Context, part backend.Partition) (backend.GraphInfo, error) {
	info, err := g.Graph.Info(ctx, part)
	if part.Class == backend.Memory {
		info.Chunks += 20_000
	}
	return info, err
}

// tellingStore is a sketchingStore that tells when it sketches.
type tellingStore struct {
	sketchingStore
	sketched chan struct{}
}

func (s tellingStore) SketchRelations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	if q.Part.Class == backend.Memory {
		s.sketched <- struct{}{}
	}
	return s.sketchingStore.SketchRelations(ctx, q)
}

// TestGraphContextReadsFewRelationsWhole checks that the graph context of an entity with many relations is that of a store that reads all of them
// whole, and that only those which are shown or hold a word of the question are read whole. Where memories are many, it is read beside ranking.
func TestGraphContextReadsFewRelationsWhole(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	openWith := func(wrap func(backend.Store) backend.Store, sketched chan struct{}) *contextmem.Service {
		stores, err := sqlite.Open(ctx, dir, &sqlite.Options{CacheBytes: 1 << 17}) // too small for the relations
		require.NoError(t, err)
		var indexers backend.Indexers
		indexers, err = local.Open(dir, nil)
		require.NoError(t, err)
		if sketched != nil {
			indexers = largeIndexes{indexers, sketched}
		}
		svc, err := contextmem.New(ctx, backend.Compose(servicetest.WrappedStores{DB: stores, Wrap: wrap}, indexers), nil)
		require.NoError(t, err)
		return svc
	}
	questions := []string{"Where does Anna Lind work?", "Whom did Anna Lind visit in Town7ia?", "What does Anna Lind like?", "Who is Anna Lind?",
		"Does Anna Lind know Bert Olsen?", "When did Anna Lind buy the lantern?"}
	ask := func(svc *contextmem.Service) (out []*contextmem.GraphContext) {
		for _, class := range []contextmem.Class{contextmem.ClassMemory, contextmem.ClassKnowledge} {
			for _, q := range questions {
				res, err := svc.Tenant("t").Sub("a").Recall(ctx, contextmem.Recall{Query: q, Class: class, GraphContext: true, MaxResults: 5})
				require.NoError(t, err)
				checkGraph(t, res)
				out = append(out, res.Graph)
			}
		}
		return out
	}
	var whole atomic.Int64
	svc := openWith(func(s backend.Store) backend.Store { return sketchingStore{plainStore{s, &whole}} }, nil)
	_, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "t"})
	require.NoError(t, err)
	sub := svc.Tenant("t").Sub("a")
	var m contextmem.MemoryBatch
	var files []contextmem.File
	for i := range 150 {
		text := fmt.Sprintf("Anna Lind visited Town%dia.", i)
		switch i % 50 {
		case 11:
			text = "Anna Lind works at Zorblax and bought a lantern."
		case 22:
			text = "Anna Lind likes green tea. It was cold."
		case 33:
			text = "Anna Lind met Bert Olsen in Lisbon."
		}
		m.Memories = append(m.Memories, contextmem.Memory{ID: fmt.Sprint("m", i), Text: text})
		files = append(files, contextmem.File{ID: fmt.Sprint("f", i), Data: []byte(text)})
	}
	_, err = sub.AddMemories(ctx, m)
	require.NoError(t, err)
	servicetest.AddDocuments(t, sub, files...)
	require.NoError(t, svc.Drain(ctx))
	whole.Store(0)
	sketched := ask(svc)
	few := whole.Load()
	require.Equal(t, sketched, ask(svc), "through the caches")
	require.NoError(t, svc.Close())

	whole.Store(0)
	svc = openWith(func(s backend.Store) backend.Store { return plainStore{s, &whole} }, nil)
	require.Equal(t, ask(svc), sketched)
	require.Less(t, 2*few, whole.Load(), "relations that were read whole")
	require.NoError(t, svc.Close())

	told := make(chan struct{}, 1)
	svc = openWith(func(s backend.Store) backend.Store { return tellingStore{sketchingStore{plainStore{s, &whole}}, told} }, told)
	require.Equal(t, ask(svc), sketched, "read beside ranking")
	require.NoError(t, svc.Close())
}
