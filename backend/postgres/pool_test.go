package postgres

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/testtool"
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

// TestFewTryToConnect checks that calls do not all try to connect while the server cannot be reached, and that all of them continue once it can be.
func TestFewTryToConnect(t *testing.T) {
	t.Parallel()
	pg := sharedServer(t)
	_ = database(t, "connect")
	at, err := net.Listen("unix", filepath.Join(t.TempDir(), ".s.PGSQL.5432"))
	require.NoError(t, err)
	var attempts atomic.Int64
	var up atomic.Bool
	var serving sync.WaitGroup
	serve := func(c net.Conn) {
		defer func() { _ = c.Close() }()
		if up.Load() {
			to, err := net.Dial("unix", filepath.Join(pg.Dir, ".s.PGSQL.5432"))
			if err != nil {
				return
			}
			serving.Go(func() {
				_, _ = io.Copy(c, to)
				_ = c.Close()
			})
			_, _ = io.Copy(to, c)
			_ = to.Close()
			return
		}
		attempts.Add(1)
		b := pgproto3.NewBackend(c, c)
		if _, err := b.ReceiveStartupMessage(); err == nil {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P03"}) // as a server that starts
			_ = b.Flush()
		}
	}
	serving.Go(func() {
		for {
			c, err := at.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serve(c) })
		}
	})
	const calls = 60
	config, err := pgxpool.ParseConfig("postgres://" + testtool.PostgresRole + "@/" + databaseName("connect") + "?sslmode=disable&host=" + filepath.Dir(at.Addr().String()))
	require.NoError(t, err)
	config.MaxConns = calls
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	d := &DB{o: Options{Retry: time.Minute, StatementTimeout: time.Minute}, pool: pool}
	began := time.Now()
	var ended sync.WaitGroup
	for range calls {
		ended.Go(func() {
			assert.NoError(t, d.query(t.Context(), everything, func(c *conn) error {
				_, err := c.exec(t.Context(), "SELECT 1")
				return err
			}))
		})
	}
	time.Sleep(20 * reconnectPause)
	tried := attempts.Load()
	most := calls + int64(time.Since(began)/reconnectPause) + 1 // at first nobody knows that the server cannot be reached
	assert.LessOrEqual(t, tried, most)
	up.Store(true)
	ended.Wait()
	pool.Close()
	require.NoError(t, at.Close())
	serving.Wait()
}
