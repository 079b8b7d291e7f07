package scale

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/judge"
)

var (
	tenants    = flag.Uint64("tenants", 1_000_000, "tenants that there are; those that are met are made then")
	operations = flag.Int("operations", 600, "calls")
	rate       = flag.Float64("rate", 200, "calls a second, at random times")
	skew       = flag.Float64("skew", 1.1, "exponent of Zipf's law by which tenants are met, above 1")
	adds       = flag.Float64("adds", .2, "share of calls that add a memory; the others recall")
	idle       = flag.Int("open", 100, "MaxOpenTenants")
	read       = flag.Duration("read", 700*time.Microsecond, "a read of the database")
	write      = flag.Duration("write", 4*time.Millisecond, "a durable write of it")
	conns      = flag.Int("conns", 16, "connections of the process")
)

// times collects durations of calls.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (x *times) add(d time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, d)
}

func (x *times) String() string {
	slices.Sort(x.all)
	if len(x.all) == 0 {
		return "none"
	}
	at := func(p float64) time.Duration {
		return x.all[min(len(x.all)-1, int(p*float64(len(x.all))))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%d, p50 %v, p99 %v, most %v", len(x.all), at(.5), at(.99), at(1))
}

// TestTraffic runs the simulation and logs the results.
func TestTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		d := &database{Backend: inmem.New(), read: *read, write: *write, conns: make(chan struct{}, *conns)}
		svc, err := contextmem.New(ctx, backend.Compose(d, d.Backend), &contextmem.Options{Embedder: static.New(), Judge: judge.None, Reranker: contextmem.NoReranker, MaxOpenTenants: *idle})
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(1, 2))
		zipf := rand.NewZipf(random, *skew, 1, *tenants-1)
		var first sync.Map // by tenant: a channel that is closed when the tenant exists
		var added, asked, made times
		var wg sync.WaitGroup
		met := 0
		start := time.Now()
		for i := range *operations {
			time.Sleep(time.Duration(random.ExpFloat64() / *rate * float64(time.Second)))
			id := fmt.Sprintf("t%d", zipf.Uint64())
			adding := random.Float64() < *adds
			ready, known := first.LoadOrStore(id, make(chan struct{}))
			if !known {
				met++
			}
			wg.Go(func() {
				if !known {
					began := time.Now()
					_, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: id})
					assert.NoError(t, errors.Join(err, svc.Tenant(id).WaitReady(ctx)))
					made.add(time.Since(began))
					close(ready.(chan struct{}))
				}
				<-ready.(chan struct{})
				began := time.Now()
				sub := svc.Tenant(id).Sub("user")
				if adding || !known {
					_, err := sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: fmt.Sprintf("Ann noted the number %d in Rome.", i)}}})
					assert.NoError(t, err)
					added.add(time.Since(began))
					return
				}
				_, err := sub.Recall(ctx, contextmem.Recall{Query: "which number did Ann note?", Class: contextmem.ClassMemory})
				assert.NoError(t, err)
				asked.add(time.Since(began))
			})
		}
		wg.Wait()
		took := time.Since(start)
		require.NoError(t, svc.Drain(ctx))
		require.NoError(t, svc.Close())
		n := float64(*operations)
		require.Len(t, append(added.all, asked.all...), *operations)
		t.Logf("%d calls in %v for %d of %d tenants; at most %d open while idle", *operations, took.Round(time.Second), met, *tenants, *idle)
		t.Logf("adds: %v", &added)
		t.Logf("recalls: %v", &asked)
		t.Logf("tenants made: %v", &made)
		t.Logf("tenants were opened %d times, %d of these to make them: %.2f openings for a call", d.opens.Load(), met, float64(d.opens.Load()-int64(met))/n)
		t.Logf("%.2f reads and %.2f writes of the database for a call; its connections were busy %.1f %% of the time", float64(d.reads.Load())/n, float64(d.writes.Load())/n,
			100*(float64(d.reads.Load())*read.Seconds()+float64(d.writes.Load())*write.Seconds())/took.Seconds()/float64(*conns))
	})
}
