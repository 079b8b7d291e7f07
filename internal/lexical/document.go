package lexical

import (
	"math"
	"slices"
)

// fieldGap is the distance in positions between two fields, so that no phrase
// reaches across.
const fieldGap = 100

// maxTF bounds a term frequency; more count as that.
const maxTF = math.MaxInt32

// Field is one text of a document. Each occurrence of a term in it counts Weight
// times; less than 1 counts as 1.
type Field struct {
	Text   string
	Weight int
}

// Doc is what is indexed under one row.
type Doc struct {
	Fields []Field
}

// TermFreq is a term of a document and its frequency there.
type TermFreq struct {
	Term string
	TF   uint32
}

// analyzed is the tokens of a document. The zero value is ready.
type analyzed struct {
	tokens []Token
	fields []analyzedField
}

// bytesOfWord is about how many bytes of a text make a token.
const bytesOfWord = 5

type analyzedField struct{ tokens, weight int }

// read analyzes doc.
func (a *analyzed) read(doc Doc) {
	a.tokens, a.fields = a.tokens[:0], a.fields[:0]
	longest, size := "", 0
	for _, f := range doc.Fields {
		size += len(f.Text)
		if len(f.Text) > len(longest) {
			longest = f.Text
		}
	}
	a.tokens = slices.Grow(a.tokens, size/bytesOfWord)
	in := TongueOf(longest)
	for _, f := range doc.Fields {
		n := len(a.tokens)
		if a.tokens = AnalyzeDocument(a.tokens, f.Text, in); len(a.tokens) > n {
			a.fields = append(a.fields, analyzedField{len(a.tokens) - n, max(f.Weight, 1)})
		}
	}
}

// bag turns documents into weighted bags of term numbers. The zero value is ready;
// it is not safe for concurrent use.
type bag struct {
	occs   []uint64 // term number in the upper half, position in the lower
	ends   []fieldEnd
	length uint32 // sum of all term frequencies without those of stop words and stems, at most math.MaxUint32
}

type fieldEnd struct {
	pos    uint32 // first position behind the field
	weight uint32
}

// fill takes the tokens of a document; number gives the number of a term, which it must copy if it
// keeps it.
func (b *bag) fill(a *analyzed, number func(term string) uint32) {
	b.occs, b.ends = b.occs[:0], b.ends[:0]
	base, length := uint64(0), uint64(0)
	rest := a.tokens
	for _, f := range a.fields {
		tokens := rest[:f.tokens]
		rest = rest[f.tokens:]
		weight := uint64(f.weight)
		next, counted := base, uint64(0)
		for i := range tokens {
			t := &tokens[i]
			if !t.Beside() {
				counted++
			}
			pos := min(base+uint64(t.Pos), math.MaxUint32)
			b.occs = append(b.occs, uint64(number(t.Term))<<32|pos)
			next = max(next, pos+1)
		}
		length = min(length+weight*counted, math.MaxUint32)
		b.ends = append(b.ends, fieldEnd{uint32(min(next, math.MaxUint32)), uint32(min(weight, math.MaxUint32))})
		base = next + fieldGap
	}
	b.length = uint32(length)
	slices.Sort(b.occs)
	clear(a.tokens) // they hold on to the text
}

// each calls f for every distinct term in order of its number, with its frequency
// and its occurrences, of which the lower halves are the rising positions.
func (b *bag) each(f func(term, tf uint32, occs []uint64)) {
	for i := 0; i < len(b.occs); {
		term := uint32(b.occs[i] >> 32)
		j, field, tf := i, 0, uint64(0)
		for ; j < len(b.occs) && uint32(b.occs[j]>>32) == term; j++ {
			for uint32(b.occs[j]) >= b.ends[field].pos && field < len(b.ends)-1 {
				field++
			}
			tf += uint64(b.ends[field].weight)
		}
		f(term, uint32(min(tf, maxTF)), b.occs[i:j])
		i = j
	}
}
