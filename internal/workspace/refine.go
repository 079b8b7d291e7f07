package workspace

import (
	"context"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// pass is how far one has come that visits the versions of a workspace in the background: one adds the vectors of the
// slow embedder, one compares memories.
type pass struct {
	mu    sync.Mutex
	after int64 // versions up to here were visited, or are announced again
	whole bool  // none was left when it was last looked
	gen   int64 // rises with every announcement; 0: there was none since the opening
}

// announce says that versions are about to be there that the pass has not visited.
func (r *pass) announce(nums []int64) {
	r.mu.Lock()
	r.after, r.whole = min(r.after, slices.Min(nums)-1), false
	r.gen++
	r.mu.Unlock()
}

// done reports whether every version was visited. False may mean that it is not known yet.
func (r *pass) done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.whole
}

// Unrefined says that versions are about to be searchable that lack the vectors of the slow embedder.
func (sp *Space) Unrefined(nums []int64) { sp.refining.announce(nums) }

// Refined reports whether every version has the vectors of the slow embedder. False may mean that it is not known yet.
func (sp *Space) Refined() bool { return sp.refining.done() }

// restart has the pass look at every version.
func (r *pass) restart() {
	r.mu.Lock()
	r.after, r.whole = 0, false
	r.gen++
	r.mu.Unlock()
}

func (r *pass) at() (after, gen int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.after, r.gen
}

// advance notes what was found since at said gen.
func (r *pass) advance(gen, to int64, whole bool) {
	r.mu.Lock()
	if r.gen == gen {
		r.after, r.whole = max(r.after, to), whole
	}
	r.mu.Unlock()
}

// Refine adds vectors of the slow embedder to at most n versions that lack them, atOnce calls of the embedder at a time, and reports
// whether more is to be done. The caller must not hold a use of the space's vectors.
func (s *Set) Refine(ctx context.Context, sp *Space, c *pipeline.Config, n, atOnce int) (more bool, err error) {
	select {
	case sp.reembed <- struct{}{}:
		defer func() { <-sp.reembed }()
	default:
		return false, nil // Reembed is at it, and asks for refinement when it ends
	}
	if err := s.beginRefining(ctx, sp); err != nil {
		return false, err
	}
	v := sp.serving.Load()
	if v.Refiner == nil {
		return false, nil
	}
	after, gen := sp.refining.at()
	nums, err := sp.Store.MissingVectors(ctx, v.RefineLane, after, n)
	if err != nil {
		return false, err
	}
	if len(nums) == 0 {
		if v.Identity.NextSlow != nil {
			if err := s.changeSlow(ctx, sp); err != nil {
				return false, err
			}
		}
		sp.refining.advance(gen, after, true)
		return !sp.Refined(), nil
	}
	if err := c.Refine(ctx, sp.Guarded(v), v.Refiner, v.RefineLane, nums, atOnce); err != nil {
		return true, err
	}
	if err := sp.Follower.Sync(ctx); err != nil {
		return true, err
	}
	sp.refining.advance(gen, nums[len(nums)-1], false)
	return true, nil
}

// beginRefining decides which lane the slow embedder fills, and drops those that nobody uses any more. The caller holds
// sp.reembed.
func (s *Set) beginRefining(ctx context.Context, sp *Space) error {
	id := sp.serving.Load().Identity
	if s.Slow == 0 || id.mixed() || id.same(s.Models[s.Slow].Identity) {
		return nil
	}
	want := s.Models[s.Slow].Identity
	if id.Slow == nil || !id.Slow.identity().same(want) || id.NextSlow != nil && !id.NextSlow.identity().same(want) {
		changed, err := changeIdentity(ctx, sp.Store, func(id *Identity) { s.planSlow(id, want) })
		if err != nil {
			return err
		}
		if err := s.turn(ctx, sp, s.serve(changed, false)); err != nil {
			return err
		}
		id = changed
		sp.refining.restart()
	}
	if len(id.Drop) == 0 {
		return nil
	}
	for _, lane := range id.Drop {
		if err := dropLane(ctx, sp, lane); err != nil {
			return err
		}
	}
	dropped := id.Drop
	id, err := changeIdentity(ctx, sp.Store, func(id *Identity) {
		id.Drop = slices.DeleteFunc(slices.Clone(id.Drop), func(l backend.Lane) bool { return slices.Contains(dropped, l) })
	})
	if err != nil {
		return err
	}
	sp.serving.Store(s.serve(id, false))
	return s.beginRefining(ctx, sp) // a lane is free now, where there was none
}

// planSlow gives the slow embedder a lane. One that refined before serves on where it is at hand.
func (s *Set) planSlow(id *Identity, want Identity) {
	if id.NextSlow != nil && !id.NextSlow.identity().same(want) {
		id.Drop, id.NextSlow = append(id.Drop, id.NextSlow.Lane), nil
	}
	if id.Slow != nil && id.Slow.identity().same(want) || id.NextSlow != nil {
		return
	}
	if id.Slow != nil && s.model(id.Slow.identity()) < 0 {
		id.Drop, id.Slow = append(id.Drop, id.Slow.Lane), nil
	}
	lane, free := id.freeLane()
	if !free {
		return // a lane that is to be dropped is free at the next step
	}
	r := &Refinement{Model: want.Model, Dim: want.Dim, Lane: lane}
	if id.Slow == nil {
		id.Slow = r
	} else {
		id.NextSlow = r
	}
}

// changeSlow lets the vectors of the slow embedder that were added serve in place of those of another.
func (s *Set) changeSlow(ctx context.Context, sp *Space) error {
	id, err := changeIdentity(ctx, sp.Store, func(id *Identity) {
		if id.NextSlow != nil {
			id.Drop = append(id.Drop, id.Slow.Lane)
			id.Slow, id.NextSlow = id.NextSlow, nil
		}
	})
	if err != nil {
		return err
	}
	if err := s.turn(ctx, sp, s.serve(id, false)); err != nil {
		return err
	}
	return s.beginRefining(ctx, sp)
}
