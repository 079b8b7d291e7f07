package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/postgres"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/internal/testtool"
)

// postgresServer starts a server with durable commits.
func postgresServer(t testing.TB) *testtool.Postgres {
	t.Helper()
	pg, err := testtool.StartPostgres(true)
	if errors.Is(err, testtool.ErrNoPostgres) {
		testtool.Missing(t, err.Error())
	}
	require.NoError(t, err)
	t.Cleanup(pg.Stop)
	return pg
}

// openOn opens the deployment in a database in this process.
func openOn(t *testing.T, url string, providers ...contextmem.Provider) *contextmem.Service {
	t.Helper()
	stores, err := postgres.Open(t.Context(), url, &postgres.Options{Partitions: 4})
	require.NoError(t, err)
	indexers, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	svc, err := contextmem.New(t.Context(), backend.Compose(stores, indexers), &contextmem.Options{Workers: 1, AllowLocalWebhooks: true, Reranker: contextmem.NoReranker, Providers: providers})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, svc.Close()) })
	return svc
}

// seat is one of several servers over one database. It can be killed and started again on its address.
type seat struct {
	t    testing.TB
	addr string
	args []string
	cmd  *exec.Cmd
}

func newSeat(t testing.TB, url, dir string) *seat { return seatOn(t, dir, "--store", url) }

func seatOn(t testing.TB, dir string, more ...string) *seat {
	port, err := testtool.Ports(1) // nobody takes it while the server is away
	require.NoError(t, err)
	s := &seat{t: t, addr: fmt.Sprint("127.0.0.1:", port)}
	s.args = append([]string{"serve", "--data", dir, "--addr", s.addr, "--api-keys", "k", "--reranker", "none", "--no-console", "--no-mcp", "--allow-local-webhooks",
		"--requests-per-second", "0", "--lease", "2s", "--workers", "2"}, more...)
	t.Cleanup(s.kill)
	s.start()
	return s
}

func (s *seat) start() {
	s.cmd = program(context.Background(), s.t, "", s.args...)
	s.cmd.Stderr = os.Stderr
	require.NoError(s.t, s.cmd.Start())
	require.Eventually(s.t, func() bool {
		res, err := http.Get("http://" + s.addr + "/healthz")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil
	}, untilTables, 50*time.Millisecond)
}

// untilTables is how long the first server over a database may take to make its tables: hundreds, each synced to the disk and by a standby. On
// a machine on which thirty processes want to run it takes more than a minute.
const untilTables = 5 * time.Minute

func (s *seat) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *seat) client(t testing.TB) *client.Client {
	c, err := client.New("http://"+s.addr, "k", nil)
	require.NoError(t, err)
	return c
}

// TestServersOverOneDatabaseAreKilled lets three servers share a database while each of them, and then the database
// itself, is killed and started again. No acknowledged item may be lost or stored twice, and every item must be
// announced. CONTEXTMEM_KILL_TEST=full runs it longer.
func TestServersOverOneDatabaseAreKilled(t *testing.T) {
	withCgo(t)
	clients, each := 4, 25
	if os.Getenv("CONTEXTMEM_KILL_TEST") == "full" {
		clients, each = 16, 400
	} else if testing.Short() {
		t.Skip("starts processes")
	}
	pg := postgresServer(t)
	require.NoError(t, pg.CreateDatabase("fleet", ""))
	url := pg.URL("fleet")
	here := openOn(t, url)
	var mu sync.Mutex
	told := map[string]map[string]int{} // by item, and delivery
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e contextmem.WebhookPayload
		_ = json.NewDecoder(r.Body).Decode(&e)
		mu.Lock()
		defer mu.Unlock()
		if told[e.ID] == nil {
			told[e.ID] = map[string]int{}
		}
		told[e.ID][r.Header.Get("X-Service-Delivery-ID")]++
	}))
	defer receiver.Close()
	_, err := here.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: receiver.URL})
	require.NoError(t, err)
	dir := t.TempDir()
	var seats []*seat
	for range 3 {
		seats = append(seats, newSeat(t, url, dir))
	}
	ctx := t.Context()
	require.NoError(t, seats[0].client(t).CreateTenant(ctx, contextmem.TenantSpec{ID: "main"}))
	require.NoError(t, seats[1].client(t).Tenant("main").WaitReady(ctx), "another server knows it")

	acked := map[string]string{} // text by id
	done, failed := 0, 0
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				id, text := fmt.Sprintf("%c-%d", 'a'+c, i), fmt.Sprintf("Client %c noted the number %d.", 'a'+c, i)
				for try := c + i; ; try++ {
					_, err := seats[try%len(seats)].client(t).Tenant("main").Sub("notes").AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: text}}})
					if err == nil {
						break
					}
					mu.Lock()
					failed++
					mu.Unlock()
					if ctx.Err() != nil {
						return
					}
				}
				mu.Lock()
				acked[id] = text
				done++
				mu.Unlock()
			}
		})
	}
	total := clients * each
	kills := []func(){
		func() { seats[0].kill(); seats[0].start() },
		func() { seats[1].kill(); seats[1].start() },
		func() { pg.Kill(); require.NoError(t, pg.Start()) },
		func() { seats[2].kill(); seats[2].start() },
	}
	for k, kill := range kills {
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return done >= total*(k+1)/(len(kills)+2)
		}, 10*time.Minute, 5*time.Millisecond)
		kill()
	}
	wg.Wait()
	require.Len(t, acked, total)

	for _, s := range seats {
		ids := make([]string, 0, len(acked))
		for id := range acked {
			ids = append(ids, id)
		}
		for len(ids) > 0 { // a status names so many at once
			n := min(50, len(ids))
			status, err := s.client(t).Tenant("main").Sub("notes").Wait(ctx, ids[:n]...)
			require.NoError(t, err)
			for _, st := range status {
				require.Equal(t, contextmem.StatusCompleted, st.Status, "%+v", st)
			}
			ids = ids[n:]
		}
	}
	stored := map[string][]string{}
	for src, err := range here.Tenant("main").Sub("notes").Sources(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, Content: true}) {
		require.NoError(t, err)
		stored[src.Content] = append(stored[src.Content], src.ID)
	}
	for id, text := range acked {
		require.Equal(t, []string{id}, stored[text], "lost, or stored twice")
	}
	require.Len(t, stored, total)
	for i, s := range seats {
		var found bool
		require.Eventually(t, func() bool {
			res, err := s.client(t).Tenant("main").Sub("notes").Recall(ctx, contextmem.Recall{Query: "Client b noted the number 7.", Class: contextmem.ClassMemory, MaxResults: 5,
				Alpha: contextmem.FixedAlpha(0), Superseded: contextmem.SupersededMark}) // what the judge thinks of thousands of notes is not asked here
			for j := 0; err == nil && j < len(res.Chunks); j++ {
				found = found || res.Chunks[j].SourceID == "b-7"
			}
			return found
		}, time.Minute, 100*time.Millisecond, "server %d", i)
	}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		for id := range acked {
			if len(told[id]) == 0 {
				return false
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond, "an event for each item")
	repeats := 0
	mu.Lock()
	for id := range acked {
		for _, n := range told[id] {
			repeats += n - 1
		}
	}
	mu.Unlock()
	t.Logf("%d memories of %d clients; %d calls were made again; %d events came again", total, clients, failed, repeats)
}

// TestRevocationReachesOtherProcesses checks that a key revoked in one process is refused in another within a second.
func TestRevocationReachesOtherProcesses(t *testing.T) {
	withCgo(t)
	if testing.Short() {
		t.Skip("starts a database")
	}
	pg := postgresServer(t)
	require.NoError(t, pg.CreateDatabase("keys", ""))
	a, b := openOn(t, pg.URL("keys")), openOn(t, pg.URL("keys"))
	ctx := t.Context()
	var slowest time.Duration
	for range 5 {
		k, text, err := a.CreateKey(ctx, contextmem.KeySpec{})
		require.NoError(t, err)
		for range 3 { // it is remembered
			_, err = b.VerifyKey(ctx, text)
			require.NoError(t, err)
		}
		require.NoError(t, a.RevokeKey(ctx, k.ID))
		start := time.Now()
		require.Eventually(t, func() bool {
			_, err := b.VerifyKey(ctx, text)
			return errors.Is(err, contextmem.ErrUnauthorized)
		}, time.Minute, time.Millisecond)
		slowest = max(slowest, time.Since(start))
	}
	t.Logf("the slowest of 5 revocations reached the other process after %v", slowest)
}
