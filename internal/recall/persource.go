package recall

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// mostOf returns the number of hits in a result that one source of a class may have; 0 means any number.
func (r *run) mostOf(class backend.Class) int {
	if r.PerSource == 0 && class == backend.Memory {
		return 1
	}
	return r.PerSource
}

// limits reports whether mostOf limits the sources of any scope.
func (r *run) limits() bool {
	return slices.ContainsFunc(r.scopes, func(sc scope) bool { return r.mostOf(sc.Part.Class) > 0 })
}

// places returns the number of hits that condense leaves.
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

// spread calls choose with growing numbers until condense leaves enough of the hits, or there are no more.
func (r *run) spread(want int, choose func(want int) ([]*Hit, error)) ([]*Hit, error) {
	for n := want; ; n = min(n*moreHits, maxCandidates) {
		hits, err := choose(n)
		if err != nil || len(hits) < n || n >= maxCandidates || !r.limits() || r.places(hits) >= min(want, r.MaxResults) {
			return hits, err
		}
	}
}

// condense drops the hits of a source beyond mostOf. It moves statements inferred from a memory to the Statements of the
// memory's hit. hits must be sorted.
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

// state adds inferred statements, one per line, to h.Statements.
func (h *Hit) state(lines string) {
	for line := range strings.SplitSeq(lines, "\n") {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(h.Statements, line) {
			h.Statements = append(h.Statements, line)
		}
	}
}

// original replaces the row of an inferred statement by the first chunk of its memory, and adds the statement to
// h.Statements.
func (r *run) original(h *Hit) error {
	chunks, err := r.Store.SourceChunks(r.ctx, h.Row.Src.Num, 0, 1, false)
	if err != nil || len(chunks) == 0 || pipeline.IsInferred(chunks[0].Layout) {
		return err
	}
	h.state(h.Row.Text)
	h.Row = &backend.Hydrated{Chunk: chunks[0], Src: h.Row.Src}
	return nil
}
