package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// foreignStatement adds what a phrase says about a subject. It returns the token after the phrase, 0 if there is no statement.
func (d *doc) foreignStatement(s *language.Sentence, l *phrases, p *phrase, at language.Span, end, word int, subject string, subjectName *language.Name) int {
	f := p.form
	lo, last := at.Hi, 0
	for {
		hi := end
		switch {
		case f.predicate == "kin":
			hi = d.capitals(s, lo, 3)
		case hi == 0:
			hi = d.foreignObject(s, l, f, lo)
		}
		for lo < hi && d.checked() && d.IsPunct(s, lo, '"') {
			lo++
		}
		for lo < hi-1 && l.articles[d.WordKey(lo)] {
			lo++
		}
		if lo >= hi || l.articles[d.WordKey(lo)] {
			return last
		}
		object := language.Span{Lo: lo, Hi: hi}
		if d.checked() {
			if object = d.phrasePart(s, f, object); object.Lo >= object.Hi || !d.phraseSayable(s, l, f, at, object, subjectName == nil) {
				return last
			}
		}
		d.foreignFact(s, l, f, object, word, subject, subjectName, at.Lo)
		last = hi
		if end > 0 || f.kind != extract.KindPreference && !(f.predicate == "speaks" && d.checked()) {
			return last
		}
		if lo = d.nextElement(s, l, p, hi); lo == 0 {
			return last
		}
	}
}

// nextElement returns where the next element of a list of objects begins, whose last one ends before token hi: "me gustan el té y el café". It is 0
// if the list ends.
func (d *doc) nextElement(s *language.Sentence, l *phrases, p *phrase, hi int) int {
	if hi+1 >= s.Hi || !d.joinsAt(l, hi) && !d.IsPunct(s, hi, ',') {
		return 0
	}
	lo := hi + 1
	if d.joinsAt(l, lo) {
		lo++
	}
	if d.checked() && lo+1 < s.Hi && len(p.before) > 1 && d.WordKey(lo) == p.before[len(p.before)-1] {
		lo++ // "gosto de música e de dança"
	}
	if next := d.foreignObject(s, l, p.form, lo); next == lo || next-lo > 4 || lo >= s.Hi {
		return 0
	}
	if other, _, _, _ := d.formAt(s, l, l.first, lo); other != nil || l.cuts[d.WordKey(lo)] || d.IsPunct(s, hi, ',') && !d.listGoesOn(s, l, p.form, lo) {
		return 0
	}
	return lo
}

// checked reports whether what the phrases of other languages state is checked: in memories and conversations.
func (d *doc) checked() bool { return d.in.Memory || d.in.Pairs }

// joinsAt reports whether token i joins two elements of a list. "é" is a verb, whose key is that of "e".
func (d *doc) joinsAt(l *phrases, i int) bool {
	return i < len(d.Tokens) && l.joins[d.WordKey(i)] && d.TokenText(i) != "é" && d.TokenText(i) != "è"
}

// listGoesOn reports whether a comma is followed by another element of a list: a joining word or a comma comes after the element. In memories
// a joining word has to come in the end: "odeio acordar cedo, sério, é tortura" is no list.
func (d *doc) listGoesOn(s *language.Sentence, l *phrases, f *tableForm, lo int) bool {
	for d.joinsAt(l, lo-1) || lo < s.Hi {
		hi := d.foreignObject(s, l, f, lo)
		switch {
		case d.joinsAt(l, lo-1) || hi < s.Hi && d.joinsAt(l, hi):
			return true
		case f.predicate == "speaks" && wordLists()["phrase-languages"][d.WordKey(lo)]:
			return true
		case hi >= s.Hi || hi == lo || !d.IsPunct(s, hi, ','):
			return false
		case !d.checked():
			return true
		}
		lo = hi + 1
	}
	return false
}

// foreignObject returns the end of the object of a form that begins at token lo.
func (d *doc) foreignObject(s *language.Sentence, l *phrases, f *tableForm, lo int) int {
	hi := lo
	for hi < s.Hi && hi < lo+maxForeignObject {
		t := &d.Tokens[hi]
		if t.Kind == language.KindPunct && t.Sign != '-' && t.Sign != '"' && t.Sign != '\'' || t.Used != d.Tokens[lo].Used && hi > lo {
			break // a date is the whole object, or none of it
		}
		if !t.Used && d.joinsAt(l, hi) || hi > lo && d.endsObject(l, f, hi) {
			break
		}
		hi++
	}
	for hi > lo && (d.Tokens[hi-1].Kind == language.KindPunct || l.articles[d.WordKey(hi-1)] || hi > lo+1 && d.looseAt(l, hi-1)) {
		hi--
	}
	return hi
}

// endsObject reports whether an object ends before token i. In memories what somebody likes or wants goes beyond prepositions, an occupation does
// not, and a time of work is no part of an employer.
func (d *doc) endsObject(l *phrases, f *tableForm, i int) bool {
	k, t := d.WordKey(i), &d.Tokens[i]
	if !d.checked() {
		return !t.Used && l.cuts[k]
	}
	role := f.predicate == "has_role"
	if n := strings.IndexByte(k, '\''); n > 0 && role {
		k = k[:n] // "barista all'autogrill"
	}
	liked := (f.kind == extract.KindPreference || f.kind == extract.KindGoal) && l.preps[k]
	return !t.Used && l.cuts[k] && !liked || role && l.preps[k] || (role || f.predicate == "works_at") && wordLists()["phrase-times"][k] ||
		t.Sign == '-' && t.Kind == language.KindPunct && t.Gap > language.NoGap
}

// looseAt reports whether token i of a memory ends no object.
func (d *doc) looseAt(l *phrases, i int) bool {
	return d.checked() && (l.preps[d.WordKey(i)] || wordLists()["phrase-loose"][d.WordKey(i)])
}

// capitals returns the end of a name that begins at token lo: at most n words with a capital.
func (d *doc) capitals(s *language.Sentence, lo, n int) int {
	hi := lo
	for hi < s.Hi && hi < lo+n && d.Tokens[hi].Capital() && d.Tokens[hi].Gap <= language.SpaceGap {
		hi++
	}
	return hi
}

// phrasePart returns the part of an object that is of the kind the predicate wants: the words with capitals of a name, a place
// up to its last capital, the name of a language.
func (d *doc) phrasePart(s *language.Sentence, f *tableForm, object language.Span) language.Span {
	switch f.predicate {
	case "name":
		if hi := d.capitals(s, object.Lo, 4); hi > object.Lo {
			object.Hi = hi
		}
	case "lives_in", "from", "works_at", "drives":
		if d.Tokens[object.Lo].Capital() {
			for object.Hi > object.Lo+1 && (d.Tokens[object.Hi-1].Kind == language.KindNumber || d.Tokens[object.Hi-1].Kind == language.KindWord && d.Tokens[object.Hi-1].Shape == language.LowerCase) {
				object.Hi--
			}
		}
	case "speaks":
		for i := object.Lo; i < object.Hi; i++ {
			if wordLists()["phrase-languages"][d.WordKey(i)] {
				return language.Span{Lo: i, Hi: i + 1}
			}
		}
	}
	return object
}
