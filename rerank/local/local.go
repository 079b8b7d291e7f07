// Package local reranks without a network or a model runtime: late interaction over
// the vectors of single words. For every content word of the question the most
// similar word of a text counts, 1 for the same stem, else the cube of the cosine,
// weighed by the word's rarity.
//
// Thinking mode uses it on memories by itself, with the rarities of the whole
// partition; [Reranker] is the same for any list of texts, and implements
// contextmem.Reranker.
package local

import (
	"context"
	"math"
	"strings"

	"github.com/viterin/vek/vek32"

	"github.com/contextmem/contextmem/internal/lexical"
)

// Words gives vectors of single words, as contextmem.WordEmbedder does.
type Words interface {
	// AppendWord appends the L2-normalised vector of a lower-case word to dst; false
	// when there is none.
	AppendWord(dst []float32, word string) ([]float32, bool)
}

const (
	windowWords = 30 // in a longer text a question's words count only where they stand together
	windowStep  = 15 // between the starts of windows
	beforeShare = .6 // of a word that stands in the text before
	beforeWords = 60 // of the text before, its end
	maxTerms    = 32 // words of a question that are compared
	maxCached   = 1 << 15
)

// Term is a word of a question.
type Term struct {
	Word   string  // as it stands in the question
	Weight float64 // its rarity, above 0
}

// Scorer compares texts with one question. It is not safe for concurrent use.
type Scorer struct {
	words   Words
	terms   []term
	total   float64
	cache   map[string][]float32
	toks    []lexical.Token
	sims    [][]float32 // of the words of the text at hand
	best    []float32
	carried []float32 // what the text before brings
	vec     []float32 // of the word at hand
}

type term struct {
	stem   string
	weight float64
	vec    []float32
}

// NewScorer returns a scorer for the words of a question. Words with a weight that is not
// above 0, repeated ones and those beyond the 32nd are left out. Without words (nil)
// equal stems alone count.
func NewScorer(words Words, terms []Term) *Scorer {
	s := &Scorer{words: words, cache: map[string][]float32{}}
	seen := map[string]bool{}
	for _, t := range terms {
		w := strings.ToLower(t.Word)
		x := term{stem: lexical.Stem(w), weight: t.Weight}
		if !(t.Weight > 0) || math.IsInf(t.Weight, 0) || seen[x.stem] || len(s.terms) == maxTerms {
			continue
		}
		seen[x.stem] = true
		if words != nil {
			x.vec, _ = words.AppendWord(nil, w)
		}
		s.terms = append(s.terms, x)
		s.total += t.Weight
	}
	s.best, s.carried = make([]float32, len(s.terms)), make([]float32, len(s.terms))
	return s
}

// Score is the share, in [0,1], of the question's weight that text holds. Of a text
// longer than 30 words the best window of 30 counts. Before, when not empty, is what
// was said just before text: a reply takes up the words of what it answers without
// repeating them, so they count .6 here.
func (s *Scorer) Score(text, before string) float64 {
	if s.total == 0 {
		return 0
	}
	clear(s.carried)
	if before != "" {
		s.read(before)
		for _, sim := range s.sims[max(0, len(s.sims)-beforeWords):] {
			for i, v := range sim {
				s.carried[i] = max(s.carried[i], beforeShare*v)
			}
		}
	}
	s.read(text)
	most := 0.0
	for start := 0; ; start += windowStep {
		copy(s.best, s.carried)
		for _, sim := range s.sims[start:min(start+windowWords, len(s.sims))] {
			for i, v := range sim {
				s.best[i] = max(s.best[i], v)
			}
		}
		sum := 0.0
		for i, v := range s.best {
			sum += s.terms[i].weight * float64(v)
		}
		most = max(most, sum)
		if start+windowWords >= len(s.sims) {
			return most / s.total
		}
	}
}

// read fills sims with the similarities of the words of text to the terms; a word like
// none of them has a nil entry.
func (s *Scorer) read(text string) {
	s.toks = lexical.Analyze(s.toks[:0], text)
	s.sims = s.sims[:0]
	for _, t := range s.toks {
		surface := text[t.Start:t.End]
		sim, ok := s.cache[surface]
		if !ok {
			sim = s.word(surface, t.Term)
			if len(s.cache) < maxCached {
				s.cache[strings.Clone(surface)] = sim
			}
		}
		s.sims = append(s.sims, sim)
	}
}

func (s *Scorer) word(surface, stem string) []float32 {
	var vec []float32
	if s.words != nil {
		s.vec, _ = s.words.AppendWord(s.vec[:0], strings.ToLower(surface))
		vec = s.vec
	}
	var sim []float32
	for i, t := range s.terms {
		v := float32(0)
		if t.stem == stem {
			v = 1
		} else if len(vec) > 0 && len(vec) == len(t.vec) {
			if d := min(vek32.Dot(vec, t.vec), 1); d > 0 {
				v = d * d * d
			}
		}
		if v > 0 {
			if sim == nil {
				sim = make([]float32, len(s.terms))
			}
			sim[i] = v
		}
	}
	return sim
}

// Reranker scores texts against a question; it implements contextmem.Reranker. It is
// safe for concurrent use.
type Reranker struct{ words Words }

// New returns a reranker over words, such as embed/static; nil: equal stems alone count.
func New(words Words) *Reranker { return &Reranker{words} }

// Rerank returns the [Scorer.Score] of each text, in [0,1]; the rarity of a word is its
// inverse document frequency among texts. The only error is that of ctx.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	df := map[string]int{}
	var toks []lexical.Token
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		toks = lexical.Analyze(toks[:0], text)
		for _, t := range toks {
			if !seen[t.Term] {
				seen[t.Term] = true
				df[t.Term]++
			}
		}
	}
	s := NewScorer(r.words, Content(query, func(stem string) float64 { return lexical.IDF(len(texts), df[stem]) }))
	scores := make([]float64, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		scores[i] = s.Score(text, "")
	}
	return scores, nil
}

// Content returns the words of a question that name its subject, each with its weight:
// question words such as "what" and "did" are left out.
func Content(query string, weight func(stem string) float64) []Term {
	var out []Term
	for _, t := range lexical.Analyze(nil, query) {
		surface := query[t.Start:t.End]
		if !lexical.IsQuestionWord(strings.ToLower(surface)) {
			out = append(out, Term{surface, weight(t.Term)})
		}
	}
	return out
}
