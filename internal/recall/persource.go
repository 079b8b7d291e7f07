package recall

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// mostOf returns how many places of a result a source of a class may take; 0: any number.
func (r *run) mostOf(class backend.Class) int {
	if r.PerSource == 0 && class == backend.Memory {
		return 1
	}
	return r.PerSource
}

// limits reports whether a source of some scope may take a few places alone.
func (r *run) limits() bool {
	return slices.ContainsFunc(r.scopes, func(sc scope) bool { return r.mostOf(sc.Part.Class) > 0 })
}

// places returns how many places of a result hits would take.
func (r *run) places(hits []*Hit) (n int) {
	r.counts.reset()
	for _, h := range hits {
		most := r.mostOf(h.scope.Part.Class)
		if of := r.counts.add(h.ranked.Source); most == 0 || of <= most {
			n++
		}
	}
	return n
}

// spread returns want hits or more that take enough places, where there are so many.
func (r *run) spread(want int, choose func(want int) ([]*Hit, error)) ([]*Hit, error) {
	for n := want; ; n = min(n*moreHits, maxCandidates) {
		hits, err := choose(n)
		if err != nil || len(hits) < n || n >= maxCandidates || !r.limits() || r.places(hits) >= min(want, r.MaxResults) {
			return hits, err
		}
	}
}

// condense leaves each source the places that it may take, and puts what was inferred from a memory beside its words.
// hits are in order.
func (r *run) condense(hits []*Hit) ([]*Hit, error) {
	if !r.limits() {
		return hits, nil
	}
	r.counts.reset()
	out := hits[:0]
	for _, h := range hits {
		src := h.Row.Src
		most := r.mostOf(src.Part.Class)
		var best *Hit // the first hit of the source
		of := r.counts.add(src.Num)
		if of > 1 && most > 0 {
			best = out[slices.IndexFunc(out, func(o *Hit) bool { return o.Row.Src.Num == src.Num })]
		}
		inferred := src.Part.Class == backend.Memory && r.said.of(h.Row.Layout)
		switch {
		case most == 0:
			out = append(out, h)
			continue
		case best == nil:
			if inferred && most == 1 {
				if err := r.original(h); err != nil {
					return nil, err
				}
			}
		case inferred && most == 1:
			r.reject(h, WhyRepeats)
			best.state(h.Row.Text)
			for _, id := range h.AlsoFrom {
				if !slices.Contains(best.AlsoFrom, id) {
					best.AlsoFrom = append(best.AlsoFrom, id)
				}
			}
			continue
		}
		if of <= most {
			out = append(out, h)
		}
	}
	return out, nil
}

// state puts inferred statements, one a line, beside the words of a hit.
func (h *Hit) state(lines string) {
	for line := range strings.SplitSeq(lines, "\n") {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(h.Statements, line) {
			h.Statements = append(h.Statements, line)
		}
	}
}

// original puts the words of a memory in the place of what was inferred from them. Of a memory of several chunks these are
// the first.
func (r *run) original(h *Hit) error {
	chunks, err := r.Store.SourceChunks(r.ctx, h.Row.Src.Num, 0, 1, false)
	if err != nil || len(chunks) == 0 || pipeline.IsInferred(chunks[0].Layout) {
		return err
	}
	h.state(h.Row.Text)
	h.Row = &backend.Hydrated{Chunk: chunks[0], Src: h.Row.Src}
	return nil
}
