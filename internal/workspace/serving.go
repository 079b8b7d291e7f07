package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// Model is an embedder that makes or made vectors of workspaces.
type Model struct {
	Identity Identity // its lane is not used
	Embedder pipeline.Embedder
}

// Serving is what recall and ingestion use of a workspace's vectors. It is replaced as a whole, so that an embedder
// is never used with the vectors of another.
type Serving struct {
	Identity Identity
	// Model is the place in Config.Models of the embedder whose vectors stand in Lane; -1: it is not at hand.
	Model int
	Lane  backend.Lane
	// Writer embeds new items into WriteLane; nil: neither recall nor ingestion go on until Reembed is called.
	Writer    pipeline.Embedder
	WriteLane backend.Lane
	// Refined is the place in Config.Models of the embedder whose vectors in RefinedLane refine those in Lane; 0: none does.
	Refined     int
	RefinedLane backend.Lane
	// Refiner embeds into RefineLane what Writer has embedded; nil: nobody does.
	Refiner    pipeline.Embedder
	RefineLane backend.Lane

	want  Identity     // of the service's embedder
	users atomic.Int64 // recalls and steps under way
}

// Done ends a use that Use began.
func (v *Serving) Done() { v.users.Add(-1) }

// Foreign returns the error of calls on a workspace whose embedder is not at hand.
func (v *Serving) Foreign() error {
	if v.Writer != nil {
		return nil
	}
	return &fault.Error{Op: "open tenant", Kind: fault.KindConflict, Resource: fault.Embedding, Err: &ForeignEmbedderError{v.Identity, v.want}}
}

// ForeignEmbedderError says that the vectors of a tenant were made by another embedder than the service's.
type ForeignEmbedderError struct{ Have, Want Identity }

// Error implements error.
func (e *ForeignEmbedderError) Error() string {
	return fmt.Sprintf("its vectors were made by %v, and the service uses %v: open it with the old embedder or call Tenant.Reembed", e.Have, e.Want)
}

// Serving returns how the vectors of the workspace are used now.
func (sp *Space) Serving() *Serving { return sp.serving.Load() }

// Use returns how the vectors of the workspace are used until Done is called with it.
func (sp *Space) Use() *Serving {
	for {
		v := sp.serving.Load()
		v.users.Add(1)
		if sp.serving.Load() == v {
			return v
		}
		v.users.Add(-1) // it was replaced before it was counted
	}
}

// model returns the place of an embedder, -1 when the service has no such one.
func (s *Set) model(id Identity) int {
	for i := range s.Models {
		if s.Models[i].Identity.same(id) {
			return i
		}
	}
	return -1
}

// serve returns how a workspace is used whose identity is id. turning says that new items go into the lane that is
// being filled already.
func (s *Set) serve(id Identity, turning bool) *Serving {
	v := &Serving{Identity: id, Model: -1, Lane: id.Lane, WriteLane: id.Lane, want: s.Models[0].Identity}
	if id.mixed() {
		return v
	}
	if v.Model = s.model(id); v.Model >= 0 {
		v.Writer = s.Models[v.Model].Embedder
	}
	if id.Next != nil && (v.Writer == nil || turning || id.Turned) && v.want.same(*id.Next) {
		v.Writer, v.WriteLane = s.Models[0].Embedder, id.Next.Lane
	}
	s.refinement(v)
	return v
}

// refinement completes how a workspace is used by whose vectors refine it.
func (s *Set) refinement(v *Serving) {
	id := &v.Identity
	if s.Slow == 0 || v.Model < 0 || v.Model == s.Slow || v.Writer == nil {
		return
	}
	if id.Slow != nil {
		v.Refined, v.RefinedLane = max(0, s.model(id.Slow.identity())), id.Slow.Lane
	}
	for _, r := range []*Refinement{id.Slow, id.NextSlow} {
		if r != nil && s.Models[s.Slow].Identity.same(r.identity()) {
			v.Refiner, v.RefineLane = s.Models[s.Slow].Embedder, r.Lane
		}
	}
}

// loadServing finds out how the vectors of a workspace are used. A new one takes the service's embedder.
func (s *Set) loadServing(ctx context.Context, sp *Space) error {
	_, id, err := readIdentity(ctx, sp.Store)
	if err != nil {
		return err
	}
	if id == nil {
		if err := s.refuseLost(ctx, sp.UID); err != nil {
			return err
		}
		made, err := changeIdentity(ctx, sp.Store, func(id *Identity) {
			if id.Model == "" {
				*id = s.Models[0].Identity
				if s.Slow > 0 { // at once, so that its first items can be refined before they are completed
					s.planSlow(id, s.Models[s.Slow].Identity)
				}
			}
		})
		if err != nil {
			return err
		}
		id = &made
	}
	sp.serving.Store(s.serve(*id, false))
	return nil
}

// refuseLost reports a store that names no embedder although its tenant became ready, when one was written down: the store
// was lost or emptied since, and taking writes would hide that.
func (s *Set) refuseLost(ctx context.Context, uid string) error {
	t, err := s.registry.TenantByUID(ctx, uid)
	if errors.Is(err, backend.ErrNotFound) || err == nil && t.State != backend.TenantReady {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the store of workspace %s is empty although its tenant was ready: put the workspace's store.db back from a copy, or delete the tenant: %w, %w",
		uid, backend.ErrCorrupt, backend.ErrUnavailable)
}
