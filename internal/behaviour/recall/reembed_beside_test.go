package recall_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestReembedBesideWriters calls Reembed while items are replaced, edited and deleted, over a real store.
func TestReembedBesideWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	svc, err := contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: servicetest.NewRotated(0)})
	require.NoError(t, err)
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	m := &reembedding{t: t, svc: svc, sub: svc.Tenant("acme").Sub("")}
	var ms []contextmem.Memory
	for i := range reembeddedItems {
		ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", i), Text: reembeddedText(i)})
	}
	servicetest.Remember(t, m.sub, ms...)
	require.NoError(t, svc.Close())
	m.svc, err = contextmem.Open(t.Context(), dir, &contextmem.Options{Embedder: servicetest.NewRotated(3), PreviousEmbedders: []contextmem.Embedder{servicetest.NewRotated(0)}})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.svc.Close()) }()
	m.sub = m.svc.Tenant("acme").Sub("")
	over := make(chan struct{})
	var wg sync.WaitGroup
	last := make([]string, reembeddedItems) // text of each item; empty: deleted
	for w := range 3 {
		wg.Go(func() {
			for n := 0; ; n++ {
				for i := w; i < reembeddedItems; i += 3 {
					select {
					case <-over:
						return
					default:
					}
					id := fmt.Sprint("m", i)
					if n%3 == 2 && i%6 == 0 {
						_, err := m.sub.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{id}})
						assert.NoError(t, err)
						last[i] = ""
						continue
					}
					last[i] = fmt.Sprintf("Round %d. %s", n, reembeddedText(i))
					_, err := m.sub.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: last[i]}}})
					assert.NoError(t, err)
				}
			}
		})
	}
	wg.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			_, err := m.sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "the kettle in Oslo"})
			assert.NoError(t, err)
		}
	})
	m.reembed()
	close(over)
	wg.Wait()
	require.NoError(t, m.svc.Drain(t.Context()))
	var want []string
	for i, text := range last {
		id := fmt.Sprint("m", i)
		f, err := m.sub.Fetch(t.Context(), contextmem.FetchRequest{ID: id})
		if text == "" {
			text, err = reembeddedText(i), nil
			if f, err = m.sub.Fetch(t.Context(), contextmem.FetchRequest{ID: id}); errors.Is(err, contextmem.ErrNotFound) {
				continue // deleted, or not reached at all
			}
		}
		require.NoError(t, err)
		assert.Equal(t, text, f.Text)
		want = append(want, id)
	}
	m.requireVectorHits(want)
	assert.Zero(t, m.reembed())
}

// TestReembedBesideRecalls checks that concurrent recalls that open the tenant and fail do not make Reembed fail.
func TestReembedBesideRecalls(t *testing.T) {
	t.Parallel()
	for range 5 {
		m := startReembedding(t, servicetest.NewRotated(3))
		over := make(chan struct{})
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for began := false; ; {
					select {
					case <-over:
						return
					default:
					}
					_, err := m.sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
					began = began || err == nil
					if began {
						assert.NoError(t, err, "once it has begun recalls go on")
					}
				}
			})
		}
		n, err := m.svc.Tenant("acme").Reembed(t.Context())
		close(over)
		wg.Wait()
		require.NoError(t, err)
		require.Equal(t, reembeddedItems, n)
	}
}

func TestReembedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	m := startReembedding(t, servicetest.NewRotated(3))
	var total atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			n, err := m.svc.Tenant("acme").Reembed(t.Context())
			assert.NoError(t, err)
			total.Add(int64(n))
		})
	}
	wg.Wait()
	assert.EqualValues(t, reembeddedItems, total.Load())
	m.requireVectorHits(reembeddedIDs())
}
