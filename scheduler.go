package contextmem

import (
	"container/heap"
	"context"
	"errors"
	"hash/crc32"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/spaces"
)

// scheduler decides which workspace gets attention when. A workspace needs
// attention while it holds items that are not terminal, events to hand over, or
// items that will expire. The registry keeps a wake time for each, so that a
// start opens only those that need it.
//
// The rule that loses nothing: before an item is accepted, the stored wake time
// is at or before now; it is cleared only after the workspace was seen to be
// drained and nothing was accepted since.
type scheduler struct {
	svc *Service

	mu       sync.Mutex
	cond     *sync.Cond // signalled when ready grows or the service stops
	ready    []string   // uids in order of service
	queued   map[string]bool
	due      dueHeap
	dueAt    map[string]time.Time
	state    map[string]*attention
	running  int
	gens     int64         // acceptances so far, over all workspaces
	changed  chan struct{} // closed and replaced when pending or counts change
	stopping bool

	kick      chan struct{}  // to the timekeeper
	removal   chan struct{}  // to the remover
	wakes     [64]sync.Mutex // by workspace; held while its stored wake time is written, so that writes don't cross; taken before mu
	tokens    atomic.Int64
	completed atomic.Int64
	errored   atomic.Int64
}

// attention is what is known of a workspace that has needed some.
type attention struct {
	stored    time.Time // wake time in the registry; zero: none
	pending   bool      // holds items that are not terminal, or events
	admitting int       // commits of items that are under way
	gen       int64     // the number of the latest acceptance
	looks     int64     // how often a worker began to find out what is left
	quiet     time.Time // when it was last seen drained
	tries     int       // failures in a row, for the pause before the next try
	parked    error     // why the workspace can't be worked on until Reembed is called; nil: it can
}

const (
	settleAfter  = 10 * time.Second // quiet time after which the stored wake time is corrected
	settleAtOnce = 64               // wake times stored together
	eventBatch   = 1000
	expireBatch  = 1000
	flushAfter   = 2000 // items completed since the last flush that make one worth it when the queue is empty
)

func newScheduler(s *Service) *scheduler {
	c := &scheduler{svc: s, queued: map[string]bool{}, dueAt: map[string]time.Time{}, state: map[string]*attention{},
		changed: make(chan struct{}), kick: make(chan struct{}, 1), removal: make(chan struct{}, 1)}
	c.cond = sync.NewCond(&c.mu)
	return c
}

// load reads the stored wake times.
func (c *scheduler) load(ctx context.Context) error {
	ts, err := c.svc.reg.Awake(ctx, time.Now().AddDate(1000, 0, 0), 1<<30)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, t := range ts {
		// What was due when the service stopped may hold items; drained ones find out at their first step.
		c.state[t.UID] = &attention{stored: t.Wake, pending: !t.Wake.After(now)}
		c.svc.leased.Store(t.UID, struct{}{})
		c.setDue(t.UID, t.Wake)
	}
	return nil
}

func (c *scheduler) start(context.Context) error {
	c.removal <- struct{}{}
	w := &c.svc.work
	for range c.svc.opts.Workers {
		w.Go(c.worker)
	}
	w.Go(c.timekeeper)
	w.Go(c.remover)
	context.AfterFunc(c.svc.life, func() {
		c.mu.Lock()
		c.stopping = true
		c.cond.Broadcast()
		c.mu.Unlock()
	})
	return nil
}

// admit runs store, which commits items to a workspace, and puts the workspace in
// line. Until store has returned the stored wake time stays at or before now, so
// that a start after a crash looks at the workspace. When store fails the workspace
// is looked at all the same: the commit may have been done.
func (c *scheduler) admit(ctx context.Context, uid string, store func() error) error {
	c.mu.Lock()
	a := c.attention(uid)
	c.gens++
	a.gen = c.gens
	a.admitting++
	fine := !a.stored.IsZero() && !a.stored.After(time.Now())
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		a.admitting--
		c.mu.Unlock()
	}()
	if !fine {
		if err := c.storeNow(ctx, uid); err != nil {
			return err
		}
	}
	err := store()
	c.mu.Lock()
	now := c.attention(uid)
	now.pending = now.pending || err == nil
	c.gens++
	now.gen = c.gens
	c.push(uid)
	c.mu.Unlock()
	return err
}

// storeNow stores the present as the wake time of a workspace.
func (c *scheduler) storeNow(ctx context.Context, uid string) error {
	w := c.wakeLock(uid)
	w.Lock()
	defer w.Unlock()
	now := time.Now()
	if err := c.svc.reg.SetWake(ctx, uid, now); err != nil {
		return err
	}
	c.mu.Lock()
	c.attention(uid).stored = now
	c.mu.Unlock()
	return nil
}

// wakeLock is the one of wakes that a workspace uses.
func (c *scheduler) wakeLock(uid string) *sync.Mutex {
	return &c.wakes[crc32.ChecksumIEEE([]byte(uid))%uint32(len(c.wakes))]
}

// attention returns what is known of a workspace; c.mu is held.
func (c *scheduler) attention(uid string) *attention {
	a := c.state[uid]
	if a == nil {
		a = &attention{}
		c.state[uid] = a
	}
	return a
}

// tidy has a workspace looked at that nothing waits in, so that its shadows are flushed.
func (c *scheduler) tidy(uid string) {
	c.mu.Lock()
	c.attention(uid)
	c.push(uid)
	c.mu.Unlock()
}

// wake plans attention for a workspace whose stored wake time is at.
func (c *scheduler) wake(uid string, at time.Time) {
	c.mu.Lock()
	c.attention(uid).stored = at
	c.setDue(uid, at)
	c.mu.Unlock()
	c.nudge()
}

func (c *scheduler) nudge() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

func (c *scheduler) removeLater() {
	select {
	case c.removal <- struct{}{}:
	default:
	}
}

// push puts uid in line; c.mu is held.
func (c *scheduler) push(uid string) {
	if !c.queued[uid] {
		c.queued[uid] = true
		c.ready = append(c.ready, uid)
		c.cond.Signal()
	}
}

// setDue plans attention; c.mu is held (or nothing runs yet). A zero time plans none.
func (c *scheduler) setDue(uid string, at time.Time) {
	if at.IsZero() {
		delete(c.dueAt, uid)
		return
	}
	if old, ok := c.dueAt[uid]; !ok || !old.Equal(at) {
		c.dueAt[uid] = at
		heap.Push(&c.due, dueEntry{at, uid})
	}
}

func (c *scheduler) signal() {
	c.mu.Lock()
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

// timekeeper moves workspaces in line when they are due and corrects stored wake times.
func (c *scheduler) timekeeper() {
	settle := time.NewTicker(settleAfter)
	defer settle.Stop()
	for {
		var next <-chan time.Time
		var timer *time.Timer
		c.mu.Lock()
		now := time.Now()
		for len(c.due) > 0 {
			e := c.due[0]
			if at, ok := c.dueAt[e.uid]; !ok || !at.Equal(e.at) { // planned anew since
				heap.Pop(&c.due)
				continue
			}
			if e.at.After(now) {
				timer = time.NewTimer(e.at.Sub(now))
				next = timer.C
				break
			}
			heap.Pop(&c.due)
			delete(c.dueAt, e.uid)
			c.push(e.uid)
		}
		c.mu.Unlock()
		select {
		case <-c.svc.life.Done():
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			c.settle(ctx, 0)
			cancel()
		case <-c.kick:
		case <-next:
		case <-settle.C:
			c.settle(c.svc.life, settleAfter)
		}
		if timer != nil {
			timer.Stop()
		}
		if c.svc.life.Err() != nil {
			return
		}
	}
}

// settle stores the right wake time of workspaces that have been drained for a while,
// many at once so that they share commits, and forgets those that will need no
// attention by themselves.
func (c *scheduler) settle(ctx context.Context, quiet time.Duration) {
	now := time.Now()
	still := func(a *attention) bool {
		return !a.pending && a.admitting == 0 && !a.quiet.IsZero() && now.Sub(a.quiet) >= quiet
	}
	off := func(uid string, a *attention) bool { return still(a) && !a.stored.Equal(c.dueAt[uid]) }
	var uids []string
	c.mu.Lock()
	for uid, a := range c.state {
		_, due := c.dueAt[uid]
		switch {
		case off(uid, a):
			uids = append(uids, uid)
		case still(a) && a.stored.IsZero() && !due && !c.queued[uid] && a.parked == nil:
			delete(c.state, uid)
		}
	}
	c.mu.Unlock()
	var g errgroup.Group
	g.SetLimit(settleAtOnce)
	for _, uid := range uids {
		g.Go(func() error {
			if err := c.correct(ctx, uid, off); err != nil && ctx.Err() == nil {
				c.svc.opts.Logger.Warn("storing a wake time failed", "uid", uid, "err", err)
			}
			return nil
		})
	}
	_ = g.Wait() // errors were logged
}

// correct stores when a workspace is due if the stored wake time is still off.
// Whoever is admitted from then on sees the new time and stores one of his own,
// after this one.
func (c *scheduler) correct(ctx context.Context, uid string, off func(string, *attention) bool) error {
	w := c.wakeLock(uid)
	w.Lock()
	defer w.Unlock()
	c.mu.Lock()
	a := c.attention(uid)
	if !off(uid, a) {
		c.mu.Unlock()
		return nil
	}
	at := c.dueAt[uid]
	a.stored = at
	c.mu.Unlock()
	return c.svc.reg.SetWake(ctx, uid, at)
}

// worker serves workspaces until the service stops.
func (c *scheduler) worker() {
	for {
		c.mu.Lock()
		for len(c.ready) == 0 && !c.stopping {
			c.cond.Wait()
		}
		if c.stopping {
			c.mu.Unlock()
			return
		}
		uid := c.ready[0]
		c.ready = c.ready[1:]
		delete(c.queued, uid)
		c.running++
		c.mu.Unlock()
		again, err := c.serve(uid)
		c.mu.Lock()
		c.running--
		a := c.attention(uid)
		var foreign *foreignEmbedder
		switch {
		case errors.As(err, &foreign): // trying again changes nothing
			a.parked = err
		case err != nil:
			a.tries++
			c.setDue(uid, time.Now().Add(pipeline.Backoff(a.tries)))
		case again:
			a.tries = 0
			c.push(uid)
		default:
			a.tries = 0
		}
		c.mu.Unlock()
		if err != nil && c.svc.life.Err() == nil {
			c.svc.opts.Logger.Warn("working on a tenant failed", "uid", uid, "err", err)
		}
		c.nudge()
		c.signal()
	}
}

// serve gives one workspace attention; again means that more waits.
func (c *scheduler) serve(uid string) (again bool, err error) {
	ctx := c.svc.life
	t, err := c.svc.reg.TenantByUID(ctx, uid)
	if errors.Is(err, backend.ErrNotFound) || (err == nil && t.State == backend.TenantDeleting) {
		c.forget(uid)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if t.State == backend.TenantProvisioning {
		if err := c.svc.provision(ctx, t); err != nil {
			return false, err
		}
	} else if t.State == backend.TenantFailed {
		c.forget(uid)
		return false, c.svc.reg.SetWake(ctx, uid, time.Time{})
	}
	sp, err := c.svc.spaces.Acquire(ctx, uid)
	if err != nil {
		if errors.Is(err, spaces.ErrClosed) || errors.Is(err, backend.ErrNotFound) {
			return false, nil
		}
		return false, err
	}
	defer c.svc.spaces.Release(uid)
	n, err := c.svc.pipe.Step(ctx, pipeline.Space{
		Store: sp.store, Follower: sp.follower, Changed: sp.stateChanged,
		Events: func() bool { return c.svc.hasWebhook(t.Org) },
		Claimed: func(n int) {
			if n >= c.svc.opts.BatchItems { // another worker may help
				c.mu.Lock()
				c.push(uid)
				c.mu.Unlock()
			}
		},
		Ended: func(completed, errored int) {
			sp.unflushed.Add(int64(completed))
			c.completed.Add(int64(completed))
			c.errored.Add(int64(errored))
		},
	}, "w"+strconv.FormatInt(c.tokens.Add(1), 36)+"-"+uid[:8]+strconv.FormatInt(time.Now().UnixNano(), 36))
	if err != nil {
		return false, err
	}
	if n > 0 {
		c.signal()
	}
	if err := c.handOver(ctx, t, sp); err != nil {
		return false, err
	}
	if n >= c.svc.opts.BatchItems {
		return true, nil
	}
	return c.rest(ctx, sp)
}

// rest finds out when a workspace needs attention next.
func (c *scheduler) rest(ctx context.Context, sp *space) (again bool, err error) {
	c.mu.Lock()
	now := c.attention(sp.uid)
	now.looks++
	gen, look := now.gen, now.looks
	c.mu.Unlock()
	expired, nextExpiry, err := sp.store.Expire(ctx, time.Now(), expireBatch)
	if err != nil {
		return false, err
	}
	if expired > 0 {
		if err := sp.follower.Sync(ctx); err != nil {
			return false, err
		}
		sp.stateChanged()
	}
	counts, next, err := sp.store.Backlog(ctx)
	if err != nil {
		return false, err
	}
	if sp.unflushed.Load() >= flushAfter && counts[backend.Queued] == 0 { // written indexes are searched faster and open faster
		sp.unflushed.Store(0)
		if err := sp.follower.Flush(ctx); err != nil {
			return false, err
		}
	}
	waiting := counts[backend.Queued] + counts[backend.Processing] + counts[backend.GraphCreation]
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.attention(sp.uid)
	if a.gen != gen {
		return true, nil
	}
	if a.looks != look { // another worker looked later, after its own work: what it sees counts
		return expired == expireBatch, nil
	}
	a.pending = waiting > 0
	if waiting == 0 {
		a.quiet = time.Now()
	}
	if next.IsZero() || (!nextExpiry.IsZero() && nextExpiry.Before(next)) {
		next = nextExpiry
	}
	c.setDue(sp.uid, next)
	return expired == expireBatch, nil
}

// unpark lets a workspace be worked on again.
func (c *scheduler) unpark(uid string) {
	c.mu.Lock()
	if a := c.state[uid]; a != nil && a.parked != nil {
		a.parked = nil
		c.push(uid)
	}
	c.mu.Unlock()
}

// deleted lets the scheduler find out that items no longer wait.
func (c *scheduler) deleted(uid string) {
	c.mu.Lock()
	if a := c.state[uid]; a != nil && a.pending {
		c.push(uid)
	}
	c.mu.Unlock()
}

func (c *scheduler) forget(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setDue(uid, time.Time{})
	c.state[uid] = &attention{}
}

// planExpiry wakes the workspace when an item expires.
func (c *scheduler) planExpiry(uid string, at time.Time) {
	c.mu.Lock()
	if old, ok := c.dueAt[uid]; !ok || at.Before(old) {
		c.setDue(uid, at)
	}
	c.mu.Unlock()
	c.nudge()
}

// remover finishes the removal of deleted tenants.
func (c *scheduler) remover() {
	for {
		select {
		case <-c.svc.life.Done():
			return
		case <-c.removal:
		}
		for failures := 0; ; {
			all, err := c.svc.removeDeleted(c.svc.life)
			if all {
				break
			}
			pause := pipeline.Backoff(1) // some are in use
			if err != nil {
				if c.svc.life.Err() == nil {
					c.svc.opts.Logger.Warn("removing a tenant failed", "err", err)
				}
				failures++
				pause = pipeline.Backoff(failures)
			}
			select {
			case <-c.svc.life.Done():
				return
			case <-time.After(pause):
			}
		}
	}
}
