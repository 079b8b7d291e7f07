package pipeline

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// Fresh is a version of a memory whose chunks are about to be stored.
type Fresh struct {
	Source *backend.Source
	Doc    *item.Doc
	Chunks []backend.Chunk // by ordinal
}

// settle marks the memories that need no comparison with earlier ones. It runs while their text is still in memory.
func settle(ctx context.Context, s Space, jobs []*job) {
	if s.Settled == nil {
		return
	}
	var all []Fresh
	var of []*job
	for _, j := range jobs {
		if j.fail == nil && j.State != backend.GraphCreation && j.Part.Class == backend.Memory && j.prep.time.Equal(j.Time) {
			all, of = append(all, Fresh{&j.Source, j.prep.doc, j.prep.chunks}), append(of, j)
		}
	}
	if len(all) == 0 {
		return
	}
	generation, settled := s.Settled(ctx, all)
	for i, ok := range settled {
		if ok {
			of[i].settled = generation
		}
	}
}
