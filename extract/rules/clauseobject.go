package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// many reports whether a phrase of a predicate may have several objects.
func many(predicate string) bool {
	switch predicate {
	case "likes", "dislikes", "speaks", "allergic_to", "eats", "drinks", "kin", "kin-named":
		return true
	}
	return false
}

// elements returns the elements of a list.
func (r *clauseReader) elements(o piece) []piece {
	for _, w := range r.l.joins {
		ending := strings.HasPrefix(w, "-")
		w = strings.TrimPrefix(w, "-")
		if k := strings.Index(r.text[o.start:o.end], w); k > 0 && o.start+k+len(w) < o.end && (ending || w[0] == ' ' || !r.l.spaced) {
			return append([]piece{{o.start, o.start + k}}, r.elements(piece{o.start + k + len(w), o.end})...)
		}
	}
	return []piece{o}
}

// object is what a statement has as its object: a part of the text, and how it is written.
type object struct {
	piece
	text string
}

// object returns what stands for an object in a part of a clause. ok is false if that cannot be the object of the predicate.
func (r *clauseReader) object(f *clausePhrase, form *tableForm, o piece) (x object, ok bool) {
	if form.predicate != "birthday" && form.predicate != "age" {
		o, _ = r.trim(o)
	}
	for _, w := range r.l.rather { // "3 Mayıs değil 5 Mayıs"
		w, front := strings.CutPrefix(w, "<")
		if k := strings.Index(r.text[o.start:o.end], w); k > 0 && o.start+k+len(w) < o.end {
			if front {
				o.end = o.start + k
			} else {
				o.start += k + len(w)
			}
		}
	}
	if form.moves {
		for _, w := range r.l.from { // "Bursa'dan Eskişehir"
			if k := strings.LastIndex(r.text[o.start:o.end], w); k > 0 && o.start+k+len(w) < o.end {
				o.start += k + len(w)
			}
		}
	}
	o, _ = r.trim(o)
	if o.start >= o.end || !r.sayable(f, form, r.text[o.start:o.end]) {
		return x, false
	}
	x.piece = piece{int(r.at[o.start]), int(r.at[o.end])}
	x.text = r.d.Text[x.start:x.end]
	if r.l.code == "tr" {
		x.text = r.l.turkishObject(f, form, x.text)
		x.end = x.start + min(len(x.text), x.end-x.start)
		folded, _ := r.l.fold(x.text)
		return x, r.l.allows(f, form, folded) && r.turkishSayable(form, x.text)
	}
	return x, r.l.allows(f, form, r.text[o.start:o.end])
}

// sayable reports whether words can be an object at all.
func (r *clauseReader) sayable(f *clausePhrase, form *tableForm, o string) bool {
	words := strings.Fields(o)
	if len(words) > maxClauseWords || utf8.RuneCountInString(o) > maxClauseObject || r.l.asked(o) {
		return false
	}
	for _, w := range r.l.stops {
		if r.l.has(o, w) {
			return false
		}
	}
	if r.subjectIn(o) {
		return false
	}
	digit := strings.ContainsFunc(o, unicode.IsDigit)
	switch form.predicate {
	case "birthday":
		return digit
	case "age":
		return len(words) == 1 && (digit && !strings.ContainsFunc(o, unicode.IsLetter) || f.list != "" && slices.Contains(r.l.words[f.list], o))
	case "kin", "kin-named", "name":
		return !digit && len(words) <= 3
	case "lives_in", "works_at", "from":
		first, _ := utf8.DecodeRuneInString(o)
		return !unicode.IsDigit(first) && utf8.RuneCountInString(o) > 1
	}
	return !digit || form.predicate == "drives"
}

// asked reports whether an object has a word that asks.
func (l *clauseLanguage) asked(o string) bool {
	return slices.ContainsFunc(l.asks, func(w string) bool { return l.has(o, w) })
}

// allows reports whether the lists of the table allow an object.
func (l *clauseLanguage) allows(f *clausePhrase, form *tableForm, o string) bool {
	if l.listed("no-"+form.predicate, o) || l.listed("no-object", o) {
		return false
	}
	if f.list == "" || form.predicate == "age" {
		return true
	}
	words := l.words[f.list]
	switch {
	case slices.Contains(words, o):
		return true
	case !l.spaced:
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(o, w) })
	}
	parts := strings.Fields(o)
	last := parts[len(parts)-1]
	return slices.Contains(words, last) || l.code == "ar" && slices.Contains(words, parts[0]) ||
		l.code == "ko" && f.list == "only-roles" && slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(last, w) })
}

// listed reports whether an object has a word of a section; where words have no spaces between them, whether it begins with one.
func (l *clauseLanguage) listed(section, o string) bool {
	words := l.words[section]
	if !l.spaced {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(o, w) })
	}
	return slices.Contains(words, "="+o) || slices.Contains(words, o) || slices.ContainsFunc(strings.Fields(o), func(w string) bool { return slices.Contains(words, w) })
}
