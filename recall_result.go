package contextmem

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/recall"
)

// finish turns hits into the result.
func (r *recallRun) finish(ctx context.Context, sub Sub) error {
	want := r.q.MaxResults
	if r.q.RecencyBias > 0 || r.q.Apps || r.svc.opts.FeedbackBoosts || r.svc.opts.Reranker != nil {
		want = max(want*overFetch, 50)
	} else {
		want += 2 + want/10 // some may be gone, or belong to a source that floods
	}
	hits, err := r.best(ctx, want)
	if err != nil {
		return err
	}
	mem := r.res.memory
	mem.parts = zeroed(mem.parts, len(hits))
	for i, h := range hits {
		mem.parts[i] = explain(h.answer.Parts(&h.Scored))
		h.parts = &mem.parts[i]
		h.Score *= h.weight
	}
	if hits, err = r.reorder(ctx, hits); err != nil {
		return err
	}
	hits = unflood(hits, r.q.MaxResults)
	hits = hits[:min(len(hits), r.q.MaxResults)]
	// What filled up a short list may score above what stands before it.
	slices.SortStableFunc(hits, func(a, b *scopeHit) int { return cmp.Compare(b.Score, a.Score) })
	mem.chunks = zeroed(mem.chunks, len(hits))
	r.res.Chunks = slices.Clip(mem.chunks)
	for i, h := range hits {
		c := &r.res.Chunks[i]
		if err := r.fillChunk(c, h.row); err != nil {
			return err
		}
		c.Score, c.Explain, c.AlsoFrom = h.Score, h.parts, r.said.also[h.Chunk]
	}
	if err := r.related(ctx, hits); err != nil {
		return err
	}
	if r.res.Mode == ModeThinking && !r.q.SkipRelations {
		if err := r.forceful(ctx, hits); err != nil {
			return err
		}
	}
	if err := r.sources(hits); err != nil {
		return err
	}
	if r.q.GraphContext {
		if err := r.graph(ctx, hits); err != nil {
			return err
		}
	}
	if r.q.Temporal != nil {
		r.temporal(ctx, hits)
	}
	if len(r.res.Chunks) == 0 {
		if err := r.hint(ctx); err != nil {
			return err
		}
	}
	r.svc.requests.add(r.res.RequestID, sub, &r.q, r.scopes, r.res.Sources)
	return nil
}

func explain(p recall.Parts) Explain {
	return Explain{Semantic: p.Semantic, Keyword: p.Keyword, Context: p.Context, Speaker: p.Speaker, Time: p.Time, Entity: p.Entity, Graph: p.Graph,
		Bridge: p.Bridge, Expansion: p.Expansion, Late: p.Late, RawDense: p.RawDense, RawKeyword: p.RawKeyword}
}

// layout is what the layout of a chunk says. Those of a result are often the same.
type layout struct {
	text     string
	inferred bool
}

// of returns what a layout says, and remembers it.
func (l *layout) of(b []byte) *layout {
	if string(b) != l.text {
		l.text, l.inferred = string(b), pipeline.IsInferred(b)
	}
	return l
}

// fillChunk sets a zero chunk to what a row says.
func (r *recallRun) fillChunk(c *Chunk, row *backend.Hydrated) error {
	src, l := row.Src, r.layout.of(row.Layout)
	c.ID, c.SourceID, c.Sub, c.Class, c.Text, c.Title, c.Kind, c.Heading = row.Key, src.ID, src.Part.Sub, Class(src.Part.Class), row.Text, src.Title, src.Kind, row.Heading
	c.CreatedAt, c.UpdatedAt, c.Time, c.Layout, c.Inferred = src.CreatedAt, src.UpdatedAt, src.Time, l.text, l.inferred
	if c.Title == "" { // memories without one: titles are searched, so none is made up when they are stored
		line, cut := titleLine(row.Text)
		if c.Title = line; cut {
			c.Title = r.titles.join(line, cutSign)
		}
	}
	var err error
	if c.Metadata, err = decodeMap(src.Metadata); err != nil {
		return err
	}
	c.Additional, err = decodeMap(src.Additional)
	return err
}

// sources lists the sources of the chunks, best first; the first chunks of the result
// are those of the hits.
func (r *recallRun) sources(hits []*scopeHit) error {
	var seen sourceCount
	mem, n := r.res.memory, 0
	mem.sources = zeroed(mem.sources, len(hits))
	for at, h := range hits {
		if seen.add(h.row.Src.Num) > 1 {
			continue
		}
		doc, err := r.held.docOf(h.row.Src)
		if err != nil {
			return err
		}
		i := &mem.sources[n]
		n++
		if err := i.describe(h.row.Src, doc); err != nil {
			return err
		}
		if i.Title == "" {
			i.Title = r.res.Chunks[at].Title // made of the same text
		}
	}
	r.res.Sources = slices.Clip(mem.sources[:n])
	return nil
}

// related adds neighbours of the hits in their sources.
func (r *recallRun) related(ctx context.Context, hits []*scopeHit) error {
	if r.q.RelatedChunks == 0 {
		return nil
	}
	have := map[string]bool{}
	for _, c := range r.res.Chunks {
		have[c.ID] = true
	}
	for i, h := range hits {
		from := max(0, h.row.Ordinal-r.q.RelatedChunks)
		near, err := r.held.store.SourceChunks(ctx, h.row.Src.Num, from, h.row.Ordinal+r.q.RelatedChunks+1, false)
		if err != nil {
			return err
		}
		for _, n := range near {
			if have[n.Key] || len(r.res.Chunks) >= maxFanOut {
				continue
			}
			have[n.Key] = true
			var c Chunk
			if err := r.fillChunk(&c, &backend.Hydrated{Chunk: n, Src: h.row.Src}); err != nil {
				return err
			}
			c.Related, c.Score = true, hits[i].Score
			r.res.Chunks = append(r.res.Chunks, c)
		}
	}
	return nil
}

// hint says where a search that found nothing might have looked.
func (r *recallRun) hint(ctx context.Context) error {
	if len(r.filter.All) > 0 {
		return nil
	}
	subs, err := r.held.store.Subs(ctx)
	if err != nil {
		return err
	}
	here, elsewhere := false, 0
	for _, x := range subs {
		in := false
		for _, sc := range r.scopes {
			in = in || sc.part.Sub == x.Sub
		}
		if in {
			here = true
		} else {
			elsewhere++
		}
	}
	if !here && elsewhere > 0 {
		r.warn("hint", "collection", "the collection searched holds nothing; %d other collections of this database hold data", elsewhere)
	}
	return nil
}
