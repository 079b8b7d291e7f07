package rules

import (
	"embed"
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
}

// tableForm is one kind of statement.
type tableForm struct {
	predicate, kind, text                string
	functional, negated, retracts, moves bool
}

// phrase holds the words around the object of a form. "*" is any one word, "{o}" the object, "{k}" a word for family.
type phrase struct {
	form          *tableForm
	before, after []string
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
	for _, name := range [...]string{"spanish", "german", "french", "portuguese", "italian"} {
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
		articles: set("articles"), cuts: set("cuts"), joins: set("joins"), not: set("not"), kin: make(map[string]string)}
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

// newForm parses a predicate with its marks: "-" retracts, "!" negates, "@" makes the date of the sentence the start of validity.
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
		p := &phrase{form: f, before: keys(before), after: keys(after)}
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
		if w != "*" && w != "{k}" && w != "{n}" {
			w = extract.Key(w)
		}
		out = append(out, w)
	}
	return out
}

// formAt returns the longest phrase of a table that begins at token i, and its object [lo, hi), which ends before the closing words;
// hi is 0 if nothing closes it. word is the token that matches "*" or "{k}".
func (d *doc) formAt(s *language.Sentence, l *phrases, table map[string][]*phrase, i int) (p *phrase, lo, hi, word int) {
	for _, p := range table[d.WordKey(i)] {
		j, word := i, -1
		ok := true
		for n, w := range p.before {
			if ok = j < s.Hi; !ok {
				break
			}
			switch key := d.WordKey(j); {
			case w == "*":
				word, ok = j, d.Tokens[j].Kind == language.KindWord
			case w == "{k}":
				word, ok = j, l.kin[key] != ""
			default:
				ok = key == w
			}
			if ok = ok && (n == 0 || d.Tokens[j].Gap <= language.LineGap); !ok {
				break
			}
			j++
		}
		if !ok || j >= s.Hi {
			continue
		}
		if len(p.after) == 0 {
			return p, j, 0, word
		}
		for end := j + 1; end+len(p.after) <= s.Hi && end <= j+language.MaxSpan && d.Tokens[end-1].Kind != language.KindPunct; end++ {
			match := true
			for n, w := range p.after {
				match = match && d.WordKey(end+n) == w
			}
			if match {
				return p, j, end, word
			}
		}
	}
	return nil, 0, 0, 0
}
