//go:build cgo

package durability_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	const text, title = "The kettle in the pantry is made of copper.", "Inventory of kettles"
	made := func(t *testing.T) (dir, uid string) {
		dir = filepath.Join(t.TempDir(), "d")
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		servicetest.Remember(t, acme.Sub("a"), contextmem.Memory{ID: "bad", Title: title, Text: text}, contextmem.Memory{ID: "good", Text: "Alice lives in Lisbon."})
		info, err := acme.Info(t.Context())
		require.NoError(t, err)
		r, err := svc.Verify(t.Context())
		require.NoError(t, err)
		require.True(t, r.OK(), "%v", r.Problems)
		require.Equal(t, 1, r.Tenants)
		require.Greater(t, r.Rows, int64(8))
		require.Equal(t, int64(2), r.Indexed)
		require.NoError(t, svc.Close())
		return dir, info.UID
	}
	verify := func(t *testing.T, dir string) *contextmem.VerifyReport {
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		r, err := svc.Verify(t.Context())
		require.NoError(t, err)
		return r
	}
	for name, stored := range map[string]string{"text": text, "title": title} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, uid := made(t)
			flipBits(t, servicetest.StoreFiles(t, dir, uid), stored)
			r := verify(t, dir)
			var of []contextmem.Problem
			for _, p := range r.Problems {
				require.Equal(t, "store", p.Where)
				require.NotContains(t, p.What, "kettle")
				if p.ItemID != "" { // entities belong to many
					require.Equal(t, contextmem.Problem{Org: "default", Tenant: "acme", UID: uid, Where: "store", Sub: "a", Class: contextmem.ClassMemory, ItemID: "bad", What: p.What}, p)
					of = append(of, p)
				}
			}
			require.NotEmpty(t, of)
		})
	}
	t.Run("index file", func(t *testing.T) {
		t.Parallel()
		dir, uid := made(t)
		files, err := filepath.Glob(filepath.Join(dir, "tenants", uid[:2], uid, "index", "*.idx"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		b, err := os.ReadFile(files[0])
		require.NoError(t, err)
		b[len(b)/2] ^= 1
		require.NoError(t, os.WriteFile(files[0], b, 0o600))
		r := verify(t, dir)
		require.NotEmpty(t, r.Problems)
		require.Equal(t, "index", r.Problems[0].Where)
		require.True(t, verify(t, dir).OK(), "it was built anew")
	})
	t.Run("store", func(t *testing.T) {
		t.Parallel()
		dir, uid := made(t)
		for _, f := range servicetest.StoreFiles(t, dir, uid) {
			require.NoError(t, os.WriteFile(f, make([]byte, 8192), 0o600))
		}
		r := verify(t, dir)
		require.Len(t, r.Problems, 1)
		require.Equal(t, "store", r.Problems[0].Where)
	})
}

// writtenTo is a store to which somebody writes an item just before each of the next reads of its last sequence number.
type writtenTo struct {
	backend.Store
	t    *testing.T
	left *atomic.Int64
}

func (s writtenTo) LastSeq() uint64 {
	if n := s.left.Add(-1); n >= 0 {
		_, err := s.Place(s.t.Context(), []backend.Placed{{
			Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Memory, Sub: "a"}, ID: fmt.Sprint("late", n), Kind: "text",
				CreatedAt: time.Now(), UpdatedAt: time.Now()}},
			Chunks: []backend.Chunk{{Key: fmt.Sprint("late", n), Text: "The lantern is in the shed."}},
		}})
		assert.NoError(s.t, err)
	}
	return s.Store.LastSeq()
}

// TestVerifyWhileTheIndexesLag checks that a chunk written just after the indexes were brought up to date is not reported as missing in them.
func TestVerifyWhileTheIndexesLag(t *testing.T) {
	t.Parallel()
	ctx, dir, left := t.Context(), t.TempDir(), new(atomic.Int64)
	stores, err := sqlite.Open(ctx, dir, nil)
	require.NoError(t, err)
	indexers, err := local.Open(dir, nil)
	require.NoError(t, err)
	wrap := func(s backend.Store) backend.Store { return writtenTo{s, t, left} }
	svc, err := contextmem.New(ctx, backend.Compose(servicetest.WrappedStores{DB: stores, Wrap: wrap}, indexers), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
	_, err = sub.Remember(ctx, contextmem.Memory{ID: "first", Text: "The box is in the cellar."})
	require.NoError(t, err)
	left.Store(6) // three reads in each of the first two attempts
	r, err := svc.Verify(ctx)
	require.NoError(t, err)
	require.True(t, r.OK(), "%v", r.Problems)
	require.Negative(t, left.Load())
	require.Positive(t, r.Indexed)
}

// TestVerifyBesideWriters checks that writes during a verification are not reported as problems.
func TestVerifyBesideWriters(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.Open(t.Context(), filepath.Join(t.TempDir(), "d"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
	stop := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			_, err := sub.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: fmt.Sprint(n % 20), Text: fmt.Sprintf("Box %d is in the cellar.", n)}}})
			if !assert.NoError(t, err) {
				return
			}
			if n%3 == 0 {
				_, err := sub.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: []string{fmt.Sprint((n + 7) % 20)}})
				if !assert.NoError(t, err) {
					return
				}
			}
		}
	})
	defer writers.Wait()
	defer close(stop)
	for range 10 {
		r, err := svc.Verify(t.Context())
		require.NoError(t, err)
		require.True(t, r.OK(), "%v", r.Problems)
	}
}
