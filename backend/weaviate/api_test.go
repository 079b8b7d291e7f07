package weaviate

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFinalizersRun checks that finalizers of the process run after clients of a cluster were closed and collected. One
// finalizer that blocks holds up all others for good.
func TestFinalizersRun(t *testing.T) {
	var o Options
	require.NoError(t, o.check())
	for range 3 {
		c, err := newCluster([]string{"http://127.0.0.1:1", "http://127.0.0.1:1?grpc=2"}, &o)
		require.NoError(t, err)
		require.NoError(t, c.close())
	}
	for range 3 { // each may queue finalizers of what the one before let go of
		runtime.GC()
	}
	ran := make(chan struct{})
	func() {
		later := new([64]byte)
		runtime.SetFinalizer(later, func(*[64]byte) { close(ran) })
	}()
	require.Eventually(t, func() bool {
		runtime.GC()
		select {
		case <-ran:
			return true
		default:
			return false
		}
	}, 20*time.Second, time.Millisecond, "a finalizer that was set after the clients were closed")
}
