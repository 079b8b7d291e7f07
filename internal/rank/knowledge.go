package rank

import (
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// Weights of entities and the graph in knowledge; docs/recall.md, "Knowledge", has the ablations.
const (
	entityWeight     = 1.0 // weight of the share of the question's entities that a passage mentions
	titleLink        = 1.0 // weight of a mention in the title
	mentionLink      = .7  // weight of a mention in the text
	titleMentionFrom = 2   // a mention of at least this weight is in the title
	fullShare        = .2  // entities count in full if they have at least this share of the question's weight
)

// named is an entity that the question names.
type named struct {
	entity int64
	df     int
	idf    float64
}

// knowledge raises the scores of passages by entities, and in thinking by the graph.
func (q *work) knowledge() error {
	ents, share, err := q.entities()
	if err != nil {
		return err
	}
	info, err := q.Graph.Info(q.ctx, q.req.Part)
	if err != nil {
		return err
	}
	gamma := 0.0
	if len(ents) > 0 && info.Chunks > 0 {
		gamma = math.Min(1, share/fullShare) * math.Min(1, float64(info.Shared)/float64(info.Chunks)) * (1 - q.lookup)
	}
	for _, e := range ents {
		q.out.Entities = append(q.out.Entities, e.entity)
	}
	if gamma > 0 {
		if err := q.entityLift(ents, gamma); err != nil {
			return err
		}
	}
	q.lap("entities")
	if !q.out.Thinking {
		return nil
	}
	return q.think(ents, gamma, info)
}

// entities returns the known entities that the question names, and the share of the
// question's weight that their terms have. It prefers the longest name at each word.
func (q *work) entities() ([]named, float64, error) {
	for g := range q.cues.EachGram {
		q.grams, q.keys = append(q.grams, g), append(q.keys, g.Key)
	}
	if len(q.keys) == 0 {
		return nil, 0, nil
	}
	found, err := q.Graph.MatchEntities(q.ctx, q.req.Part, q.keys)
	if err != nil {
		return nil, 0, err
	}
	if len(found) == 0 {
		return nil, 0, nil
	}
	known := matchesOf(found)
	term := termsOf(q.terms)
	total, in := 0.0, 0.0
	for i := range q.terms {
		total += float64(q.terms[i].IDF)
	}
	var out []named
	var covered [][2]int
	// Grams are sorted by start and then by length, longest first. Take the longest known one at each start.
	for i := range q.grams {
		g := &q.grams[i]
		m := known(g.Key)
		if m == nil || overlaps(covered, g.Start, g.End) {
			continue
		}
		if g.Words == 1 && (lexical.IsStopWord(g.Key) || lexical.IsQuestionWord(g.Key)) {
			continue
		}
		// A single word that is mostly written in lower case is no name.
		if g.Common {
			if t := term(lexical.Stem(g.Key)); t != nil && t.DF > 2+2*m.DF {
				continue
			}
		}
		covered = append(covered, [2]int{g.Start, g.End})
		if !slices.ContainsFunc(out, func(n named) bool { return n.entity == m.Entity }) {
			out = append(out, named{m.Entity, m.DF, lexical.IDF(q.docs, m.DF)})
		}
	}
	var tokens []lexical.Token
	var counted []*backend.TermInfo // each term counts only once
	for _, span := range covered {
		tokens = lexical.Analyze(tokens[:0], q.asked.text[span[0]:span[1]])
		for i := range tokens {
			if t := term(tokens[i].Term); t != nil && !slices.Contains(counted, t) {
				in += float64(t.IDF)
				counted = append(counted, t)
			}
		}
	}
	if total == 0 {
		return out, 0, nil
	}
	return out, in / total, nil
}

// termsOf returns a function that finds a term, nil where there is none. It is a linear search where a question has few.
func termsOf(terms []backend.TermInfo) func(term string) *backend.TermInfo {
	const few = 16
	if len(terms) <= few {
		return func(term string) *backend.TermInfo {
			for i := range terms {
				if terms[i].Term == term {
					return &terms[i]
				}
			}
			return nil
		}
	}
	by := make(map[string]*backend.TermInfo, len(terms))
	for i := range terms {
		by[terms[i].Term] = &terms[i]
	}
	return func(term string) *backend.TermInfo { return by[term] }
}

// matchesOf returns a function that finds the last match of a key. It is a linear search, since questions name few entities.
func matchesOf(found []backend.EntityMatch) func(key string) *backend.EntityMatch {
	const few = 8
	if len(found) <= few {
		return func(key string) *backend.EntityMatch {
			for i := len(found) - 1; i >= 0; i-- {
				if found[i].Key == key {
					return &found[i]
				}
			}
			return nil
		}
	}
	by := make(map[string]*backend.EntityMatch, len(found))
	for i := range found {
		by[found[i].Key] = &found[i]
	}
	return func(key string) *backend.EntityMatch { return by[key] }
}

func overlaps(spans [][2]int, start, end int) bool {
	for _, s := range spans {
		if start < s[1] && s[0] < end {
			return true
		}
	}
	return false
}

// entityLift raises the score of a passage by the share of the question's entities that it mentions.
func (q *work) entityLift(ents []named, gamma float64) error {
	nums, total := make([]int64, len(ents)), 0.0
	for i, e := range ents {
		nums[i] = e.entity
		total += e.idf
	}
	if total == 0 {
		return nil
	}
	refs, err := q.Graph.MentionedIn(q.ctx, q.req.Part, nums, 500)
	if err != nil {
		return err
	}
	e := &ents[0]
	for _, r := range refs {
		if e.entity != r.Entity { // mentions mostly come grouped by entity
			e = &ents[slices.IndexFunc(ents, func(e named) bool { return e.entity == r.Entity })]
		}
		i := q.admit(r.Chunk)
		if i < 0 {
			continue
		}
		link := mentionLink
		if r.Weight >= titleMentionFrom {
			link = titleLink
		}
		q.cand[i].Entity += entityWeight * gamma * e.idf * link / total
	}
	for i := range q.cand {
		q.cand[i].Score = q.cand[i].s0 + q.cand[i].Entity
	}
	return q.describe()
}
