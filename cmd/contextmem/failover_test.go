package main

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
)

// statuses counts responses by status: 0 where a request was sent and not answered. A refused request must have a
// Retry-After header.
type statuses struct {
	mu      sync.Mutex
	count   map[int]int
	without int // 503 without Retry-After
	unsent  int // requests to a server that was not there
}

// RoundTrip implements http.RoundTripper.
func (s *statuses) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && refusedConnection(err) {
		s.unsent++
		return nil, err
	}
	if err != nil {
		s.count[0]++
		return nil, err
	}
	s.count[res.StatusCode]++
	if wait, err := strconv.Atoi(res.Header.Get("Retry-After")); res.StatusCode == http.StatusServiceUnavailable && (err != nil || wait < 1) {
		s.without++
	}
	return res, nil
}

// TestServersFailOver checks that two servers continue over the promoted standby of their database. No acknowledged
// item may be lost, and the only error of clients may be 503 with Retry-After.
func TestServersFailOver(t *testing.T) {
	withCgo(t)
	if testing.Short() {
		t.Skip("starts processes")
	}
	pg := postgresServer(t)
	require.NoError(t, pg.CreateDatabase("failover", ""))
	standby, err := pg.Standby()
	require.NoError(t, err)
	t.Cleanup(standby.Stop)
	dir := t.TempDir()
	url := pg.EitherURL(standby, "failover")
	seats := []*seat{newSeat(t, url, dir), newSeat(t, url, dir)}
	ctx := t.Context()
	require.NoError(t, seats[0].client(t).CreateTenant(ctx, contextmem.TenantSpec{ID: "main"}))
	require.NoError(t, seats[1].client(t).Tenant("main").WaitReady(ctx))
	seen := &statuses{count: map[int]int{}}
	clients := make([]*client.Client, len(seats))
	for i, s := range seats {
		clients[i], err = client.New("http://"+s.addr, "k", &client.Options{HTTPClient: &http.Client{Transport: seen}, Retries: -1})
		require.NoError(t, err)
	}
	var mu sync.Mutex
	acked := map[string]bool{}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := fmt.Sprintf("m-%d-%d", w, i)
				b := contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: fmt.Sprintf("Client %d noted the number %d.", w, i)}}}
				for try := w; ; try++ {
					_, err := clients[try%2].Tenant("main").Sub("notes").AddMemories(ctx, b)
					if err == nil {
						break
					}
					if !assert.ErrorIs(t, err, contextmem.ErrUnavailable) {
						return
					}
				}
				mu.Lock()
				acked[id] = true
				mu.Unlock()
			}
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(acked)
	}
	require.Eventually(t, func() bool { return count() >= 60 }, 2*time.Minute, 5*time.Millisecond)
	start := time.Now()
	pg.Kill()
	require.NoError(t, standby.Promote())
	before := count()
	require.Eventually(t, func() bool { return count() > before }, time.Minute, time.Millisecond)
	away := time.Since(start)
	require.Eventually(t, func() bool { return count() >= before+60 }, 2*time.Minute, 5*time.Millisecond)
	close(stop)
	wg.Wait()
	for _, c := range clients {
		n := 0
		for id := range acked {
			st, err := c.Tenant("main").Sub("notes").Wait(ctx, id)
			require.NoError(t, err)
			require.Equal(t, contextmem.StatusCompleted, st[0].Status)
			n++
		}
		subs, err := c.Tenant("main").Subs(ctx)
		require.NoError(t, err)
		require.Equal(t, len(acked), subs[0].Memory, "neither lost nor twice")
	}
	require.Zero(t, seen.without)
	for status := range seen.count {
		assert.True(t, status/100 == 2 || status == http.StatusServiceUnavailable, "status %d", status)
	}
	t.Logf("%d acknowledged; statuses %v; from the kill to the next acknowledgement %v", len(acked), seen.count, away)
}
