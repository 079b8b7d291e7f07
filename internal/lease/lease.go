// Package lease provides leases for work that only one process may do at a time. Leases are records of the registry. A
// lease of a process that died ends when its time is over. If it was taken outside a call of Hold or HoldSoon, it already
// ends once other processes have seen its holder silent for a while; see Run. The clocks of the processes must agree to
// within a second.
package lease

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/uid"
)

const kind = "lease"

// TTL is how long a lease lasts without renewal. Holders renew a lease when half of it is over.
const TTL = 10 * time.Second

// Keeper holds the leases of a process. It is safe for concurrent use. A nil Keeper holds every lease: the process is the
// only one.
type Keeper struct {
	reg   backend.Records
	token string

	mu         sync.Mutex
	held       map[string]holding
	firm       map[string]int // by lease: running calls of Hold and HoldSoon, during which the lease is not handed over
	keeping    int            // running calls of Keep
	heartbeats heartbeats
	terms      uint64 // number of times this process has got a lease that it did not have
}

// holding is a lease that this process holds.
type holding struct {
	until time.Time
	alive bool // whether the lease also ends when this process writes no heartbeats
	term  uint64
}

// askEvery is the interval at which a waiting process checks a lease.
const askEvery = 200 * time.Millisecond

// OfWorkspace returns the name of the lease for working on a workspace.
func OfWorkspace(uid string) string { return "work/" + uid }

// OfIndexes returns the name of the lease for applying changes to the shared indexes of a workspace.
func OfIndexes(uid string) string { return "index/" + uid }

// New returns a Keeper without leases.
func New(reg backend.Records) *Keeper {
	return &Keeper{reg: reg, token: uid.New(), held: map[string]holding{}, firm: map[string]int{}}
}

// stored is the content of the record of a lease.
type stored struct {
	Token  string
	Until  time.Time
	Wanted string `json:",omitempty"` // token of the process that waits for the lease; the holder hands it over instead of renewing it
	Alive  bool   `json:",omitempty"` // whether the lease also ends when its holder writes no heartbeats
}

// Take takes or renews a lease. mine reports whether this process then holds it, for at least half of TTL. If another
// process has asked for the lease, Take hands it over instead of renewing it. until is when the current lease ends, whoever
// holds it.
func (k *Keeper) Take(ctx context.Context, name string) (mine bool, until time.Time, err error) {
	return k.take(ctx, name, true)
}

// Renew is Take, but it does not hand the lease over.
func (k *Keeper) Renew(ctx context.Context, name string) (mine bool, until time.Time, err error) {
	return k.take(ctx, name, false)
}

// Keep renews a lease of this process until ctx ends, and does not hand it over. If that keeps failing, the lease is lost.
func (k *Keeper) Keep(ctx context.Context, name string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.keeping++
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.keeping--
		k.mu.Unlock()
	}()
	t := time.NewTicker(TTL / 4)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		_, _, _ = k.Renew(ctx, name)
	}
}

func (k *Keeper) take(ctx context.Context, name string, yields bool) (mine bool, until time.Time, err error) {
	if k == nil {
		return true, time.Time{}, nil
	}
	now := time.Now()
	k.mu.Lock()
	had, firm, beating := k.held[name], k.firm[name] > 0, k.heartbeats.running
	sure := !had.alive || !firm && k.heartbeats.surelyAlive(now)
	k.mu.Unlock()
	if had.until.Sub(now) > TTL/2 && sure {
		return true, had.until, nil
	}
	rec, err := k.reg.Record(ctx, kind, "", name)
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return false, time.Time{}, err
	}
	var old stored
	if err == nil && json.Unmarshal(rec.Data, &old) != nil {
		return false, time.Time{}, backend.ErrCorrupt
	}
	if old.Token != k.token {
		if free, err := k.free(ctx, &old, now); err != nil {
			return false, time.Time{}, err
		} else if !free {
			k.drop(name)
			return false, old.Until, nil
		}
	}
	until = now.Add(TTL)
	next := stored{Token: k.token, Until: until, Alive: beating && !firm}
	if old.Token == k.token {
		next.Wanted = old.Wanted
	}
	if next.Wanted != "" && !firm && yields {
		k.drop(name) // before the other process can hold it
		next = stored{Token: next.Wanted, Until: until, Alive: true}
	}
	wrote, err := k.write(ctx, name, rec.Rev, next)
	if err != nil {
		return false, time.Time{}, err
	}
	if !wrote || next.Token != k.token {
		k.drop(name)
		return false, until, nil
	}
	k.mu.Lock()
	term := k.held[name].term
	if old.Token != k.token || term == 0 { // another process may have held it in between
		k.terms++
		term = k.terms
	}
	k.held[name] = holding{until, next.Alive, term}
	if next.Alive {
		k.heartbeats.writtenAt = now
	}
	k.mu.Unlock()
	return true, until, nil
}

// free reports whether a lease has ended.
func (k *Keeper) free(ctx context.Context, l *stored, now time.Time) (bool, error) {
	if !l.Until.After(now) {
		return true, nil
	}
	if !l.Alive {
		return false, nil
	}
	return k.isDead(ctx, l.Token)
}

// Free reports whether no other process holds a lease.
func (k *Keeper) Free(ctx context.Context, name string) (bool, error) {
	if k == nil {
		return true, nil
	}
	rec, err := k.reg.Record(ctx, kind, "", name)
	if errors.Is(err, backend.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	var l stored
	if json.Unmarshal(rec.Data, &l) != nil {
		return false, backend.ErrCorrupt
	}
	if l.Token == k.token {
		return true, nil
	}
	return k.free(ctx, &l, time.Now())
}

// write stores a lease. It reports false if another process has changed the lease first.
func (k *Keeper) write(ctx context.Context, name string, rev int64, l stored) (bool, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return false, err
	}
	writes := []backend.RecordWrite{{Record: backend.Record{Kind: kind, ID: name, Data: data}, IfRev: rev}}
	if l.Alive {
		writes = append(writes, k.heartbeat())
	}
	err = k.reg.WriteRecords(ctx, writes)
	if errors.Is(err, backend.ErrExists) || errors.Is(err, backend.ErrConflict) || errors.Is(err, backend.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (k *Keeper) drop(name string) {
	k.mu.Lock()
	delete(k.held, name)
	k.mu.Unlock()
}

// Release gives up a lease. It does nothing if this process does not hold it.
func (k *Keeper) Release(ctx context.Context, name string) error {
	if k == nil {
		return nil
	}
	k.drop(name)
	rec, err := k.reg.Record(ctx, kind, "", name)
	var old stored
	if err == nil && json.Unmarshal(rec.Data, &old) == nil && old.Token == k.token {
		err = k.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: rec, Delete: true, IfRev: rec.Rev}})
	}
	if errors.Is(err, backend.ErrNotFound) || errors.Is(err, backend.ErrConflict) {
		return nil
	}
	return err
}

// ReleaseAll gives up all leases of this process and deletes its heartbeat.
func (k *Keeper) ReleaseAll(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	names := make([]string, 0, len(k.held))
	for name := range k.held {
		names = append(names, name)
	}
	k.mu.Unlock()
	var errs []error
	for _, name := range names {
		errs = append(errs, k.Release(ctx, name))
	}
	return errors.Join(append(errs, k.deleteHeartbeat(ctx))...)
}

// Hold takes a lease and runs f while this process holds it. The context of f ends when the lease is lost. If another
// process holds the lease, Hold does not run f; mine is false and until is when that lease ends.
func (k *Keeper) Hold(ctx context.Context, name string, f func(ctx context.Context) error) (mine bool, until time.Time, err error) {
	if k == nil {
		return true, time.Time{}, f(ctx)
	}
	defer k.keep(name)()
	if mine, until, err = k.Take(ctx, name); err != nil || !mine {
		return mine, until, err
	}
	held, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { k.renew(held, cancel, name, until) })
	err = f(held)
	cancel()
	wg.Wait()
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer stop()
	_ = k.Release(last, name) // if that fails, the lease ends by itself
	return true, until, err
}

// keep prevents a lease from being handed over until end is called.
func (k *Keeper) keep(name string) (end func()) {
	change := func(n int) {
		k.mu.Lock()
		if k.firm[name] += n; k.firm[name] == 0 {
			delete(k.firm, name)
		}
		k.mu.Unlock()
	}
	change(1)
	return func() { change(-1) }
}

// HoldSoon is Hold, but it waits for a lease that another process holds and asks for it. A holder outside a call of Hold
// or HoldSoon hands the lease over when it would renew it, within half of TTL. A holder that has died loses it after TTL
// at the latest.
func (k *Keeper) HoldSoon(ctx context.Context, name string, f func(ctx context.Context) error) error {
	if k == nil {
		return f(ctx)
	}
	for {
		mine, until, err := k.Hold(ctx, name, f)
		if mine || err != nil {
			return err
		}
		if err := k.Ask(ctx, name); err != nil {
			return err
		}
		t := time.NewTimer(min(askEvery, max(time.Until(until), time.Millisecond)))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

// Ask records in a lease that this process waits for it, unless another process already does. A holder outside a call of Hold
// or HoldSoon hands the lease over when it next calls Take to renew it. This process must call Take to find out.
func (k *Keeper) Ask(ctx context.Context, name string) error {
	if k == nil {
		return nil
	}
	rec, err := k.reg.Record(ctx, kind, "", name)
	if errors.Is(err, backend.ErrNotFound) {
		return nil // nobody holds it
	}
	if err != nil {
		return err
	}
	var l stored
	if json.Unmarshal(rec.Data, &l) != nil {
		return backend.ErrCorrupt
	}
	if l.Wanted != "" || l.Token == k.token {
		return nil
	}
	l.Wanted = k.token
	_, err = k.write(ctx, name, rec.Rev, l)
	return err
}

// renew renews a lease until ctx ends. It calls lost if the lease could not be renewed in time.
func (k *Keeper) renew(ctx context.Context, lost func(), name string, until time.Time) {
	t := time.NewTicker(TTL / 4)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		mine, next, err := k.Take(ctx, name)
		switch {
		case err == nil && !mine, err != nil && time.Now().After(until.Add(-TTL/8)):
			lost()
			return
		case err == nil:
			until = next
		}
	}
}

// Holds reports whether this process holds a lease, as far as it knows. It does no I/O.
func (k *Keeper) Holds(name string) bool {
	if k == nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[name].until.After(time.Now())
}

// Term returns a number that changes whenever another process may have held the lease in between. It is 0 if this process does not hold the lease,
// as far as it knows.
func (k *Keeper) Term(name string) uint64 {
	if k == nil {
		return 1
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[name].term
}

// Sure reports whether this process holds a lease and no other process can take it at this moment: the lease lasts for
// more than a second, and others cannot have seen this process silent for too long. It does no I/O.
func (k *Keeper) Sure(name string) bool {
	if k == nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	h, now := k.held[name], time.Now()
	return h.until.Sub(now) > time.Second && (!h.alive || k.heartbeats.surelyAlive(now))
}
