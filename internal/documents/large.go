package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/workspace"
)

// A deletion of many items takes several transactions, since other writes of the tenant wait for each. So that a process that is killed in between does
// not leave it half done, the engine first records in the Store what it deletes. The scheduler has [Engine.Finish] end what is recorded and nobody
// works on.

const (
	// largeName is the workspace value that holds the record.
	largeName = "deletion"
	// leaseOfLarge, with the uid of the workspace, is the lease of the process that deletes.
	leaseOfLarge = "delete/"
	// finishBatches is the number of transactions of a call of Finish, so that a worker gets back to other tenants.
	finishBatches = 20
	// finishAgain is the pause after which Finish looks again whether another process has ended its deletion.
	finishAgain = 2 * time.Second
)

// large is the record of a large deletion.
type large struct {
	Class   backend.Class  `json:"class,omitempty"` // 0: all classes, the whole sub-tenant
	Sub     string         `json:"sub"`
	Filter  backend.Filter `json:"filter,omitzero"`
	Session string         `json:"session,omitempty"`
	Until   int64          `json:"until"` // the largest Num when the deletion began; what is newer stays
}

// parts returns the partitions of a deletion.
func (l *large) parts() []backend.Partition {
	if l.Class != 0 {
		return []backend.Partition{{Class: l.Class, Sub: l.Sub}}
	}
	var out []backend.Partition
	for _, c := range []backend.Class{backend.Knowledge, backend.Memory, backend.Raw} {
		out = append(out, backend.Partition{Class: c, Sub: l.Sub})
	}
	return out
}

// run deletes in up to most transactions (0: as many as it takes). done reports whether nothing is left.
func (l *large) run(ctx context.Context, st backend.Store, most int) (gone int, done bool, damage *backend.DamageError, err error) {
	for _, part := range l.parts() {
		d := deletion{st: st, part: part, condition: backend.Condition{Filter: l.Filter, Session: l.Session, Until: l.Until}}
		done, err = d.passes(ctx, &most)
		if gone += d.gone; d.damage != nil {
			damage = d.damage
		}
		if err != nil || !done {
			return gone, false, damage, err
		}
	}
	if l.Class == 0 {
		_, err = st.DeleteSub(ctx, l.Sub, 0) // forgets the sub-tenant if it is empty
	}
	return gone, err == nil, damage, err
}

// passes deletes what is found from the start on, until nothing is found any more. most is the number of transactions that are left; 0: any number.
func (d *deletion) passes(ctx context.Context, most *int) (done bool, err error) {
	for {
		before := d.gone
		d.at, d.after = backend.SessionQuery{}, nil
		for more := true; more; {
			var srcs []*backend.Source
			if srcs, more, err = d.find(ctx, deleteBatch); err != nil {
				return false, err
			}
			if len(srcs) == 0 {
				continue
			}
			if err := d.remove(ctx, srcs); err != nil {
				return false, err
			}
			if *most == 1 {
				return false, nil
			}
			*most = max(*most-1, 0)
		}
		if d.gone == before {
			return true, nil
		}
	}
}

// deleteLarge records a deletion and then carries it out. It first ends the one that is recorded, if any.
func (e *Engine) deleteLarge(ctx context.Context, ref *workspace.Ref, l large) (gone int, damage *backend.DamageError, err error) {
	select {
	case ref.Deletion <- struct{}{}:
		defer func() { <-ref.Deletion }()
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
	err = e.Leases.HoldSoon(ctx, leaseOfLarge+ref.UID, func(ctx context.Context) error {
		if _, err := e.finish(ctx, ref.Space, 0); err != nil {
			return err
		}
		var err error
		if l.Until, err = ref.Store.LastNum(ctx); err != nil {
			return err
		}
		record, err := json.Marshal(l)
		if err != nil {
			return err
		}
		err = e.Admit(ctx, ref.UID, func() error { return ref.Store.Set(ctx, largeName, nil, record) })
		ref.NoDeletion.Store(false)
		if err != nil {
			return err
		}
		if gone, _, damage, err = l.run(ctx, ref.Store, 0); err != nil {
			return err
		}
		return ref.Store.Set(ctx, largeName, record, nil)
	})
	return gone, damage, err
}

// Finish goes on with a large deletion that an earlier process or call has not ended. next is when it has to be called again; zero: nothing is left.
func (e *Engine) Finish(ctx context.Context, sp *workspace.Space) (next time.Time, err error) {
	if sp.NoDeletion.Load() && !sp.Shared() {
		return time.Time{}, nil
	}
	sp.NoDeletion.Store(true) // before the look, since a call may record one meanwhile
	record, err := sp.Store.Get(ctx, largeName)
	if err == nil && record == nil {
		return time.Time{}, nil
	}
	sp.NoDeletion.Store(false)
	if err != nil {
		return time.Time{}, err
	}
	select {
	case sp.Deletion <- struct{}{}:
		defer func() { <-sp.Deletion }()
	default:
		return time.Now().Add(finishAgain), nil // a call of this process is at it
	}
	done := false
	mine, _, err := e.Leases.Hold(ctx, leaseOfLarge+sp.UID, func(ctx context.Context) (err error) {
		done, err = e.finish(ctx, sp, finishBatches)
		return err
	})
	switch {
	case err != nil:
		return time.Time{}, err
	case !mine:
		return time.Now().Add(finishAgain), nil
	case !done:
		return time.Now(), nil
	}
	return time.Time{}, nil
}

// finish goes on with the recorded deletion. done reports whether none is left. The caller holds the lease.
func (e *Engine) finish(ctx context.Context, sp *workspace.Space, most int) (done bool, err error) {
	record, err := sp.Store.Get(ctx, largeName)
	if err != nil || record == nil {
		return err == nil, err
	}
	var l large
	if err := json.Unmarshal(record, &l); err != nil {
		return false, fmt.Errorf("record of a deletion: %w", errors.Join(err, backend.ErrCorrupt))
	}
	gone, done, _, err := l.run(ctx, sp.Store, most)
	if gone > 0 {
		sp.AddUnflushed(gone)
		sp.StateChanged()
		e.Deleted(sp.UID)
		if err := sp.Follower.Sync(ctx); err != nil && ctx.Err() == nil {
			e.Logger.Warn("indexes could not follow a delete; the next search tries again", "err", err)
		}
	}
	if err != nil || !done {
		return false, err
	}
	return true, sp.Store.Set(ctx, largeName, record, nil)
}
