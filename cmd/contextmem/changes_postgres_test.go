package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChangesOverPostgresAreKilled does what TestChangesAreKilled does, without imports, to three servers over one database, of which each client asks
// one. Servers are killed in turns, and the database. The leases of claims last longer than the test waits, so that items on which a killed server was
// working have to be taken over. In the end each client's memories are read at another server. CONTEXTMEM_KILL_TEST=full runs the
// test for six minutes, with a kill every nine seconds.
func TestChangesOverPostgresAreKilled(t *testing.T) {
	withCgo(t)
	clients, kills, lasts, pause := 3, 4, 6*time.Minute, time.Second
	if os.Getenv("CONTEXTMEM_KILL_TEST") == "full" {
		clients, kills, pause = 6, 100_000, 9*time.Second
	} else if testing.Short() {
		t.Skip("starts processes")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 42))
	pg := postgresServer(t)
	require.NoError(t, pg.CreateDatabase("fleet", ""))
	url := pg.URL("fleet")
	here := openOn(t, url)
	var seats []*seat
	for range 3 {
		seats = append(seats, seatOn(t, t.TempDir(), "--store", url, "--judge", "none", "--lease", "2m"))
	}
	c := changesOn(t, seats...)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for n := range clients {
		p := newPlace(c, n, rand.New(rand.NewPCG(seed, uint64(n))))
		wg.Go(func() { p.work(stop) })
	}
	began := time.Now()
	made := 0
	for ; made < kills && time.Since(began) < lasts && !c.failed(); made++ {
		time.Sleep(pause)
		c.awaitCall(changeKinds[made%len(changeKinds)])
		time.Sleep(time.Duration(rng.IntN(8000)) * time.Microsecond)
		if made%4 == 3 {
			pg.Kill()
			require.NoError(t, pg.Start())
			continue
		}
		s := seats[made%4]
		s.kill()
		s.start()
	}
	close(stop)
	wg.Wait()
	require.Empty(t, c.foes)
	live, gone := 0, 0
	for _, p := range c.places {
		p.use(seats[(slices.Index(seats, p.seat)+1)%len(seats)])
		l, g := p.checkAll()
		live, gone = live+l, gone+g
	}
	require.Empty(t, c.foes)
	assert.Positive(t, live)
	rep, err := here.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	t.Logf("%d kills in %v; %d memories live and %d are deleted; acknowledged %v; without an answer and done %v, and not done %v; %d recalls were partial",
		made, time.Since(began).Round(time.Second), live, gone, c.acked, c.done, c.undone, c.partial.Load())
}
