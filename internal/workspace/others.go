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
	// leadAfter is how long a process waits for the one that works on a workspace to apply changes, before it does so itself.
	leadAfter = 1500 * time.Millisecond
	// freeAfter is the same where nobody works on it: who begins to is the one that should.
	freeAfter = 150 * time.Millisecond
)

// leads reports whether this process applies changes to indexes of a workspace that several share: who works on it, or who needs them where that one
// does not do it in time, or there is none. It is left to one that works on the workspace again after some seconds.
func (s *Set) leads(ctx context.Context, uid string, waited time.Duration) (mine bool, err error) {
	name, work := lease.OfIndexes(uid), lease.OfWorkspace(uid)
	if s.Leases.Fresh(name) || s.Leases.Holds(work) || waited >= leadAfter {
		mine, _, err = s.Leases.Take(ctx, name)
		return mine, err
	}
	has := s.Leases.Holds(name)
	if !has && waited < freeAfter {
		return false, nil
	}
	free, err := s.Leases.Free(ctx, work)
	if err != nil {
		return false, err
	}
	if free {
		mine, _, err = s.Leases.Take(ctx, name)
	} else if has {
		err = s.Leases.Release(ctx, name)
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

// saw calls Outdated if changes are of a lane that the space does not know.
func (sp *Space) saw(changes []backend.Change) {
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
