package local

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/recent"
	"github.com/contextmem/contextmem/internal/vector"
)

// found is a row that a search found, with its score.
type found struct {
	row   uint32
	score float32
}

// gathered holds buffers that searches reuse.
type gathered struct {
	found, merged []found
	near          []vector.Hit
	words         []lexical.Hit
	sets          [][]uint64
	df            []int

	// Buffers of a survey. All but beside are indexed by row.
	keyword, dense []float32
	at             []int32     // see gathered.places
	beside         []besideRow // rows that may have rows before or after them

	query vector.Query
	parts []*vectorPart
	views []lexical.View
}

// set returns the buffer of the i-th set.
func (g *gathered) set(i int) *[]uint64 {
	for len(g.sets) <= i {
		g.sets = append(g.sets, nil)
	}
	return &g.sets[i]
}

var gatherings = sync.Pool{New: func() any { return new(gathered) }}

// maxGathered is the capacity above which buffers are not reused, so that a rare large search does not keep its memory.
const maxGathered = 1 << 14

func (g *gathered) release() {
	clear(g.parts)
	clear(g.views)
	g.query, g.parts, g.views = vector.Query{}, g.parts[:0], g.views[:0]
	words := 0
	for _, set := range g.sets {
		words += cap(set)
	}
	if max(cap(g.found), cap(g.merged)) <= maxGathered && cap(g.near) <= maxGathered && cap(g.words) <= maxGathered && max(cap(g.at), cap(g.keyword), cap(g.dense)) <= maxGathered && words <= maxScratchWords {
		gatherings.Put(g)
	}
}

// best returns the best k rows of search as hits. It orders them by score and then by chunk number unless as allows any order.
// search returns the best rows by score and then by row. If chunk numbers do not rise with rows,
// best asks for more than k rows, until it has all rows with the score of the last hit.
// anyOrder tells search that it need not sort the rows.
func (p *partition) best(k int, as backend.Answer, search func(k int, anyOrder bool) ([]found, error)) ([]backend.Hit, error) {
	if k = min(k, p.liveN); k <= 0 {
		return nil, nil
	}
	want, anyOrder := k, as.AnyOrder && (p.rising || k == p.liveN)
	if !p.rising && !anyOrder {
		want = k + 16
	}
	rows, err := search(want, anyOrder)
	for err == nil && !p.rising && !anyOrder && len(rows) == want && rows[k-1].score == rows[want-1].score && want < p.liveN {
		want = min(2*want, p.liveN)
		rows, err = search(want, anyOrder)
	}
	if err != nil {
		return nil, err
	}
	hits := slices.Grow(as.Into[:0], len(rows))
	for _, r := range rows {
		h, err := p.hit(r)
		if err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	if !p.rising && !anyOrder {
		sortHits(hits)
	}
	return hits[:min(k, len(hits))], nil
}

func sortHits(hits []backend.Hit) { slices.SortFunc(hits, compareHits) }

// compareHits orders hits by score, highest first, then by chunk.
func compareHits(a, b backend.Hit) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Chunk, b.Chunk))
}

// parseQuery returns the terms and the operator that a keyword query asks for.
func (x *index) parseQuery(q *backend.KeywordQuery) *lexical.Query {
	if q.Operator == backend.Or && q.Terms != nil {
		out := &lexical.Query{Op: lexical.Or, Terms: make([]lexical.QueryTerm, len(q.Terms))}
		for i, t := range q.Terms {
			out.Terms[i] = lexical.QueryTerm{Term: t.Term, Boost: t.Weight}
		}
		return out
	}
	p := lexical.Parser{FirstPerson: q.Part.Class == backend.Memory}
	switch q.Operator {
	case backend.And:
		return p.Parse(q.Text, lexical.And)
	case backend.Phrase:
		return p.Parse(q.Text, lexical.Phrase)
	}
	return x.parseOr(p, q.Text)
}

// parseOr returns the query for any of the words of a text. It caches queries, because a recall asks
// for the same text several times.
func (x *index) parseOr(p lexical.Parser, text string) *lexical.Query {
	known := &x.parsed
	if p.FirstPerson {
		known = &x.parsedMemory
	}
	if q, ok := recent.Get(known, text); ok {
		return q
	}
	text = strings.Clone(text) // text may be part of a longer string, which the cache must not keep in memory
	q := p.Parse(text, lexical.Or)
	recent.Put(known, text, q)
	return q
}

// SearchKeywords finds the best chunks by BM25; see [backend.Keywords].
func (x *index) SearchKeywords(ctx context.Context, q backend.KeywordQuery) (hits []backend.Hit, err error) {
	parsed := x.parseQuery(&q)
	err = x.read(ctx, q.Part, needOf(q.Filter), func(p *partition) error {
		rows, sc := p.accept(q.Filter)
		defer sc.release()
		g := gatherings.Get().(*gathered)
		defer g.release()
		g.views = p.views(g.views, rows)
		hits, err = p.best(q.K, q.Answer, func(k int, anyOrder bool) ([]found, error) {
			var err error
			if anyOrder {
				g.words, err = lexical.Append(ctx, g.words[:0], parsed, k, g.views)
			} else {
				g.words, err = lexical.Search(ctx, parsed, k, g.views)
			}
			g.found = g.found[:0]
			for _, h := range g.words {
				g.found = append(g.found, found{h.Row, h.Score})
			}
			return g.found, err
		})
		return err
	})
	return hits, err
}

// Terms analyses a text as a query; see [backend.Keywords].
func (x *index) Terms(ctx context.Context, part backend.Partition, text string) (terms []backend.TermInfo, docs int, avgTerms float32, err error) {
	parsed := x.parseOr(lexical.Parser{FirstPerson: part.Class == backend.Memory}, text)
	var count lexical.Counts
	err = x.read(ctx, part, 0, func(p *partition) error { return lexical.Count(parsed, p.views(nil, nil), &count) })
	if err != nil {
		return nil, 0, 0, err
	}
	return termInfos(nil, parsed, &count), count.Docs, average(&count), nil
}

// termInfos appends the statistics of the query's terms. It leaves out stems.
func termInfos(dst []backend.TermInfo, q *lexical.Query, c *lexical.Counts) []backend.TermInfo {
	dst = slices.Grow(dst, len(q.Terms))
	for i, t := range q.Terms {
		if lexical.IsStem(t.Term) {
			continue
		}
		df := 0
		if i < len(c.DF) { // otherwise the partition is unknown
			df = c.DF[i]
		}
		dst = append(dst, backend.TermInfo{Term: t.Term, DF: df, IDF: float32(lexical.IDF(c.Docs, df))})
	}
	return dst
}

// average returns the mean number of terms of a chunk; 0 if there are no chunks.
func average(c *lexical.Counts) float32 {
	if c.Docs == 0 {
		return 0
	}
	return float32(float64(c.TotalLen) / float64(c.Docs))
}
