package language

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// TypeOf guesses the type of the name in tokens [lo, hi) from its words and the word before it.
func (d *Document) TypeOf(lo, hi int) string {
	first, last := &d.Tokens[lo], &d.Tokens[hi-1]
	if hi-lo == 1 {
		return d.typeOfWord(lo)
	}
	if last.Kind == KindPunct && hi-lo > 1 {
		last = &d.Tokens[hi-2]
	}
	switch {
	case last.Is(OrgWord) && !first.Is(PersonTitle), first.Is(OrgWord) && d.Tokens[lo+1].Is(NameConnector):
		return extract.TypeOrganization
	case first.Is(ProjectWord):
		return extract.TypeProject
	case last.Is(EventWord), first.Is(EventWord) && d.Tokens[lo+1].Is(NameConnector):
		return extract.TypeEvent
	case first.Is(PersonTitle) && d.Tokens[lo+1].Kind != KindNumber && !d.Tokens[lo+1].Is(NameConnector):
		return extract.TypePerson
	case hi-lo <= 3 && placePhrases[extract.Key(d.SpanText(lo, hi))]:
		return extract.TypeLocation
	case last.Is(ProjectWord):
		return extract.TypeProject
	case first.Is(GivenName) && hi-lo <= 6 && !last.Is(LocWord) && !d.connected(lo, hi):
		return extract.TypePerson
	case last.Is(LocWord), first.Is(LocWord) && !last.Is(GivenName), last.Is(PlaceName) && first.Is(Adjective):
		return extract.TypeLocation
	case d.initials(lo, hi), d.titleBefore(lo):
		return extract.TypePerson
	case first.Is(ProductWord), last.Is(ProductWord):
		return extract.TypeProduct
	case first.Is(PlaceName) && last.Is(PlaceName):
		return extract.TypeLocation
	}
	return d.cuedByOrg(lo, hi)
}

func (d *Document) typeOfWord(i int) string {
	t := &d.Tokens[i]
	switch {
	case t.Kind == KindIdentifier:
		return extract.TypeIdentifier
	case t.Is(GivenName) && t.Is(PlaceName):
		if i > 0 && d.Tokens[i-1].Is(Preposition) && !d.Tokens[i-1].Is(Conjunction) && (d.TokenText(i-1) == "in" || d.TokenText(i-1) == "at" || d.TokenText(i-1) == "near") {
			return extract.TypeLocation
		}
		return extract.TypePerson
	case t.Is(PlaceName):
		return extract.TypeLocation
	case t.Is(GivenName), d.titleBefore(i):
		return extract.TypePerson
	case t.Is(ProductWord):
		return extract.TypeProduct
	case t.Is(Demonym):
		return extract.TypeConcept
	case t.Is(EventWord) && t.Shape == Capitalized:
		return extract.TypeEvent
	case t.Shape == MixedCase && t.Kind == KindWord && !strings.Contains(d.TokenText(i), "'"):
		return extract.TypeProduct
	}
	return extract.TypeConcept
}

// connected reports whether the span contains a lower-case connector.
func (d *Document) connected(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if t := &d.Tokens[i]; t.Kind == KindWord && t.Shape == LowerCase && t.Is(Preposition|Conjunction) {
			return true
		}
	}
	return false
}

// initials reports whether the span begins with single capitals, as in names of authors.
func (d *Document) initials(lo, hi int) bool {
	t := &d.Tokens[lo]
	if t.End-t.Start > 2 && !isDotted(d.TokenText(lo)) {
		if hi-lo == 4 && d.Tokens[lo+2].Sign == '.' && d.Tokens[lo+1].End-d.Tokens[lo+1].Start == 1 {
			return true // "George T. Solomon"
		}
		return false
	}
	return t.End-t.Start == 1 && d.Tokens[lo+1].Sign == '.' || isDotted(d.TokenText(lo)) && t.End-t.Start > 2 && d.Tokens[hi-1].Shape == Capitalized
}

func (d *Document) titleBefore(lo int) bool {
	i := lo - 1
	if i >= 0 && d.Tokens[i].Sign == '.' && d.Tokens[i].Kind == KindPunct {
		i--
	}
	return i >= 0 && d.Tokens[i].Is(PersonTitle) && (d.Tokens[i].Shape == Capitalized || d.Tokens[i].Is(Occupation))
}

// cuedByOrg looks for an organisation word inside a longer name ("Bank of England" is handled before).
func (d *Document) cuedByOrg(lo, hi int) string {
	for i := lo; i < hi; i++ {
		if d.Tokens[i].Is(OrgWord) {
			return extract.TypeOrganization
		}
	}
	for i := lo; i < hi; i++ {
		switch {
		case d.Tokens[i].Is(EventWord):
			return extract.TypeEvent
		case d.Tokens[i].Is(LocWord):
			return extract.TypeLocation
		}
	}
	return extract.TypeConcept
}
