package workspace

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lease"
)

// If several processes have a workspace open, one of them embeds it again. The other processes learn of it in three ways. The changes that
// their indexes apply are of another lane. Their writes fail, since their identity is not the stored one. And a process reads the identity
// when it takes the lease of the workspace.

// othersTime is the time for which the old lane is kept after a change of lanes. Searches of other processes that have begun before can then finish.
const othersTime = time.Second

// letOthers waits for othersTime, so that searches of other processes can finish.
func (s *Set) letOthers(ctx context.Context) error {
	if s.Leases == nil {
		return nil
	}
	t := time.NewTimer(othersTime)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.gate.Life().Done(): // the next start continues
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

const (
	// leadAfter is how long the lease of a workspace's indexes must be free before a process that does not work on the
	// workspace takes it. freeAfter is the same if no process works on the workspace. The delay gives priority to the process
	// that works on it.
	leadAfter, freeAfter = 1500 * time.Millisecond, 300 * time.Millisecond
	// lookedAfter is the maximum age of the last check for the lease to count as continuously free.
	lookedAfter = time.Second
	// askAgain is the interval at which the process that works on the workspace asks for the lease of its indexes.
	askAgain = time.Second
)

// lead determines which process applies changes to the shared indexes of a workspace. That is the process that works on
// the workspace. If there is none, or it does not take the lease, a process that needs the indexes does. A process that
// does not work on the workspace hands the lease over, within half of [lease.TTL], to one that works on it and asks for the
// lease. Until then it applies changes, since the other one may still be catching up after its start. It keeps the lease while its indexes are
// in trouble: the other one would have to do again what not all replicas are known to have. It is not safe for concurrent use.
type lead struct {
	leases      *lease.Keeper
	index, work string    // names of the leases of the indexes and of the workspace
	free        time.Time // since when no process holds the lease of the indexes; zero: one does
	looked      time.Time // when that was last checked
	asked       time.Time // when this process last asked for the lease of the indexes
}

func newLead(leases *lease.Keeper, uid string) *lead {
	return &lead{leases: leases, index: lease.OfIndexes(uid), work: lease.OfWorkspace(uid)}
}

// Lead implements [pipeline.Leader].
func (l *lead) Lead(ctx context.Context, keep bool) (term uint64, err error) {
	mine, err := l.mine(ctx, keep)
	if err != nil || !mine {
		return 0, err
	}
	return l.leases.Term(l.index), nil
}

// Still implements [pipeline.Leader].
func (l *lead) Still(term uint64) bool {
	return l.leases.Sure(l.index) && l.leases.Term(l.index) == term
}

// Keep implements [pipeline.Leader].
func (l *lead) Keep(ctx context.Context) { l.leases.Keep(ctx, l.index) }

// mine reports whether this process applies changes. If keep is set, it does not hand the lease over.
func (l *lead) mine(ctx context.Context, keep bool) (mine bool, err error) {
	if l.leases.Holds(l.work) {
		mine, err := l.take(ctx, keep)
		if now := time.Now(); err == nil && !mine && now.Sub(l.asked) >= askAgain {
			l.asked = now
			_ = l.leases.Ask(ctx, l.index) // if that fails, it asks again
		}
		return mine, err
	}
	if l.leases.Holds(l.index) {
		return l.take(ctx, keep)
	}
	idle, err := l.leases.Free(ctx, l.work)
	if err != nil {
		return false, err
	}
	free, err := l.leases.Free(ctx, l.index)
	if err != nil {
		return false, err
	}
	now := time.Now()
	if !free {
		l.free = time.Time{}
		return false, nil
	}
	if l.free.IsZero() || now.Sub(l.looked) > lookedAfter {
		l.free = now
	}
	l.looked = now
	wait := leadAfter
	if idle {
		wait = freeAfter
	}
	if now.Sub(l.free) < wait {
		return false, nil
	}
	return l.take(ctx, keep)
}

func (l *lead) take(ctx context.Context, keep bool) (mine bool, err error) {
	l.free = time.Time{}
	if keep && l.leases.Holds(l.index) {
		mine, _, err = l.leases.Renew(ctx, l.index)
	} else {
		mine, _, err = l.leases.Take(ctx, l.index)
	}
	return mine, err
}

// Guarded returns the Store of a space for a user of v. Changes of vectors fail with [backend.ErrConflict] if another process has changed
// the identity since v was loaded.
func (sp *Space) Guarded(v *Serving) backend.Store {
	if g, ok := sp.Store.(backend.Guarder); ok {
		return g.Guard(identityName, v.Identity.stored)
	}
	return sp.Store
}

// Outdated makes the next use of the space read the identity again.
func (sp *Space) Outdated() { sp.stale.Store(true) }

// Outdated calls Space.Outdated for a space if it is open.
func (s *Set) Outdated(uid string) {
	if sp, open := s.AcquireOpen(uid); open {
		sp.Outdated()
		s.ReleaseUID(uid)
	}
}

// checkLanes calls Outdated if changes are of a lane that the space does not know.
func (sp *Space) checkLanes(changes []backend.Change) {
	v := sp.serving.Load()
	if v == nil {
		return
	}
	for i := range changes {
		c := &changes[i]
		known := true
		switch {
		case c.Kind == backend.PutVectors:
			known = v.knows(c.Lane)
		case c.Kind == backend.PutChunks && c.Part.Class != backend.Raw && len(c.Rows) > 0:
			known = c.Lane == v.Lane || c.Lane == v.WriteLane
		case c.Kind == backend.DropVectors:
			known = false
		}
		if !known {
			sp.Outdated()
			return
		}
	}
}

// knows reports whether a lane is in use or being filled.
func (v *Serving) knows(l backend.Lane) bool {
	id := &v.Identity
	return l == v.Lane || l == v.WriteLane || id.Next != nil && l == id.Next.Lane || id.Slow != nil && l == id.Slow.Lane || id.NextSlow != nil && l == id.NextSlow.Lane
}

// refresh reads the identity of a space again if another process may have changed it.
func (s *Set) refresh(ctx context.Context, sp *Space) error {
	v := sp.Serving()
	passing := s.Leases != nil && (v.Writer == nil || v.Identity.Turned) // another process is changing the identity
	if !sp.stale.Load() && !passing {
		return nil
	}
	select {
	case sp.reembed <- struct{}{}:
		defer func() { <-sp.reembed }()
		return s.reload(ctx, sp)
	default:
		return nil // this process is changing the identity
	}
}

// UseAgain returns v unless the space has become outdated since. If it has, UseAgain releases v and returns a new Use.
func (r *Ref) UseAgain(ctx context.Context, v *Serving) (*Serving, error) {
	if !r.stale.Load() && !v.Identity.Turned {
		return v, nil
	}
	if err := r.set.refresh(ctx, r.Space); err != nil {
		return v, err
	}
	if err := r.Serving().Foreign(); err != nil {
		return v, err
	}
	v.Done()
	return r.Use(), nil
}

// reload reads the identity of a space again. The caller holds sp.reembed.
func (s *Set) reload(ctx context.Context, sp *Space) error {
	if s.Leases == nil {
		return nil
	}
	sp.stale.Store(false)
	_, id, err := readIdentity(ctx, sp.Store)
	if err == nil && id == nil {
		err = errors.New("the identity of the embedder is gone")
	}
	if err != nil {
		sp.Outdated()
		return err
	}
	if bytes.Equal(id.stored, sp.serving.Load().Identity.stored) {
		return nil
	}
	sp.serving.Store(s.serve(*id, false)) // users of the old Serving can search, but their writes fail
	sp.refining.restart()
	if s.attend != nil && sp.Serving().Writer != nil {
		s.attend.Unpark(sp.UID)
	}
	return nil
}
