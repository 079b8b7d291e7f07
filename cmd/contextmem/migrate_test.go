package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/move"
)

func migrateCall(t *testing.T, args ...string) (r move.Report, err error) {
	t.Helper()
	cmd := program(t.Context(), t, t.TempDir(), append([]string{"migrate", "--json"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("%w: %s", err, errs.String())
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// TestServerMoves moves a server from its directory to a database while clients write. The server is killed in the
// middle, and the move starts again. Then the database moves to another directory. Acknowledged items must be there at
// each end, and the only error of clients may be 503.
func TestServerMoves(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	pg := postgresServer(t)
	require.NoError(t, pg.CreateDatabase("moves", ""))
	url, first, second := pg.URL("moves"), filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	s := seatOn(t, first)
	ctx := t.Context()
	c := s.client(t)
	for i := range 3 {
		id := fmt.Sprintf("t%d", i)
		require.NoError(t, c.CreateTenant(ctx, contextmem.TenantSpec{ID: id}))
		require.NoError(t, c.Tenant(id).WaitReady(ctx))
	}
	for i := range 20 { // there is something to copy
		var ms []contextmem.Memory
		for j := range 50 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("before-%d-%d", i, j), Text: fmt.Sprintf("Before the move Carl wrote note %d of book %d.", j, i)})
		}
		_, err := c.Tenant("t0").Sub("s").AddMemories(ctx, contextmem.MemoryBatch{Memories: ms})
		require.NoError(t, err)
	}
	var acked, refused atomic.Int64
	var dead atomic.Bool // the server was killed
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				for {
					b := contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: fmt.Sprintf("m-%d-%d", w, i), Text: fmt.Sprintf("Client %d noted the number %d.", w, i)}}}
					_, err := s.client(t).Tenant(fmt.Sprintf("t%d", i%3)).Sub("s").AddMemories(ctx, b)
					if err == nil {
						acked.Add(1)
						break
					}
					if ctx.Err() != nil {
						return
					}
					refused.Add(1)
					if !dead.Load() {
						assert.ErrorIs(t, err, contextmem.ErrUnavailable)
					}
				}
			}
		})
	}
	r, err := migrateCall(t, "--from", first, "--to", url, "--dry-run")
	require.NoError(t, err)
	require.Equal(t, 3, r.Tenants)

	broken := make(chan error, 1)
	go func() {
		_, err := migrateCall(t, "--from", first, "--to", url)
		broken <- err
	}()
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close(ctx) }()
		var n int
		err = conn.QueryRow(ctx, "SELECT count(*) FROM workspaces").Scan(&n)
		return err == nil && n > 0
	}, untilTables, time.Millisecond)
	dead.Store(true)
	s.kill()
	require.Error(t, <-broken)
	s.start()
	dead.Store(false)
	r, err = migrateCall(t, "--from", first, "--to", url)
	require.NoError(t, err)
	require.Equal(t, 3, r.Tenants)
	t.Logf("moved in %d passes, %d rows; writes waited for %v", r.Passes, r.Rows, r.Stopped)
	at := acked.Load()
	require.Eventually(t, func() bool { return acked.Load() > at+50 }, time.Minute, 10*time.Millisecond, "the server goes on over the database")
	close(stop)
	wg.Wait()
	t.Logf("%d acknowledged, %d refused or cut off", acked.Load(), refused.Load())
	count := func() (n int) {
		for i := range 3 {
			subs, err := s.client(t).Tenant(fmt.Sprintf("t%d", i)).Subs(ctx)
			require.NoError(t, err)
			for _, sub := range subs {
				n += sub.Memory
			}
		}
		return n
	}
	require.EqualValues(t, acked.Load()+1000, count())
	s.kill()
	over := newSeat(t, url, t.TempDir())
	s = over
	require.EqualValues(t, acked.Load()+1000, count())

	// Back, with the server of the database still there.
	r, err = migrateCall(t, "--from", url, "--to", second)
	require.NoError(t, err)
	_, err = over.client(t).Tenant("t0").Sub("s").AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "too late"}}})
	require.True(t, errors.Is(err, contextmem.ErrUnavailable), "%v", err)
	over.kill()
	s = seatOn(t, second)
	require.EqualValues(t, acked.Load()+1000, count())
	res, err := s.client(t).Tenant("t0").Sub("s").Recall(ctx, contextmem.Recall{Query: "Client 0 noted the number 0.", Class: contextmem.ClassMemory, MaxResults: 5, Superseded: contextmem.SupersededMark})
	require.NoError(t, err)
	require.NotEmpty(t, res.Chunks)

	// A directory that was moved is not served.
	cmd := program(context.Background(), t, first, "serve", "--addr", "127.0.0.1:0", "--api-keys", "k")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "moved to another deployment")
}
