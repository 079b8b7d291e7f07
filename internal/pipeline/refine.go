package pipeline

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
)

// Sizes of refining.
const (
	refineItems = 32        // versions that one goroutine embeds in one call
	rushBytes   = 128 << 10 // bytes of text in a step up to which it is refined before its items are completed
)

// Refine embeds the chunks of versions into a lane, with atOnce concurrent calls of the embedder. It skips versions that
// change meanwhile, and versions that the embedder cannot embed although it embeds others. An error is one of the embedder
// or the storage. After an error nothing should be refined before RefiningPausedUntil.
func (c *Config) Refine(ctx context.Context, st backend.Store, e Embedder, lane backend.Lane, nums []int64, atOnce int) error {
	var g errgroup.Group
	g.SetLimit(max(1, atOnce))
	for from := 0; from < len(nums); from += refineItems {
		part := nums[from:min(from+refineItems, len(nums))]
		g.Go(func() error { return c.refine(ctx, st, e, lane, part) })
	}
	return g.Wait()
}

// refine is Refine in one goroutine.
func (c *Config) refine(ctx context.Context, st backend.Store, e Embedder, lane backend.Lane, nums []int64) error {
	_, err := FillLane(ctx, st, e, lane, nums)
	if err == nil {
		c.slowOutage.over()
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !ofEmbedder(err) {
		return c.refineFailed("storage", err)
	}
	// If the embedder can embed a trivial text, try the versions one by one to find those that it cannot embed.
	if probe := embedTexts(ctx, e, []string{"a"}, func(int, []float32) {}); probe != nil {
		return c.refineFailed("refining embedder", probe)
	}
	c.slowOutage.over()
	for _, num := range nums {
		_, err := FillLane(ctx, st, e, lane, []int64{num})
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case ofEmbedder(err):
			c.Logger.Warn("an item cannot be refined; it is searched by the vectors it has", "source", num, "err", err)
		default:
			return c.refineFailed("storage", err)
		}
	}
	return nil
}

func (c *Config) refineFailed(what string, err error) error {
	if errors.Is(err, backend.ErrClosed) {
		return err
	}
	c.Logger.Warn("refining failed", "dependency", what, "err", err)
	c.pauseOf(&c.slowOutage, what)
	return err
}

// ofEmbedder reports whether an error of FillLane comes from the embedder.
func ofEmbedder(err error) bool {
	var e *embedError
	return errors.As(err, &e)
}

// embedError is an error of an embedder.
type embedError struct{ error }

// Unwrap returns the cause.
func (e *embedError) Unwrap() error { return e.error }

// announce calls Space.Unrefined and Space.Uncompared with the versions that a step has indexed.
func announce(s Space, jobs []*job) {
	nums := indexed(jobs)
	if len(nums) == 0 {
		return
	}
	if s.Refiner != nil {
		s.Unrefined(nums)
	}
	if s.Uncompared == nil {
		return
	}
	var compare []*job
	for _, j := range jobs {
		if j.settled == 0 {
			compare = append(compare, j)
		}
	}
	if nums := indexed(compare); len(nums) > 0 {
		s.Uncompared(nums)
	}
}

// indexed returns the versions of jobs that have chunks.
func indexed(jobs []*job) (nums []int64) {
	for _, j := range jobs {
		if !j.lost && (j.fail == nil || j.State == backend.GraphCreation) {
			nums = append(nums, j.Num)
		}
	}
	return nums
}

// refineFirst refines the items of a step before they are completed, if few items wait. A caller that waits for a few items can
// then find them by the better vectors. Items that refineFirst skips are refined later.
func (c *Config) refineFirst(ctx context.Context, s Space, jobs []*job) {
	if s.Refiner == nil || c.slowOutage.probing() {
		return
	}
	bytes, all := 0, indexed(jobs)
	for _, j := range jobs {
		if j.prep != nil {
			bytes += j.prep.size
		}
	}
	if len(all) == 0 || bytes > rushBytes {
		return
	}
	for len(all) > 0 && s.Rush() {
		n := min(2*refineItems, len(all))
		if err := c.Refine(ctx, s.Store, s.Refiner, s.RefineLane, all[:n], 2); err != nil {
			return
		}
		all = all[n:]
	}
}
