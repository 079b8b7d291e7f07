package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/language"
)

// Limits of what stands for one object.
const (
	maxClauseWords  = 4
	maxClauseObject = 40 // letters
	maxClauseSkip   = 40 // letters that {x} stands for
)

// clauseReader reads the clauses of a sentence with the table of its language.
type clauseReader struct {
	d    *doc
	s    *language.Sentence
	l    *clauseLanguage
	text string  // folded
	at   []int32 // the offset in the item of each byte of text

	found bool
	other bool          // the clause before is about somebody else
	about *clausePhrase // the relative that the clause before has, without a name
}

// clauseSentence reads a sentence with the table of its language, and reports whether it stated anything.
func (d *doc) clauseSentence(s *language.Sentence, l *clauseLanguage) bool {
	if s.Speaker == "" || !d.checked() {
		return false
	}
	start := int(d.Tokens[s.Lo].Start)
	r := clauseReader{d: d, s: s, l: l}
	r.text, r.at = l.fold(d.Text[start:d.Tokens[s.Hi-1].End])
	for i := range r.at {
		r.at[i] += int32(start)
	}
	if r.hasAny(piece{0, len(r.text)}, l.unsaid) {
		return false
	}
	r.other = d.clauseOther(s, l)
	for at := 0; at < len(r.text); {
		n := r.mark(at) - at
		r.clause(piece{at, at + n}, false, 0)
		if at += n; at < len(r.text) {
			_, w := utf8.DecodeRuneInString(r.text[at:])
			at += w
		}
	}
	return r.found
}

// mark returns where the clause that begins at an offset ends.
func (r *clauseReader) mark(at int) int {
	for end := at; end < len(r.text); end++ {
		n := strings.IndexAny(r.text[end:], r.l.marks)
		if n < 0 {
			break
		}
		if end += n; r.text[end] != ' ' || !r.spaceInside(end) {
			return end
		}
	}
	return len(r.text)
}

// spaceInside reports whether the space at an offset is inside a clause, where spaces end them: it stands beside a number or a word in Latin letters, or
// behind a word that needs another one.
func (r *clauseReader) spaceInside(at int) bool {
	before, after := r.text[:at], strings.TrimLeft(r.text[at:], " ")
	if after == "" || before == "" {
		return false
	}
	ascii := func(c byte) bool { return c < utf8.RuneSelf && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) }
	return ascii(after[0]) || ascii(before[len(before)-1]) || slices.ContainsFunc(r.l.open, func(w string) bool { return strings.HasSuffix(before, w) })
}

// clauseOther reports whether the sentence before begins with somebody else, where verbs do not tell the person.
func (d *doc) clauseOther(s *language.Sentence, l *clauseLanguage) bool {
	if l.persons || s.Lo == 0 {
		return false
	}
	lo := s.Lo - 1
	for lo > 0 && s.Lo-lo < 40 && !(d.Tokens[lo-1].Kind == language.KindPunct && strings.IndexByte(".!?", d.Tokens[lo-1].Sign) >= 0 && d.Tokens[lo-1].Sign != 0) {
		lo--
	}
	before, _ := l.fold(d.SpanText(lo, s.Lo))
	return slices.ContainsFunc(l.others, func(w string) bool { return strings.HasPrefix(before, w) })
}

// hasAny reports whether a part of the text has one of the words.
func (r *clauseReader) hasAny(p piece, words []string) bool {
	text := r.text[p.start:p.end]
	return slices.ContainsFunc(words, func(w string) bool { return r.l.has(text, w) })
}

// has reports whether a text has a word, or words; "-" before a word stands for what comes before it in a word: "-하면".
func (l *clauseLanguage) has(text, word string) bool {
	ending := strings.HasPrefix(word, "-")
	word = strings.TrimPrefix(word, "-")
	for at := 0; ; {
		k := strings.Index(text[at:], word)
		if k < 0 {
			return false
		}
		k += at
		if !l.spaced || (ending || l.bound(text, k)) && l.bound(text, k+len(word)) {
			return true
		}
		at = k + len(word)
	}
}

// begins reports whether a text begins with a word.
func (l *clauseLanguage) begins(text, word string) bool {
	return strings.HasPrefix(text, word) && (!l.spaced || l.bound(text, len(word)))
}

// bound reports whether a word begins or ends at offset k of a text.
func (l *clauseLanguage) bound(text string, k int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:k])
	after, _ := utf8.DecodeRuneInString(text[k:])
	letter := func(r rune) bool {
		return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
	}
	return !letter(before) || !letter(after)
}

// trim cuts what adds nothing off both ends of a clause, and reports whether the speaker was named.
func (r *clauseReader) trim(p piece) (_ piece, named bool) {
	other := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) }
	for again := true; again; {
		again = false
		text := r.text[p.start:p.end]
		rest := strings.TrimLeftFunc(text, other)
		p.start = p.end - len(rest)
		p.end = p.start + len(strings.TrimRightFunc(rest, other))
		text = r.text[p.start:p.end]
		for _, w := range r.l.tails {
			if short, ok := strings.CutSuffix(text, w); ok && short != "" && (!r.l.spaced || r.l.bound(text, len(short))) {
				p.end, again = p.end-len(w), true
				break
			}
		}
		text = r.text[p.start:p.end]
		for _, w := range r.l.self {
			if len(text) > len(w) && r.l.begins(text, w) {
				p.start, again, named = p.start+len(w), true, true
				break
			}
		}
		if n := r.l.adverb(r.text[p.start:p.end]); n > 0 && !again {
			p.start, again = p.start+n, true
		}
	}
	return p, named
}

// adverb returns the length of the word for a time or the like that a text begins with, and of a number before it: "3 yıldır".
func (l *clauseLanguage) adverb(text string) int {
	rest := strings.TrimLeftFunc(text, unicode.IsDigit)
	number := len(text) - len(rest)
	if number > 0 {
		rest = strings.TrimLeft(rest, " ")
	}
	for _, w := range l.adverbs {
		if len(rest) > len(w) && l.begins(rest, w) {
			return len(text) - len(rest) + len(w)
		}
	}
	return 0
}

// maxClauseSplits bounds how often a clause is split.
const maxClauseSplits = 6

// clause reads a clause, or its parts if no phrase explains it as a whole. named reports whether the speaker was named before it.
func (r *clauseReader) clause(p piece, named bool, depth int) {
	p, self := r.trim(p)
	named = named || self
	if p.start >= p.end {
		return
	}
	if r.d.quoteInClause(r, p) || r.hasAny(p, r.l.asks) {
		return
	}
	if named {
		r.other = false
	}
	text := r.text[p.start:p.end]
	other := !named && !r.l.persons && slices.ContainsFunc(r.l.others, func(w string) bool { return strings.HasPrefix(text, w) })
	if r.phrase(p, named, other || r.other) {
		return
	}
	r.other = r.other || other
	if depth < maxClauseSplits {
		if left, right, ok := r.split(p); ok {
			r.clause(left, named, depth+1)
			r.clause(right, false, depth+1)
			return
		}
	}
	r.about = nil
}

// quoteInClause reports whether a clause stands in a quotation or has one.
func (d *doc) quoteInClause(r *clauseReader, p piece) bool {
	return d.quotedIn(piece{int(r.at[p.start]), int(r.at[p.end])})
}

// split returns the parts of a clause before and behind the first word that may join two clauses. A word that begins with "-" ends the part before it.
func (r *clauseReader) split(p piece) (left, right piece, ok bool) {
	text := r.text[p.start:p.end]
	best, end := len(text), 0
	for _, w := range r.l.splits { // " و" is a word's beginning
		word, ending := strings.CutPrefix(w, "-")
		for at := 0; at < best; {
			k := strings.Index(text[at:], word)
			if k < 0 {
				break
			}
			k += at
			at = k + len(word)
			if k == 0 || at >= len(text) || r.l.spaced && w[0] != ' ' && (!ending && !r.l.bound(text, k) || !r.l.bound(text, at)) {
				continue
			}
			if cut := k; cut < best {
				if best, end = cut, at; ending {
					best = at
				}
			}
			break
		}
	}
	if end == 0 {
		return p, p, false
	}
	return piece{p.start, p.start + best}, piece{p.start + end, p.end}, true
}

// phrase reads a clause that a phrase explains as a whole. other reports whether somebody else is its subject, so that it may only name a relative.
func (r *clauseReader) phrase(p piece, named, other bool) bool {
	text := r.text[p.start:p.end]
	for _, f := range r.l.phrases {
		if len(f.before)+len(f.after) > len(text) || !strings.HasPrefix(text, f.before) || !strings.HasSuffix(text, f.after) || f.me && !named || other && f.kin == "" && f.form.predicate != "kin-named" {
			continue
		}
		o := piece{p.start + len(f.before), p.end - len(f.after)}
		if f.form.predicate == "kin-has" {
			if strings.IndexByte(strings.TrimSpace(r.text[o.start:o.end]), ' ') < 0 || !r.l.spaced || r.l.code == "ko" {
				r.about = f
				return true
			}
			continue
		}
		if f.isSkip {
			k := strings.Index(r.text[o.start:o.end], f.skip)
			if k < 0 || utf8.RuneCountInString(r.text[o.start:o.start+k]) > maxClauseSkip {
				continue
			}
			o.start += k + len(f.skip)
		}
		if o.start < o.end && r.states(f, o) {
			r.found = true
			return true
		}
	}
	return false
}

// states adds what a phrase says of an object, and reports whether it says anything.
func (r *clauseReader) states(f *clausePhrase, o piece) bool {
	if first, second, ok := strings.Cut(f.form.predicate, "+"); ok {
		return r.statesTwo(f, o, first, second)
	}
	parts := []piece{o}
	if many(f.form.predicate) {
		parts = r.elements(o)
	}
	objects := make([]object, 0, len(parts))
	for _, part := range parts {
		x, ok := r.object(f, f.form, part)
		if !ok {
			return false
		}
		objects = append(objects, x)
	}
	found := false
	for _, x := range objects {
		found = r.add(f, f.form, x) || found
	}
	return found
}

// statesTwo adds what a phrase says of a place of work and of an occupation there, in either order. The place may be none: "at home".
func (r *clauseReader) statesTwo(f *clausePhrase, o piece, first, second string) bool {
	text := r.text[o.start:o.end]
	k := strings.LastIndex(text, f.middle)
	if first == "has_role" {
		k = strings.Index(text, f.middle)
	}
	if k <= 0 || first == "works_at" && r.subjectIn(text[:k]) {
		return false
	}
	place, role := piece{o.start, o.start + k}, piece{o.start + k + len(f.middle), o.end}
	if first == "has_role" {
		place, role = role, place
	}
	works, trade := newForm("works_at", f.form.text), newForm("has_role", f.form.text)
	at, atOK := r.object(&clausePhrase{form: works}, works, place)
	is, isOK := r.object(f, trade, role)
	if !isOK || !atOK && r.l.code == "tr" {
		return false
	}
	if atOK {
		r.add(f, works, at)
	}
	return r.add(f, trade, is)
}

// subjectIn reports whether a word before the last one of a text is another subject or ends another clause.
func (r *clauseReader) subjectIn(text string) bool {
	words := strings.Fields(text)
	for i, w := range words {
		if i < len(words)-1 && !slices.Contains(r.l.adjectives, w) && slices.ContainsFunc(r.l.subjects, func(end string) bool { return strings.HasSuffix(w, end) && w != end }) {
			return true
		}
	}
	return false
}

// add adds a statement about an object.
func (r *clauseReader) add(f *clausePhrase, form *tableForm, x object) bool {
	d, s := r.d, r.s
	switch form.predicate {
	case "kin", "kin-named":
		word, english := f.word, f.kin
		if form.predicate == "kin-named" {
			if r.about == nil {
				return false
			}
			word, english = r.about.word, r.about.kin
			form = &tableForm{predicate: "kin", kind: form.kind, text: form.text}
		}
		return d.foreignPair(s, form, kinPredicate(english), x.text, s.Speaker, x.piece, x.piece, false, strings.ReplaceAll(form.text, "{k}", word))
	}
	return d.foreignPair(s, form, form.predicate, s.Speaker, x.text, x.piece, x.piece, r.l.code == "tr" && !d.anyCapitalIn(x.text), form.text)
}

// anyCapitalIn reports whether a text has a capital.
func (d *doc) anyCapitalIn(text string) bool { return strings.ContainsFunc(text, unicode.IsUpper) }
