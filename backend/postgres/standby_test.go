package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/storerules"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestStandbyIsPromoted kills the server and promotes its synchronous standby while two processes write. Each call must
// succeed in the end and have its effect once.
func TestStandbyIsPromoted(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers of its own")
	}
	sharedServer(t) // or skips
	primary, err := testtool.StartPostgres(true)
	require.NoError(t, err)
	t.Cleanup(primary.Stop)
	require.NoError(t, primary.CreateDatabase("standby", ""))
	standby, err := primary.Standby()
	require.NoError(t, err)
	t.Cleanup(standby.Stop)
	url := primary.EitherURL(standby, "standby")
	ctx := t.Context()
	stores := make([]backend.Store, 2)
	for i := range stores {
		d, err := Open(ctx, url, &Options{Partitions: 2, Retry: time.Minute})
		require.NoError(t, err)
		defer d.Close()
		stores[i], err = d.OpenStore(ctx, backendtest.UID("standby"))
		require.NoError(t, err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked, slowest := map[string]bool{}, time.Duration(0)
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				in := placedMemory(fmt.Sprintf("%d-%d", w, i))
				in.IfAbsent = true // a call that was done twice would fail
				start := time.Now()
				if _, err := stores[w%2].Place(ctx, []backend.Placed{in}); !assert.NoError(t, err) {
					return
				}
				mu.Lock()
				acked[in.ID] = true
				slowest = max(slowest, time.Since(start))
				mu.Unlock()
			}
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(acked)
	}
	require.Eventually(t, func() bool { return count() >= 40 }, time.Minute, time.Millisecond)
	primary.Kill()
	require.NoError(t, standby.Promote())
	before := count()
	require.Eventually(t, func() bool { return count() >= before+40 }, time.Minute, time.Millisecond, "it goes on")
	close(stop)
	wg.Wait()
	for _, s := range stores {
		st, err := s.Stats(ctx, backend.Memory)
		require.NoError(t, err)
		assert.Equal(t, backend.Stats{Chunks: len(acked), Sources: len(acked)}, st, "neither lost nor twice")
		seen, at := map[string]bool{}, uint64(0)
		for {
			changes, err := s.Changes(ctx, at, 1000)
			require.NoError(t, err)
			if len(changes) == 0 {
				break
			}
			for _, c := range changes {
				require.Equal(t, at+1<<storerules.SeqShift, c.Seq)
				at, seen[c.SourceID] = c.Seq, true
			}
		}
		assert.Equal(t, acked, seen, "and all of it is in the feed")
	}
	t.Logf("%d calls of two processes over a fail-over, the slowest took %v", len(acked), slowest)
}
