package schedule

import (
	"context"

	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

// changes implements [workspace.Comparer] with a change engine.
type changes struct{ *change.Engine }

// Compare implements [workspace.Comparer].
func (c changes) Compare(ctx context.Context, sp *workspace.Space, v *workspace.Serving, m *workspace.Model, nums []int64) error {
	lane := v.Lane
	if v.Refined != 0 {
		lane = v.RefinedLane
	}
	return c.Engine.Compare(ctx, &change.Space{Store: sp.Store, Vectors: sp.Workspace.Vectors(), Keywords: sp.Workspace.Keywords(),
		Graph: sp.Workspace.Graph(), Embedder: pipeline.ForMemories(m.Embedder), Model: m.Identity.Model, Lane: lane}, nums)
}

// newComparer returns the background job that compares memories with earlier ones.
func (c *Scheduler) newComparer() *backgroundJob {
	e := newBackgroundJob(comparing, "comparing the memories of")
	e.some = func(sp *workspace.Space) (bool, error) {
		return c.set.Compare(c.gate.Life(), sp, changes{c.Changes}, compareSlice)
	}
	return e
}
