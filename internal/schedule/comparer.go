package schedule

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

// changes implements [workspace.Comparer] with a change engine.
type changes struct {
	*change.Engine
	yield func() // lets recalls go first
}

// Compare implements [workspace.Comparer].
func (c changes) Compare(ctx context.Context, sp *workspace.Space, v *workspace.Serving, m *workspace.Model, nums []int64) error {
	lane := v.Lane
	if v.Refined != 0 {
		lane = v.RefinedLane
	}
	return c.Engine.Compare(ctx, &change.Space{Store: sp.Store, Vectors: sp.Workspace.Vectors(), Keywords: sp.Workspace.Keywords(),
		Graph: sp.Workspace.Graph(), Embedder: pipeline.ForMemories(m.Embedder), Model: m.Identity.Model, Lane: lane, Yield: c.yield}, nums)
}

// compareYield is the longest time for which a comparison lets recalls go first, once a search. So it goes on in constant traffic too.
const compareYield = 10 * time.Millisecond

func (c *Scheduler) changes() changes {
	return changes{c.Changes, func() {
		if c.awaited.Load() == 0 {
			c.set.Traffic.Yield(c.gate.Life(), compareYield)
		}
	}}
}

// newComparer returns the background job that compares memories with earlier ones.
func (c *Scheduler) newComparer() *backgroundJob {
	e := newBackgroundJob(comparing, "comparing the memories of")
	e.some = func(sp *workspace.Space) (bool, error) {
		return c.set.Compare(c.gate.Life(), sp, c.changes(), compareSlice)
	}
	return e
}
