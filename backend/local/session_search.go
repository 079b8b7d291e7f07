package local

import (
	"context"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/lexical"
)

// BM25 parameters, equal to those of package lexical (Robertson and Zaragoza,
// "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
const (
	k1 = 1.2
	b  = 0.75
)

// SearchSessions scores sessions as documents; see [backend.Keywords]. A session passes the
// filter if one of its chunks does. Its score counts all its chunks.
func (x *index) SearchSessions(ctx context.Context, q backend.KeywordQuery) (hits []backend.Hit, err error) {
	parsed := x.parseQuery(&q)
	err = x.read(ctx, q.Part, facetSessions|needOf(q.Filter), func(p *partition) error {
		if q.K <= 0 || p.sessions.live == 0 {
			return nil
		}
		ty := tallies.Get().(*tally)
		defer ty.release()
		met, err := p.scoreSessions(ctx, ty, parsed)
		if err != nil {
			return err
		}
		if met, err = p.keepPhrases(ctx, parsed, met); err != nil {
			return err
		}
		rows, sc := p.accept(q.Filter)
		defer sc.release()
		best := bestHits{limit: q.K}
		for _, m := range met {
			if !best.takes(m.score) {
				continue
			}
			h := backend.Hit{Chunk: p.number(m.session), Source: p.number(m.session), Score: m.score}
			if rows != p.live {
				row := p.firstOf(m.session, rows)
				if row == none {
					continue
				}
				h.Chunk = p.chunk[row]
			}
			best.push(h)
		}
		hits = best.hits
		sortHits(hits)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return hits, nil
}

// bestHits collects the first hits in the order of compareHits, at most limit. When full,
// hits is a heap whose root is the last hit in that order.
type bestHits struct {
	hits  []backend.Hit
	limit int
}

// takes reports whether a hit with this score can be among the best.
func (h *bestHits) takes(score float32) bool {
	return len(h.hits) < h.limit || score >= h.hits[0].Score
}

func (h *bestHits) push(hit backend.Hit) {
	if len(h.hits) < h.limit {
		h.hits = append(h.hits, hit)
		if len(h.hits) == h.limit {
			slices.SortFunc(h.hits, func(a, b backend.Hit) int { return compareHits(b, a) }) // a sorted slice is a heap
		}
		return
	}
	s, i := h.hits, 0
	if compareHits(hit, s[0]) >= 0 {
		return
	}
	for {
		c := 2*i + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && compareHits(s[c+1], s[c]) > 0 {
			c++
		}
		if compareHits(s[c], hit) <= 0 {
			break
		}
		s[i] = s[c]
		i = c
	}
	s[i] = hit
}

// firstOf returns the first row of a session that is in a set, or none.
func (p *partition) firstOf(k uint32, rows *bitset.Set) uint32 {
	row := p.sources[p.sessions.all[k].first].first
	for row != none && !rows.Has(row) {
		row = p.after(row)
	}
	return row
}

// scored is a session that matches a query.
type scored struct {
	session uint32
	score   float32
}

// tally is pooled memory of a search over sessions.
type tally struct {
	sessionList
	views  []lexical.View
	at     []uint32 // by session: its index in scores plus 1; all 0 between searches
	scores []sessionScore
}

// sessionScore is the score of a session so far.
type sessionScore struct {
	session  uint32
	required uint32 // terms of the session that each must have
	matches  bool   // one of its terms has a weight
	norm     float64
	score    float64
}

var tallies = sync.Pool{New: func() any { return new(tally) }}

// maxTally is the greatest number of sessions for which a tally goes back to the pool (8 MB of places).
const maxTally = 1 << 20

func (t *tally) release() {
	t.end()
	for _, s := range t.scores {
		t.at[s.session] = 0
	}
	clear(t.views)
	t.views, t.scores = t.views[:0], t.scores[:0]
	if len(t.at) <= maxTally {
		tallies.Put(t)
	}
}

// scoreSessions returns the sessions that match q with their scores, in no particular order.
func (p *partition) scoreSessions(ctx context.Context, ty *tally, q *lexical.Query) ([]scored, error) {
	terms := termsOf(q)
	if n := len(p.sessions.all); len(ty.at) < n {
		ty.at = make([]uint32, n+n/4)
	}
	ty.views = p.views(ty.views, p.live)
	average := max(float64(p.sessions.length)/float64(p.sessions.live), 1)
	required := uint32(0)
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list, err := p.sessionsOf(&ty.sessionList, ty.views, t.text)
		if err != nil {
			return nil, err
		}
		needed := uint32(0)
		if t.required {
			needed = 1
			required++
		}
		weight := t.boost * lexical.IDF(p.sessions.live, len(list))
		for _, s := range list {
			at := ty.at[s.session]
			if at == 0 {
				norm := k1 * (1 - b + b*float64(p.sessions.all[s.session].length)/average)
				ty.scores = append(ty.scores, sessionScore{session: s.session, norm: norm})
				at = uint32(len(ty.scores))
				ty.at[s.session] = at
			}
			c, n := &ty.scores[at-1], float64(s.tf)
			c.score += weight * n / (n + c.norm)
			c.required += needed
			c.matches = c.matches || t.boost > 0
		}
	}
	out := make([]scored, 0, len(ty.scores))
	for _, c := range ty.scores {
		if c.required == required && c.matches {
			out = append(out, scored{c.session, float32(c.score)})
		}
	}
	return out, nil
}

// sessionTerm is a term of a query over sessions.
type sessionTerm struct {
	text     string
	boost    float64
	required bool
}

// termsOf returns the distinct terms of a query. It includes the terms of phrases unless
// the operator is Or.
func termsOf(q *lexical.Query) []sessionTerm {
	var terms []sessionTerm
	place := make(map[string]int, len(q.Terms))
	add := func(text string, boost float64, required bool) {
		i, ok := place[text]
		if !ok {
			i = len(terms)
			place[text] = i
			terms = append(terms, sessionTerm{text: text})
		}
		terms[i].boost += max(boost, 0)
		terms[i].required = terms[i].required || required
	}
	for _, t := range q.Terms {
		add(t.Term, float64(t.Boost), q.Op != lexical.Or && !t.Optional)
	}
	if q.Op != lexical.Or {
		for _, phrase := range q.Phrases {
			for _, t := range phrase {
				add(t.Term, 0, true)
			}
		}
	}
	return terms
}

// keepPhrases removes from met each session that lacks a required phrase. A session has a phrase if one of its rows has it.
func (p *partition) keepPhrases(ctx context.Context, q *lexical.Query, met []scored) ([]scored, error) {
	if q.Op == lexical.Or {
		return met, nil
	}
	for _, phrase := range q.Phrases {
		one := &lexical.Query{Op: lexical.Phrase, Phrases: [][]lexical.PhraseTerm{phrase}}
		for _, t := range phrase {
			one.Terms = append(one.Terms, lexical.QueryTerm{Term: t.Term, Boost: 1})
		}
		rows, err := lexical.Search(ctx, one, p.liveN, p.views(nil, p.live))
		if err != nil {
			return nil, err
		}
		has := make(map[uint32]bool)
		for _, h := range rows {
			has[p.link(p.of[h.Row]).session] = true
		}
		met = slices.DeleteFunc(met, func(m scored) bool { return !has[m.session] })
	}
	return met, nil
}
