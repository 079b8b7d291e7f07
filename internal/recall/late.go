package recall

import (
	"math"

	"github.com/viterin/vek/vek32"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// matcher compares the words of a question with those of texts.
type matcher struct {
	w     *work
	query []queryWord
	cache map[string]docWord
}

type queryWord struct {
	term   string
	weight float64 // inverse document frequency
	vec    []float32
}

// docWord is the similarity of a word of a text to each word of the question.
type docWord struct{ sim []float32 }

func newMatcher(q *work) *matcher {
	m := &matcher{w: q, cache: map[string]docWord{}}
	idf := map[string]float64{}
	for _, t := range q.terms {
		idf[t.Term] = float64(t.IDF)
	}
	speakers := map[string]bool{}
	for i := range q.cand {
		if a := q.cand[i].around; a != nil && a.Speaker != "" {
			for _, w := range words(a.Speaker) {
				speakers[w] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, word := range words(q.req.Query) {
		if lexical.IsQuestionWord(word) || lexical.IsStopWord(word) || speakers[word] || seen[word] || len(m.query) == 32 {
			continue
		}
		seen[word] = true
		term := lexical.Stem(word)
		weight, ok := idf[term]
		if !ok {
			weight = math.Log(1 + (float64(q.docs)+.5)/.5)
		}
		qw := queryWord{term: term, weight: weight}
		qw.vec, _ = q.Word(nil, word)
		m.query = append(m.query, qw)
	}
	return m
}

// score is the sum over the question's words of the weight of its best match: 1 for
// the same stem, else the cube of the cosine.
func (m *matcher) score(text string) float64 {
	best := make([]float32, len(m.query))
	for _, w := range words(text) {
		d, ok := m.cache[w]
		if !ok {
			d = m.word(w)
			if len(m.cache) < 1<<15 {
				m.cache[w] = d
			}
		}
		for i, s := range d.sim {
			best[i] = max(best[i], s)
		}
	}
	sum := 0.0
	for i, b := range best {
		sum += m.query[i].weight * float64(b)
	}
	return sum
}

func (m *matcher) word(w string) docWord {
	if lexical.IsStopWord(w) {
		return docWord{}
	}
	sim := make([]float32, len(m.query))
	term := lexical.Stem(w)
	vec, _ := m.w.Word(nil, w)
	for i, q := range m.query {
		if q.term == term {
			sim[i] = 1
			continue
		}
		if len(q.vec) != len(vec) {
			continue
		}
		if len(vec) == 0 {
			continue
		}
		if dot := vek32.Dot(q.vec, vec); dot > 0 {
			sim[i] = dot * dot * dot
		}
	}
	return docWord{sim}
}

// idfOf sums the rarity of terms.
func idfOf(ts []backend.TermInfo) float64 {
	sum := 0.0
	for _, t := range ts {
		sum += float64(t.IDF)
	}
	return sum
}
