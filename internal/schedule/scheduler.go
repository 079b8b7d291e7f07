// Package schedule decides when each workspace is processed, and runs the processing. It processes items, hands over
// events, removes expired items, and removes deleted tenants.
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

// Outbox receives the events of workspaces.
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
	Leases   *lease.Keeper  // nil: only this process has the deployment open
	// Unfinished goes on with what a call or an earlier process has left half done in a workspace. next is when it has to be called again; zero: nothing
	// is left. It is set before Start. nil: nothing can be left.
	Unfinished func(ctx context.Context, sp *workspace.Space) (next time.Time, err error)
	Workers    int
	Logger     *slog.Logger
}

// Scheduler processes workspaces that have items that are not terminal, events to hand over, or items that will expire.
// The registry stores a wake time for each of them. When a service starts, it opens only the
// workspaces whose wake time has come.
//
// One rule ensures that no item is forgotten. Before an item is accepted, the stored wake
// time is at or before now. It is cleared only after a worker has found the workspace
// drained, and if nothing was accepted since.
type Scheduler struct {
	Config
	set      *workspace.Set
	gate     *workspace.Gate
	registry backend.Registry

	mu       sync.Mutex
	cond     *sync.Cond // signalled when ready grows or the service stops
	ready    []string   // uids of queued workspaces, first in first out
	queued   map[string]bool
	due      dueHeap
	dueAt    map[string]time.Time
	state    map[string]*attention
	running  int
	gens     int64 // number of acceptances so far, in all workspaces
	refiner  *backgroundJob
	comparer *backgroundJob
	steps    map[string]bool // tokens of the running steps
	upkeep   map[string]bool // uids of workspaces with planned upkeep
	held     string          // uid of the workspace that background jobs must not process; see hold
	changed  chan struct{}   // closed and replaced when pending or counts change
	stopping bool

	kick      chan struct{}  // wakes the timekeeper
	removal   chan struct{}  // wakes the remover
	search    chan struct{}  // wakes the seeker
	wakes     [64]sync.Mutex // striped by workspace; orders writes of a workspace's stored wake time; locked before mu
	awaited   atomic.Int64   // recalls that wait for the comparer, which then lets no others go first
	tokens    atomic.Int64
	completed atomic.Int64
	errored   atomic.Int64
}

// attention is the scheduler's state of a workspace.
type attention struct {
	stored    time.Time       // wake time in the registry; zero: none
	pending   bool            // it has items that are not terminal, or events
	admitting int             // number of commits of items in flight
	gen       int64           // the number of the latest acceptance
	looks     int64           // number of times that a worker has begun to read the backlog
	quiet     time.Time       // when a worker last found it drained
	seen      time.Time       // when a worker last began to process it
	declined  time.Time       // when this process began to leave it to others, see declines
	strays    bool            // it may have claims of steps that have ended, see endStrays
	tries     int             // consecutive failures, which determine the pause before the next try
	tasks     task            // background tasks that it needs, see backgroundJob
	failed    task            // those tasks whose last slice failed
	rushed    time.Time       // when more than rushItems items last waited
	cause     context.Context // context of a call that added items since the last batch; nil: none, or there is no observer
	parked    error           // why the workspace can't be processed until Reembed is called; nil: it can
}

const (
	settleAfter  = 10 * time.Second // quiet time after which the stored wake time is corrected
	settleAtOnce = 64               // number of wake times stored concurrently
	expireBatch  = 1000
	expireRetry  = time.Minute // pause after which a Store that did not remove what has expired is asked again
	flushFull    = 1 << 14     // number of unflushed chunks from which on a flush is worth it while items are queued; after a kill, chunks that were not flushed are indexed again
)

// New returns a scheduler. Call Load and then Start to start it.
func New(cfg Config) *Scheduler {
	c := &Scheduler{Config: cfg, set: cfg.Set, gate: cfg.Gate, registry: cfg.Set.Registry(), queued: map[string]bool{}, steps: map[string]bool{}, upkeep: map[string]bool{}, dueAt: map[string]time.Time{}, state: map[string]*attention{},
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
		if c.Leases != nil { // seek finds the workspaces that no other process works on
			break
		}
		// A workspace that was due when the service stopped may have items. The first step finds out.
		c.state[t.UID] = &attention{stored: t.Wake, pending: !t.Wake.After(now)}
		c.set.Leased(t.UID)
		c.setDue(t.UID, t.Wake)
	}
	return nil
}

// Start starts the workers, the timekeeper, the remover and the background jobs. They end when the gate closes.
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

// Admit runs store, which commits items to a workspace, and queues the workspace. Until
// store has returned, the stored wake time stays at or before now. A start after a crash
// therefore checks the workspace. If store fails, the workspace is checked too, since the
// commit may have succeeded.
func (c *Scheduler) Admit(ctx context.Context, uid string, store func() error) error {
	c.mu.Lock()
	a := c.attention(uid)
	c.gens++
	a.gen = c.gens
	a.admitting++
	mine := c.Pipeline.Observer != nil && a.cause == nil
	if mine { // before the commit, since a worker may process the items at once
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

// storeNow stores the current time as the wake time of a workspace.
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

// wakeLock returns the lock of wakes for a workspace.
func (c *Scheduler) wakeLock(uid string) *sync.Mutex {
	return &c.wakes[crc32.ChecksumIEEE([]byte(uid))%uint32(len(c.wakes))]
}

// attention returns the state of a workspace. It adds a new one if there is none. The caller holds c.mu.
func (c *Scheduler) attention(uid string) *attention {
	a := c.state[uid]
	if a == nil {
		a = &attention{}
		c.state[uid] = a
	}
	return a
}

// Tidy queues a workspace without waiting items, so that its indexes are flushed.
func (c *Scheduler) Tidy(uid string) {
	c.mu.Lock()
	c.attention(uid)
	c.push(uid)
	c.mu.Unlock()
}

// Wake plans processing of a workspace whose stored wake time is at.
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

// push queues a workspace. The caller holds c.mu.
func (c *Scheduler) push(uid string) {
	if !c.queued[uid] {
		c.queued[uid] = true
		c.ready = append(c.ready, uid)
		c.cond.Signal()
	}
}

// setDue plans processing at a time; a zero time removes the plan. The caller holds c.mu, unless nothing runs yet.
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

// Unpark allows processing of a parked workspace again.
func (c *Scheduler) Unpark(uid string) {
	c.mu.Lock()
	if a := c.state[uid]; a != nil && a.parked != nil {
		a.parked = nil
		c.push(uid)
	}
	c.mu.Unlock()
}

// Deleted queues a workspace after items were deleted. The scheduler may then find that none waits.
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

// PlanExpiry plans processing of a workspace for the time at which an item expires.
func (c *Scheduler) PlanExpiry(uid string, at time.Time) {
	c.mu.Lock()
	if old, ok := c.dueAt[uid]; !ok || at.Before(old) {
		c.setDue(uid, at)
	}
	c.mu.Unlock()
	c.nudge()
}
