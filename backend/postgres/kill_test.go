package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/storerules"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestServerIsKilled kills and shuts down the server during calls. Each call must succeed in the end and have its
// effect once.
func TestServerIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	sharedServer(t) // or skips
	pg, err := testtool.StartPostgres(true)
	require.NoError(t, err)
	t.Cleanup(pg.Stop)
	require.NoError(t, pg.CreateDatabase("kill", ""))
	d, err := Open(t.Context(), pg.URL("kill"), &Options{Partitions: 2, Retry: time.Minute})
	require.NoError(t, err)
	defer d.Close()
	ctx := t.Context()
	s, err := d.OpenStore(ctx, backendtest.UID("kill"))
	require.NoError(t, err)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	counts := make([]int, 4)
	for w := range counts {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				// IfAbsent: a call that was done twice would fail.
				in := placedMemory(fmt.Sprintf("%d-%d", w, i))
				in.IfAbsent = true
				if _, err := s.Place(ctx, []backend.Placed{in}); !assert.NoError(t, err) {
					return
				}
				counts[w]++
				if _, err := s.Stats(ctx, backend.Memory); !assert.NoError(t, err) {
					return
				}
			}
		})
	}
	for _, end := range []func(){pg.Kill, pg.Shut, pg.Kill} {
		pause(ctx, 300*time.Millisecond)
		end()
		require.NoError(t, pg.Start())
	}
	pause(ctx, 300*time.Millisecond)
	close(stop)
	wg.Wait()
	total := 0
	for _, n := range counts {
		assert.Positive(t, n)
		total += n
	}
	st, err := s.Stats(ctx, backend.Memory)
	require.NoError(t, err)
	assert.Equal(t, backend.Stats{Chunks: total, Sources: total}, st, "neither lost nor twice")
	next := uint64(0)
	for {
		changes, err := s.Changes(ctx, next<<storerules.SeqShift, 1000)
		require.NoError(t, err)
		if len(changes) == 0 {
			break
		}
		for _, c := range changes {
			next++
			require.Equal(t, next<<storerules.SeqShift, c.Seq)
		}
	}
	assert.EqualValues(t, total, next)
	t.Logf("%d calls over three ends of the server", total)
}

// TestServerIsGone checks that calls end when the server is gone, with an error that says they can be repeated.
func TestServerIsGone(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	sharedServer(t)
	pg, err := testtool.StartPostgres(false)
	require.NoError(t, err)
	t.Cleanup(pg.Stop)
	require.NoError(t, pg.CreateDatabase("gone", ""))
	d, err := Open(t.Context(), pg.URL("gone"), &Options{Partitions: 2, Retry: 200 * time.Millisecond})
	require.NoError(t, err)
	defer d.Close()
	s, err := d.OpenStore(t.Context(), backendtest.UID("gone"))
	require.NoError(t, err)
	pg.Kill()
	_, err = s.Place(t.Context(), []backend.Placed{placedMemory("a")})
	require.ErrorIs(t, err, backend.ErrUnavailable)
	_, err = s.Stats(t.Context(), backend.Memory)
	require.ErrorIs(t, err, backend.ErrUnavailable)
	require.ErrorIs(t, d.reg.SetWake(t.Context(), "x", time.Now()), backend.ErrUnavailable)
	_, err = Open(t.Context(), pg.URL("gone"), nil)
	require.ErrorIs(t, err, backend.ErrUnavailable)
	require.NoError(t, pg.Start())
	_, err = s.Place(t.Context(), []backend.Placed{placedMemory("a")})
	require.NoError(t, err, "and it goes on")
}

func TestStatementTimeout(t *testing.T) {
	d := openTest(t, t.Name(), &Options{StatementTimeout: 50 * time.Millisecond})
	defer d.Close()
	for name, f := range map[string]func(context.Context, scope, func(*conn) error) error{"read": d.read, "query": d.query, "write": d.write} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			err := f(t.Context(), everything, func(c *conn) error {
				_, err := c.one(bg, "SELECT 1 FROM pg_sleep(60)", func(*row) error { return nil })
				return err
			})
			require.ErrorIs(t, err, backend.ErrUnavailable)
			assert.Less(t, time.Since(start), time.Minute)
		})
	}
}

// TestDeadlock checks that when the server ends one of two transactions that wait for each other, it is retried.
func TestDeadlock(t *testing.T) {
	d := openTest(t, t.Name(), nil)
	defer d.Close()
	ctx := t.Context()
	for _, id := range []string{"a", "b"} {
		require.NoError(t, d.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: "k", ID: id}}}))
	}
	var runs atomic.Int32
	var locked sync.WaitGroup // until each write has locked its first row
	locked.Add(2)
	write := func(ids ...string) error {
		first := sync.OnceFunc(func() {
			locked.Done()
			locked.Wait()
		})
		return d.write(ctx, everything, func(c *conn) error {
			runs.Add(1)
			for _, id := range ids {
				if _, err := c.exec(bg, "UPDATE records SET rev = rev + 1 WHERE id = $1", id); err != nil {
					return err
				}
				if err := c.do("SELECT 1"); err != nil { // sends what waits
					return err
				}
				first()
			}
			return nil
		})
	}
	var wg sync.WaitGroup
	wg.Go(func() { assert.NoError(t, write("a", "b")) })
	wg.Go(func() { assert.NoError(t, write("b", "a")) })
	wg.Wait()
	assert.Greater(t, int(runs.Load()), 2, "one had to be tried again")
	for _, id := range []string{"a", "b"} {
		r, err := d.reg.Record(ctx, "k", "", id)
		require.NoError(t, err)
		assert.EqualValues(t, 3, r.Rev, "each write once")
	}
}

// TestRecordsInAnyOrder checks that records are locked in an order that does not depend on the caller's.
func TestRecordsInAnyOrder(t *testing.T) {
	d := openTest(t, t.Name(), nil)
	defer d.Close()
	ctx := t.Context()
	const each = 20
	var wg sync.WaitGroup
	for range each {
		for _, ids := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}} {
			wg.Go(func() {
				var writes []backend.RecordWrite
				for _, id := range ids {
					writes = append(writes, backend.RecordWrite{Record: backend.Record{Kind: "k", ID: id}, IfRev: -1})
				}
				assert.NoError(t, d.reg.WriteRecords(ctx, writes))
			})
		}
	}
	wg.Wait()
	for _, id := range []string{"a", "b", "c"} {
		r, err := d.reg.Record(ctx, "k", "", id)
		require.NoError(t, err)
		assert.EqualValues(t, 2*each, r.Rev, "each write once")
	}
}

// TestPooler runs through pgbouncer in transaction mode, which supports no prepared statements and gives each
// transaction any free connection.
func TestPooler(t *testing.T) {
	pg := sharedServer(t)
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		bin = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(bin); err != nil {
		testtool.Missing(t, "pgbouncer (Debian: pgbouncer)")
	}
	direct, err := url.Parse(database(t, t.Name()))
	require.NoError(t, err)
	through, stop, err := pg.Pooler(bin, strings.TrimPrefix(direct.Path, "/"))
	require.NoError(t, err)
	defer stop()
	const calls = 8 // at once, over three connections
	var stores []*store
	for range 2 {
		d, err := Open(t.Context(), through, &Options{Poll: 100 * time.Millisecond})
		require.NoError(t, err)
		defer d.Close()
		assert.False(t, d.watch.listens, "a pooler passes no messages on")
		s, err := d.OpenStore(t.Context(), backendtest.UID("pooled"))
		require.NoError(t, err)
		stores = append(stores, s.(*store))
	}
	ctx := t.Context()
	var wg sync.WaitGroup
	for w := range calls {
		s := stores[w%2]
		wg.Go(func() {
			for i := range 20 {
				id := fmt.Sprintf("%d-%d", w, i)
				_, err := s.Place(ctx, []backend.Placed{placedMemory(id)})
				assert.NoError(t, err)
				found, err := s.Sources(ctx, placedMemory(id).Part, []string{id})
				if assert.NoError(t, err) && assert.NotNil(t, found[0]) {
					assert.Equal(t, id, found[0].ID)
				}
				_, _, err = s.List(ctx, backend.ListQuery{Part: placedMemory(id).Part, Limit: 3})
				assert.NoError(t, err)
				assert.NoError(t, s.db.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: "k", Org: fmt.Sprint(w), ID: id}}}))
			}
			rs, err := s.db.reg.Records(ctx, "k", fmt.Sprint(w), "", 100)
			assert.NoError(t, err)
			assert.Len(t, rs, 20, "of its organisation")
		})
	}
	wg.Wait()
	st, err := stores[0].Stats(ctx, backend.Memory)
	require.NoError(t, err)
	assert.Equal(t, calls*20, st.Sources)
	require.Eventually(t, func() bool { return stores[0].LastSeq() == stores[1].LastSeq() }, time.Minute, 10*time.Millisecond, "by asking")
}
