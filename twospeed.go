package contextmem

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/recall"
	"github.com/contextmem/contextmem/internal/workspace"
)

// embedder returns the embedder of the options, or the default one. It says what a model would bring where there is none.
func (o *Options) embedder() (Embedder, error) {
	if o.Embedder != nil {
		return o.Embedder, nil
	}
	e, err := embed.Default()
	if err != nil {
		return nil, err
	}
	if e == nil {
		o.Logger.Info("texts are searched by their words and by English word vectors; an embedding model also finds what is said in other words and in other languages: " +
			`import _ "github.com/contextmem/contextmem/models/multilingual-e5-small", or set Options.Embedder`)
		return defaultEmbedder(), nil
	}
	if d := e.Dim(); d < 1 || d > maxDim || e.Model() == "" {
		return nil, fmt.Errorf("the default embedder has no name, or its dimension %d is outside 1 to %d", d, maxDim)
	}
	return e, nil
}

// models makes recall engines for the embedders of the service, and returns what workspaces need of these, with the place of the one
// that refines what the first one made; 0: there is none.
func (s *Service) models() (out []workspace.Model, slow int) {
	all := []Embedder{s.embedder}
	if x, ok := s.embedder.(Slow); ok && x.Slow() {
		fast := s.opts.FastEmbedder
		if fast == nil {
			fast = defaultEmbedder()
		}
		if fast.Model() != s.embedder.Model() || fast.Dim() != s.embedder.Dim() {
			all, slow = []Embedder{fast, s.embedder}, 1
		}
	}
	for _, e := range append(all, s.opts.PreviousEmbedders...) {
		s.recallers = append(s.recallers, s.newRecaller(e))
		out = append(out, workspace.Model{Identity: workspace.Identity{Model: e.Model(), Dim: e.Dim()}, Embedder: e})
	}
	if slow == 0 {
		return out, 0
	}
	ranker := *s.recallers[slow].Ranker
	ranker.Refines, s.recallers[slow].Ranker = true, &ranker
	s.refined = make([][]*recall.Engine, len(out))
	for i, base := range s.recallers {
		for _, over := range s.recallers {
			both, ranker := *over, *over.Ranker
			ranker.Fast, ranker.Refines, both.Ranker = base.Ranker, true, &ranker
			s.refined[i] = append(s.refined[i], &both)
		}
	}
	return out, slow
}

// chooseVectors decides which vectors a search uses: those that refine, with the others where there are none yet.
func (c *searchCall) chooseVectors(s *Service) {
	v := c.vectors
	c.ws.Lane, c.ws.DenseOff = v.Lane, v.Model < 0
	c.recaller = s.recallers[max(v.Model, 0)]
	if v.Refined == 0 {
		return
	}
	c.ws.Lane, c.ws.FastLane = v.RefinedLane, v.Lane
	if c.recaller = s.refined[v.Model][v.Refined]; c.Refined() && v.RefineLane == v.RefinedLane {
		c.recaller = s.recallers[v.Refined]
	}
}

// WaitRefined waits until nothing that was accepted in the tenant waits to be processed, and all of its texts have the vectors of
// an Options.Embedder that is [Slow]. Of another embedder it waits for the first alone. Texts that the embedder cannot read
// are not waited for; while it is down the wait goes on.
func (s scope) WaitRefined(ctx context.Context) error {
	const op = "wait"
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return err
	}
	defer ref.Release()
	err = s.svc.sched.WaitRefined(ctx, ref.UID)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	return fault.Wrap(op, fault.Tenant, s.tenant, err)
}
