//go:build cgo

package durability_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// gatedBackend has indexes whose Apply waits for a gate, and reports each Flush.
type gatedBackend struct {
	backend.Backend
	gate    chan struct{} // nil: open
	flushed func(st backend.Store)
	tended  atomic.Int64
}

func (b *gatedBackend) OpenWorkspace(ctx context.Context, uid string) (backend.Workspace, error) {
	ws, err := b.Backend.OpenWorkspace(ctx, uid)
	if err != nil {
		return nil, err
	}
	return &gatedWorkspace{ws, b}, nil
}

type gatedWorkspace struct {
	backend.Workspace
	of *gatedBackend
}

func (w *gatedWorkspace) Indexes() (out []backend.Index) {
	for _, x := range w.Workspace.Indexes() {
		out = append(out, &gatedIndex{x, w})
	}
	return out
}

type gatedIndex struct {
	backend.Index
	in *gatedWorkspace
}

func (x *gatedIndex) Apply(ctx context.Context, changes []backend.Change) error {
	if gate := x.in.of.gate; gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return x.Index.Apply(ctx, changes)
}

func (x *gatedIndex) Maintain(context.Context) (more bool, err error) {
	x.in.of.tended.Add(1)
	return false, nil
}

func (x *gatedIndex) Flush(ctx context.Context) error {
	if f := x.in.of.flushed; f != nil {
		f(x.in.Store())
	}
	return x.Index.Flush(ctx)
}

// numberedMemories returns n memories with numbers from from on.
func numberedMemories(from, n int) (b contextmem.MemoryBatch) {
	for i := from; i < from+n; i++ {
		b.Memories = append(b.Memories, contextmem.Memory{ID: fmt.Sprint("m", i), Text: numberedText(i)})
	}
	return b
}

func numberedText(i int) string {
	return fmt.Sprintf("The box number%d stands on shelf%d beside a %s.", i, i%97, [...]string{"kettle", "lantern", "ladder", "mirror"}[i%4])
}

// TestRecallWhileIndexesCatchUp opens a deployment again whose indexes lack most of the stored items, as after a kill.
// A recall returns indexed items and reports that others are missing, and returns all once the indexes have caught up.
func TestRecallWhileIndexesCatchUp(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := t.TempDir()
	open := func(gate chan struct{}) (*contextmem.Service, contextmem.Sub) {
		stores, err := sqlite.Open(ctx, dir, nil)
		require.NoError(t, err)
		indexers, err := local.Open(dir, nil)
		require.NoError(t, err)
		svc, err := contextmem.New(ctx, &gatedBackend{Backend: backend.Compose(stores, indexers), gate: gate}, nil)
		require.NoError(t, err)
		return svc, svc.Tenant("acme").Sub("a")
	}
	const indexed, all = 300, 3000
	svc, sub := open(nil)
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	_, err := sub.AddMemories(ctx, numberedMemories(0, indexed))
	require.NoError(t, err)
	require.NoError(t, svc.Drain(ctx))
	require.NoError(t, svc.Close())
	old := filepath.Join(t.TempDir(), "old")
	indexes := indexDirs(t, dir)
	require.Len(t, indexes, 1)
	copyDir(t, indexes[0], old)

	svc, sub = open(nil)
	for at := indexed; at < all; at += 500 {
		_, err = sub.AddMemories(ctx, numberedMemories(at, min(500, all-at)))
		require.NoError(t, err)
	}
	require.NoError(t, svc.Drain(ctx))
	require.NoError(t, svc.Close())
	copyDir(t, old, indexes[0]) // what a kill leaves

	gate := make(chan struct{})
	svc, sub = open(gate)
	ask := func(i int) (found bool, warnings []string) {
		t.Helper()
		res, err := sub.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: fmt.Sprintf("Where is number%d?", i)})
		require.NoError(t, err)
		for _, c := range res.Chunks {
			found = found || c.Text == numberedText(i)
		}
		for _, w := range res.Warnings {
			warnings = append(warnings, w.Code)
		}
		return found, warnings
	}
	found, warnings := ask(7)
	assert.True(t, found)
	assert.Contains(t, warnings, "partial")
	found, warnings = ask(all - 7)
	assert.False(t, found, "it is not indexed")
	assert.Contains(t, warnings, "partial")
	_, err = sub.DeleteItems(canceled(ctx), contextmem.DeleteItemsRequest{IDs: []string{"m7"}})
	require.Error(t, err)
	close(gate)
	_, err = sub.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"m8"}}) // returns when indexes have followed
	require.NoError(t, err)
	for _, i := range []int{7, all / 2, all - 7} {
		found, warnings = ask(i)
		assert.True(t, found, i)
		assert.NotContains(t, warnings, "partial")
	}
	found, _ = ask(8)
	assert.False(t, found, "it was deleted")
	require.NoError(t, svc.Close())
}

// TestFlushWhileMoreIsQueued checks that indexes are flushed while more items are queued, so that after a kill during a
// long ingestion only a little has to be indexed again.
func TestFlushWhileMoreIsQueued(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var mu sync.Mutex
	var queued []int
	var starts atomic.Bool
	held := &gatedEmbedder{Embedder: static.New(), gate: make(chan struct{})}
	be := &gatedBackend{Backend: inmem.New(), flushed: func(st backend.Store) {
		counts, _, err := st.Backlog(ctx)
		if err != nil || !starts.Load() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		queued = append(queued, counts[backend.Queued])
	}}
	svc, err := contextmem.New(ctx, be, &contextmem.Options{Embedder: held, Workers: 1})
	require.NoError(t, err)
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	sub := svc.Tenant("acme").Sub("a")
	const all = 20_000
	for at := 0; at < all; at += 1000 {
		_, err := sub.AddMemories(ctx, numberedMemories(at, 1000))
		require.NoError(t, err)
	}
	starts.Store(true)
	close(held.gate)
	require.NoError(t, svc.Drain(ctx))
	require.NoError(t, svc.Close())
	require.NotEmpty(t, queued)
	assert.Positive(t, queued[0], "indexes are written while more is queued")
}

// TestIndexesAreMaintainedWhenQuiet checks that maintenance of indexes waits until nothing was added for a while.
func TestIndexesAreMaintainedWhenQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		be := &gatedBackend{Backend: inmem.New()}
		svc, err := contextmem.New(t.Context(), be, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		for i := range 12 {
			_, err := svc.Tenant("acme").Sub("a").AddMemories(t.Context(), numberedMemories(10*i, 10))
			require.NoError(t, err)
			time.Sleep(5 * time.Second)
			require.Zero(t, be.tended.Load(), i)
		}
		time.Sleep(25 * time.Second)
		assert.Equal(t, int64(1), be.tended.Load())
		time.Sleep(time.Minute)
		assert.Equal(t, int64(1), be.tended.Load(), "nothing has changed")
	})
}

// gatedEmbedder embeds documents once its gate is open.
type gatedEmbedder struct {
	contextmem.Embedder
	gate chan struct{}
}

func (e *gatedEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	select {
	case <-e.gate:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return e.Embedder.EmbedDocuments(ctx, texts)
}

func canceled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// indexDirs returns the folders that have files of indexes.
func indexDirs(t *testing.T, dir string) (out []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(path) == "MANIFEST" {
			out = append(out, filepath.Dir(path))
		}
		return err
	}))
	return out
}
