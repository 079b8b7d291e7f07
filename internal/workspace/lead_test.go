package workspace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/lease"
)

// TestLeads: who works on a workspace applies changes to its indexes. Another process does where nobody works on it, or who does is not quick, and gives it
// back within some seconds.
func TestLeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const uid = "0123456789abcdef0123456789abcdef"
		reg := inmem.New().Registry()
		ctx, end := context.WithCancel(t.Context())
		defer end()
		process := func() *Set {
			s := &Set{Config: Config{Leases: lease.New(reg)}}
			go s.Leases.Run(ctx, func() {})
			synctest.Wait()
			return s
		}
		worker, other, third := process(), process(), process()
		leads := func(s *Set, waited time.Duration) bool {
			t.Helper()
			mine, err := s.leads(ctx, uid, waited)
			require.NoError(t, err)
			return mine
		}
		works := func(s *Set) bool {
			t.Helper()
			mine, _, err := s.Leases.Take(ctx, lease.OfWorkspace(uid))
			require.NoError(t, err)
			return mine
		}
		assert.False(t, leads(other, 0), "somebody may begin to work on it")
		assert.True(t, leads(other, freeAfter), "nobody does")
		assert.False(t, leads(third, time.Hour), "one at a time")
		require.True(t, works(worker))
		assert.True(t, leads(other, 0), "it has just begun")
		assert.False(t, leads(worker, time.Hour))
		time.Sleep(lease.TTL/2 + time.Millisecond)
		require.True(t, works(worker))
		assert.False(t, leads(other, 0), "it is left to who works")
		assert.False(t, leads(third, freeAfter))
		assert.True(t, leads(worker, 0))
		for range 5 {
			time.Sleep(lease.TTL/2 + time.Millisecond)
			require.True(t, works(worker))
			require.True(t, leads(worker, 0))
			require.False(t, leads(other, leadAfter))
		}
		require.NoError(t, worker.Leases.Release(ctx, lease.OfIndexes(uid)))
		assert.False(t, leads(other, leadAfter-1))
		assert.True(t, leads(other, leadAfter), "who works on it is not quick")
	})
}
