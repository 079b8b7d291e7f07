package lexical

import (
	"math"
	"slices"
)

// fieldGap is the distance in positions between two fields. It keeps phrases from matching across fields.
const fieldGap = 100

// maxTF is the greatest term frequency; higher ones are stored as maxTF.
const maxTF = math.MaxInt32

// Field is one text of a document. Each occurrence of a term in it counts Weight
// times; less than 1 counts as 1.
type Field struct {
	Text   string
	Weight int
}

// Doc is the document of one row.
type Doc struct {
	Fields []Field
}

// TermFreq is a term of a document and its frequency there.
type TermFreq struct {
	Term string
	TF   uint32
}

// docWord is a token of a document that is to be indexed.
type docWord struct {
	term   string      // it may alias the document
	cached *cachedTerm // nil: the term is in no cache
	pos    uint32
}

// uncounted is [Token.Uncounted].
func (w *docWord) uncounted() bool {
	return len(w.term) > 0 && (w.term[0] == stopMark[0] || w.term[0] == stemMark)
}

// analyzed holds the words of a document. The zero value is ready to use.
type analyzed struct {
	words  []docWord
	fields []analyzedField
}

// bytesOfWord estimates the number of bytes of text per word.
const bytesOfWord = 5

type analyzedField struct{ words, weight int }

// read analyzes doc.
func (a *analyzed) read(doc Doc) {
	a.words, a.fields = a.words[:0], a.fields[:0]
	longest, size := "", 0
	for _, f := range doc.Fields {
		size += len(f.Text)
		if len(f.Text) > len(longest) {
			longest = f.Text
		}
	}
	a.words = slices.Grow(a.words, size/bytesOfWord)
	in := StemLanguageOf(longest)
	for _, f := range doc.Fields {
		n := len(a.words)
		if a.words = wordsOf(a.words, f.Text, in); len(a.words) > n {
			a.fields = append(a.fields, analyzedField{len(a.words) - n, max(f.Weight, 1)})
		}
	}
}

// bag turns a document into a weighted bag of term numbers. The zero value is ready to use.
// A bag is not safe for concurrent use.
type bag struct {
	terms  []uint32   // distinct term numbers, ascending
	of     []bagTerm  // in order of their first occurrence
	places []uint32   // term number -> index in of; only valid if of has that term there, so that it need not be cleared
	occs   []bagOccur // in the order of the text
	length uint32     // sum of all term frequencies without those of stop words and stems, at most math.MaxUint32

	positions []uint32
	room      []uint32 // for sorting
}

// bagTerm is a term of a document.
type bagTerm struct {
	term        uint32
	first, last uint32 // indexes in occs
	tf          uint64
	falls       bool // the positions are not ascending
}

// bagOccur is an occurrence of a term. next is the index in occs of the term's next occurrence.
type bagOccur struct{ pos, next uint32 }

// none is the next of a term's last occurrence.
const none = math.MaxUint32

// fill sets b to the bag of a document. number returns the number of the term of a word; it must copy the text
// if it keeps it.
func (b *bag) fill(a *analyzed, number func(w *docWord) uint32) {
	b.terms, b.of, b.occs = b.terms[:0], b.of[:0], b.occs[:0]
	base, length := uint64(0), uint64(0)
	rest := a.words
	for _, f := range a.fields {
		words := rest[:f.words]
		rest = rest[f.words:]
		weight := uint64(f.weight)
		next, counted := base, uint64(0)
		for i := range words {
			w := &words[i]
			if !w.uncounted() {
				counted++
			}
			pos := min(base+uint64(w.pos), math.MaxUint32)
			b.add(number(w), uint32(pos), weight)
			next = max(next, pos+1)
		}
		length = min(length+weight*counted, math.MaxUint32)
		base = next + fieldGap
	}
	b.length = uint32(length)
	b.room = sortTerms(b.terms, b.room, 0)
	clear(a.words) // they keep the text in memory
}

// add adds an occurrence of a term.
func (b *bag) add(term, pos uint32, weight uint64) {
	at := uint32(len(b.occs))
	b.occs = append(b.occs, bagOccur{pos, none})
	if int(term) >= len(b.places) {
		b.places = append(b.places, make([]uint32, int(term)+1-len(b.places))...)
	}
	if place := b.places[term]; int(place) < len(b.of) && b.of[place].term == term {
		t := &b.of[place]
		before := &b.occs[t.last]
		before.next = at
		t.falls = t.falls || pos < before.pos
		t.last = at
		t.tf = min(t.tf+weight, maxTF)
		return
	}
	b.places[term] = uint32(len(b.of))
	b.of = append(b.of, bagTerm{term: term, first: at, last: at, tf: min(weight, maxTF)})
	b.terms = append(b.terms, term)
}

// occurrences returns the frequency of a term of the document and its positions in ascending order. The
// positions are valid until the next call.
func (b *bag) occurrences(term uint32) (tf uint32, positions []uint32) {
	t := &b.of[b.places[term]]
	positions = b.positions[:0]
	for at := t.first; at != none; at = b.occs[at].next {
		positions = append(positions, b.occs[at].pos)
	}
	if t.falls {
		slices.Sort(positions)
	}
	b.positions = positions
	return uint32(t.tf), positions
}
