package contextmem_test

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
	"github.com/contextmem/contextmem/judge"
)

// down is a judge that can be away.
type down struct {
	labelled
	away  atomic.Bool
	asked atomic.Int64 // times that it was asked to compare
}

func (d *down) Replaces(ctx context.Context, pairs []judge.Pair) ([]float64, error) {
	d.asked.Add(1)
	if d.away.Load() {
		return nil, errors.New("away")
	}
	return d.labelled.Replaces(ctx, pairs)
}

// TestComparedAfterOutageAndRestart: while the judge is away memories are completed and found; a service that starts again
// compares what the one before could not.
func TestComparedAfterOutageAndRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		be := inmem.New()
		j := &down{labelled: labelled{replaces: moved}}
		j.away.Store(true)
		open := func(be *inmem.Backend) (*contextmem.Service, contextmem.Sub) {
			svc, err := contextmem.New(t.Context(), be, &contextmem.Options{Judge: j})
			require.NoError(t, err)
			return svc, svc.Tenant("acme").Sub("ana")
		}
		svc, sub := open(be)
		tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		remember(t, sub, homes()...) // waits for their completion
		time.Sleep(time.Minute)
		require.Positive(t, j.asked.Load())
		const question = "where do I live near the river"
		ids, by := ask(t, sub, contextmem.Recall{Query: question})
		require.Equal(t, "lisbon", ids[0])
		require.Nil(t, by["lisbon"].SupersededBy)
		require.NoError(t, svc.Close())

		be, err := be.Reopen()
		require.NoError(t, err)
		j.away.Store(false)
		svc, sub = open(be)
		defer func() { require.NoError(t, svc.Close()) }()
		require.NoError(t, sub.WaitRefined(t.Context()))
		ids, _ = ask(t, sub, contextmem.Recall{Query: question})
		assert.Equal(t, "faro", ids[0])
		asked := j.asked.Load()
		require.NoError(t, sub.WaitRefined(t.Context()))
		time.Sleep(time.Hour)
		assert.Equal(t, asked, j.asked.Load(), "what was compared is not compared again")
	})
}
