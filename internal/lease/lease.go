// Package lease lets one process at a time do what is not for several, by records of the registry. A process that dies
// loses what it held when its time is over. The clocks of the processes must agree to within a second.
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

	mu   sync.Mutex
	held map[string]time.Time // until when
}

// New returns a keeper without leases.
func New(reg backend.Records) *Keeper {
	return &Keeper{reg: reg, token: uid.New(), held: map[string]time.Time{}}
}

// stored is the record of a lease.
type stored struct {
	Token string
	Until time.Time
}

// Take takes a lease or renews it, and reports whether this process holds it, for half of TTL at least. until is when
// the lease ends that somebody has.
func (k *Keeper) Take(ctx context.Context, name string) (mine bool, until time.Time, err error) {
	if k == nil {
		return true, time.Time{}, nil
	}
	now := time.Now()
	k.mu.Lock()
	until = k.held[name]
	k.mu.Unlock()
	if until.Sub(now) > TTL/2 {
		return true, until, nil
	}
	rec, err := k.reg.Record(ctx, kind, "", name)
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return false, time.Time{}, err
	}
	var old stored
	if err == nil && json.Unmarshal(rec.Data, &old) != nil {
		return false, time.Time{}, backend.ErrCorrupt
	}
	if old.Token != k.token && old.Until.After(now) {
		k.drop(name)
		return false, old.Until, nil
	}
	until = now.Add(TTL)
	data, err := json.Marshal(stored{Token: k.token, Until: until})
	if err != nil {
		return false, time.Time{}, err
	}
	err = k.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: kind, ID: name, Data: data}, IfRev: rec.Rev}})
	switch {
	case errors.Is(err, backend.ErrExists), errors.Is(err, backend.ErrConflict), errors.Is(err, backend.ErrNotFound): // another was quicker
		k.drop(name)
		return false, until, nil
	case err != nil:
		return false, time.Time{}, err
	}
	k.mu.Lock()
	k.held[name] = until
	k.mu.Unlock()
	return true, until, nil
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
	return errors.Join(errs...)
}

// Hold runs f while this process holds a lease, whose context ends when the lease is lost. mine is false, and f not run, while another process
// has it, until the time that is returned.
func (k *Keeper) Hold(ctx context.Context, name string, f func(ctx context.Context) error) (mine bool, until time.Time, err error) {
	if k == nil {
		return true, time.Time{}, f(ctx)
	}
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
	return k.held[name].After(time.Now())
}
