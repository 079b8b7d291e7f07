package durability_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// childDelete is set for a child process that deletes many memories, in the way that it names.
const childDelete = "CONTEXTMEM_TEST_CHILD_DELETE"

// manyDeleted is a number of memories that are deleted in several transactions.
const manyDeleted = 5600

// deletionsOfMany are the ways to delete many items with one call.
var deletionsOfMany = map[string]func(ctx context.Context, s contextmem.Sub) error{
	"filter": func(ctx context.Context, s contextmem.Sub) error {
		_, err := s.DeleteMatching(ctx, content.Matching{Class: contextmem.ClassMemory, Filters: contextmem.Filters{Additional: map[string]any{"old": "yes"}}})
		return err
	},
	"session": func(ctx context.Context, s contextmem.Sub) error {
		_, err := s.DeleteMatching(ctx, content.Matching{Class: contextmem.ClassMemory, Session: "s"})
		return err
	},
	"collection": func(ctx context.Context, s contextmem.Sub) error { return s.Delete(ctx) },
}

func oldMemory(id string) contextmem.Memory {
	return contextmem.Memory{ID: id, Text: "Box " + id + " is red.", Session: "s", Additional: map[string]any{"old": "yes"}}
}

// deleteMany begins the deletion and prints when a part of the memories is deleted. Then it goes on until it is killed.
func deleteMany(dir, how string) error {
	ctx := context.Background()
	svc, err := contextmem.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	s := svc.Tenant("acme").Sub("old")
	done := make(chan error, 1)
	go func() { done <- deletionsOfMany[how](ctx, s) }()
	for {
		p, err := s.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory})
		if err != nil {
			return err
		}
		if p.Total < manyDeleted {
			fmt.Println("half")
			return <-done
		}
	}
}

func countMemories(t *testing.T, s contextmem.Sub) int {
	t.Helper()
	p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	return p.Total
}

// addMany adds the memories that are to be deleted, and one that is not.
func addMany(t *testing.T, tn contextmem.Tenant) {
	t.Helper()
	for n := 0; n < manyDeleted; n += 400 {
		var b contextmem.MemoryBatch
		for i := range 400 {
			b.Memories = append(b.Memories, oldMemory(fmt.Sprint(n+i)))
		}
		_, err := tn.Sub("old").AddMemories(t.Context(), b)
		require.NoError(t, err)
	}
	servicetest.Remember(t, tn.Sub("other"), oldMemory("other"))
}

// TestKilledDeletionIsFinished kills a process that has deleted some of many items by a filter, a session, or with their collection. The next one
// deletes the others, without being asked, and nothing that was added since.
func TestKilledDeletionIsFinished(t *testing.T) {
	t.Parallel()
	for how := range deletionsOfMany {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && how != "filter" {
				t.Skip("starts processes")
			}
			dir := filepath.Join(t.TempDir(), "data")
			svc, err := contextmem.Open(t.Context(), dir, nil)
			require.NoError(t, err)
			addMany(t, servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}))
			require.NoError(t, svc.Drain(t.Context()))
			require.NoError(t, svc.Close())
			killAfterWord(t, "half", childDir+"="+dir, childDelete+"="+how)

			svc, err = contextmem.Open(t.Context(), dir, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			old, other := svc.Tenant("acme").Sub("old"), svc.Tenant("acme").Sub("other")
			servicetest.Remember(t, old, oldMemory("new"))
			require.NoError(t, svc.Drain(t.Context()))
			require.Equal(t, 1, countMemories(t, old))
			require.Equal(t, 1, countMemories(t, other))
			_, err = old.Fetch(t.Context(), contextmem.FetchRequest{ID: "new", Class: contextmem.ClassMemory})
			require.NoError(t, err)
		})
	}
}

// TestFailedDeletionIsFinished lets a large deletion fail in its midst. The service then finishes it, and another deletion works.
func TestFailedDeletionIsFinished(t *testing.T) {
	t.Parallel()
	h := servicetest.OpenPausable(t, contextmem.TenantSpec{})
	addMany(t, h.Tn)
	h.Plan.Add(backendtest.Fault{Method: "Store.Delete", Call: h.Plan.Calls("Store.Delete") + 3, Err: servicetest.ErrDown})
	require.ErrorIs(t, deletionsOfMany["filter"](t.Context(), h.Tn.Sub("old")), servicetest.ErrDown)
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Zero(c, countMemories(t, h.Tn.Sub("old"))) }, time.Minute, 50*time.Millisecond)
	require.Equal(t, 1, countMemories(t, h.Tn.Sub("other")))
}
