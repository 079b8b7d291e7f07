package language

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// findAmounts adds quantities and sums of money as mentions and marks their tokens.
func (d *Document) findAmounts() {
	for k := range d.Sentences {
		s := &d.Sentences[k]
		for i := s.Lo; i < s.Hi; i++ {
			if t := &d.Tokens[i]; t.Kind != KindNumber || t.Used {
				continue
			}
			i = d.amountAt(s, i)
		}
	}
}

// amountAt reads the amount around the number at i and returns its last token.
func (d *Document) amountAt(s *Sentence, i int) int {
	lo, hi := i, i+1
	money := i > s.Lo && d.Tokens[i-1].Kind == KindPunct && d.Tokens[i-1].Sign == '$' && d.Tokens[i].Gap == NoGap
	if money {
		lo--
	}
	if hi < s.Hi && d.Tokens[hi].Kind == KindWord && d.Tokens[hi].Is(Scale) && (d.Tokens[hi].End-d.Tokens[hi].Start > 2 || d.Tokens[hi].Gap == NoGap) {
		hi++
	}
	typ := extract.TypeQuantity
	switch {
	case money:
		typ = extract.TypeMoney
	case hi >= s.Hi || d.Tokens[hi].Used:
		return i
	case d.Tokens[hi].Kind == KindWord && d.Tokens[hi].Is(Currency):
		typ = extract.TypeMoney
		hi++
	case d.Tokens[hi].Kind == KindPunct && (d.Tokens[hi].Sign == '$' || d.Tokens[hi].Sign == '%') && d.Tokens[hi].Gap == NoGap:
		if d.Tokens[hi].Sign == '$' {
			typ = extract.TypeMoney
		}
		hi++
	case d.Tokens[hi].Kind == KindWord && d.Tokens[hi].Is(Unit|TimeUnit) && !d.Tokens[hi].Is(Preposition):
		hi++
	case d.Tokens[hi].Kind == KindPunct && d.Tokens[hi].Sign == '-' && hi+1 < s.Hi && d.Tokens[hi+1].Is(Unit|TimeUnit):
		hi += 2
	default:
		return i
	}
	for j := lo; j < hi; j++ {
		d.Tokens[j].Used = true
	}
	name := d.SpanText(lo, hi)
	key := extract.Key(strings.ReplaceAll(name, "-", " "))
	d.AddMention(extract.Mention{Name: name, Key: key, Type: typ, Start: int(d.Tokens[lo].Start), End: int(d.Tokens[hi-1].End)})
	return hi - 1
}
