package inmem

import (
	"context"
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// BM25 parameters as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
// Package backend prescribes the weight of a title.
const (
	k1          = 1.2
	b           = 0.75
	titleWeight = 3
)

// words holds the documents of a partition by term.
type words struct {
	byTerm map[string]map[*doc]struct{}
	docs   map[*doc]struct{}
	length int // total length of all documents
}

// doc is a weighted bag of terms.
type doc struct {
	row    *row // nil for a session
	terms  map[string]*occurrences
	length int
}

// occurrences counts a term in a document. places holds the field and position of each occurrence.
type occurrences struct {
	tf     int
	places map[place]struct{}
}

type place struct {
	field int64
	pos   int
}

func newWords() *words {
	return &words{byTerm: make(map[string]map[*doc]struct{}), docs: make(map[*doc]struct{})}
}

func (w *words) add(r *row, title string) *doc {
	dc := &doc{row: r, terms: make(map[string]*occurrences)}
	field := int64(0)
	in := lexical.StemLanguageOf(append([]string{title, r.Heading, r.Text}, r.facts.Keywords...)...)
	add := func(text string, weight int) {
		for _, t := range lexical.AnalyzeDocument(nil, text, in) {
			occ := dc.terms[t.Term]
			if occ == nil {
				occ = &occurrences{places: make(map[place]struct{})}
				dc.terms[t.Term] = occ
			}
			occ.tf += weight
			occ.places[place{field, t.Pos}] = struct{}{}
			if !t.Uncounted() {
				dc.length += weight
			}
		}
		field++
	}
	add(title, titleWeight)
	add(r.Heading, 1)
	add(r.Text, 1)
	for _, k := range r.facts.Keywords {
		add(k, 1)
	}
	w.insert(dc)
	return dc
}

func (w *words) insert(dc *doc) {
	for term := range dc.terms {
		if w.byTerm[term] == nil {
			w.byTerm[term] = make(map[*doc]struct{})
		}
		w.byTerm[term][dc] = struct{}{}
	}
	w.docs[dc] = struct{}{}
	w.length += dc.length
}

func (w *words) remove(dc *doc) {
	for term := range dc.terms {
		delete(w.byTerm[term], dc)
		if len(w.byTerm[term]) == 0 {
			delete(w.byTerm, term)
		}
	}
	delete(w.docs, dc)
	w.length -= dc.length
}

func (w *words) idf(term string) float64 {
	df := float64(len(w.byTerm[term]))
	return math.Log(1 + (float64(len(w.docs))-df+0.5)/(df+0.5))
}

func (w *words) average() float64 {
	if len(w.docs) == 0 {
		return 0
	}
	return float64(w.length) / float64(len(w.docs))
}

// score returns the BM25 score without the factor k1+1, which does not change the order.
func (w *words) score(dc *doc, terms []backend.WeightedTerm) float64 {
	norm := k1 * (1 - b + b*float64(dc.length)/max(w.average(), 1))
	sum := 0.0
	for _, t := range terms {
		if occ := dc.terms[t.Term]; occ != nil && t.Weight > 0 {
			tf := float64(occ.tf)
			sum += float64(t.Weight) * w.idf(t.Term) * tf / (tf + norm)
		}
	}
	return sum
}

// keywordQuery is a prepared query.
type keywordQuery struct {
	terms    []backend.WeightedTerm
	required []string
	phrases  [][]lexical.PhraseTerm
}

func parse(q backend.KeywordQuery) keywordQuery {
	if q.Terms != nil && q.Operator == backend.Or {
		return keywordQuery{terms: q.Terms}
	}
	op := map[backend.Operator]lexical.Operator{
		backend.Or: lexical.Or, backend.And: lexical.And, backend.Phrase: lexical.Phrase,
	}[q.Operator]
	parsed := lexical.Parser{FirstPerson: q.Part.Class == backend.Memory}.Parse(q.Text, op)
	var out keywordQuery
	for _, t := range parsed.Terms {
		out.terms = append(out.terms, backend.WeightedTerm{Term: t.Term, Weight: t.Boost})
		if op != lexical.Or && !t.Optional {
			out.required = append(out.required, t.Term)
		}
	}
	if op != lexical.Or {
		out.phrases = parsed.Phrases
	}
	return out
}

// holds reports whether a document contains a scoring term of the query.
func (dc *doc) holds(t backend.WeightedTerm) bool { return t.Weight > 0 && dc.terms[t.Term] != nil }

// candidates returns the documents that contain at least one of the terms.
func (w *words) candidates(q keywordQuery) map[*doc]struct{} {
	if len(q.required) > 0 {
		return w.byTerm[q.required[0]]
	}
	out := make(map[*doc]struct{})
	for _, t := range q.terms {
		for dc := range w.byTerm[t.Term] {
			if dc.holds(t) {
				out[dc] = struct{}{}
			}
		}
	}
	return out
}

func (q *keywordQuery) match(dc *doc) bool {
	for _, term := range q.required {
		if dc.terms[term] == nil {
			return false
		}
	}
	for _, phrase := range q.phrases {
		if !dc.has(phrase) {
			return false
		}
	}
	return true
}

// has reports whether the terms are adjacent in one field.
func (dc *doc) has(phrase []lexical.PhraseTerm) bool {
	first := dc.terms[phrase[0].Term]
	if first == nil {
		return false
	}
next:
	for at := range first.places {
		for _, t := range phrase[1:] {
			occ := dc.terms[t.Term]
			if occ == nil {
				return false
			}
			if _, ok := occ.places[place{at.field, at.pos + t.Offset - phrase[0].Offset}]; !ok {
				continue next
			}
		}
		return true
	}
	return false
}

func (x *index) SearchKeywords(ctx context.Context, q backend.KeywordQuery) (hits []backend.Hit, err error) {
	parsed := parse(q)
	err = x.read(ctx, q.Part, func(p *indexPart) error {
		steps := 0
		for dc := range p.words.candidates(parsed) {
			if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if q.Filter.Matches(dc.row.of.tags) && parsed.match(dc) {
				hits = append(hits, backend.Hit{
					Chunk: dc.row.Chunk, Source: dc.row.of.num, Score: float32(p.words.score(dc, parsed.terms)),
				})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return bestHits(hits, q.K), nil
}

func (x *index) SearchSessions(ctx context.Context, q backend.KeywordQuery) (hits []backend.Hit, err error) {
	parsed := parse(q)
	err = x.read(ctx, q.Part, func(p *indexPart) error {
		sessions := p.sessionMap(q.Part.Class)
		w := sessions.words()
		candidates := w.candidates(parsed)
		for num, s := range sessions.byNum {
			if _, ok := candidates[s.doc]; !ok || !parsed.match(s.doc) {
				continue
			}
			// A session passes the filter if any of its chunks passes.
			i := slices.IndexFunc(s.rows, func(r *row) bool { return q.Filter.Matches(r.of.tags) })
			if i < 0 {
				continue
			}
			hits = append(hits, backend.Hit{Chunk: s.rows[i].Chunk, Source: num, Score: float32(w.score(s.doc, parsed.terms))})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return bestHits(hits, q.K), nil
}

func (x *index) Terms(ctx context.Context, part backend.Partition, text string) (terms []backend.TermInfo, docs int, avgTerms float32, err error) {
	parsed := parse(backend.KeywordQuery{Part: part, Text: text})
	describe := func(w *words) {
		for _, t := range parsed.terms {
			if lexical.IsStem(t.Term) {
				continue
			}
			terms = append(terms, backend.TermInfo{Term: t.Term, DF: len(w.byTerm[t.Term]), IDF: float32(w.idf(t.Term))})
		}
		docs, avgTerms = len(w.docs), float32(w.average())
	}
	known := false
	err = x.read(ctx, part, func(p *indexPart) error {
		known = true
		describe(p.words)
		return nil
	})
	if err == nil && !known {
		describe(newWords())
	}
	return terms, docs, avgTerms, err
}
