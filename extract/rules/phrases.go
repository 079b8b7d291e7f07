package rules

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// phrases holds the phrases that make a statement in a language in Latin script other than English. There is one table per language in
// the folder tables.
type phrases struct {
	kinText               string               // template of the sentence for a relative
	first, third          map[string][]*phrase // phrases in the first person and after a name, by the first word
	articles, cuts, joins map[string]bool
	not                   map[string]bool
	kin                   map[string]string // words for family, friends and pets, and their English translations

	// What memories are checked by.
	unsaid    map[string]bool // words behind which somebody else speaks, or which tell a story; "a_b" are two words
	pairs     bool            // unsaid has two words
	reflexive map[string]bool // words before which a word of not is a pronoun: "se chama"
	roles     map[string]bool // occupations
	roleEnds  []string        // what the last part of an occupation in one word is: "Softwareentwickler"
	homes     map[string]bool // common nouns that are places to live in
	preps     map[string]bool // words that an object of what somebody likes goes beyond, and an occupation does not
	mine      map[string]bool // "my"
	who       map[string]bool // relative pronouns of persons
	exact     bool            // accents tell verbs apart: "pracuje", "pracuję"

	// Where verbs in the past do not tell the person: pronouns of the speaker and of others, and words that may stand between a subject and its verb.
	we, he, adverbs map[string]bool
	things          map[string]bool // common nouns that a sentence may begin with, and no names
}

// tableForm is one kind of statement.
type tableForm struct {
	predicate, kind, text                string
	functional, negated, retracts, moves bool
	role                                 bool // the object is an occupation of the table
	bare                                 bool // the object is a number of two digits and nothing else: "ich bin 41"
}

// phrase holds the words around the object of a form. "*" is any one word, "~" up to four words, "{o}" the object, "{k}" a
// word for family.
type phrase struct {
	form          *tableForm
	before, after []string
	said          []string // the words of before with their accents
	gap           bool     // before has "~"
}

// predicateKinds maps predicates of forms to kinds; the kind of all others is fact.
var predicateKinds = map[string]string{"likes": extract.KindPreference, "dislikes": extract.KindPreference, "prefers": extract.KindPreference, "favorite": extract.KindPreference,
	"wants": extract.KindGoal, "visited": extract.KindEvent, "bought": extract.KindEvent}

// objectTypes are the types of objects that nothing else gives a type.
var objectTypes = map[string]string{"lives_in": extract.TypeLocation, "from": extract.TypeLocation, "visited": extract.TypeLocation, "works_at": extract.TypeOrganization, "name": extract.TypePerson}

// functionalPredicates have one value at a time.
var functionalPredicates = map[string]bool{"lives_in": true, "works_at": true, "has_role": true, "age": true, "birthday": true, "name": true, "favorite": true}

//go:embed tables/*.txt
var tables embed.FS

// phraseTables holds the phrases of each language. They are read when the first text in another language is read.
var phraseTables = sync.OnceValue(func() map[string]*phrases {
	m := make(map[string]*phrases)
	for name := range phraseCodes {
		m[name] = readPhrases(readTable(name))
	}
	return m
})

// readTable returns the sections of a table of this package.
func readTable(name string) map[string]string {
	b, err := tables.ReadFile("tables/" + name + ".txt")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return language.TableSections(string(b))
}

func readPhrases(table map[string]string) *phrases {
	set := func(name string) map[string]bool {
		m := make(map[string]bool)
		for w := range strings.FieldsSeq(table[name]) {
			m[extract.Key(w)] = true
		}
		return m
	}
	p := &phrases{kinText: strings.TrimSpace(table["kin-text"]), first: make(map[string][]*phrase), third: make(map[string][]*phrase),
		articles: set("articles"), cuts: set("cuts"), joins: set("joins"), not: set("not"), kin: make(map[string]string),
		unsaid: set("unsaid"), reflexive: set("reflexive"), roles: set("roles"), homes: set("homes"), preps: set("preps"), mine: set("mine"), who: set("who"), we: set("we"), he: set("he"), adverbs: set("adverbs"), things: set("things"), exact: table["exact"] != ""}
	for w := range strings.FieldsSeq(table["role-ends"]) {
		p.roleEnds = append(p.roleEnds, extract.Key(w))
	}
	for w := range strings.FieldsSeq(table["unsaid"]) {
		if a, b, ok := strings.Cut(w, "_"); ok {
			p.unsaid[extract.Key(a)+"_"+extract.Key(b)], p.pairs = true, true
		}
	}
	for pair := range strings.FieldsSeq(table["kin"]) {
		w, english, _ := strings.Cut(pair, "=")
		p.kin[extract.Key(w)] = english
	}
	for line := range strings.SplitSeq(strings.TrimSpace(table["forms"]), "\n") {
		col := strings.Split(line, "|")
		f := newForm(strings.TrimSpace(col[0]), strings.TrimSpace(col[1]))
		addPhrases(p.first, f, col[2])
		if len(col) > 3 {
			addPhrases(p.third, f, col[3])
		}
	}
	addPhrases(p.first, &tableForm{predicate: "kin", kind: extract.KindRelationship, text: p.kinText}, strings.TrimSpace(table["kin-forms"]))
	return p
}

// newForm parses a predicate with its marks: "-" retracts, "!" negates, "@" makes the date of the sentence the start of
// validity, "%" wants an occupation of the table as object, "=" a number.
func newForm(predicate, text string) *tableForm {
	f := &tableForm{text: text}
	for {
		switch predicate[0] {
		case '-':
			f.retracts = true
		case '!':
			f.negated = true
		case '@':
			f.moves = true
		case '%':
			f.role = true
		case '=':
			f.bare = true
		default:
			f.predicate, f.kind = predicate, predicateKinds[predicate]
			if f.kind == "" {
				f.kind = extract.KindFact
			}
			f.functional = functionalPredicates[predicate] && !f.retracts && !f.negated
			return f
		}
		predicate = predicate[1:]
	}
}

func addPhrases(m map[string][]*phrase, f *tableForm, list string) {
	for text := range strings.SplitSeq(list, ",") {
		before, after, _ := strings.Cut(text, "{o}")
		p := &phrase{form: f, before: keys(before), after: keys(after), said: strings.Fields(before), gap: strings.Contains(before, "~")}
		if len(p.before) == 0 {
			continue
		}
		at := m[p.before[0]]
		i := 0
		for i < len(at) && len(at[i].before)+len(at[i].after) >= len(p.before)+len(p.after) {
			i++ // longer phrases first
		}
		m[p.before[0]] = append(at[:i:i], append([]*phrase{p}, at[i:]...)...)
	}
}

func keys(words string) []string {
	var out []string
	for w := range strings.FieldsSeq(words) {
		if w != "*" && w != "~" && w != "{k}" {
			w = extract.Key(w)
		}
		out = append(out, w)
	}
	return out
}

// formAt returns the longest phrase of a table that begins at token i, or one with an object before that of a phrase with "~", and its object
// [lo, hi), which ends before the closing words; hi is 0 if nothing closes it. word is the token that matches "*" or "{k}".
func (d *doc) formAt(s *language.Sentence, l *phrases, table map[string][]*phrase, i int) (p *phrase, lo, hi, word int) {
	for _, next := range table[d.WordKey(i)] {
		j, at := d.phraseEnd(s, l, next.before[1:], i+1)
		if j < 0 || j >= s.Hi || p != nil && j >= lo || next.form.role && !d.roleAt(s, l, j) || next.form.bare && d.Tokens[j].Kind != language.KindNumber || l.exact && !d.saysExactly(next, i) {
			continue
		}
		end := d.phraseClose(s, next, j)
		if end < 0 {
			continue
		}
		if p, lo, hi, word = next, j, end, at; !next.gap {
			break
		}
	}
	return p, lo, hi, word
}

// saysExactly reports whether the words from token i on are those of a phrase in their form, up to its first gap.
func (d *doc) saysExactly(p *phrase, i int) bool {
	for n, w := range p.said[:min(len(p.said), len(p.before))] {
		switch {
		case w == "*" || w == "~" || w == "{k}":
			return true
		case !strings.EqualFold(d.TokenText(i+n), w):
			return false
		}
	}
	return true
}

// phraseClose returns where the closing words of a phrase begin, whose object begins at token j: 0 if it has none, -1 if they are not there.
func (d *doc) phraseClose(s *language.Sentence, p *phrase, j int) int {
	if len(p.after) == 0 {
		return 0
	}
	for end := j + 1; end+len(p.after) <= s.Hi && end <= j+language.MaxSpan && (d.Tokens[end-1].Kind != language.KindPunct || d.ordinalDot(end-1, j)); end++ {
		match := true
		for n, w := range p.after {
			match = match && d.WordKey(end+n) == w
		}
		if match {
			return end
		}
	}
	return -1
}

// ordinalDot reports whether token i, behind token lo, is the point of a number: "am 3. März".
func (d *doc) ordinalDot(i, lo int) bool {
	return i > lo && d.Tokens[i].Sign == '.' && d.Tokens[i-1].Kind == language.KindNumber
}

// maxPhraseGap is how many words "~" stands for.
const maxPhraseGap = 4

// phraseEnd returns the token behind the words of a phrase that begin at token j, -1 if they are not there, and the token that matches "*" or
// "{k}".
func (d *doc) phraseEnd(s *language.Sentence, l *phrases, words []string, j int) (end, word int) {
	word = -1
	for n, w := range words {
		if w == "~" {
			for gap := 0; gap <= maxPhraseGap; gap++ {
				if end, inner := d.phraseEnd(s, l, words[n+1:], j+gap); end >= 0 {
					return end, max(word, inner)
				}
				if j+gap >= s.Hi || d.Tokens[j+gap].Kind == language.KindPunct && !d.ordinalDot(j+gap, j) || l.joins[d.WordKey(j+gap)] || wordLists()["phrase-denials"][d.WordKey(j+gap)] {
					break
				}
			}
			return -1, -1
		}
		if j >= s.Hi || d.Tokens[j].Gap > language.LineGap {
			return -1, -1
		}
		key := d.WordKey(j)
		switch w {
		case "*":
			if word = j; d.Tokens[j].Kind != language.KindWord {
				return -1, -1
			}
		case "{k}":
			if word = j; l.kin[key] == "" {
				return -1, -1
			}
		default:
			if key != w {
				return -1, -1
			}
		}
		j++
	}
	return j, word
}

// roleAt reports whether an occupation begins at token j, with or without an article.
func (d *doc) roleAt(s *language.Sentence, l *phrases, j int) bool {
	if j+1 < s.Hi && l.articles[d.WordKey(j)] {
		j++
	}
	return l.occupation(d.WordKey(j))
}

// occupation reports whether a word is an occupation.
func (l *phrases) occupation(w string) bool {
	return l.roles[w] || slices.ContainsFunc(l.roleEnds, func(end string) bool { return strings.HasSuffix(w, end) })
}
