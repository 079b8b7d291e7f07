package memory_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/judge"
)

// slowJudge is a judge that takes some time, and may then fail.
type slowJudge struct {
	fixedJudge
	takes time.Duration
	fails bool
}

func (j slowJudge) Replaces(ctx context.Context, pairs []judge.Pair) ([]float64, error) {
	select {
	case <-time.After(j.takes):
	case <-ctx.Done():
	}
	if j.fails {
		return nil, errors.New("out of order")
	}
	return j.fixedJudge.Replaces(ctx, pairs)
}

// TestRecallAwaitsComparison checks that a recall right after the completion of memories knows which memories they
// supersede, and that it does not wait long for a judge that is slow or fails.
func TestRecallAwaitsComparison(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		takes time.Duration
		fails bool
		first string
		waits time.Duration // at most
	}{
		"in time":  {300 * time.Millisecond, false, "faro", 2 * time.Second},
		"too slow": {time.Minute, false, "lisbon", 2 * time.Second},
		"failing":  {time.Millisecond, true, "lisbon", 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Judge: slowJudge{fixedJudge{replaces: homeMoves}, x.takes, x.fails}})
				require.NoError(t, err)
				defer func() { require.NoError(t, svc.Close()) }()
				sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("ana")
				res, err := sub.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: homeMemories()})
				require.NoError(t, err)
				_, err = sub.Wait(t.Context(), res.IDs()...)
				require.NoError(t, err)
				began := time.Now()
				ids, _ := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
				require.Equal(t, x.first, ids[0])
				require.LessOrEqual(t, time.Since(began), x.waits)
				if x.takes > x.waits {
					require.Equal(t, x.waits, time.Since(began))
				}
			})
		})
	}
}
