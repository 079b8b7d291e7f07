package rules

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// maxScriptObject is the longest object in a script without spaces, in characters.
const maxScriptObject = 20

// maxScriptOpener is how many bytes may come before a clause that begins a memory, and may be about the speaker without saying so: "上个月刚搬到深圳".
const maxScriptOpener = 24

// scriptLanguage is the table of a language that is written without spaces. {o} in a phrase is the object. The files are in the folder
// tables.
type scriptLanguage struct {
	marks   string   // characters that end a clause
	openers []string // words before a clause that add nothing to it, longer ones first
	ends    []string // words that may follow an object, longer ones first
	cuts    []string // words that end an object
	joins   []string // words between two objects
	topic   string   // the word between a subject and the statement about it
	does    string   // the word behind a subject that is no topic
	also    string   // the word that stands for either of them: "姉も"
	self    []string // words for the speaker
	others  []string // subjects that are not names
	titles  []string // titles after a name
	ask     []string // a clause with one of these is a question
	unsaid  []string // a sentence of a memory with one of these tells what others say, suppose or dream
	tails   []string // what may come behind a phrase in a memory
	mine    []string // "my"
	of      []string // what stands between a description and an occupation
	roles   []string // occupations

	earlier []string        // what stands behind another clause, before an object
	from    []string        // what stands between the old and the new home
	pets    []string        // a name in a memory with one of these is not the speaker's
	moved   map[string]bool // what stands behind a new home

	first, third []*scriptPhrase
	kinWords     [][2]string
}

type scriptPhrase struct {
	form          *tableForm
	before, after string
}

var (
	chinese  = sync.OnceValue(func() *scriptLanguage { return readScript(readTable("chinese")) })
	japanese = sync.OnceValue(func() *scriptLanguage { return readScript(readTable("japanese")) })
)

func readScript(table map[string]string) *scriptLanguage {
	list := func(name string) []string { return strings.Fields(table[name]) }
	l := &scriptLanguage{marks: strings.TrimSpace(table["marks"]), openers: list("openers"), ends: list("ends"), cuts: list("cuts"), joins: list("joins"),
		topic: strings.TrimSpace(table["topic"]), does: strings.TrimSpace(table["does"]), also: strings.TrimSpace(table["also"]), self: list("self"), others: list("others"), titles: list("titles"), ask: list("ask"),
		unsaid: list("unsaid"), tails: list("tails"), mine: list("mine"), of: list("of"), roles: list("roles"), earlier: list("before"), from: list("from"), pets: list("pets"), moved: make(map[string]bool)}
	add := func(to *[]*scriptPhrase, f *tableForm, list string) {
		for text := range strings.SplitSeq(list, ",") {
			if before, after, ok := strings.Cut(strings.TrimSpace(text), "{o}"); ok {
				*to = append(*to, &scriptPhrase{form: f, before: before, after: after})
				l.moved[after] = l.moved[after] || f.moves
			}
		}
	}
	kin := &tableForm{predicate: "kin", kind: extract.KindRelationship, text: strings.TrimSpace(table["kin-text"])}
	for pair := range strings.FieldsSeq(table["kin"]) {
		w, english, _ := strings.Cut(pair, "=")
		l.kinWords = append(l.kinWords, [2]string{w, english})
	}
	add(&l.first, kin, strings.TrimSpace(table["kin-forms"]))
	for line := range strings.SplitSeq(strings.TrimSpace(table["forms"]), "\n") {
		col := strings.Split(line, "|")
		f := newForm(strings.TrimSpace(col[0]), strings.TrimSpace(col[1]))
		add(&l.first, f, col[2])
		if len(col) > 3 {
			add(&l.third, f, col[3])
		}
	}
	return l
}

// piece is a part of the text, as byte offsets.
type piece struct{ start, end int }

// scriptSentence reads a sentence in Chinese or Japanese. found reports whether it stated anything, own whether it is in one of these
// languages.
func (d *doc) scriptSentence(s *language.Sentence) (found, own bool) {
	han, kana := false, false
	for i := s.Lo; i < s.Hi; i++ {
		if d.Tokens[i].Kind != language.KindScript {
			continue
		}
		for _, r := range d.TokenText(i) {
			kana = kana || r >= 0x3040 && r <= 0x30FF
			han = han || unicode.Is(unicode.Han, r)
		}
	}
	var l *scriptLanguage
	switch {
	case kana:
		l = japanese()
	case han:
		l = chinese()
	default:
		return false, false
	}
	if d.checked() && slices.ContainsFunc(l.unsaid, func(w string) bool { return strings.Contains(d.SpanText(s.Lo, s.Hi), w) }) {
		return false, true
	}
	self := false
	at := int(d.Tokens[s.Lo].Start)
	end := int(d.Tokens[s.Hi-1].End)
	for at < end {
		n := strings.IndexAny(d.Text[at:end], l.marks)
		if n < 0 {
			n = end - at
		}
		p := piece{at, at + n}
		found = d.scriptClause(s, l, p, &self) || found
		at += n
		if at < end {
			_, w := utf8.DecodeRuneInString(d.Text[at:])
			at += w
		}
	}
	return found, true
}

// scriptClause reads one clause. self reports whether the previous clause was about the speaker, so that this one may be, too.
func (d *doc) scriptClause(s *language.Sentence, l *scriptLanguage, p piece, self *bool) bool {
	p = d.trimPiece(p)
	for again := true; again; {
		again = false
		for _, w := range l.openers {
			if rest, ok := strings.CutPrefix(d.Text[p.start:p.end], w); ok && rest != "" {
				p.start += len(w)
				p, again = d.trimPiece(p), true
			}
		}
	}
	text := d.Text[p.start:p.end]
	if slices.ContainsFunc(l.ask, func(w string) bool { return strings.Contains(text, w) }) || d.checked() && d.quotedIn(p) {
		return false
	}
	if relative, kin, rest := d.scriptRelative(s, l, p); relative != "" {
		*self = false
		return d.scriptThird(s, l, relative, kin, rest)
	}
	subject, place, body := d.scriptSubject(s, l, p)
	implied := subject == "" && (*self || l.topic == "" && d.checked() && int(d.Tokens[0].Start) >= p.start-maxScriptOpener)
	if implied {
		subject = s.Speaker
	}
	if *self = subject == s.Speaker && subject != ""; *self {
		if found, own := d.scriptOwn(s, l, implied, place, body); own {
			return found
		}
		subject, *self = "", false
	}
	if l.topic != "" {
		return subject != "" && d.scriptThird(s, l, subject, place, body)
	}
	for _, f := range l.third {
		k := strings.Index(text, f.before)
		if k <= 0 || f.form.role || !nameInScript(text[:k], l) { // "班主任是老师": a name or a word
			continue
		}
		if o, _, ok := d.scriptObject(l, f.before, f.after, piece{p.start + k, p.end}); ok {
			return d.scriptStatement(s, l, f, text[:k], piece{p.start, p.start + k}, o, "")
		}
	}
	return false
}

// scriptOwn reads what a clause says about the speaker. implied reports whether it does not name him. own is false if the clause may be about
// somebody else.
func (d *doc) scriptOwn(s *language.Sentence, l *scriptLanguage, implied bool, place, body piece) (found, own bool) {
	for _, f := range l.first {
		before := f.before
		if implied {
			if before = strings.TrimPrefix(before, l.self[0]); before == "" {
				continue
			}
		}
		if f.form.predicate == "name" && slices.ContainsFunc(l.pets, func(w string) bool { return strings.Contains(d.Text, w) }) {
			continue
		}
		if o, kin, ok := d.scriptObject(l, before, f.after, body); ok && d.scriptRole(l, f.form, o) {
			if (f.form.functional || d.checked()) && kin == "" && l.topic != "" && (strings.Index(d.Text[o.start:o.end], l.topic) > 0 || strings.Index(d.Text[o.start:o.end], l.does) > 0 || l.alsoAt(d.Text[o.start:o.end]) > 0) {
				return false, true // the text before the mark is another subject, whose name is unknown
			}
			return d.scriptStatement(s, l, f, s.Speaker, place, o, kin), true
		}
	}
	return false, !implied
}

// scriptThird reads what a clause says about somebody else.
func (d *doc) scriptThird(s *language.Sentence, l *scriptLanguage, subject string, place, body piece) bool {
	for _, f := range l.third {
		if o, _, ok := d.scriptObject(l, f.before, f.after, body); ok && d.scriptRole(l, f.form, o) {
			return d.scriptStatement(s, l, f, subject, place, o, "")
		}
	}
	return false
}

// scriptSubject returns whom a clause is about: the speaker, a name before the topic mark, or nobody known.
func (d *doc) scriptSubject(s *language.Sentence, l *scriptLanguage, p piece) (subject string, place, body piece) {
	text := d.Text[p.start:p.end]
	if l.topic == "" {
		for _, w := range l.self {
			if strings.HasPrefix(text, w) {
				return s.Speaker, piece{p.start, p.start + len(w)}, p
			}
		}
		return "", p, p
	}
	for _, w := range l.self {
		if strings.HasPrefix(text, w) {
			return s.Speaker, piece{p.start, p.start + len(w)}, d.trimPiece(piece{p.start + len(w), p.end})
		}
	}
	k, mark := strings.Index(text, l.topic), l.topic
	if n := l.alsoAt(text); n > 0 && (n < k || k < 0) {
		k, mark = n, l.also
	}
	if k > 0 && k+len(mark) < len(text) {
		name := text[:k]
		for _, w := range l.titles {
			name = strings.TrimSuffix(name, w)
		}
		if name != text[:k] && nameInScript(name, l) { // a title shows that the name is a person's
			return name, piece{p.start, p.start + len(name)}, d.trimPiece(piece{p.start + k + len(mark), p.end})
		}
		for _, w := range l.others {
			if name == w {
				return "", p, p
			}
		}
	}
	return s.Speaker, piece{p.start, p.start}, p
}

// nameInScript reports whether a text can be a name before a statement: two to six characters that contain no pronoun.
func nameInScript(text string, l *scriptLanguage) bool {
	n := utf8.RuneCountInString(text)
	if n < 2 || n > 6 || l.topic == "" && n > 4 {
		return false
	}
	for _, w := range l.others {
		if strings.Contains(text, w) {
			return false
		}
	}
	for _, r := range text {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return true
}

// scriptObject returns the object between two parts of a phrase in a clause; kin is the word for family before it.
func (d *doc) scriptObject(l *scriptLanguage, before, behind string, p piece) (o piece, kin string, ok bool) {
	before, kinBefore, isKin := strings.Cut(before, "{k}")
	rest, ok := strings.CutPrefix(d.Text[p.start:p.end], before)
	if !ok {
		return o, "", false
	}
	o = piece{p.end - len(rest), p.end}
	if isKin {
		ok = false
		for _, w := range l.kinWords {
			if after, found := strings.CutPrefix(rest, w[0]+kinBefore); found && len(w[0]) > len(kin) {
				kin, ok = w[0], true
				o.start = p.end - len(after)
			}
		}
		if !ok {
			return o, "", false
		}
	}
	if behind != "" {
		k := strings.Index(d.Text[o.start:o.end], behind)
		if k <= 0 {
			return o, "", false
		}
		if d.checked() && !scriptTail(l, strings.TrimSpace(d.Text[o.start+k+len(behind):o.end])) {
			return o, "", false
		}
		o.end = o.start + k
	}
	for _, w := range l.earlier {
		if k := strings.LastIndex(d.Text[o.start:o.end], w); k > 0 && d.checked() {
			o.start += k + len(w)
		}
	}
	for _, w := range l.from { // "仙台から札幌"
		if k := strings.LastIndex(d.Text[o.start:o.end], w); k > 0 && l.moved[behind] {
			o.start += k + len(w)
		}
	}
	for _, w := range l.cuts {
		if k := strings.Index(d.Text[o.start:o.end], w); k > 0 {
			o.end = o.start + k
		}
	}
	o = d.trimPiece(o)
	for again := true; again; {
		again = false
		for _, w := range l.ends {
			if t := d.Text[o.start:o.end]; len(t) > len(w) && strings.HasSuffix(t, w) {
				o.end, again = o.end-len(w), true
			}
		}
	}
	o = d.trimPiece(o)
	n := utf8.RuneCountInString(d.Text[o.start:o.end])
	return o, kin, n > 0 && n <= maxScriptObject
}

// trimPiece cuts characters other than letters and digits off both ends.
func (d *doc) trimPiece(p piece) piece {
	t := d.Text[p.start:p.end]
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }
	rest := strings.TrimLeftFunc(t, other)
	p.start = p.end - len(rest)
	p.end = p.start + len(strings.TrimRightFunc(rest, other))
	return p
}

// scriptStatement adds what a phrase states, once for each of several objects.
func (d *doc) scriptStatement(s *language.Sentence, l *scriptLanguage, f *scriptPhrase, subject string, place, o piece, kin string) bool {
	if place.end == place.start { // the speaker is implied
		place.end = o.end
		place.start = o.start
	}
	if kin != "" {
		english := ""
		for _, w := range l.kinWords {
			if w[0] == kin {
				english = w[1]
			}
		}
		return d.foreignPair(s, f.form, kinPredicate(english), d.Text[o.start:o.end], subject, o, place, false, strings.ReplaceAll(f.form.text, "{k}", kin))
	}
	if f.form.role { // "个四十来岁的数学老师"
		for _, w := range l.of {
			if k := strings.LastIndex(d.Text[o.start:o.end], w); k > 0 && o.start+k+len(w) < o.end {
				o.start += k + len(w)
			}
		}
	}
	objects := []piece{o}
	if f.form.kind == extract.KindPreference || f.form.predicate == "speaks" && d.checked() {
		objects = d.splitObjects(l, o)
	}
	found := false
	for _, x := range objects {
		if d.checked() && !scriptSayable(f.form.predicate, d.Text[x.start:x.end], subject == s.Speaker) {
			continue
		}
		found = d.foreignPair(s, f.form, f.form.predicate, subject, d.Text[x.start:x.end], place, x, false, f.form.text) || found
	}
	return found
}

// splitObjects splits a list whose two sides both have at least two characters.
func (d *doc) splitObjects(l *scriptLanguage, o piece) []piece {
	for _, w := range l.joins {
		a, b, ok := strings.Cut(d.Text[o.start:o.end], w)
		if ok && utf8.RuneCountInString(a) > 1 && utf8.RuneCountInString(b) > 1 {
			return append([]piece{{o.start, o.start + len(a)}}, d.splitObjects(l, piece{o.end - len(b), o.end})...)
		}
	}
	return []piece{o}
}
