package recall

import (
	"math"
	"math/bits"
	"strings"

	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/lexical"
)

const (
	passageTerms     = 64       // terms of a question that count
	passageSentences = 3        // maximal number of sentences of a passage
	passageBytes     = 16 << 10 // bytes of a chunk that are searched
	// passageCost is the weight that a further sentence must add to a passage. The unit is the weight of a term that every
	// hit contains.
	passageCost = 0.5
)

// Passage is the range of a chunk's text, in bytes, whose sentences match a question best. End is 0 if no sentence
// matches. The passage of a chunk with one sentence is that sentence.
type Passage struct{ Start, End int }

// match is an occurrence of a term of the question in a text.
type match struct{ term, at int }

// sentence is a range of a text, with a bit set of the question's terms that occur in it.
type sentence struct {
	start, end int
	terms      uint64
}

// passageRoom holds buffers for finding passages.
type passageRoom struct {
	tokens    []lexical.Token
	matches   []match
	ends      []int // end of each hit's matches
	sentences []sentence
}

// terms returns the terms of the question, each with its number. It leaves out question words unless there are no others.
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

// whole returns the sentence of a text that has only one, and reports whether it has only one.
func whole(text string) (Passage, bool) {
	if text = searched(text); chunk.Unbroken(text) {
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

// passages finds the passage of each hit. Terms that occur in fewer hits weigh more.
func (r *run) passages() {
	choice := false // whether a chunk has several sentences
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
	var begin lexical.Beginnings
	for term := range terms {
		begin.Add(term)
	}
	p.matches, p.ends = p.matches[:0], p.ends[:0]
	var held [passageTerms]int
	for _, h := range r.res.Hits {
		var has uint64
		p.tokens = lexical.AnalyzeSome(p.tokens[:0], searched(h.Row.Text), &begin)
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
			if p.read(searched(h.Row.Text), found); len(p.sentences) > 1 {
				h.Passage = p.answering(h.Row.Text, p.best(&weight))
			}
		}
		from = p.ends[i]
	}
	clear(p.tokens[:cap(p.tokens)]) // their terms keep texts in memory
}

// searched returns the part of a text that is searched for passages.
func searched(text string) string { return text[:min(len(text), passageBytes)] }

// read splits a text into sentences and sets the terms of each. A row of a table that has a term of its own has those of the header too,
// because it is read with the header. So the row is the passage, not the header.
func (p *passageRoom) read(text string, found []match) {
	p.sentences = p.sentences[:0]
	next, head := 0, -1
	for start, end := range chunk.Sentences(text) {
		s := sentence{start: start, end: end}
		for ; next < len(found) && found[next].at < end; next++ {
			s.terms |= 1 << found[next].term
		}
		n := len(p.sentences)
		switch {
		case text[start] != '|':
			head = -1
		case n > 0 && isRule(text[start:end]):
			head = n - 1
		case head >= 0 && s.terms&^p.sentences[head].terms != 0:
			s.terms |= p.sentences[head].terms
		}
		p.sentences = append(p.sentences, s)
	}
}

// answering returns a passage with the sentence below it if the passage has nothing but headings, which answer nothing.
func (p *passageRoom) answering(text string, best Passage) Passage {
	level := 0 // of the last heading in the passage
	for _, s := range p.sentences {
		h := headingLevel(text[s.start:s.end])
		switch {
		case s.start < best.Start:
		case s.start < best.End && h == 0: // it has more than headings
			return best
		case s.start < best.End:
			level = h
		case level == 0 || h > 0 && h <= level: // the section below the heading is empty
			return best
		case h == 0:
			return Passage{best.Start, s.end}
		}
	}
	return best
}

// headingLevel returns the level of a heading, from 1, or 0 for another line.
func headingLevel(line string) int {
	rest := strings.TrimLeft(line, "#")
	if !strings.HasPrefix(rest, " ") {
		return 0
	}
	return len(line) - len(rest)
}

// isRule reports whether a line is the delimiter row between the header and the rows of a table.
func isRule(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "|-: \t") == ""
}

// best returns the run of sentences with the greatest weight of distinct terms minus passageCost for each sentence.
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
