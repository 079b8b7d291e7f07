package workspace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/lease"
)

// TestOneProcessLeads checks that the process that works on a workspace applies changes to its indexes. Another process
// does so if none works on it, or if the working one is slow. It hands the task over within some seconds to the working one
// once that asks.
func TestOneProcessLeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const uid = "0123456789abcdef0123456789abcdef"
		reg := inmem.New().Registry()
		ctx, end := context.WithCancel(t.Context())
		defer end()
		type process struct {
			*lease.Keeper
			*lead
		}
		begin := func() process {
			k := lease.New(reg)
			go k.Run(ctx, func() {})
			synctest.Wait()
			return process{k, newLead(k, uid)}
		}
		worker, other, third := begin(), begin(), begin()
		leads := func(p process) bool {
			t.Helper()
			mine, err := p.mine(ctx, false)
			require.NoError(t, err)
			return mine
		}
		works := func(p process) {
			t.Helper()
			mine, _, err := p.Take(ctx, p.work)
			require.NoError(t, err)
			require.True(t, mine)
		}
		// after returns how long a process asks again and again until it leads.
		after := func(p process) time.Duration {
			t.Helper()
			began := time.Now()
			for !leads(p) {
				time.Sleep(longestAsk)
			}
			return time.Since(began)
		}
		assert.False(t, leads(other), "somebody may begin to work on it")
		assert.InDelta(t, freeAfter, after(other), float64(longestAsk), "nobody does")
		assert.False(t, leads(third), "one at a time")
		works(worker)
		assert.True(t, leads(other), "the other has just begun")
		assert.False(t, leads(worker))
		time.Sleep(lease.TTL/2 + time.Millisecond)
		works(worker)
		assert.False(t, leads(other), "it is handed over to who works")
		assert.False(t, leads(third))
		assert.True(t, leads(worker))
		assert.False(t, leads(other))
		for range 100 {
			time.Sleep(longestAsk)
			works(worker)
			require.True(t, leads(worker))
			require.False(t, leads(other))
		}
		require.NoError(t, worker.Release(ctx, worker.index))
		assert.InDelta(t, leadAfter, after(other), float64(longestAsk), "who works on it does not do it")
	})
}

// TestLeadUntilAsked checks that a process that does not work on a workspace leads until the working one asks, which may be
// catching up for long, and that it does not hand the lead over
// while it applies changes, or is asked to keep it.
func TestLeadUntilAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const uid = "0123456789abcdef0123456789abcdef"
		reg := inmem.New().Registry()
		ctx, end := context.WithCancel(t.Context())
		defer end()
		begin := func() (*lease.Keeper, *lead) {
			k := lease.New(reg)
			go k.Run(ctx, func() {})
			return k, newLead(k, uid)
		}
		leases, other := begin()
		restarted, worker := begin()
		time.Sleep(2 * freeAfter)
		_, err := other.Lead(ctx, false)
		require.NoError(t, err)
		time.Sleep(2 * freeAfter)
		term, err := other.Lead(ctx, false)
		require.NoError(t, err)
		require.NotZero(t, term)
		for range 300 { // 30 s
			time.Sleep(longestAsk)
			_, _, err := restarted.Take(ctx, worker.work)
			require.NoError(t, err)
			now, err := other.Lead(ctx, false)
			require.NoError(t, err)
			require.Equal(t, term, now, "the working one has not asked")
			require.True(t, other.Still(term))
		}
		now, err := worker.Lead(ctx, false) // it asks
		require.NoError(t, err)
		require.Zero(t, now)
		applies, done := context.WithCancel(ctx)
		go other.Keep(applies)
		for range 300 {
			time.Sleep(longestAsk)
			require.True(t, other.Still(term), "while it applies changes")
			now, err := worker.Lead(ctx, false)
			require.NoError(t, err)
			require.Zero(t, now)
		}
		done()
		for range 300 {
			time.Sleep(longestAsk)
			kept, err := other.Lead(ctx, true)
			require.NoError(t, err)
			require.Equal(t, term, kept, "it has something to do that another one would have to do again")
			now, err := worker.Lead(ctx, false)
			require.NoError(t, err)
			require.Zero(t, now)
		}
		for began := time.Now(); now == 0; {
			now, err = other.Lead(ctx, false)
			require.NoError(t, err)
			require.Equal(t, now != 0, other.Still(term))
			now, err = worker.Lead(ctx, false)
			require.NoError(t, err)
			time.Sleep(longestAsk)
			require.Less(t, time.Since(began), lease.TTL)
		}
		require.True(t, worker.Still(now))
		assert.False(t, other.Still(term))
		assert.False(t, leases.Holds(other.index))
	})
}

// TestLeadIsOfATerm checks that a process that works for longer than a lease lasts stays in the lead, and that it is not
// certain of its term any more after another process has led, even if it leads again.
func TestLeadIsOfATerm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const uid = "0123456789abcdef0123456789abcdef"
		reg, ctx := inmem.New().Registry(), t.Context()
		a, b := newLead(lease.New(reg), uid), newLead(lease.New(reg), uid)
		term := func(l *lead) uint64 {
			t.Helper()
			time.Sleep(2 * freeAfter)
			_, err := l.Lead(ctx, false)
			require.NoError(t, err)
			time.Sleep(2 * freeAfter)
			term, err := l.Lead(ctx, false)
			require.NoError(t, err)
			return term
		}
		first := term(a)
		require.NotZero(t, first)
		require.True(t, a.Still(first))
		works, done := context.WithCancel(ctx)
		go a.Keep(works)
		time.Sleep(5 * lease.TTL)
		assert.True(t, a.Still(first), "while it works")
		assert.Zero(t, term(b))
		done()
		time.Sleep(2 * lease.TTL)
		assert.False(t, a.Still(first))
		second := term(b)
		require.True(t, b.Still(second))
		time.Sleep(2 * lease.TTL)
		again := term(a)
		assert.True(t, a.Still(again))
		assert.False(t, a.Still(first), "another process has led meanwhile")
	})
}

// longestAsk is the interval at which processes in tests ask whether they lead.
const longestAsk = 100 * time.Millisecond
