package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/cas"
)

// identityName is the workspace value that holds the identity of the embedder.
const identityName = "embedder"

// Identity names the embedder that made the vectors of a workspace, and their lane.
type Identity struct {
	Model string       `json:"model"`
	Dim   int          `json:"dim"`
	Lane  backend.Lane `json:"lane,omitempty"`
	// Next is the embedder with which the workspace is being embedded again, and the lane being filled. In records of
	// earlier releases that lane may be 0, and lane 0 then has vectors of both embedders.
	Next *Identity `json:"next,omitempty"`
	// Old is the lane used before, which is to be dropped.
	Old *backend.Lane `json:"old,omitempty"`
	// Slow is the embedder whose vectors refine those of Model, and their lane. Some chunks may lack a vector there.
	// NextSlow is the embedder that will replace Slow, and the lane being filled.
	Slow     *Refinement `json:"slow,omitempty"`
	NextSlow *Refinement `json:"next_slow,omitempty"`
	// Drop lists lanes of former slow embedders, which are to be dropped.
	Drop []backend.Lane `json:"drop,omitempty"`
	// Turned reports whether new items are embedded into the lane of Next already. It is only set if several processes share the workspace.
	Turned bool `json:"turned,omitempty"`

	stored []byte // the stored form; nil: it was not read from the store
}

// Refinement is a slow embedder with its lane.
type Refinement struct {
	Model string       `json:"model"`
	Dim   int          `json:"dim"`
	Lane  backend.Lane `json:"lane"`
}

func (r *Refinement) identity() Identity { return Identity{Model: r.Model, Dim: r.Dim} }

// freeLane returns an unused lane that can be filled, and reports whether there is one.
func (i Identity) freeLane() (backend.Lane, bool) {
	used := [backend.LaneCount]bool{0: true} // lane 0 is never filled again
	used[i.Lane] = true
	if i.Next != nil {
		used[i.Next.Lane] = true
	}
	if i.Old != nil {
		used[*i.Old] = true
	}
	for _, r := range []*Refinement{i.Slow, i.NextSlow} {
		if r != nil {
			used[r.Lane] = true
		}
	}
	for _, l := range i.Drop {
		used[l] = true
	}
	for k := backend.Lane(1); k < backend.LaneCount; k++ { // the one after the lane in use first
		if l := (i.Lane+k-1)%(backend.LaneCount-1) + 1; !used[l] {
			return l, true
		}
	}
	return 0, false
}

// String returns the model and its dimensions.
func (i Identity) String() string { return fmt.Sprintf("%s (%d dimensions)", i.Model, i.Dim) }

// same reports whether two identities name one embedder.
func (i Identity) same(o Identity) bool { return i.Model == o.Model && i.Dim == o.Dim }

// mixed reports whether the lane in use has vectors of two embedders.
func (i Identity) mixed() bool { return i.Next != nil && i.Next.Lane == i.Lane }

// readIdentity returns the identity of a workspace in its stored and in its decoded form, or nil if it has no vectors yet.
func readIdentity(ctx context.Context, st backend.Store) (stored []byte, id *Identity, err error) {
	stored, err = st.Get(ctx, identityName)
	if err != nil || stored == nil {
		return nil, nil, err
	}
	id = new(Identity)
	if json.Unmarshal(stored, id) != nil {
		return nil, nil, fmt.Errorf("identity of the embedder: %w", backend.ErrCorrupt)
	}
	id.stored = stored
	return stored, id, nil
}

// changeIdentity reads the identity, changes it with f, and stores it. If another process has stored one meanwhile, it tries
// again and calls f again.
func changeIdentity(ctx context.Context, st backend.Store, f func(id *Identity)) (out Identity, err error) {
	err = cas.Retry(ctx, func() error {
		stored, id, err := readIdentity(ctx, st)
		if err != nil {
			return err
		}
		out = Identity{}
		if id != nil {
			out = *id
		}
		f(&out)
		if out.Next == nil {
			out.Turned = false
		}
		if out.stored, err = json.Marshal(out); err != nil {
			return err
		}
		return st.Set(ctx, identityName, stored, out.stored)
	})
	return out, err
}
