package postgres

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// acceptItems accepts n items and returns the numbers of their versions.
func acceptItems(t *testing.T, s backend.Store, n int) (nums []int64) {
	t.Helper()
	var in []backend.Incoming
	for i := range n {
		in = append(in, backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Memory, Sub: "s"}, ID: fmt.Sprint("i", i), CreatedAt: time.Unix(1, 0)}})
	}
	out, err := s.Accept(t.Context(), in)
	require.NoError(t, err)
	for _, a := range out {
		nums = append(nums, a.Num)
	}
	return nums
}

func claimItems(t *testing.T, s backend.Store, token string, n int) (nums []int64) {
	t.Helper()
	claims, err := s.Claim(t.Context(), token, time.Now(), time.Now().Add(time.Hour), n, 0)
	require.NoError(t, err)
	for _, c := range claims {
		nums = append(nums, c.Num)
	}
	return nums
}

// TestWaitingForAVersionHoldsNone checks that a call that renews or releases claims locks no other version while it
// waits for one that is being stored. Otherwise the two calls could wait for each other.
func TestWaitingForAVersionHoldsNone(t *testing.T) {
	for name, call := range map[string]func(t *testing.T, s *store, nums []int64) error{
		"renew": func(t *testing.T, s *store, nums []int64) error {
			return s.Renew(t.Context(), "mine", nums, time.Now().Add(2*time.Hour))
		},
		"defer": func(t *testing.T, s *store, nums []int64) error {
			var items []backend.Deferred
			for _, n := range nums {
				items = append(items, backend.Deferred{Num: n, Token: "mine", State: backend.Queued, NotBefore: time.Now().Add(2 * time.Hour)})
			}
			return s.Defer(t.Context(), items)
		},
	} {
		t.Run(name, func(t *testing.T) {
			stores := openProcesses(t, t.Name(), 2, nil)
			a, b := stores[0].(*store), stores[1].(*store)
			nums := acceptItems(t, a, 3)
			require.Equal(t, nums, claimItems(t, a, "mine", 3))
			held, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 2)
			release := sync.OnceFunc(func() { close(goOn) })
			defer release()
			go func() {
				done <- a.change(t.Context(), func(tx *tx) error {
					_, err := rows{tx}.Version(nums[1])
					close(held)
					<-goOn
					return err
				})
			}()
			<-held
			go func() { done <- call(t, b, nums) }()
			require.Eventually(t, func() bool { return lockWaiters(t, a.db) > 0 }, time.Minute, time.Millisecond)
			require.NoError(t, a.alone(t.Context(), func(c *conn) error {
				return c.each(bg, "SELECT num FROM sources WHERE ws = $1 AND num = ANY($2) ORDER BY num FOR UPDATE NOWAIT", func(*row) error { return nil }, []int64{nums[0], nums[2]})
			}), "nobody holds the others")
			release()
			require.NoError(t, <-done)
			require.NoError(t, <-done)
			again, err := a.Claim(t.Context(), "next", time.Now().Add(90*time.Minute), time.Now().Add(3*time.Hour), 10, 0)
			require.NoError(t, err)
			assert.Empty(t, again, "each was renewed or put off for longer")
		})
	}
}

// TestWorkersDoNotDeadlock lets two processes store, renew and release claims in any order. They must never wait for
// each other in a circle.
func TestWorkersDoNotDeadlock(t *testing.T) {
	const batch, rounds = 24, 12
	name := t.Name()
	url := database(t, name)
	var stores []backend.Store
	var dbs []*DB
	for range 2 {
		d, err := Open(t.Context(), url, nil)
		require.NoError(t, err)
		s, err := d.OpenStore(t.Context(), backendtest.UID(name))
		require.NoError(t, err)
		dbs, stores = append(dbs, d), append(stores, s)
	}
	acceptItems(t, stores[0], 4*batch)
	var wg sync.WaitGroup
	var finished atomic.Int64
	for k := range 4 {
		wg.Go(func() {
			s := stores[k%2]
			rng := rand.New(rand.NewPCG(uint64(k), 1))
			shuffled := func(nums []int64) []int64 {
				nums = slices.Clone(nums)
				rng.Shuffle(len(nums), func(i, j int) { nums[i], nums[j] = nums[j], nums[i] })
				return nums
			}
			for round := range rounds {
				token := fmt.Sprint(k, "/", round)
				claims, err := s.Claim(t.Context(), token, time.Now(), time.Now().Add(time.Minute), batch, 0)
				if !assert.NoError(t, err) {
					return
				}
				var nums []int64
				for _, c := range claims {
					nums = append(nums, c.Num)
				}
				var at sync.WaitGroup
				for range 2 { // a lease that is short beside the work
					of := shuffled(nums)
					at.Go(func() {
						for range 4 {
							assert.NoError(t, s.Renew(t.Context(), token, of, time.Now().Add(time.Minute)))
						}
					})
				}
				var items []backend.Indexed
				for _, n := range shuffled(nums) {
					items = append(items, backend.Indexed{Num: n, Token: token, Chunks: []backend.Chunk{{Key: fmt.Sprint(n, "/", round), Text: "text"}}})
				}
				_, err = s.Index(t.Context(), items)
				assert.NoError(t, err)
				var some []backend.Finished
				var rest []backend.Deferred
				for i, n := range shuffled(nums) {
					if i%4 == 0 {
						some = append(some, backend.Finished{Num: n, Token: token, State: backend.Completed})
					} else {
						rest = append(rest, backend.Deferred{Num: n, Token: token, State: backend.Queued})
					}
				}
				at.Go(func() { assert.NoError(t, s.Defer(t.Context(), rest)) })
				ok, err := s.Finish(t.Context(), some)
				assert.NoError(t, err)
				for _, is := range ok {
					if is {
						finished.Add(1)
					}
				}
				at.Wait()
			}
		})
	}
	wg.Wait()
	var errs []error
	for _, d := range dbs {
		errs = append(errs, d.Close()) // sessions report what they met when they end
	}
	require.NoError(t, errors.Join(errs...))
	assert.Positive(t, finished.Load())
	require.Eventually(t, func() bool {
		n, err := server.pg.SQL("postgres", "SELECT numbackends FROM pg_stat_database WHERE datname = '"+databaseName(name)+"'")
		return err == nil && n == "0"
	}, time.Minute, 20*time.Millisecond)
	n, err := server.pg.SQL("postgres", "SELECT deadlocks FROM pg_stat_database WHERE datname = '"+databaseName(name)+"'")
	require.NoError(t, err)
	assert.Equal(t, "0", n)
}
