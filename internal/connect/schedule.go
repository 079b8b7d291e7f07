package connect

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/internal/uid"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// maxSyncs is how many connectors sync at once. Syncs mostly wait for their providers.
const maxSyncs = 4

// syncs decides when each connector syncs. The registry holds all lasting state; the table here
// holds only when to check each connector next.
type syncs struct {
	eng  *Engine
	wake chan struct{}

	mu     sync.Mutex
	table  map[connectorRef]*syncState
	active int
	work   sync.WaitGroup // running syncs
}

type connectorRef struct{ org, id string }

// syncState is the schedule of one connector.
type syncState struct {
	due     time.Time          // when to check the connector; zero: not scheduled
	forced  bool               // SyncNow asked for a sync
	syncing bool               // the check has started a sync
	cancel  context.CancelFunc // cancels the running check; nil if none runs
	done    chan struct{}      // closed when the check has ended
}

func newSyncs(e *Engine) *syncs {
	return &syncs{eng: e, wake: make(chan struct{}, 1), table: map[connectorRef]*syncState{}}
}

// leaseOfConnector is the prefix of the names of connectors' leases.
const leaseOfConnector = "connector/"

// loadEvery is the interval of looking for connectors that other processes have created.
const loadEvery = 30 * time.Second

// again records that a requested sync could not start yet.
func (y *syncs) again(org, id string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if st := y.table[connectorRef{org, id}]; st != nil {
		st.forced = true
	}
}

func (y *syncs) load(ctx context.Context) error {
	now := time.Now()
	org, id := "", ""
	for {
		rs, err := y.eng.reg.AllRecords(ctx, kindConnector, org, id, recordPage)
		if err != nil {
			return err
		}
		for _, r := range rs {
			ref := connectorRef{r.Org, r.ID}
			y.mu.Lock()
			if y.table[ref] == nil {
				y.table[ref] = &syncState{due: now}
			}
			y.mu.Unlock()
			org, id = r.Org, r.ID
		}
		if len(rs) < recordPage {
			return nil
		}
	}
}

// plan schedules a check of a connector for the given time at the latest, or right after its running check.
func (y *syncs) plan(org, id string, at time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	st := y.table[connectorRef{org, id}]
	if st == nil {
		st = &syncState{}
		y.table[connectorRef{org, id}] = st
	}
	if st.due.IsZero() || at.Before(st.due) {
		st.due = at
	}
	y.kick()
}

func (y *syncs) kick() {
	select {
	case y.wake <- struct{}{}:
	default:
	}
}

// force schedules a sync at once. It returns false if one is running or requested already.
func (y *syncs) force(org, id string) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	ref := connectorRef{org, id}
	st := y.table[ref]
	if st == nil {
		st = &syncState{}
		y.table[ref] = st
	}
	if st.forced || st.syncing {
		return false
	}
	st.forced, st.due = true, time.Now()
	y.kick()
	return true
}

// running reports whether a sync is running or requested.
func (y *syncs) running(org, id string) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	st := y.table[connectorRef{org, id}]
	return st != nil && (st.forced || st.syncing)
}

// began records that the check of a connector has started a sync.
func (y *syncs) began(org, id string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if st := y.table[connectorRef{org, id}]; st != nil {
		st.syncing = true
	}
}

// cancel stops the running check of a connector and waits for its end.
func (y *syncs) cancel(ctx context.Context, org, id string) error {
	y.mu.Lock()
	st := y.table[connectorRef{org, id}]
	var done chan struct{}
	if st != nil {
		st.forced = false
		if st.cancel != nil {
			st.cancel()
			done = st.done
		}
	}
	y.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (y *syncs) forget(org, id string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if st := y.table[connectorRef{org, id}]; st != nil && st.cancel == nil {
		delete(y.table, connectorRef{org, id})
	}
}

// run starts syncs when they are due until life ends, and waits for their end.
func (y *syncs) run(life context.Context) {
	defer y.work.Wait()
	t := time.NewTimer(0)
	defer t.Stop()
	var others <-chan time.Time
	if y.eng.cfg.Leases != nil {
		tick := time.NewTicker(loadEvery)
		defer tick.Stop()
		others = tick.C
	}
	for {
		select {
		case <-life.Done():
			return
		case <-y.wake:
		case <-t.C:
		case <-others: // errors are only logged: the next attempt comes soon
			if err := y.load(life); err != nil && life.Err() == nil {
				y.eng.cfg.Logger.Warn("looking for connectors failed", "err", err)
			}
		}
		if next := y.start(life, time.Now()); !next.IsZero() {
			t.Reset(time.Until(next))
		} else {
			t.Stop()
		}
	}
}

// start starts the due checks and returns when the next one is due.
func (y *syncs) start(life context.Context, now time.Time) (next time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for ref, st := range y.table {
		if st.due.IsZero() || st.cancel != nil {
			continue
		}
		if st.due.After(now) {
			if next.IsZero() || st.due.Before(next) {
				next = st.due
			}
			continue
		}
		if y.active >= maxSyncs {
			continue // when the running check ends it wakes the loop
		}
		forced := st.forced
		ctx, cancel := context.WithCancel(life)
		st.forced, st.syncing, st.due, st.cancel, st.done = false, forced, time.Time{}, cancel, make(chan struct{})
		y.active++
		y.work.Go(func() {
			at := y.eng.syncConnector(ctx, ref.org, ref.id, forced)
			cancel()
			y.ended(ref, st, at)
		})
	}
	return next
}

func (y *syncs) ended(ref connectorRef, st *syncState, at time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.active--
	st.cancel, st.syncing = nil, false
	close(st.done)
	if !at.IsZero() && (st.due.IsZero() || at.Before(st.due)) {
		st.due = at
	}
	if st.due.IsZero() {
		delete(y.table, ref)
	}
	y.kick()
}

// SyncNow syncs a connector at once, in the background, and returns the sync's id. It returns fault.ErrConflict if a sync is running or the
// connector is paused.
func (e *Engine) SyncNow(ctx context.Context, org, id string) (string, error) {
	const op = "sync"
	c, _, err := e.readConnector(ctx, op, org, id)
	if err != nil {
		return "", err
	}
	if c.Public.Status == connector.Paused {
		return "", &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Connector, ID: fault.ShortID(id), Err: errors.New("the connector is paused")}
	}
	if !e.syncs.force(org, id) {
		return "", &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Sync, ID: fault.ShortID(id), Err: errors.New("a sync of the connector is running")}
	}
	return uid.New(), nil
}

// nextLook returns when to check a connector next; zero if not before something changes.
func nextLook(c *storedConnector, rs []*storedResource) time.Time {
	at := c.Public.NextSync
	if at.IsZero() {
		return at
	}
	for _, r := range rs {
		if b := r.Public.BackfillNext; r.backfilling() && !r.Public.Paused && !b.IsZero() && b.Before(at) {
			at = b
		}
	}
	return at
}

// syncConnector checks a connector and runs the sync if it is due. It returns when to check again.
func (e *Engine) syncConnector(ctx context.Context, org, id string, forced bool) time.Time {
	var next time.Time
	mine, until, err := e.cfg.Leases.Hold(ctx, leaseOfConnector+org+"/"+id, func(ctx context.Context) (err error) {
		next, err = e.lookAt(ctx, org, id, forced)
		return err
	})
	if err == nil && !mine { // another process is syncing the connector
		if forced {
			e.syncs.again(org, id)
		}
		return until
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, fault.ErrClosed) {
		e.cfg.Logger.Error("a connector could not be synced", "connector", id, "err", err)
		return time.Now().Add(syncRetry)
	}
	return next
}

func (e *Engine) lookAt(ctx context.Context, org, id string, forced bool) (time.Time, error) {
	var none time.Time
	rec, err := e.reg.Record(ctx, kindConnector, org, id)
	if errors.Is(err, backend.ErrNotFound) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	c, err := decodeRecord[storedConnector](rec)
	if err != nil {
		return none, err
	}
	if c.Deleting {
		return none, e.purge(ctx, org, id, c)
	}
	if c.Public.Status == connector.Paused || c.Public.NextSync.IsZero() && !forced {
		return none, nil
	}
	rs, err := e.readResources(ctx, org, id)
	if err != nil {
		return none, err
	}
	now := time.Now()
	full := forced || !c.Public.NextSync.After(now)
	if !full && nextLook(c, rs).After(now) {
		return nextLook(c, rs), nil
	}
	e.syncs.began(org, id)
	r := &syncRun{eng: e, org: org, id: id, c: c, full: full, forced: forced}
	if err := r.do(ctx, rs); err != nil {
		if errors.Is(err, fault.ErrNotFound) {
			e.syncs.plan(org, id, time.Now()) // the connector is being deleted
			return none, nil
		}
		return none, err
	}
	if rs, err = e.readResources(ctx, org, id); err != nil {
		return none, err
	}
	return nextLook(r.c, rs), nil
}
