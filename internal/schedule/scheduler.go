// Package schedule decides which workspace gets attention when, and gives it: items are processed, events handed over,
// expired items removed, deleted tenants cleared away.
package schedule

import (
	"container/heap"
	"context"
	"hash/crc32"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Outbox takes the events of workspaces.
type Outbox interface {
	// Wanted reports whether events of an organisation have a receiver.
	Wanted(org string) bool
	// HandOver moves the events of a tenant's store to their deliveries.
	HandOver(ctx context.Context, t backend.Tenant, st backend.Store) error
}

// Config is what a Scheduler needs.
type Config struct {
	Set      *workspace.Set
	Gate     *workspace.Gate
	Pipeline *pipeline.Config
	Outbox   Outbox
	Changes  *change.Engine // nil: memories are not compared
	Leases   *lease.Keeper  // nil: no other process has the deployment open
	Workers  int
	Logger   *slog.Logger
}

// Scheduler serves workspaces that need attention: those that hold items that are not terminal, events to hand over, or
// items that will expire. The registry keeps a wake time for each, so that a
// start opens only those that need it.
//
// The rule that loses nothing: before an item is accepted, the stored wake time
// is at or before now; it is cleared only after the workspace was seen to be
// drained and nothing was accepted since.
type Scheduler struct {
	Config
	set      *workspace.Set
	gate     *workspace.Gate
	registry backend.Registry

	mu       sync.Mutex
	cond     *sync.Cond // signalled when ready grows or the service stops
	ready    []string   // uids in order of service
	queued   map[string]bool
	due      dueHeap
	dueAt    map[string]time.Time
	state    map[string]*attention
	running  int
	gens     int64 // acceptances so far, over all workspaces
	refiner  *errand
	comparer *errand
	upkeep   map[string]bool // uids of workspaces that may have work that can wait
	held     string          // the uid of a workspace that errands leave alone
	changed  chan struct{}   // closed and replaced when pending or counts change
	stopping bool

	kick      chan struct{}  // to the timekeeper
	removal   chan struct{}  // to the remover
	search    chan struct{}  // to the seeker
	wakes     [64]sync.Mutex // by workspace; held while its stored wake time is written, so that writes don't cross; taken before mu
	tokens    atomic.Int64
	completed atomic.Int64
	errored   atomic.Int64
}

// attention is what is known of a workspace that has needed some.
type attention struct {
	stored    time.Time       // wake time in the registry; zero: none
	pending   bool            // holds items that are not terminal, or events
	admitting int             // commits of items that are under way
	gen       int64           // the number of the latest acceptance
	looks     int64           // how often a worker began to find out what is left
	quiet     time.Time       // when it was last seen drained
	seen      time.Time       // when a worker last took it up
	tries     int             // failures in a row, for the pause before the next try
	tasks     task            // that are to be done for it, see errand
	failed    task            // of them, those that failed the last time
	rushed    time.Time       // when last more waited than is refined at once
	cause     context.Context // of a call that added something since the last batch; nil: none, or nobody observes
	parked    error           // why the workspace can't be worked on until Reembed is called; nil: it can
}

const (
	settleAfter  = 10 * time.Second // quiet time after which the stored wake time is corrected
	settleAtOnce = 64               // wake times stored together
	expireBatch  = 1000
	flushAfter   = 2000    // chunks completed since the last flush that make one worth it when the queue is empty
	flushFull    = 1 << 14 // chunks that are enough for one while more is queued: what is not written is built anew after a kill
)

// New returns a scheduler; Load and Start set it to work.
func New(cfg Config) *Scheduler {
	c := &Scheduler{Config: cfg, set: cfg.Set, gate: cfg.Gate, registry: cfg.Set.Registry(), queued: map[string]bool{}, upkeep: map[string]bool{}, dueAt: map[string]time.Time{}, state: map[string]*attention{},
		changed: make(chan struct{}), kick: make(chan struct{}, 1), removal: make(chan struct{}, 1), search: make(chan struct{}, 1)}
	c.cond = sync.NewCond(&c.mu)
	c.refiner, c.comparer = c.newRefiner(), c.newComparer()
	return c
}

// Load reads the stored wake times.
func (c *Scheduler) Load(ctx context.Context) error {
	ts, err := c.registry.Awake(ctx, time.Now().AddDate(1000, 0, 0), 1<<30)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, t := range ts {
		if c.Leases != nil { // seek finds those that others do not work on
			break
		}
		// What was due when the service stopped may hold items; drained ones find out at their first step.
		c.state[t.UID] = &attention{stored: t.Wake, pending: !t.Wake.After(now)}
		c.set.Leased(t.UID)
		c.setDue(t.UID, t.Wake)
	}
	return nil
}

// Start sets workers, the timekeeper and the remover to work; they end with the gate.
func (c *Scheduler) Start() {
	c.removal <- struct{}{}
	for range c.Workers {
		c.gate.Go(c.worker)
	}
	c.gate.Go(c.timekeeper)
	if c.set.Slow > 0 {
		c.gate.Go(func() { c.run(c.refiner) })
	}
	if c.Changes != nil {
		c.gate.Go(func() { c.run(c.comparer) })
	}
	c.gate.Go(c.remover)
	c.gate.Go(c.keeper)
	if c.Leases != nil {
		c.gate.Go(c.seeker)
	}
	context.AfterFunc(c.gate.Life(), func() {
		c.mu.Lock()
		c.stopping = true
		c.cond.Broadcast()
		c.mu.Unlock()
	})
}

// Admit runs store, which commits items to a workspace, and puts the workspace in
// line. Until store has returned the stored wake time stays at or before now, so
// that a start after a crash looks at the workspace. When store fails the workspace
// is looked at all the same: the commit may have been done.
func (c *Scheduler) Admit(ctx context.Context, uid string, store func() error) error {
	c.mu.Lock()
	a := c.attention(uid)
	c.gens++
	a.gen = c.gens
	a.admitting++
	mine := c.Pipeline.Observer != nil && a.cause == nil
	if mine { // before the commit: a worker may be quick
		a.cause = context.WithoutCancel(ctx)
	}
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
	if mine && err != nil {
		now.cause = nil
	}
	c.gens++
	now.gen = c.gens
	c.push(uid)
	c.mu.Unlock()
	return err
}

// storeNow stores the present as the wake time of a workspace.
func (c *Scheduler) storeNow(ctx context.Context, uid string) error {
	w := c.wakeLock(uid)
	w.Lock()
	defer w.Unlock()
	now := time.Now()
	if err := c.registry.SetWake(ctx, uid, now); err != nil {
		return err
	}
	c.mu.Lock()
	c.attention(uid).stored = now
	c.mu.Unlock()
	return nil
}

// wakeLock is the one of wakes that a workspace uses.
func (c *Scheduler) wakeLock(uid string) *sync.Mutex {
	return &c.wakes[crc32.ChecksumIEEE([]byte(uid))%uint32(len(c.wakes))]
}

// attention returns what is known of a workspace; c.mu is held.
func (c *Scheduler) attention(uid string) *attention {
	a := c.state[uid]
	if a == nil {
		a = &attention{}
		c.state[uid] = a
	}
	return a
}

// Tidy has a workspace looked at that nothing waits in, so that its indexes are flushed.
func (c *Scheduler) Tidy(uid string) {
	c.mu.Lock()
	c.attention(uid)
	c.push(uid)
	c.mu.Unlock()
}

// Wake plans attention for a workspace whose stored wake time is at.
func (c *Scheduler) Wake(uid string, at time.Time) {
	c.mu.Lock()
	c.attention(uid).stored = at
	c.setDue(uid, at)
	c.mu.Unlock()
	c.nudge()
}

func (c *Scheduler) nudge() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// push puts uid in line; c.mu is held.
func (c *Scheduler) push(uid string) {
	if !c.queued[uid] {
		c.queued[uid] = true
		c.ready = append(c.ready, uid)
		c.cond.Signal()
	}
}

// setDue plans attention; c.mu is held (or nothing runs yet). A zero time plans none.
func (c *Scheduler) setDue(uid string, at time.Time) {
	if at.IsZero() {
		delete(c.dueAt, uid)
		return
	}
	if old, ok := c.dueAt[uid]; !ok || !old.Equal(at) {
		c.dueAt[uid] = at
		heap.Push(&c.due, dueEntry{at, uid})
	}
}

func (c *Scheduler) signal() {
	c.mu.Lock()
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
}

// Unpark lets a workspace be worked on again.
func (c *Scheduler) Unpark(uid string) {
	c.mu.Lock()
	if a := c.state[uid]; a != nil && a.parked != nil {
		a.parked = nil
		c.push(uid)
	}
	c.mu.Unlock()
}

// Deleted lets the scheduler find out that items no longer wait.
func (c *Scheduler) Deleted(uid string) {
	c.mu.Lock()
	if a := c.state[uid]; a != nil && a.pending {
		c.push(uid)
	}
	c.upkeep[uid] = true
	c.mu.Unlock()
}

func (c *Scheduler) forget(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setDue(uid, time.Time{})
	c.state[uid] = &attention{}
}

// PlanExpiry wakes the workspace when an item expires.
func (c *Scheduler) PlanExpiry(uid string, at time.Time) {
	c.mu.Lock()
	if old, ok := c.dueAt[uid]; !ok || at.Before(old) {
		c.setDue(uid, at)
	}
	c.mu.Unlock()
	c.nudge()
}
