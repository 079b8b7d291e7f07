package local

import (
	"math"
	"strings"

	"github.com/viterin/vek/vek32"

	"github.com/contextmem/contextmem/internal/lexical"
)

const (
	windowWords = 30 // in a longer text, only words within one window count
	windowStep  = 15 // distance between the starts of windows
	beforeShare = .6 // weight of a word that occurs in the preceding text
	beforeWords = 60 // words at the end of the preceding text that count
	maxTerms    = 32 // maximum words of a question that are compared
)

// Term is a word of a question.
type Term struct {
	Word   string  // as written in the question
	Weight float64 // its rarity, above 0
}

// Scorer compares texts with one question. It is not safe for concurrent use.
type Scorer struct {
	lexicon *Lexicon
	kept    *kept // the lexicon's cache, as of the previous text
	terms   []term
	total   float64
	words   []word    // words of kept that are known so far
	like    []int32   // by word: 0 not compared yet, likeNone, or else 1 + its index in sims
	sims    []float32 // similarities to the terms, len(terms) for each word
	best    []float32
	carried []float32 // contribution of the preceding text
	toks    []lexical.Token
}

// likeNone marks words that are similar to none of the terms.
const likeNone = -1

type term struct {
	stem   string
	weight float64
	vec    []float32
}

// NewScorer returns a scorer for the words of a question. It ignores words whose weight is not above 0, repeated words and words
// beyond the 32nd. Without words (nil), only equal stems match. For many questions a [Lexicon] does the same at less cost.
func NewScorer(words Words, terms []Term) *Scorer { return NewLexicon(words).Scorer(nil, terms) }

// ask prepares s for a question.
func (s *Scorer) ask(l *Lexicon, terms []Term) {
	*s = Scorer{lexicon: l, terms: s.terms[:0], like: s.like[:0], sims: s.sims[:0], best: s.best[:0], carried: s.carried[:0], toks: s.toks[:0]}
	s.use(l.now())
	for _, t := range terms {
		if !(t.Weight > 0) || math.IsInf(t.Weight, 0) || len(s.terms) == maxTerms {
			continue
		}
		x := term{weight: t.Weight}
		x.stem, x.vec = s.kept.term(l.words, strings.ToLower(t.Word))
		if s.has(x.stem) {
			continue
		}
		s.terms = append(s.terms, x)
		s.total += t.Weight
	}
	s.best, s.carried = append(s.best, make([]float32, len(s.terms))...), append(s.carried, make([]float32, len(s.terms))...)
}

// Forget drops the question and the lexicon but keeps the buffers for [Lexicon.Scorer]. s may be nil.
func (s *Scorer) Forget() {
	if s == nil {
		return
	}
	clear(s.terms[:cap(s.terms)])
	clear(s.toks[:cap(s.toks)])
	*s = Scorer{terms: s.terms[:0], like: s.like[:0], sims: s.sims[:0], best: s.best[:0], carried: s.carried[:0], toks: s.toks[:0]}
}

// has reports whether a stem is the stem of a term.
func (s *Scorer) has(stem string) bool {
	for i := range s.terms {
		if s.terms[i].stem == stem {
			return true
		}
	}
	return false
}

// use makes s compare the words of a lexicon's cache, and resets the known similarities.
func (s *Scorer) use(k *kept) {
	s.kept, s.words, s.sims = k, nil, s.sims[:0]
	clear(s.like)
}

// Score returns the share, in [0,1], of the question's weight that text matches. In a text longer than 30 words, the best window
// of 30 words counts. before is the message just before text, or empty. A reply often does not repeat the words that it
// answers, so words of before count with weight .6.
func (s *Scorer) Score(text, before string) float64 {
	if s.total == 0 {
		return 0
	}
	clear(s.carried)
	if before != "" {
		ids := s.read(before)
		for _, id := range ids[max(0, len(ids)-beforeWords):] {
			for i, v := range s.sim(id) {
				s.carried[i] = max(s.carried[i], beforeShare*v)
			}
		}
	}
	ids := s.read(text)
	most := 0.0
	for start := 0; ; start += windowStep {
		copy(s.best, s.carried)
		for _, id := range ids[start:min(start+windowWords, len(ids))] {
			for i, v := range s.sim(id) {
				s.best[i] = max(s.best[i], v)
			}
		}
		sum := 0.0
		for i, v := range s.best {
			sum += s.terms[i].weight * float64(v)
		}
		most = max(most, sum)
		if start+windowWords >= len(ids) {
			return most / s.total
		}
	}
}

// read returns the words of a text.
func (s *Scorer) read(text string) []uint32 {
	for {
		ids, words, ok := s.kept.read(s, text)
		if ok {
			if s.words = words; len(s.like) < len(words) {
				s.like = append(s.like, make([]int32, len(words)-len(s.like))...)
			}
			return ids
		}
		s.use(s.lexicon.after(s.kept))
	}
}

// sim returns the similarities of a read word to the terms, or nil if it is similar to none of them.
func (s *Scorer) sim(id uint32) []float32 {
	n := len(s.terms)
	at := int(s.like[id])
	if at == 0 {
		at = s.compare(id)
		s.like[id] = int32(at)
	}
	if at == likeNone {
		return nil
	}
	return s.sims[(at-1)*n : at*n]
}

// compare compares a word with the terms. It returns 1 + the word's index in sims, or likeNone.
func (s *Scorer) compare(id uint32) int {
	w, from, alike := &s.words[id], len(s.sims), false
	for i := range s.terms {
		t := &s.terms[i]
		v := float32(0)
		if t.stem == w.stem {
			v = 1
		} else if len(w.vec) > 0 && len(w.vec) == len(t.vec) {
			if d := min(vek32.Dot(w.vec, t.vec), 1); d > 0 {
				v = d * d * d
			}
		}
		s.sims = append(s.sims, v)
		alike = alike || v > 0
	}
	if !alike {
		s.sims = s.sims[:from]
		return likeNone
	}
	return len(s.sims) / len(s.terms)
}
