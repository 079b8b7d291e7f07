package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// findAmounts adds quantities and sums of money as mentions and marks their tokens.
func (d *doc) findAmounts() {
	for k := range d.sents {
		s := &d.sents[k]
		for i := s.lo; i < s.hi; i++ {
			if t := &d.toks[i]; t.kind != kNumber || t.used {
				continue
			}
			i = d.amountAt(s, i)
		}
	}
}

// amountAt reads the amount around the number at i and returns its last token.
func (d *doc) amountAt(s *sentence, i int) int {
	lo, hi := i, i+1
	money := i > s.lo && d.toks[i-1].kind == kPunct && d.toks[i-1].ch == '$' && d.toks[i].gap == gapNone
	if money {
		lo--
	}
	if hi < s.hi && d.toks[hi].kind == kWord && d.toks[hi].is(fScale) && (d.toks[hi].end-d.toks[hi].start > 2 || d.toks[hi].gap == gapNone) {
		hi++
	}
	typ := extract.TypeQuantity
	switch {
	case money:
		typ = extract.TypeMoney
	case hi >= s.hi || d.toks[hi].used:
		return i
	case d.toks[hi].kind == kWord && d.toks[hi].is(fCurrency):
		typ = extract.TypeMoney
		hi++
	case d.toks[hi].kind == kPunct && (d.toks[hi].ch == '$' || d.toks[hi].ch == '%') && d.toks[hi].gap == gapNone:
		if d.toks[hi].ch == '$' {
			typ = extract.TypeMoney
		}
		hi++
	case d.toks[hi].kind == kWord && d.toks[hi].is(fUnit|fTimeUnit) && !d.toks[hi].is(fPrep):
		hi++
	case d.toks[hi].kind == kPunct && d.toks[hi].ch == '-' && hi+1 < s.hi && d.toks[hi+1].is(fUnit|fTimeUnit):
		hi += 2
	default:
		return i
	}
	for j := lo; j < hi; j++ {
		d.toks[j].used = true
	}
	name := d.surface(lo, hi)
	key := extract.Key(strings.ReplaceAll(name, "-", " "))
	d.addMention(extract.Mention{Name: name, Key: key, Type: typ, Start: int(d.toks[lo].start), End: int(d.toks[hi-1].end)})
	return hi - 1
}
