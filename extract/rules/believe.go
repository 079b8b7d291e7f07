package rules

import (
	"regexp"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// modeAt returns the mode of the clause of token i. It is ModeAsserted where clauses were not read, as in documents.
func (d *doc) modeAt(i int) extract.Mode {
	if c := d.ClauseOf(i); c != nil {
		return c.Mode
	}
	return extract.ModeAsserted
}

// factMode returns the mode of a fact that stands in a clause of mode m.
func factMode(f *extract.Fact, m extract.Mode) extract.Mode {
	switch {
	case f.Retracts:
		return extract.ModeEnded
	case f.Negated:
		return extract.ModeNegated
	case f.Kind == extract.KindGoal && m != extract.ModePlan:
		return extract.ModeWish
	case m == extract.ModeNegated || m == extract.ModeEnded || m == extract.ModeWish:
		return extract.ModeAsserted // the part that is also stated: "I live in Oslo, not in Bergen"
	}
	return m
}

// statementMode is factMode for a relation.
func (d *doc) statementMode(st *statement) (mode extract.Mode, ok bool) {
	at := st.target.lo
	if st.clause != nil {
		at = st.clause.verbTok
	}
	m := d.modeAt(at)
	if !m.Believable() || !d.modeAt(st.target.lo).Believable() {
		return m, false
	}
	c := st.clause
	switch {
	case c != nil && c.ended:
		m = extract.ModeEnded
	case c != nil && c.negated:
		m = extract.ModeNegated
	case c != nil && c.future:
		m = extract.ModePlan
	case m == extract.ModeNegated || m == extract.ModeEnded || m == extract.ModeWish:
		m = extract.ModeAsserted
	}
	return m, true
}

// fits reports whether a node can be an object of a type; an empty type accepts anything.
func (d *doc) fits(s *language.Sentence, typ string, n *node) bool {
	if typ == "" || n.lo >= n.hi {
		return true
	}
	if n.kind == nodeDate {
		return false
	}
	switch typ {
	case extract.TypeLocation:
		return d.isPlace(s, n)
	case extract.TypeOrganization:
		return d.isOrganization(s, n)
	case extract.TypePerson:
		return d.isPerson(n)
	}
	return true
}

// objectFits is fits for the words [lo, hi) after a predicate, without their article.
func (d *doc) objectFits(s *language.Sentence, predicate string, lo, hi int) bool {
	_, ok := d.typedEnd(s, predicate, lo, hi)
	return ok
}

// typedEnd returns the end of the object of a predicate that begins at lo, and whether it fits the predicate. The end is hi for a
// predicate that accepts any object.
func (d *doc) typedEnd(s *language.Sentence, predicate string, lo, hi int) (int, bool) {
	typ := predicateTypes[predicate]
	if typ == "" {
		return hi, true
	}
	for lo < hi-1 && d.Tokens[lo].Kind == language.KindWord && d.Tokens[lo].Is(language.Determiner|language.Possessive) {
		lo++
	}
	for i := range d.Names {
		if h := &d.Names[i]; h.Lo == lo && !h.Part {
			n := node{lo: h.Lo, hi: h.Hi, kind: nodeName, typ: h.Type}
			return max(min(d.modifies(s, &n), hi), n.hi), d.fits(s, typ, &n)
		}
	}
	for _, h := range d.datesOf(s) {
		if h.Lo <= lo && lo < h.Hi {
			return hi, false
		}
	}
	n, ok := d.phraseNode(s, lo)
	return min(n.hi, hi), ok && d.fits(s, typ, &n)
}

// isPlace reports whether a node can be a settlement, a region or a country.
func (d *doc) isPlace(s *language.Sentence, n *node) bool {
	switch n.kind {
	case nodeName, nodePronoun:
		return n.typ != extract.TypePerson || d.Tokens[n.lo].Is(language.PlaceName)
	case nodePhrase:
		head := d.head(n)
		if d.abstractHead(n) {
			return false
		}
		return d.Tokens[n.lo].Is(language.PlaceName) && n.hi-n.lo <= 2 || wordLists()["places"][head] || d.Tokens[n.hi-1].Is(language.PlaceName)
	}
	return false
}

// isOrganization reports whether a node can employ, teach or have members.
func (d *doc) isOrganization(s *language.Sentence, n *node) bool {
	switch n.kind {
	case nodeName, nodePronoun, nodeLiteral:
		return n.typ != extract.TypePerson || n.hi-n.lo > 1
	case nodePhrase:
		return !d.abstractHead(n) && (d.Tokens[n.hi-1].Is(language.OrgWord|language.ProductWord) || wordLists()["organizations"][d.head(n)])
	}
	return false
}

// isPerson reports whether a node can be a person.
func (d *doc) isPerson(n *node) bool {
	switch n.kind {
	case nodeName:
		return n.typ == extract.TypePerson || n.typ == extract.TypeConcept
	case nodePronoun, nodeSpeaker:
		return true
	case nodePhrase:
		for i := n.lo; i < n.hi; i++ {
			if d.Tokens[i].Is(language.KinNoun|language.Occupation) || wordLists()["persons"][d.WordKey(i)] {
				return true
			}
		}
	}
	return false
}

// head returns the last word of a phrase in lower case.
func (d *doc) head(n *node) string { return d.WordKey(n.hi - 1) }

// abstractHead reports whether a phrase is nothing that a person can live in or work for: "fear of my inbox", "night".
func (d *doc) abstractHead(n *node) bool {
	for i := n.lo + 1; i < n.hi; i++ {
		if d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Preposition) {
			return !d.Tokens[i-1].Is(language.OrgWord|language.LocWord) && !wordLists()["places"][d.WordKey(i-1)] && !wordLists()["organizations"][d.WordKey(i-1)]
		}
	}
	return d.Tokens[n.hi-1].Is(language.TimeUnit | language.DayWord)
}

// objectType returns the type that a frame requires of its object. Only persons live and work somewhere; "lies in" fits anything.
func objectType(fr *frame) string {
	if fr == nil || fr.predicate == "located_in" {
		return ""
	}
	if fr.swap {
		return ""
	}
	switch fr.target {
	case extract.TypeLocation, extract.TypeOrganization:
		return fr.target
	}
	return predicateTypes[fr.predicate]
}

// predicateTypes are the types that predicates require of their objects where the frame has none.
var predicateTypes = map[string]string{"lives_in": extract.TypeLocation, "moved_from": extract.TypeLocation, "born_in": extract.TypeLocation, "raised_in": extract.TypeLocation,
	"from": extract.TypeLocation, "works_at": extract.TypeOrganization, "studied_at": extract.TypeOrganization, "married_to": extract.TypePerson, "engaged_to": extract.TypePerson}

// kindOfPerson reports whether a description says what a person is: "engineer", "morning person", not "mess".
func (d *doc) kindOfPerson(n *node) bool {
	if n.kind != nodePhrase {
		return true
	}
	t := &d.Tokens[n.hi-1]
	w := d.head(n)
	if t.Is(language.Occupation|language.KinNoun|language.Demonym) || wordLists()["kinds-of-people"][w] {
		return true
	}
	for _, end := range [...]string{"er", "or", "ist", "ian", "eer", "ant", "man", "woman", "ee", "ologist"} {
		if len(w) > len(end)+2 && strings.HasSuffix(w, end) && !wordLists()["no-people"][w] {
			return true
		}
	}
	return false
}

// offRecord matches a request not to keep something: "don't store that".
var offRecord = regexp.MustCompile(`(?i)\b(?:do not|don['’]?t) (?:store|save|remember|record) (?:any of )?(?:that|this|it)\b`)

// offBefore matches such a request at the start of the text after a sentence.
var offBefore = regexp.MustCompile(`(?i)^[\s.,;:!]*(?:please,? |so |but |and )*(?:do not|don['’]?t) (?:store|save|remember|record) (?:any of )?(?:that|this|it)\b`)

const wishBytes = 64 // the number of bytes after a sentence in which such a request is looked for

// off reports whether a sentence, or the text right after it, asks not to keep it. It keeps the answer for the next statement of the sentence.
func (d *doc) off(s *language.Sentence) bool {
	if at := (language.Span{Lo: s.Lo, Hi: s.Hi}); d.offOf != at {
		d.offOf, d.isOff = at, d.asksOff(s)
	}
	return d.isOff
}

// asksOff is off without the kept answer.
func (d *doc) asksOff(s *language.Sentence) bool {
	start, end := int(d.Tokens[s.Lo].Start), int(d.Tokens[s.Hi-1].End)
	near := d.Text[start:min(len(d.Text), end+wishBytes)]
	if !mayWish(near) {
		return false
	}
	return offBefore.MatchString(near[end-start:]) || offRecord.MatchString(near[:end-start])
}

// mayWish reports whether offRecord or offBefore can match somewhere in a text. It looks for a space between the end of "not" or
// "don't" and the start of "store", "save", "remember" or "record".
func mayWish(text string) bool {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], ' ')
		if i < 0 || at+i+2 >= len(text) {
			return false
		}
		if at += i + 1; at < 3 || text[at-2]|0x20 != 't' {
			continue
		}
		if c := text[at-3] | 0x20; c != 'o' && c != 'n' && c != '\'' && c != "’"[2]|0x20 {
			continue
		}
		switch c := text[at+1] | 0x20; text[at] | 0x20 {
		case 's':
			if c == 't' || c == 'a' {
				return true
			}
		case 'r':
			if c == 'e' {
				return true
			}
		case "ſ"[0]: // a case-insensitive pattern treats it as an s
			return true
		}
	}
}

// emptyObject reports whether a phrase is no real object: "late", "your number".
func (d *doc) emptyObject(n *node) bool {
	if n.kind != nodePhrase {
		return false
	}
	t := &d.Tokens[n.lo]
	if n.lo > 0 && d.Tokens[n.lo-1].Is(language.SecondPerson) && d.Tokens[n.lo-1].Is(language.Possessive) {
		return true
	}
	return n.hi-n.lo == 1 && t.Word().Verb > 0 && t.Word().Form == language.Participle|language.PastForm || n.hi-n.lo == 1 && t.Is(language.Adjective|language.Adverb|language.DatePart) && !t.Is(language.Occupation|language.KinNoun)
}

// participleAt reports whether token i is a participle, so that "get" before it forms a passive.
func (d *doc) participleAt(i, hi int) bool {
	if i >= hi || d.Tokens[i].Kind != language.KindWord {
		return false
	}
	t := &d.Tokens[i]
	if t.Word().Verb > 0 && t.Word().Form&language.Participle != 0 && i+1 < hi && d.Tokens[i+1].Kind == language.KindWord && d.Tokens[i+1].Is(language.Preposition) && i > 0 && d.Tokens[i-1].Word().Form&language.PastForm != 0 {
		return true // "got put on nights"
	}
	return t.Word().Verb > 0 && t.Word().Form&language.Participle != 0 && t.Word().Form&language.BaseForm == 0 || t.Word().Flags == 0 && t.Word().Verb == 0 && strings.HasSuffix(d.TokenText(i), "ed")
}

// contracted matches a clause in the place of an object: "epipen's in the glovebox".
var contracted = regexp.MustCompile(`(?i)\pL['’](?:s (?:in|on|at|under|behind|not|going|been|gone)|re|m|ll|ve)\b`)

// emptyObject reports whether an object shows that a statement says nothing or is not meant literally: "have one", "allergic to
// mornings", "speak fluent sarcasm".
func emptyObject(predicate, object string) bool {
	list := ""
	switch strings.TrimPrefix(predicate, extract.NotPrefix) {
	case "allergic_to", "intolerant_to":
		list = "no-allergen"
	case "speaks":
		list = "no-language"
	case "spoke_at", "speaks_at":
		list = "no-stage"
	case "has_role", "is_a":
		list = "no-role"
	case "has":
		list = "no-thing"
	}
	if wordLists()["no-object"][strings.ToLower(object)] || strings.ContainsAny(object, "'’") && contracted.MatchString(object) {
		return true
	}
	words := strings.Fields(strings.ToLower(object))
	if predicate == "use" && len(words) > 1 && words[0] == "to" { // "my favourite colour used to be green"
		return true
	}
	return len(words) > 0 && wordLists()[list][words[len(words)-1]]
}
