package rules

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

const (
	maxAliases   = 200 // per item
	maxAliasGap  = 48  // maximum bytes between two names of one entity
	maxAcronym   = 8   // letters
	minShortName = 3   // letters of a first name that begins a longer one: "Alex", "Alexander"
)

// aliasTable holds the words that may stand between two names of one entity.
type aliasTable struct {
	cues   map[string]bool     // words between the two names
	former map[string]bool     // words before a former name: the name before them is the current one
	full   map[string][]string // the full forms of a familiar given name
}

var aliases = sync.OnceValue(func() *aliasTable {
	table := readTable("aliases")
	t := &aliasTable{cues: make(map[string]bool), former: make(map[string]bool), full: make(map[string][]string)}
	for cue := range strings.SplitSeq(table["cues"], "\n") {
		t.cues[cue] = true
	}
	for cue := range strings.SplitSeq(table["former"], "\n") {
		t.former[cue] = true
	}
	for line := range strings.SplitSeq(table["short-names"], "\n") {
		names := strings.Fields(line)
		for _, short := range names[1:] {
			t.full[short] = append(t.full[short], names[0])
		}
	}
	return t
})

// statedAliases adds the aliases that the text states: "Robert Smith, also known as Bob", "Bob (Robert Smith)", "International
// Business Machines (IBM)".
func (d *doc) statedAliases() {
	var last *language.Name
	for i := range d.Names {
		h := &d.Names[i]
		if h.Part {
			continue
		}
		if last != nil && last.Sentence == h.Sentence && h.Lo >= last.Hi {
			d.aliasPair(last, h)
		}
		last = h
	}
	d.bracketedAcronyms()
}

// aliasPair makes two neighbouring names aliases if the words between them say so.
func (d *doc) aliasPair(a, b *language.Name) {
	from, to := int(d.Tokens[a.Hi-1].End), int(d.Tokens[b.Lo].Start)
	if to-from < 2 || to-from > maxAliasGap || len(d.out.Aliases) >= maxAliases {
		return
	}
	between := d.Text[from:to]
	cue := strings.ToLower(strings.Join(strings.FieldsFunc(between, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",(\"'“”‘’«»[:", r) }), " "))
	keyA, keyB := d.hitKey(a), d.hitKey(b)
	if keyA == keyB || keyA == "" || keyB == "" || a.Type != b.Type && a.Type != extract.TypeConcept && b.Type != extract.TypeConcept && cue != "" {
		return
	}
	person := (a.Type == extract.TypePerson) != (b.Type == extract.TypePerson)
	switch {
	case person && (aliases().former[cue] || cue == "born" || cue == "was born"): // "Anna, formerly Zorblax"
	case aliases().cues[cue]:
		if cue == "short for" || cue == "is short for" {
			a, b, keyA, keyB = b, a, keyB, keyA
		} else if !aliases().former[cue] && fuller(keyB, keyA) {
			a, b, keyA, keyB = b, a, keyB, keyA
		}
		d.addAlias(b, a, keyB, keyA)
	case cue == "" && strings.HasSuffix(strings.TrimRight(between, " \"“'‘"), "(") && d.IsPunct(&d.Sentences[b.Sentence], b.Hi, ')'):
		if d.onePerson(a, b, keyA, keyB) {
			if fuller(keyB, keyA) {
				a, b, keyA, keyB = b, a, keyB, keyA
			}
			d.addAlias(b, a, keyB, keyA)
		}
	}
}

// fuller reports whether a name has more words than another.
func fuller(a, b string) bool { return strings.Count(a, " ") > strings.Count(b, " ") }

// onePerson reports whether one of two names contains a familiar form of the other's first name: Bob of Robert Smith.
func (d *doc) onePerson(a, b *language.Name, keyA, keyB string) bool {
	if fuller(keyB, keyA) {
		a, b, keyA, keyB = b, a, keyB, keyA
	}
	if strings.Contains(keyB, " ") || a.Type != extract.TypePerson && a.Type != extract.TypeConcept || b.Type != extract.TypePerson && b.Type != extract.TypeConcept {
		return false
	}
	first, _, ok := strings.Cut(keyA, " ")
	if !ok {
		return familiar(keyB, keyA) || familiar(keyA, keyB)
	}
	return familiar(keyB, first) || strings.HasSuffix(keyA, " "+keyB)
}

// familiar reports whether short is a familiar form of a given name.
func familiar(short, full string) bool {
	for _, f := range aliases().full[short] {
		if f == full {
			return true
		}
	}
	return len(short) >= minShortName && len(full) > len(short) && strings.HasPrefix(full, short)
}

func (d *doc) hitKey(h *language.Name) string {
	if h.Key != "" {
		return h.Key
	}
	return extract.Key(d.SpanText(h.Lo, h.Hi))
}

// addAlias adds short as an alias of full.
func (d *doc) addAlias(short, full *language.Name, shortKey, fullKey string) {
	s := &d.Sentences[full.Sentence]
	if s.Question || len(d.out.Aliases) >= maxAliases {
		return
	}
	if d.hasAlias(shortKey, fullKey) {
		return
	}
	for _, h := range [...]*language.Name{short, full} {
		d.AddMention(extract.Mention{Name: d.SpanText(h.Lo, h.Hi), Key: d.hitKey(h), Type: h.Type, Start: int(d.Tokens[h.Lo].Start), End: int(d.Tokens[h.Hi-1].End)})
	}
	d.out.Aliases = append(d.out.Aliases, extract.Alias{Name: shortKey, Of: fullKey, Context: clip(d.sentenceText(s))})
}

// bracketedAcronyms reads "International Business Machines (IBM)" and "IBM (International Business Machines)".
func (d *doc) bracketedAcronyms() {
	for k := range d.Sentences {
		s := &d.Sentences[k]
		for i := s.Lo + 1; i+2 < s.Hi; i++ {
			if !d.IsPunct(s, i, '(') {
				continue
			}
			closing := i + 1
			for closing < s.Hi && closing < i+language.MaxSpan && !d.IsPunct(s, closing, ')') {
				closing++
			}
			if !d.IsPunct(s, closing, ')') {
				continue
			}
			if closing == i+2 && d.acronym(i+1) {
				if lo := d.spelledBefore(s, i, d.TokenText(i+1)); lo < i {
					d.acronymAlias(k, language.Span{Lo: i + 1, Hi: i + 2}, language.Span{Lo: lo, Hi: i})
				}
			} else if d.acronym(i-1) && d.initialsAre(i+1, closing, d.TokenText(i-1)) {
				d.acronymAlias(k, language.Span{Lo: i - 1, Hi: i}, language.Span{Lo: i + 1, Hi: closing})
			}
		}
	}
}

func (d *doc) acronymAlias(sent int, short, full language.Span) {
	a := language.Name{Lo: short.Lo, Hi: short.Hi, Sentence: sent, Type: extract.TypeConcept}
	b := language.Name{Lo: full.Lo, Hi: full.Hi, Sentence: sent, Type: d.TypeOf(full.Lo, full.Hi)}
	a.Type = b.Type
	if keyA, keyB := d.hitKey(&a), d.hitKey(&b); keyA != "" && keyB != "" && keyA != keyB {
		d.addAlias(&a, &b, keyA, keyB)
	}
}

// acronym reports whether token i consists of two to eight capitals.
func (d *doc) acronym(i int) bool {
	w := d.TokenText(i)
	if len(w) < 2 || len(w) > maxAcronym || d.Tokens[i].Kind != language.KindWord && d.Tokens[i].Kind != language.KindIdentifier {
		return false
	}
	for j := range len(w) {
		if !language.IsUpperByte(w[j]) {
			return false
		}
	}
	return true
}

// spelledBefore returns the start of the words before token i whose initials form an acronym, or i if there are none.
func (d *doc) spelledBefore(s *language.Sentence, i int, acronym string) int {
	for lo := i - 1; lo >= s.Lo && lo >= i-language.MaxSpan; lo-- {
		if d.initialsAre(lo, i, acronym) {
			return lo
		}
	}
	return i
}

// initialsAre reports whether the initials of the capitalised words [lo, hi) form an acronym; lower-case words between them may be
// missing in it.
func (d *doc) initialsAre(lo, hi int, acronym string) bool {
	at, words := 0, 0
	for i := lo; i < hi; i++ {
		t := &d.Tokens[i]
		if t.Kind == language.KindPunct && (t.Sign == '&' || t.Sign == '-' || t.Sign == '.' && t.Gap == language.NoGap) && i > lo {
			continue
		}
		if t.Kind != language.KindWord {
			return false
		}
		r, _ := utf8.DecodeRuneInString(d.TokenText(i))
		switch {
		case at < len(acronym) && unicode.IsUpper(r) && unicode.ToUpper(r) == rune(acronym[at]):
			at++
			words++
		case i > lo && t.Shape == language.LowerCase && t.Is(language.NameConnector|language.Preposition|language.Conjunction|language.Determiner):
			if at < len(acronym) && unicode.ToUpper(r) == rune(acronym[at]) && i+1 < hi && !d.startsWith(i+1, acronym[at]) {
				at++ // "Department of Defense (DOD)"
			}
		default:
			return false
		}
	}
	return at == len(acronym) && words > 1
}

func (d *doc) startsWith(i int, c byte) bool { return d.TokenText(i)[0] == c }

// likelyAliases makes the first name of a person stand for the full name, in memories, where people usually mention a known person by
// first name. The Store drops the alias if two people have that first name.
func (d *doc) likelyAliases() {
	if !d.in.Memory {
		return
	}
	self, _, _ := strings.Cut(extract.Key(d.in.Speaker), " ")
	for i := range d.Mentions {
		m := &d.Mentions[i]
		if m.Type != extract.TypePerson || m.Part || m.Phrase || len(d.out.Aliases) >= maxAliases {
			continue
		}
		first, _, ok := nameWords(m.Key)
		if !ok || first == "" || first == self {
			continue
		}
		if w := language.Lookup(first); w.Flags&language.GivenName == 0 || w.Flags&(language.PlaceName|language.Month|language.Weekday|language.Season) != 0 {
			continue
		}
		if d.hasAlias(first, m.Key) {
			continue
		}
		d.out.Aliases = append(d.out.Aliases, extract.Alias{Name: first, Of: m.Key, Likely: true})
	}
}

func (d *doc) hasAlias(name, of string) bool {
	for _, a := range d.out.Aliases {
		if a.Name == name && a.Of == of {
			return true
		}
	}
	return false
}
