package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/postgres"
	"github.com/contextmem/contextmem/backend/weaviate"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/internal/testtool"
	"github.com/contextmem/contextmem/judge"
)

// cluster is a set of servers over a database with a standby and over the nodes of a search engine. The test kills each
// of them and starts it again.
type cluster struct {
	t       *testing.T
	seats   []*seat
	clients []*client.Client
	primary *testtool.Postgres
	standby *testtool.Postgres
	nodes   *testtool.Weaviate
	seen    statuses

	began time.Time
	mu    sync.Mutex
	acked map[string]string // text by tenant and id
	foes  []string          // what was found in a tenant that is not its own

	recalled atomic.Int64 // when a recall last succeeded, in nanoseconds
	recalls  atomic.Int64
	reads    atomic.Int64 // answers that readers got
	late     atomic.Int64 // recalls that an item was not found by, of those that asked for it
	longest  atomic.Int64 // the longest that a client waited for a recall, at one server after the other, in nanoseconds
	unread   atomic.Int64 // the longest since the last kill that a reader of a tenant was without an answered recall, in nanoseconds
	calm     atomic.Int64 // since when nothing is being killed and what was killed is back, in nanoseconds; 0: something is away
	apart    atomic.Int64 // the longest between two recalls of clients while it is calm, in nanoseconds
	waited   atomic.Int64 // the longest that a client waited for its items to be completed while it is calm, in nanoseconds
	lateness atomic.Int64 // the longest from such a recall until the same server found the item, in nanoseconds
	sought   atomic.Int64 // the longest since the last kill from the acknowledgement of a client's tenth item until a recall found it, in nanoseconds
}

const clusterTenants = 4

func tenantOf(c int) string { return fmt.Sprint("tenant", c%clusterTenants) }

// startCluster starts the database, the nodes and the servers.
func startCluster(t *testing.T) (_ *cluster, url string) {
	t.Helper()
	bin, err := testtool.BuildWeaviate(t.Context())
	if errors.Is(err, testtool.ErrNoWeaviate) {
		testtool.Missing(t, err.Error())
	}
	require.NoError(t, err)
	c := &cluster{t: t, began: time.Now(), primary: postgresServer(t), acked: map[string]string{}, seen: statuses{count: map[int]int{}}}
	require.NoError(t, c.primary.CreateDatabase("cluster", ""))
	c.standby, err = c.primary.Standby()
	require.NoError(t, err)
	t.Cleanup(c.standby.Stop)
	c.nodes, err = testtool.StartWeaviate(bin, t.TempDir(), 3, nil)
	require.NoError(t, err)
	t.Cleanup(c.nodes.Stop)
	url = c.primary.EitherURL(c.standby, "cluster")
	dir := t.TempDir()
	for range 3 {
		s := seatOn(t, dir, "--store", url, "--index", strings.Join(c.nodes.URLs(), ","), "--embedder", "static", "--judge", "none")
		c.seats = append(c.seats, s)
		x, err := client.New("http://"+s.addr, "k", &client.Options{HTTPClient: &http.Client{Transport: &c.seen, Timeout: 30 * time.Second}, Retries: -1})
		require.NoError(t, err)
		c.clients = append(c.clients, x)
	}
	for i := range clusterTenants {
		require.NoError(t, c.clients[0].CreateTenant(t.Context(), contextmem.TenantSpec{ID: tenantOf(i)}))
	}
	for i := range clusterTenants {
		require.NoError(t, c.clients[1].Tenant(tenantOf(i)).WaitReady(t.Context()))
	}
	return c, url
}

// again makes a call on one server after the other until one succeeds.
func (c *cluster) again(ctx context.Context, first int, f func(x *client.Client) error) {
	for try := first; ctx.Err() == nil; try++ {
		if f(c.clients[try%len(c.clients)]) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// write adds items one by one, waits for each ten of them, and recalls one of them.
func (c *cluster) write(ctx context.Context, stop <-chan struct{}, n int) {
	tenant := tenantOf(n)
	var waiting []string
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		id, text := fmt.Sprintf("%s-c%d-%d", tenant, n, i), fmt.Sprintf("In %s client%d noted the number n%dx%d.", tenant, n, n, i)
		c.again(ctx, n+i, func(x *client.Client) error {
			_, err := x.Tenant(tenant).Sub("notes").AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: text}}})
			return err
		})
		c.mu.Lock()
		c.acked[tenant+" "+id] = text
		c.mu.Unlock()
		if waiting = append(waiting, id); len(waiting) < 10 {
			continue
		}
		var told *client.Client
		added := time.Now()
		c.again(ctx, n+i, func(x *client.Client) error {
			told = x
			sts, err := x.Tenant(tenant).Sub("notes").Wait(ctx, waiting...)
			for _, st := range sts {
				if err == nil && st.Status != contextmem.StatusCompleted {
					c.mu.Lock()
					c.foes = append(c.foes, fmt.Sprintf("%s ended as %s: %s", st.ID, st.Status, st.ErrorCode))
					c.mu.Unlock()
				}
			}
			return err
		})
		if took := time.Since(added); took > longWait {
			c.t.Logf("%v: ten items of client %d in %s were completed after %v", time.Since(c.began).Round(time.Millisecond), n, tenant, took.Round(time.Millisecond))
		}
		waiting = nil
		q := contextmem.Recall{Query: fmt.Sprintf("n%dx%d", n, i), Class: contextmem.ClassMemory, MaxResults: 10, Alpha: contextmem.FixedAlpha(0)}
		asked := time.Now()
		c.raiseIfCalm(&c.waited, added.UnixNano())
		c.again(ctx, n+i, func(x *client.Client) error {
			res, err := x.Tenant(tenant).Sub("notes").Recall(ctx, q)
			if err != nil {
				return err
			}
			c.raiseIfCalm(&c.apart, c.recalled.Swap(time.Now().UnixNano()))
			c.recalls.Add(1)
			raise(&c.longest, time.Since(asked))
			found := c.check(tenant, id, res)
			if found {
				raise(&c.sought, time.Since(added))
				return nil
			}
			c.late.Add(1)
			began := time.Now()
			for !found && time.Since(began) < lateLimit && ctx.Err() == nil {
				time.Sleep(20 * time.Millisecond)
				if res, err = x.Tenant(tenant).Sub("notes").Recall(ctx, q); err == nil {
					found = c.check(tenant, id, res)
				}
			}
			took := time.Since(began)
			raise(&c.lateness, took)
			raise(&c.sought, time.Since(added))
			c.t.Logf("%v: %s was not found at first, %v later %v; asked another server than told that it was completed: %v", time.Since(c.began).Round(time.Millisecond), id, took.Round(time.Millisecond), found, x != told)
			return nil
		})
	}
}

// readTimeout is how long a reader waits for one server before it asks the next.
const readTimeout = 2 * time.Second

// read recalls a known item of a tenant four times a second, and records the longest time without an answer that has
// it.
func (c *cluster) read(ctx context.Context, stop <-chan struct{}, n int, id, query string) {
	tenant, last := tenantOf(n), time.Now()
	for try := n; ; try++ {
		select {
		case <-stop:
			return
		case <-time.After(250 * time.Millisecond):
		}
		one, cancel := context.WithTimeout(ctx, readTimeout)
		res, err := c.clients[try%len(c.clients)].Tenant(tenant).Sub("notes").Recall(one, contextmem.Recall{Query: query, Class: contextmem.ClassMemory, MaxResults: 10, Alpha: contextmem.FixedAlpha(0)})
		cancel()
		raise(&c.unread, time.Since(last))
		if err == nil && c.check(tenant, id, res) {
			c.reads.Add(1)
			last = time.Now()
		}
	}
}

// startReaders adds an item to each tenant, waits for it, and starts its reader.
func (c *cluster) startReaders(stop <-chan struct{}, wg *sync.WaitGroup) {
	for n := range clusterTenants {
		tenant, id, query := tenantOf(n), tenantOf(n)+"-read", fmt.Sprintf("r%dx", n)
		text := fmt.Sprintf("In %s a reader noted the number %s.", tenant, query)
		place := c.clients[n%len(c.clients)].Tenant(tenant).Sub("notes")
		_, err := place.AddMemories(c.t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: text}}})
		require.NoError(c.t, err)
		_, err = place.Wait(c.t.Context(), id)
		require.NoError(c.t, err)
		c.acked[tenant+" "+id] = text
		wg.Go(func() { c.read(c.t.Context(), stop, n, id, query) })
	}
}

// raise sets n to d if n is less.
func raise(n *atomic.Int64, d time.Duration) {
	for old := n.Load(); int64(d) > old && !n.CompareAndSwap(old, int64(d)); old = n.Load() {
	}
}

// raiseIfCalm raises n to the time since a time in nanoseconds, if it has been calm since then.
func (c *cluster) raiseIfCalm(n *atomic.Int64, since int64) {
	if calm := c.calm.Load(); calm != 0 && since >= calm {
		raise(n, time.Since(time.Unix(0, since)))
	}
}

// longWait is a time for ten items to be completed that the test reports.
const longWait = 15 * time.Second

// lateLimit is how long a missing item is looked for.
const lateLimit = 20 * time.Second

// check reports whether a recall has found an item, and records hits of other tenants.
func (c *cluster) check(tenant, id string, res *contextmem.Result) (found bool) {
	for _, ch := range res.Chunks {
		found = found || ch.SourceID == id
		if !strings.HasPrefix(ch.SourceID, tenant+"-") || !strings.HasPrefix(ch.Text, "In "+tenant+" ") {
			c.mu.Lock()
			c.foes = append(c.foes, "a recall in "+tenant+" found "+ch.SourceID)
			c.mu.Unlock()
		}
	}
	return found
}

// killSeat, killDatabase and killNode kill a process with -9 and start it again, or fail over to the standby.
func (c *cluster) killSeat(i int, away time.Duration) {
	c.seats[i].kill()
	time.Sleep(away)
	c.seats[i].start()
}

func (c *cluster) killDatabase(away time.Duration) {
	killed := time.Now()
	c.primary.Kill()
	require.NoError(c.t, c.standby.Promote())
	c.t.Logf("the standby accepts writes %v after the database was killed", time.Since(killed).Round(time.Millisecond))
	c.primary, c.standby = c.standby, c.primary
	time.Sleep(away)
	require.NoError(c.t, c.primary.Rejoin(c.standby))
}

func (c *cluster) killNode(i int, away time.Duration) {
	c.nodes.Kill(i)
	time.Sleep(away)
	require.NoError(c.t, c.nodes.Start(i))
	require.NoError(c.t, c.nodes.Ready(i))
}

// TestClusterIsKilled runs three servers over a database with a standby and over three nodes of Weaviate. Many clients
// write while servers, the database and nodes are killed at random and started again. No acknowledged item may be lost
// or stored twice, no tenant may find an item of another, and in the end the indexes must match the store.
// CONTEXTMEM_KILL_TEST=full runs it for ten minutes.
func TestClusterIsKilled(t *testing.T) {
	withCgo(t)
	clients, lasts, most := 8, time.Minute, 3
	if os.Getenv("CONTEXTMEM_KILL_TEST") == "full" {
		clients, lasts, most = 32, 10*time.Minute, 1000
	} else if testing.Short() {
		t.Skip("starts processes")
	}
	c, url := startCluster(t)
	ctx := t.Context()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	c.startReaders(stop, &wg)
	for n := range clients {
		wg.Go(func() { c.write(ctx, stop, n) })
	}
	count := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.acked)
	}
	// Each client asks first when ten items are completed: until then there is no recall to wait for.
	require.Eventually(t, func() bool { return c.recalls.Load() >= int64(clients) }, 2*time.Minute, 10*time.Millisecond)

	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 21))
	began := time.Now()
	kills := map[string]int{}
	slowest := map[string]time.Duration{} // from a kill to the next recall of what was written meanwhile
	unread := map[string]time.Duration{}  // that a tenant was without an answered recall, from a kill to the next
	for k := 0; k < most && time.Since(began) < lasts; k++ {
		kind := []string{"server", "database", "node"}[k%3]
		if most > 3 {
			kind = []string{"server", "server", "database", "node", "node"}[rng.IntN(5)]
		}
		i, away := rng.IntN(3), time.Duration(500+rng.IntN(4000))*time.Millisecond
		killed := time.Now()
		c.unread.Store(0)
		c.sought.Store(0)
		c.calm.Store(0)
		var watch sync.WaitGroup
		watch.Go(func() {
			for c.recalled.Load() < killed.UnixNano() && ctx.Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
			gap := time.Unix(0, c.recalled.Load()).Sub(killed)
			slowest[kind] = max(slowest[kind], gap)
			t.Logf("%v: %s %d was killed, for %v; next recall after %v", killed.Sub(c.began).Round(time.Millisecond), kind, i, away, gap.Round(time.Millisecond))
		})
		switch kind {
		case "server":
			c.killSeat(i, away)
		case "database":
			c.killDatabase(away)
		case "node":
			c.killNode(i, away)
		}
		watch.Wait()
		c.calm.Store(time.Now().UnixNano())
		kills[kind]++
		if most > 3 {
			time.Sleep(time.Duration(1000+rng.IntN(9000)) * time.Millisecond)
		}
		without := time.Duration(c.unread.Load())
		unread[kind] = max(unread[kind], without)
		t.Logf("a tenant was without an answer to its reader for %v at most; a client's tenth item was found %v after it was acknowledged at most", without.Round(time.Millisecond), time.Duration(c.sought.Load()).Round(time.Millisecond))
	}
	close(stop)
	wg.Wait()
	total := count()
	t.Logf("%d acknowledged by %d clients in %v; kills %v; longest from a kill to the next recall of what was written meanwhile %v; while nothing was away %v between two recalls and %v for ten items to be completed; longest that a client waited for a recall %v, and that a tenant was without an answer to its reader (%d answers) %v; %d recalls, %d without the item asked for, which the same server then found after %v at most; statuses %v (0: sent and not answered), %d requests to a server that was not there, 503 without Retry-After %d",
		total, clients, time.Since(began).Round(time.Second), kills, slowest, time.Duration(c.apart.Load()).Round(time.Millisecond), time.Duration(c.waited.Load()).Round(time.Millisecond), time.Duration(c.longest.Load()).Round(time.Millisecond), c.reads.Load(), unread, c.recalls.Load(), c.late.Load(), time.Duration(c.lateness.Load()).Round(time.Millisecond), c.seen.count, c.seen.unsent, c.seen.without)
	require.Empty(t, c.foes)

	stores, err := postgres.Open(ctx, url, nil)
	require.NoError(t, err)
	below, err := local.Open(t.TempDir(), nil)
	require.NoError(t, err)
	indexes, err := weaviate.Open(ctx, c.nodes.URLs(), below, nil)
	require.NoError(t, err)
	here, err := contextmem.New(ctx, backend.Compose(stores, indexes), &contextmem.Options{Embedder: static.New(), Judge: judge.None, Reranker: contextmem.NoReranker})
	require.NoError(t, err)
	defer func() { assert.NoError(t, here.Close()) }()
	drained := time.Now()
	require.NoError(t, here.Drain(ctx))
	stored := map[string]string{}
	for i := range clusterTenants {
		tenant := tenantOf(i)
		require.Eventually(t, func() bool { // the last ones that others work on
			n := 0
			for src, err := range here.Tenant(tenant).Sub("notes").Sources(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, Content: true}) {
				require.NoError(t, err)
				if src.Status != contextmem.StatusCompleted {
					return false
				}
				stored[tenant+" "+src.ID] = src.Content
				n++
			}
			return n > 0
		}, 3*time.Minute, 100*time.Millisecond)
	}
	for key, text := range c.acked {
		require.Equal(t, text, stored[key], "lost: %s", key)
	}
	require.Len(t, stored, total, "stored and not acknowledged, or twice")
	report, err := here.Verify(ctx)
	require.NoError(t, err)
	require.Empty(t, report.Problems, "the indexes have what the store has")
	t.Logf("drained, listed and verified (%d rows) in %v", report.Rows, time.Since(drained).Round(time.Second))
	requests, failed := 0, 0
	for status, n := range c.seen.count {
		requests += n
		if status/100 != 2 {
			assert.Contains(t, []int{0, http.StatusServiceUnavailable}, status)
			failed += n
		}
	}
	assert.Zero(t, c.seen.without, "503 without Retry-After")
	assert.Less(t, failed*100, requests, "of %d requests %d failed", requests, failed)
}
