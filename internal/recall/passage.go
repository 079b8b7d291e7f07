package recall

import (
	"math"
	"math/bits"
	"strings"

	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/lexical"
)

const (
	passageTerms     = 64       // words of a question that count
	passageSentences = 3        // of a passage at most
	passageBytes     = 16 << 10 // of a chunk that are looked at
	// passageCost is what a further sentence has to add, in weights of a term that every hit holds.
	passageCost = 0.5
)

// Passage is the stretch of a chunk whose sentences match a question best: byte offsets into the chunk's text. End is
// 0 where none matches. A chunk that is one sentence is its own passage.
type Passage struct{ Start, End int }

// match is a term of the question in a text.
type match struct{ term, at int }

// sentence is a stretch of a text with the terms of the question that it holds, as bits.
type sentence struct {
	start, end int
	terms      uint64
}

// passageRoom is the memory of passages.
type passageRoom struct {
	tokens    []lexical.Token
	matches   []match
	ends      []int // in matches, by hit
	sentences []sentence
}

// terms returns the words of the question by which passages are found: those that only carry the form of a question
// count where it has no others.
func (r *run) terms() map[string]int {
	terms := map[string]int{}
	for _, form := range [...]bool{false, true} {
		r.passage.tokens = lexical.Analyze(r.passage.tokens[:0], r.Query)
		for _, t := range r.passage.tokens {
			word := strings.ToLower(r.Query[t.Start:t.End])
			if _, ok := terms[t.Term]; !ok && len(terms) < passageTerms && (form || !lexical.IsQuestionWord(word)) {
				terms[t.Term] = len(terms)
			}
		}
		if len(terms) > 0 {
			break
		}
	}
	return terms
}

// whole returns the only sentence of a text; false when it has several, or none.
func whole(text string) (Passage, bool) {
	if text = looked(text); chunk.Unbroken(text) {
		return Passage{0, len(text)}, true
	}
	n := 0
	var only Passage
	for start, end := range chunk.Sentences(text) {
		if n++; n == 2 {
			return Passage{}, false
		}
		only = Passage{start, end}
	}
	return only, n == 1
}

// passages finds the passage of each hit. A term weighs the more the fewer hits hold it.
func (r *run) passages() {
	choice := false // a chunk has several sentences
	for _, h := range r.res.Hits {
		var one bool
		if h.Passage, one = whole(h.Row.Text); !one {
			choice = true
		}
	}
	if !choice {
		return
	}
	p := &r.passage
	terms := r.terms()
	if len(terms) == 0 {
		return
	}
	p.matches, p.ends = p.matches[:0], p.ends[:0]
	var held [passageTerms]int
	for _, h := range r.res.Hits {
		var has uint64
		p.tokens = lexical.Analyze(p.tokens[:0], looked(h.Row.Text))
		for i := range p.tokens {
			if term, ok := terms[p.tokens[i].Term]; ok {
				p.matches = append(p.matches, match{term, p.tokens[i].Start})
				has |= 1 << term
			}
		}
		for ; has != 0; has &= has - 1 {
			held[bits.TrailingZeros64(has)]++
		}
		p.ends = append(p.ends, len(p.matches))
	}
	var weight [passageTerms]float64
	all := float64(len(r.res.Hits))
	for i := range weight {
		weight[i] = math.Log1p(all / float64(max(held[i], 1)))
	}
	from := 0
	for i, h := range r.res.Hits {
		if found := p.matches[from:p.ends[i]]; len(found) > 0 {
			if p.read(looked(h.Row.Text), found); len(p.sentences) > 1 {
				h.Passage = p.best(&weight)
			}
		}
		from = p.ends[i]
	}
	clear(p.tokens[:cap(p.tokens)]) // they refer to texts
}

// looked is the part of a text that passages are looked for in.
func looked(text string) string { return text[:min(len(text), passageBytes)] }

// read splits a text into sentences and gives each its terms.
func (p *passageRoom) read(text string, found []match) {
	p.sentences = p.sentences[:0]
	next := 0
	for start, end := range chunk.Sentences(text) {
		s := sentence{start: start, end: end}
		for ; next < len(found) && found[next].at < end; next++ {
			s.terms |= 1 << found[next].term
		}
		p.sentences = append(p.sentences, s)
	}
}

// best is the run of sentences that says most of what is asked in the least room.
func (p *passageRoom) best(weight *[passageTerms]float64) (best Passage) {
	most := 0.0
	for i := range p.sentences {
		if p.sentences[i].terms == 0 {
			continue
		}
		var terms uint64
		for j := i; j < min(i+passageSentences, len(p.sentences)); j++ {
			terms |= p.sentences[j].terms
			score := -passageCost * math.Ln2 * float64(j-i)
			for t := terms; t != 0; t &= t - 1 {
				score += weight[bits.TrailingZeros64(t)]
			}
			if score > most+1e-9 {
				most, best = score, Passage{p.sentences[i].start, p.sentences[j].end}
			}
		}
	}
	return best
}
