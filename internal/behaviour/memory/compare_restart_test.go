package memory_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/judge"
)

// unreliableJudge is a judge that may be unavailable.
type unreliableJudge struct {
	fixedJudge
	unavailable atomic.Bool
	calls       atomic.Int64 // number of calls of Replaces
}

func (d *unreliableJudge) Replaces(ctx context.Context, pairs []judge.Pair) ([]float64, error) {
	d.calls.Add(1)
	if d.unavailable.Load() {
		return nil, errors.New("away")
	}
	return d.fixedJudge.Replaces(ctx, pairs)
}

// TestComparedAfterOutageAndRestart checks that memories are completed and found while the judge is unavailable, and
// that a restarted service makes the missing comparisons.
func TestComparedAfterOutageAndRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		be := inmem.New()
		j := &unreliableJudge{fixedJudge: fixedJudge{replaces: homeMoves}}
		j.unavailable.Store(true)
		open := func(be *inmem.Backend) (*contextmem.Service, contextmem.Sub) {
			svc, err := contextmem.New(t.Context(), be, &contextmem.Options{Judge: j})
			require.NoError(t, err)
			return svc, svc.Tenant("acme").Sub("ana")
		}
		svc, sub := open(be)
		servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		servicetest.Remember(t, sub, homeMemories()...) // waits for their completion
		time.Sleep(time.Minute)
		require.Positive(t, j.calls.Load())
		const question = "where do I live near the river"
		ids, by := recallMemories(t, sub, contextmem.Recall{Query: question})
		require.Equal(t, "lisbon", ids[0])
		require.Nil(t, by["lisbon"].SupersededBy)
		require.NoError(t, svc.Close())

		be, err := be.Reopen()
		require.NoError(t, err)
		j.unavailable.Store(false)
		svc, sub = open(be)
		defer func() { require.NoError(t, svc.Close()) }()
		require.NoError(t, sub.WaitRefined(t.Context()))
		ids, _ = recallMemories(t, sub, contextmem.Recall{Query: question})
		assert.Equal(t, "faro", ids[0])
		asked := j.calls.Load()
		require.NoError(t, sub.WaitRefined(t.Context()))
		time.Sleep(time.Hour)
		assert.Equal(t, asked, j.calls.Load(), "what was compared is not compared again")
	})
}
