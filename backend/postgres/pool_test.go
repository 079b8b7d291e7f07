package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNewConnectionsAreKept checks that calls on lost connections close the other connections of the pool once, and keep those that were made since.
func TestNewConnectionsAreKept(t *testing.T) {
	t.Parallel()
	d := openTest(t, "pool", &Options{Poll: time.Hour}) // the watch needs no connection of the pool meanwhile
	defer func() { assert.NoError(t, d.Close()) }()
	const calls = 3
	pids, next, failed := make(chan uint32), make(chan struct{}), make(chan error)
	for range calls {
		go func() {
			failed <- d.with(t.Context(), everything, func(c *conn) error {
				pids <- c.pg.PgConn().PID()
				<-next
				_, err := c.exec(t.Context(), "SELECT 1")
				return err
			})
		}()
	}
	var lost []int64
	for range calls {
		lost = append(lost, int64(<-pids))
	}
	process := func() (pid int64) {
		require.NoError(t, d.with(t.Context(), everything, func(c *conn) error {
			pid = int64(c.pg.PgConn().PID())
			_, err := c.exec(t.Context(), "SELECT pg_terminate_backend(pid::int, 10000) FROM unnest($1::bigint[]) pid", lost)
			return err
		}))
		return pid
	}
	old := process()
	next <- struct{}{}
	require.ErrorIs(t, <-failed, errLost)
	made := process()
	assert.NotEqual(t, old, made, "it was made before the loss")
	for range calls - 1 {
		next <- struct{}{}
		require.ErrorIs(t, <-failed, errLost)
		assert.Equal(t, made, process())
	}
}
