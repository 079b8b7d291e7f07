package schedule

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/lease"
)

// slowEvents is an outbox that takes a while for each workspace.
type slowEvents struct {
	noEvents
	takes time.Duration
}

func (s slowEvents) HandOver(context.Context, backend.Tenant, backend.Store) error {
	time.Sleep(s.takes)
	return nil
}

// TestLongStepKeepsItsWorkspace checks that no other process takes a workspace over during a step that takes longer than a lease lasts.
func TestLongStepKeepsItsWorkspace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		be := inmem.New()
		defer func() { require.NoError(t, be.Close()) }()
		slow, other := newProcess(t, be, "a"), newProcess(t, be, "b")
		defer slow.end()
		defer func() { other.end() }()
		slow.Outbox = slowEvents{takes: 5 * lease.TTL}
		ended := make(chan error, 1)
		go func() {
			_, err := slow.serve(slow.uid)
			ended <- err
		}()
		time.Sleep(time.Second)
		for range 49 {
			time.Sleep(lease.TTL / 10)
			require.True(t, slow.Leases.Holds(lease.OfWorkspace(slow.uid)))
			require.False(t, other.works(t, slow.uid), "a step runs")
		}
		require.NoError(t, <-ended)
		time.Sleep(lease.TTL)
		free, err := other.Leases.Free(t.Context(), lease.OfWorkspace(slow.uid))
		require.NoError(t, err)
		require.True(t, free, "it is kept no longer")
	})
}
