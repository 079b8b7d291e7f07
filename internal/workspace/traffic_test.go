package workspace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Checks that background work waits until the last search ends, but not longer than it allows.
func TestTrafficYield(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tr Traffic
		took := func() time.Duration {
			began := time.Now()
			tr.Yield(t.Context(), 50*time.Millisecond)
			return time.Since(began)
		}
		require.Zero(t, took(), "nothing runs")
		search := func(from, to time.Duration) {
			go func() {
				time.Sleep(from)
				tr.Begin()
				defer tr.End()
				time.Sleep(to - from)
			}()
		}
		search(0, 8*time.Millisecond)
		search(2*time.Millisecond, 20*time.Millisecond)
		synctest.Wait()
		require.Equal(t, 20*time.Millisecond, took())
		require.Zero(t, took())
		search(0, 180*time.Millisecond)
		synctest.Wait()
		require.Equal(t, 50*time.Millisecond, took())
		require.Equal(t, 50*time.Millisecond, took())
		require.Equal(t, 50*time.Millisecond, took())
		require.Equal(t, 30*time.Millisecond, took())
		search(0, time.Second)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		began := time.Now()
		tr.Yield(ctx, time.Second)
		require.Equal(t, 5*time.Millisecond, time.Since(began), "the service closes")
		time.Sleep(time.Second)
	})
}
