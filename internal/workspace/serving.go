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

// Model is an embedder that makes or has made vectors of workspaces.
type Model struct {
	Identity Identity // its lane is not used
	Embedder pipeline.Embedder
}

// Serving holds the embedders and lanes that recall and ingestion use for a workspace. It is immutable and replaced as
// a whole, so an embedder is never used with the vectors of another.
type Serving struct {
	Identity Identity
	// Model is the index in Config.Models of the embedder whose vectors are in Lane; -1: the service does not have it.
	Model int
	Lane  backend.Lane
	// Writer embeds new items into WriteLane; nil: recall and ingestion fail until Reembed is called.
	Writer    pipeline.Embedder
	WriteLane backend.Lane
	// Refined is the index in Config.Models of the embedder whose vectors in RefinedLane refine those in Lane; 0: none.
	Refined     int
	RefinedLane backend.Lane
	// Refiner embeds items into RefineLane after Writer has; nil: none.
	Refiner    pipeline.Embedder
	RefineLane backend.Lane

	want  Identity     // identity of the service's embedder
	users atomic.Int64 // number of recalls and steps that use it
}

// Done ends a use that Use began.
func (v *Serving) Done() { v.users.Add(-1) }

// Foreign returns the error of calls on a workspace whose embedder the service does not have.
func (v *Serving) Foreign() error {
	if v.Writer != nil {
		return nil
	}
	return &fault.Error{Op: "open tenant", Kind: fault.KindConflict, Resource: fault.Embedding, Err: &ForeignEmbedderError{v.Identity, v.want}}
}

// ForeignEmbedderError is the error for a tenant whose vectors were made by another embedder than the service's.
type ForeignEmbedderError struct{ Have, Want Identity }

// Error implements error.
func (e *ForeignEmbedderError) Error() string {
	return fmt.Sprintf("its vectors were made by %v, and the service uses %v: open it with the old embedder or call Tenant.Reembed", e.Have, e.Want)
}

// Serving returns the current Serving of the workspace.
func (sp *Space) Serving() *Serving { return sp.serving.Load() }

// Use returns the current Serving and counts a user. The caller calls Done.
func (sp *Space) Use() *Serving {
	for {
		v := sp.serving.Load()
		v.users.Add(1)
		if sp.serving.Load() == v {
			return v
		}
		v.users.Add(-1) // v was replaced before the user was counted
	}
}

// model returns the index in Config.Models of an embedder, or -1 if the service does not have it.
func (s *Set) model(id Identity) int {
	for i := range s.Models {
		if s.Models[i].Identity.same(id) {
			return i
		}
	}
	return -1
}

// serve returns the Serving of a workspace with an identity. If turning is set, new items are embedded into the lane
// that is being filled.
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

// refinement sets the fields of v for refining.
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

// loadServing sets the Serving of a workspace from its stored identity. It stores the service's embedder as the identity of a new workspace.
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
				if s.Slow > 0 { // set at once, so that the first items can be refined before they are completed
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

// refuseLost returns an error if a store has no identity although its tenant is ready, which means that it once had one. Such a store
// was lost or emptied, and accepting writes would hide that.
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
