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

// Identity says which embedder made the vectors of a workspace, and in which lane they stand.
type Identity struct {
	Model string       `json:"model"`
	Dim   int          `json:"dim"`
	Lane  backend.Lane `json:"lane,omitempty"`
	// Next is the embedder that the workspace is being embedded with again, and the lane that is being filled. In
	// records of earlier releases that lane is 0: then lane 0 holds vectors of both embedders.
	Next *Identity `json:"next,omitempty"`
	// Old is the lane that served before and is to be dropped.
	Old *backend.Lane `json:"old,omitempty"`
	// Slow is the embedder whose vectors refine those of Model, and their lane; not every chunk has one. NextSlow is the
	// one that is to follow it, whose lane is being filled.
	Slow     *Refinement `json:"slow,omitempty"`
	NextSlow *Refinement `json:"next_slow,omitempty"`
	// Drop are lanes of embedders that refined before and are to be dropped.
	Drop []backend.Lane `json:"drop,omitempty"`
	// Turned says that new items go into the lane of Next already, where several processes work on the workspace.
	Turned bool `json:"turned,omitempty"`

	stored []byte // as it is in the store; nil: it is not from there
}

// Refinement is an embedder that refines, with its lane.
type Refinement struct {
	Model string       `json:"model"`
	Dim   int          `json:"dim"`
	Lane  backend.Lane `json:"lane"`
}

func (r *Refinement) identity() Identity { return Identity{Model: r.Model, Dim: r.Dim} }

// freeLane returns a lane that can be filled and is not in use; false: there is none.
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

// String names the model and its dimensions.
func (i Identity) String() string { return fmt.Sprintf("%s (%d dimensions)", i.Model, i.Dim) }

// same reports whether two identities name one embedder.
func (i Identity) same(o Identity) bool { return i.Model == o.Model && i.Dim == o.Dim }

// mixed reports whether the lane in use holds vectors of two embedders.
func (i Identity) mixed() bool { return i.Next != nil && i.Next.Lane == i.Lane }

// readIdentity reads who made the vectors of a workspace, as it is stored and decoded; nil when nobody did yet.
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

// changeIdentity reads the identity, has f change it, and stores it. f may run again when somebody else wrote first.
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
