package workspace_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// halfStores opens stores of which every deletion after the first fails.
type halfStores struct{ *inmem.Backend }

func (b halfStores) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	s, err := b.Backend.OpenStore(ctx, uid)
	if err != nil {
		return nil, err
	}
	return &halfStore{Store: s, Purger: s.(backend.Purger), EventEraser: s.(backend.EventEraser)}, nil
}

type halfStore struct {
	backend.Store
	backend.Purger
	backend.EventEraser
	deletions int
}

func (s *halfStore) Delete(ctx context.Context, part backend.Partition, ids []string, o backend.DeleteOptions) ([]backend.DeleteResult, error) {
	if s.deletions++; s.deletions > 1 {
		return nil, servicetest.ErrDown
	}
	return s.Store.Delete(ctx, part, ids, o)
}

// TestHalfDeleted checks that who waits for an item hears that it is deleted, though the call that deleted it failed at another class.
func TestHalfDeleted(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(context.Context, contextmem.Sub) error{
		"delete": func(ctx context.Context, s contextmem.Sub) error {
			_, err := s.DeleteItems(ctx, contextmem.DeleteItemsRequest{Class: contextmem.ClassAll, IDs: []string{"f"}})
			return err
		},
		"erase": func(ctx context.Context, s contextmem.Sub) error {
			_, err := s.Erase(ctx, contextmem.EraseRequest{IDs: []string{"f"}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			h := &servicetest.HangingEmbedder{Embedder: static.New(), Release: make(chan struct{})}
			be := inmem.New()
			svc, err := contextmem.New(ctx, backend.Compose(halfStores{be}, be), &contextmem.Options{Embedder: h})
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			defer close(h.Release)
			sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
			_, err = sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "f", Name: "f.txt", Data: []byte("Tea is ready.")}}})
			require.NoError(t, err)
			told := make(chan []contextmem.ItemStatus, 1)
			go func() {
				st, _ := sub.Wait(ctx, "f")
				told <- st
			}()
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				st, err := sub.Status(ctx, "f")
				assert.NoError(c, err)
				assert.Equal(c, contextmem.StatusProcessing, st[0].Status)
			}, time.Minute, time.Millisecond, "a worker has it, which changes nothing more")
			require.ErrorIs(t, remove(ctx, sub), servicetest.ErrDown)
			require.True(t, (<-told)[0].Unknown)
		})
	}
}
