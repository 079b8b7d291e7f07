package workspace

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Where several processes have a workspace open, one embeds it again. The others learn of it in three ways: what their indexes follow
// speaks of another lane than theirs; what they write is refused, since the identity that they know is not the stored one; and
// they begin to work on the workspace.

// othersTime is how long after a change of lanes the old one stays, so that searches of other processes that began before come to their end.
const othersTime = time.Second

// letOthers waits for searches of other processes.
func (s *Set) letOthers(ctx context.Context) error {
	if s.Leases == nil {
		return nil
	}
	t := time.NewTimer(othersTime)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.gate.Life().Done(): // the next start goes on
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Guarded is the Store of a space for who uses its vectors in a way: changes of vectors fail with [backend.ErrConflict] when that is not
// the way any more.
func (sp *Space) Guarded(v *Serving) backend.Store {
	if g, ok := sp.Store.(backend.Guarder); ok {
		return g.Guard(identityName, v.Identity.stored)
	}
	return sp.Store
}

// Outdated has it found out, before the space is used next, how its vectors are used.
func (sp *Space) Outdated() { sp.stale.Store(true) }

// Outdated is Space.Outdated for a space if it is open.
func (s *Set) Outdated(uid string) {
	if sp, open := s.AcquireOpen(uid); open {
		sp.Outdated()
		s.ReleaseUID(uid)
	}
}

// saw looks for lanes in changes that the space does not know.
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

// knows reports whether a lane is one that serves or is being filled.
func (v *Serving) knows(l backend.Lane) bool {
	id := &v.Identity
	return l == v.Lane || l == v.WriteLane || id.Next != nil && l == id.Next.Lane || id.Slow != nil && l == id.Slow.Lane || id.NextSlow != nil && l == id.NextSlow.Lane
}

// refresh finds out how the vectors of a space are used, where another process may have changed that.
func (s *Set) refresh(ctx context.Context, sp *Space) error {
	v := sp.Serving()
	passing := s.Leases != nil && (v.Writer == nil || v.Identity.Turned) // it is about to be another
	if !sp.stale.Load() && !passing {
		return nil
	}
	select {
	case sp.reembed <- struct{}{}:
		defer func() { <-sp.reembed }()
		return s.reload(ctx, sp)
	default:
		return nil // who changes it is here
	}
}

// UseAgain is Use in place of v, which is given back, where the space was found to be outdated since; else v.
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

// reload is refresh in any case. The caller holds sp.reembed.
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
	sp.serving.Store(s.serve(*id, false)) // what still uses the old way may search, and is refused to write
	sp.refining.restart()
	if s.attend != nil && sp.Serving().Writer != nil {
		s.attend.Unpark(sp.UID)
	}
	return nil
}
