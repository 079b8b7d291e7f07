package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// keySet reads names separated by "|" into a set.
func keySet(list string) map[string]bool {
	m := make(map[string]bool)
	for name := range strings.SplitSeq(list, "|") {
		m[extract.Key(name)] = true
	}
	return m
}

// typeOf guesses the type of the name in tokens [lo, hi) from its words and the word before it.
func (d *doc) typeOf(lo, hi int) string {
	first, last := &d.toks[lo], &d.toks[hi-1]
	if hi-lo == 1 {
		return d.typeOfWord(lo)
	}
	if last.kind == kPunct && hi-lo > 1 {
		last = &d.toks[hi-2]
	}
	switch {
	case last.is(fOrg) && !first.is(fTitle), first.is(fOrg) && d.toks[lo+1].is(fConn):
		return extract.TypeOrganization
	case first.is(fProject):
		return extract.TypeProject
	case last.is(fEvent), first.is(fEvent) && d.toks[lo+1].is(fConn):
		return extract.TypeEvent
	case first.is(fTitle) && d.toks[lo+1].kind != kNumber && !d.toks[lo+1].is(fConn):
		return extract.TypePerson
	case hi-lo <= 3 && placePhrases[extract.Key(d.surface(lo, hi))]:
		return extract.TypeLocation
	case last.is(fProject):
		return extract.TypeProject
	case first.is(fGiven) && hi-lo <= 6 && !last.is(fLoc) && !d.connected(lo, hi):
		return extract.TypePerson
	case last.is(fLoc), first.is(fLoc) && !last.is(fGiven), last.is(fPlace) && first.is(fAdj):
		return extract.TypeLocation
	case d.initials(lo, hi), d.titleBefore(lo):
		return extract.TypePerson
	case first.is(fProduct), last.is(fProduct):
		return extract.TypeProduct
	case first.is(fPlace) && last.is(fPlace):
		return extract.TypeLocation
	}
	return d.cuedByOrg(lo, hi)
}

func (d *doc) typeOfWord(i int) string {
	t := &d.toks[i]
	switch {
	case t.kind == kIdent:
		return extract.TypeIdentifier
	case t.is(fGiven) && t.is(fPlace):
		if i > 0 && d.toks[i-1].is(fPrep) && !d.toks[i-1].is(fConj) && (d.str(i-1) == "in" || d.str(i-1) == "at" || d.str(i-1) == "near") {
			return extract.TypeLocation
		}
		return extract.TypePerson
	case t.is(fPlace):
		return extract.TypeLocation
	case t.is(fGiven), d.titleBefore(i):
		return extract.TypePerson
	case t.is(fProduct):
		return extract.TypeProduct
	case t.is(fDemonym):
		return extract.TypeConcept
	case t.is(fEvent) && t.shape == sCap:
		return extract.TypeEvent
	case t.shape == sMixed && t.kind == kWord && !strings.Contains(d.str(i), "'"):
		return extract.TypeProduct
	}
	return extract.TypeConcept
}

// connected reports whether the span has a lower-case connector in it.
func (d *doc) connected(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if t := &d.toks[i]; t.kind == kWord && t.shape == sLower && t.is(fPrep|fConj) {
			return true
		}
	}
	return false
}

// initials reports whether the span begins with single capitals, as names of authors do.
func (d *doc) initials(lo, hi int) bool {
	t := &d.toks[lo]
	if t.end-t.start > 2 && !isDotted(d.str(lo)) {
		if hi-lo == 4 && d.toks[lo+2].ch == '.' && d.toks[lo+1].end-d.toks[lo+1].start == 1 {
			return true // "George T. Solomon"
		}
		return false
	}
	return t.end-t.start == 1 && d.toks[lo+1].ch == '.' || isDotted(d.str(lo)) && t.end-t.start > 2 && d.toks[hi-1].shape == sCap
}

func (d *doc) titleBefore(lo int) bool {
	i := lo - 1
	if i >= 0 && d.toks[i].ch == '.' && d.toks[i].kind == kPunct {
		i--
	}
	return i >= 0 && d.toks[i].is(fTitle) && (d.toks[i].shape == sCap || d.toks[i].is(fRole))
}

// cuedByOrg finds an organisation word inside a longer name ("Bank of England" is caught before).
func (d *doc) cuedByOrg(lo, hi int) string {
	for i := lo; i < hi; i++ {
		if d.toks[i].is(fOrg) {
			return extract.TypeOrganization
		}
	}
	for i := lo; i < hi; i++ {
		switch {
		case d.toks[i].is(fEvent):
			return extract.TypeEvent
		case d.toks[i].is(fLoc):
			return extract.TypeLocation
		}
	}
	return extract.TypeConcept
}
