// Package lease lets one process at a time do what is not for several, by records of the registry. A process that dies
// loses what it held when its time is over, and what it had only taken as soon as others have seen it silent for a while, see Run. The clocks of the
// processes must agree to within a second.
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

// TTL is how long a lease lasts that is not renewed. Holders renew it when half of it is over.
const TTL = 10 * time.Second

// Keeper holds the leases of a process. It is safe for concurrent use. A nil Keeper holds every lease: the process is alone.
type Keeper struct {
	reg   backend.Records
	token string

	mu    sync.Mutex
	held  map[string]holding
	firm  map[string]int // calls of Hold and HoldSoon under way, during which a lease is not handed over
	beats beats
	terms uint64 // so many times this process has got a lease that it did not have
}

// holding is a lease that this process has.
type holding struct {
	until time.Time
	alive bool // it ends with the signs of life of this process
	term  uint64
}

// askEvery is how often who waits for a lease looks at it.
const askEvery = 200 * time.Millisecond

// OfWorkspace names the lease of who works on a workspace.
func OfWorkspace(uid string) string { return "work/" + uid }

// OfIndexes names the lease of who applies changes to the indexes of a workspace that several processes share.
func OfIndexes(uid string) string { return "index/" + uid }

// New returns a keeper without leases.
func New(reg backend.Records) *Keeper {
	return &Keeper{reg: reg, token: uid.New(), held: map[string]holding{}, firm: map[string]int{}}
}

// stored is the record of a lease.
type stored struct {
	Token  string
	Until  time.Time
	Wanted string `json:",omitempty"` // the token of who waits for it; the holder hands it over when it would renew it
	Alive  bool   `json:",omitempty"` // it ends when its holder gives no signs of life, too
}

// Take takes a lease or renews it, and reports whether this process holds it, for half of TTL at least. One that another process waits for
// in HoldSoon is handed over instead of renewed. until is when the lease ends that somebody has.
func (k *Keeper) Take(ctx context.Context, name string) (mine bool, until time.Time, err error) {
	if k == nil {
		return true, time.Time{}, nil
	}
	now := time.Now()
	k.mu.Lock()
	had, firm, beating := k.held[name], k.firm[name] > 0, k.beats.running
	sure := !had.alive || !firm && k.beats.sure(now)
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
	if next.Wanted != "" && !firm {
		next = stored{Token: next.Wanted, Until: until}
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
	if old.Token != k.token || term == 0 { // another may have had it
		k.terms++
		term = k.terms
	}
	k.held[name] = holding{until, next.Alive, term}
	if next.Alive {
		k.beats.told = now
	}
	k.mu.Unlock()
	return true, until, nil
}

// free reports whether nobody has a lease any more.
func (k *Keeper) free(ctx context.Context, l *stored, now time.Time) (bool, error) {
	if !l.Until.After(now) {
		return true, nil
	}
	if !l.Alive {
		return false, nil
	}
	return k.gone(ctx, l.Token)
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

// write stores a lease, and reports false when another was quicker.
func (k *Keeper) write(ctx context.Context, name string, rev int64, l stored) (bool, error) {
	data, err := json.Marshal(l)
	if err != nil {
		return false, err
	}
	writes := []backend.RecordWrite{{Record: backend.Record{Kind: kind, ID: name, Data: data}, IfRev: rev}}
	if l.Alive {
		writes = append(writes, k.beat())
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

// Release gives a lease back.
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

// ReleaseAll gives all leases back.
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
	return errors.Join(append(errs, k.still(ctx))...)
}

// Hold runs f while this process holds a lease, whose context ends when the lease is lost. mine is false, and f not run, while another process
// has it, until the time that is returned.
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
	_ = k.Release(last, name) // else it ends by itself
	return true, until, err
}

// keep has a lease not handed over until it is called back.
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

// HoldSoon is Hold that waits for a lease that another process has and asks for it: who does not need it in a call of Hold hands it over when
// it would renew it, within half of TTL, and who is silent loses it after TTL.
func (k *Keeper) HoldSoon(ctx context.Context, name string, f func(ctx context.Context) error) error {
	if k == nil {
		return f(ctx)
	}
	for {
		mine, until, err := k.Hold(ctx, name, f)
		if mine || err != nil {
			return err
		}
		if err := k.ask(ctx, name); err != nil {
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

// ask notes that this process waits for a lease, unless another does.
func (k *Keeper) ask(ctx context.Context, name string) error {
	rec, err := k.reg.Record(ctx, kind, "", name)
	if errors.Is(err, backend.ErrNotFound) {
		return nil // it is free
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

// renew renews a lease until ctx ends, and calls lost when it could not be in time.
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

// Term returns a number that is another one when another process may have had a lease since this one did; 0: this process does not hold it.
func (k *Keeper) Term(name string) uint64 {
	if k == nil {
		return 1
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[name].term
}

// Sure reports whether no other process can hold a lease that this one holds: it neither ends within a second, nor can this process be taken for gone.
// It does no I/O.
func (k *Keeper) Sure(name string) bool {
	if k == nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	h, now := k.held[name], time.Now()
	return h.until.Sub(now) > time.Second && (!h.alive || k.beats.sure(now))
}

// Fresh reports whether this process holds a lease that it need not renew yet, as far as it knows. It does no I/O.
func (k *Keeper) Fresh(name string) bool {
	if k == nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Until(k.held[name].until) > TTL/2
}
