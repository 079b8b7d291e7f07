package workspace

import (
	"context"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// pass is the progress of a background pass over the versions of a workspace. One pass adds the vectors of the slow
// embedder, another compares memories.
type pass struct {
	mu    sync.Mutex
	after int64 // versions up to this one were visited; announce may lower it
	whole bool  // the last step found no version left
	gen   int64 // incremented by announce; 0: announce was not called since the workspace was opened
}

// announce notes versions that are about to be stored and that the pass has not visited.
func (r *pass) announce(nums []int64) {
	r.mu.Lock()
	r.after, r.whole = min(r.after, slices.Min(nums)-1), false
	r.gen++
	r.mu.Unlock()
}

// done reports whether every version is known to be visited.
func (r *pass) done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.whole
}

// Unrefined notes versions that are about to become searchable without vectors of the slow embedder.
func (sp *Space) Unrefined(nums []int64) { sp.refining.announce(nums) }

// Refined reports whether every version is known to have vectors of the slow embedder.
func (sp *Space) Refined() bool { return sp.refining.done() }

// restart makes the pass visit every version again.
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

// advance records the result of a step that began when the pass was at gen.
func (r *pass) advance(gen, to int64, whole bool) {
	r.mu.Lock()
	if r.gen == gen {
		r.after, r.whole = max(r.after, to), whole
	}
	r.mu.Unlock()
}

// Refine adds vectors of the slow embedder to at most n versions that lack them, with atOnce concurrent calls of the embedder. It reports
// whether there may be more. It calls wait between calls of the embedder. The caller must have ended its own Use of the space.
func (s *Set) Refine(ctx context.Context, sp *Space, c *pipeline.Config, n, atOnce int, wait func()) (more bool, err error) {
	select {
	case sp.reembed <- struct{}{}:
		defer func() { <-sp.reembed }()
	default:
		return false, nil // Reembed is running, and plans refinement when it ends
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
	if err := c.Refine(ctx, sp.Guarded(v), pipeline.Patient(v.Refiner, wait), v.RefineLane, nums, atOnce); err != nil {
		return true, err
	}
	if err := sp.Follower.Sync(ctx); err != nil {
		return true, err
	}
	sp.refining.advance(gen, nums[len(nums)-1], false)
	return true, nil
}

// beginRefining selects the lane that the slow embedder fills, and drops lanes that are no longer used. The caller holds
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
	return s.beginRefining(ctx, sp) // dropping has freed a lane
}

// planSlow assigns a lane to the slow embedder. The former slow embedder stays in use meanwhile if the service has it.
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
		return // the next step has a free lane, once one was dropped
	}
	r := &Refinement{Model: want.Model, Dim: want.Dim, Lane: lane}
	if id.Slow == nil {
		id.Slow = r
	} else {
		id.NextSlow = r
	}
}

// changeSlow puts the newly filled lane of the slow embedder into use in place of the former one.
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
