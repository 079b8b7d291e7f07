package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBatchesGrowWhileManyWait checks that batches grow after several full and fast ones in a row, and not where somebody waits, where batches take long,
// or where small ones were asked for.
func TestBatchesGrowWhileManyWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, f := &Config{BatchItems: bulkLeast}, &Follower{}
		fast := func() {
			for range bulkAfter {
				require.Equal(t, bulkLeast, c.batchSize(f))
				f.paced(true, bulkLeast, time.Second)
			}
		}
		fast()
		require.Equal(t, bulkItems, c.batchSize(f))
		require.Equal(t, bulkLeast-1, (&Config{BatchItems: bulkLeast - 1}).batchSize(f))
		require.Equal(t, 2*bulkItems, (&Config{BatchItems: 2 * bulkItems}).batchSize(f))
		f.Writes(1)
		require.Equal(t, bulkLeast, c.batchSize(f))
		time.Sleep(watchedFor)
		require.Equal(t, bulkItems, c.batchSize(f))
		f.searched.Store(time.Now().UnixNano())
		require.Equal(t, bulkLeast, c.batchSize(f))
		time.Sleep(watchedFor)
		f.paced(true, bulkItems, bulkItems*bulkPace+1)
		fast()
		f.paced(false, 1, 0)
		fast()
	})
}
