package workspace

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// Sizes of the steps of re-embedding. Each step is a transaction or a call of the embedder.
const (
	fillSources = 64  // versions read in one step
	dropSources = 200 // versions whose old vectors are dropped in one step
	usePoll     = 5 * time.Millisecond
)

// Reembed embeds all items of a tenant again with the service's embedder, and returns the number of items that it
// embedded. It fills another lane than the one in use, which is used until the new one is complete. After an
// interruption the next call continues where the last one stopped.
func (s *Set) Reembed(ctx context.Context, op, org, tenant string) (int, error) {
	r, err := s.acquireAny(ctx, op, org, tenant)
	if err != nil {
		return 0, err
	}
	defer s.spaces.Release(r.UID)
	defer s.attend.Refine(r.UID)
	n := 0
	err = s.Leases.HoldSoon(ctx, lease.OfWorkspace(r.UID), func(ctx context.Context) error {
		select {
		case r.reembed <- struct{}{}:
			defer func() { <-r.reembed }()
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := s.reload(ctx, r.Space); err != nil {
			return err
		}
		n, err = s.reembed(ctx, r.Space)
		return err
	})
	return n, err
}

// reembed is Reembed for a workspace. The caller holds sp.reembed.
func (s *Set) reembed(ctx context.Context, sp *Space) (int, error) {
	want := s.Models[0].Identity
	if id := sp.serving.Load().Identity; s.Slow > 0 && id.Next == nil && id.same(s.Models[s.Slow].Identity) {
		return 0, s.dropOld(ctx, sp) // the slow embedder's vectors are in use already
	}
	id, err := s.beginLane(ctx, sp, want)
	if err != nil || id.Next == nil {
		return 0, err
	}
	lane, total := id.Next.Lane, 0
	fill := func() error {
		n, err := s.fillLane(ctx, sp, lane)
		total += n
		return err
	}
	if err := fill(); err != nil {
		return total, err
	}
	// From here on new items are embedded into the new lane. Without that, filling it might never end.
	if s.Leases != nil { // in other processes too
		if id, err = changeIdentity(ctx, sp.Store, func(id *Identity) { id.Turned = id.Next != nil }); err != nil {
			return total, err
		}
	}
	if err := s.turn(ctx, sp, s.serve(id, true)); err != nil {
		return total, err
	}
	if err := fill(); err != nil {
		return total, err
	}
	if err := sp.Follower.Sync(ctx); err != nil {
		return total, err
	}
	if id, err = changeIdentity(ctx, sp.Store, func(id *Identity) {
		old := id.Lane
		id.Model, id.Dim, id.Lane, id.Next, id.Old = want.Model, want.Dim, lane, nil, &old
	}); err != nil {
		return total, err
	}
	if err := s.turn(ctx, sp, s.serve(id, false)); err != nil {
		return total, err
	}
	if err := s.letOthers(ctx); err != nil {
		return total, err
	}
	return total, s.dropOld(ctx, sp)
}

// beginLane selects the lane that the service's embedder fills, and returns the identity. Its Next is
// nil if there is nothing to do.
func (s *Set) beginLane(ctx context.Context, sp *Space, want Identity) (Identity, error) {
	if err := s.dropOld(ctx, sp); err != nil {
		return Identity{}, err
	}
	id := sp.serving.Load().Identity
	if id.same(want) && id.Next == nil {
		return id, nil
	}
	// A lane that another embedder has begun to fill is dropped first.
	if next := id.Next; next != nil && next.Lane != id.Lane && !next.same(want) {
		if err := dropLane(ctx, sp, next.Lane); err != nil {
			return id, err
		}
	}
	var taken bool
	id, err := changeIdentity(ctx, sp.Store, func(id *Identity) {
		taken = false
		mixed := id.mixed()
		if id.same(want) && !mixed {
			id.Next = nil
			return
		}
		if mixed { // no embedder can use lane 0 any more
			id.Model, id.Dim = "mixed", 0
		}
		if id.Next != nil && !mixed && id.Next.same(want) {
			return // filling continues where it was interrupted
		}
		next := want
		id.Next = nil
		var free bool
		if next.Lane, free = id.freeLane(); !free { // drop a lane that another slow embedder has begun to fill; filling starts again later
			next.Lane, id.NextSlow = id.NextSlow.Lane, nil
			taken = true
		}
		id.Next = &next
	})
	if err != nil {
		return id, err
	}
	if err := s.turn(ctx, sp, s.serve(id, false)); err != nil {
		return id, err
	}
	if taken {
		if err := dropLane(ctx, sp, id.Next.Lane); err != nil {
			return id, err
		}
	}
	s.attend.Unpark(sp.UID)
	return id, nil
}

// turn replaces the Serving of a workspace, and waits until all users of the old one have
// finished.
func (s *Set) turn(ctx context.Context, sp *Space, v *Serving) error {
	before := sp.serving.Swap(v)
	tick := time.NewTicker(usePoll)
	defer tick.Stop()
	for before.users.Load() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.gate.Life().Done():
			return &fault.Error{Op: "reembed", Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
	}
	return nil
}

// fillLane embeds every version that lacks a lane, and returns their number. It repeats its
// pass over all versions until a pass finds none, since versions may change meanwhile.
func (s *Set) fillLane(ctx context.Context, sp *Space, lane backend.Lane) (total int, _ error) {
	for after := int64(0); ; {
		nums, err := sp.Store.MissingVectors(ctx, lane, after, fillSources)
		if err != nil {
			return total, err
		}
		if len(nums) == 0 {
			if after == 0 {
				return total, nil
			}
			after = 0
			continue
		}
		after = nums[len(nums)-1]
		if err := s.gate.Life().Err(); err != nil {
			return total, &fault.Error{Op: "reembed", Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
		n, err := pipeline.FillLane(ctx, sp.Guarded(sp.Serving()), s.Models[0].Embedder, lane, nums)
		total += n
		if err != nil {
			return total, err
		}
		if err := sp.Follower.Sync(ctx); err != nil {
			return total, err
		}
	}
}

// dropOld drops the lane that was in use before, if it still exists. The caller holds
// sp.reembed.
func (s *Set) dropOld(ctx context.Context, sp *Space) error {
	id := sp.serving.Load().Identity
	if id.Old == nil {
		return nil
	}
	if err := dropLane(ctx, sp, *id.Old); err != nil {
		return err
	}
	id, err := changeIdentity(ctx, sp.Store, func(id *Identity) { id.Old = nil })
	if err != nil {
		return err
	}
	sp.serving.Store(s.serve(id, false))
	return nil
}

func dropLane(ctx context.Context, sp *Space, lane backend.Lane) error {
	for after := int64(0); ; {
		next, err := sp.Guarded(sp.Serving()).DropLane(ctx, lane, after, dropSources)
		if err != nil {
			return err
		}
		if next == 0 {
			return sp.Follower.Sync(ctx)
		}
		after = next
	}
}

// TidyLanes drops the lanes that an interrupted call of Reembed has left after it had changed
// lanes. The scheduler calls it.
func (s *Set) TidyLanes(ctx context.Context, sp *Space) error {
	if id := sp.serving.Load().Identity; id.Old == nil && !id.Turned {
		return nil
	}
	select {
	case sp.reembed <- struct{}{}:
		defer func() { <-sp.reembed }()
		if sp.serving.Load().Identity.Turned { // the process that re-embedded is gone; until the next Reembed, recalls use the old lane
			id, err := changeIdentity(ctx, sp.Store, func(id *Identity) { id.Turned = false })
			if err != nil {
				return err
			}
			if err := s.turn(ctx, sp, s.serve(id, false)); err != nil {
				return err
			}
		}
		return s.dropOld(ctx, sp)
	default:
		return nil // Reembed is running
	}
}
