package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// language is what the rules know of a language other than English: its function words and the phrases that make a
// statement. The tables are in lang_*.go.
type language struct {
	flag     flag
	function string // words that show the language, the more frequent ones
	forms    string // a form a line: predicate and marks; sentence; phrases in the first person; in the third
	kin      string // "word=english" for words of family, friends and pets
	kinForms string // phrases for "my KIN is called X" with the words {k} and {o}
	kinText  string // the sentence for it
	articles string // words before an object that are not part of it
	cuts     string // words that an object does not go beyond
	joins    string // words that join two objects
	not      string // words before a statement that make it none: "if", "would"

	firstForms, thirdForms map[string][]*phrase // by their first word
	articleSet, cutSet     map[string]bool
	joinSet, notSet        map[string]bool
	kinWords               map[string]string

	weekdays, seasons, numbers, dates string // see datePhrase; numbers are "word=value"

	dateForms                        map[string][]*datePhrase
	weekdaySet, seasonSet, numberSet map[string]int
}

// tableForm is one kind of statement.
type tableForm struct {
	predicate, kind, text                string
	functional, negated, retracts, moves bool
}

// phrase is the words around the object of a form; "*" is any one word, "{o}" the object, "{k}" a word of family.
type phrase struct {
	form          *tableForm
	before, after []string
}

// predicateKinds are the kinds of predicates that forms use; others are facts.
var predicateKinds = map[string]string{"likes": extract.KindPreference, "dislikes": extract.KindPreference, "prefers": extract.KindPreference, "favorite": extract.KindPreference,
	"wants": extract.KindGoal, "visited": extract.KindEvent, "bought": extract.KindEvent}

// objectTypes type the objects of predicates that nothing else types.
var objectTypes = map[string]string{"lives_in": extract.TypeLocation, "from": extract.TypeLocation, "visited": extract.TypeLocation, "works_at": extract.TypeOrganization, "name": extract.TypePerson}

// functionalPredicates have one value at a time.
var functionalPredicates = map[string]bool{"lives_in": true, "works_at": true, "has_role": true, "age": true, "birthday": true, "name": true, "favorite": true}

// languages are those with tables, the likelier first where two have equally many words in a sentence.
var languages = func() []*language {
	all := []*language{&spanish, &german, &french, &portuguese, &italian}
	for _, l := range all {
		l.prepare()
	}
	return all
}()

func (l *language) prepare() {
	set := func(words string) map[string]bool {
		m := make(map[string]bool)
		for w := range strings.FieldsSeq(words) {
			m[extract.Key(w)] = true
		}
		return m
	}
	l.articleSet, l.cutSet, l.joinSet, l.notSet = set(l.articles), set(l.cuts), set(l.joins), set(l.not)
	l.firstForms, l.thirdForms = make(map[string][]*phrase), make(map[string][]*phrase)
	l.kinWords = make(map[string]string)
	for pair := range strings.FieldsSeq(l.kin) {
		w, english, _ := strings.Cut(pair, "=")
		l.kinWords[extract.Key(w)] = english
	}
	for line := range strings.SplitSeq(strings.TrimSpace(l.forms), "\n") {
		col := strings.Split(line, "|")
		f := newForm(strings.TrimSpace(col[0]), strings.TrimSpace(col[1]))
		addPhrases(l.firstForms, f, col[2])
		if len(col) > 3 {
			addPhrases(l.thirdForms, f, col[3])
		}
	}
	addPhrases(l.firstForms, &tableForm{predicate: "kin", kind: extract.KindRelationship, text: l.kinText}, l.kinForms)
	l.dateForms = parseDatePhrases(l.dates)
	order := func(words string, step int) map[string]int {
		m := make(map[string]int)
		for i, w := range strings.Fields(words) {
			m[extract.Key(w)] = i * step
		}
		return m
	}
	l.weekdaySet, l.seasonSet, l.numberSet = order(l.weekdays, 1), order(l.seasons, 3), make(map[string]int)
	for pair := range strings.FieldsSeq(l.numbers) {
		w, value, _ := strings.Cut(pair, "=")
		l.numberSet[extract.Key(w)], _ = strconv.Atoi(value)
	}
}

// newForm reads a predicate with its marks: "-" retracts, "!" denies, "@" counts from the sentence's date on.
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
			i++ // the longest first
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

// languagesOf returns the languages of which a sentence has most function words, several where they have equally many, and
// none where English has more.
func (d *doc) languagesOf(s *sentence) []*language {
	d.tongues = d.tongues[:0]
	if !d.foreign {
		return nil
	}
	var counts [8]int
	english := 0
	for i := s.lo; i < s.hi; i++ {
		f := d.toks[i].w.flags
		if f&(fEnglish|fTongues) == 0 {
			continue
		}
		if f&fEnglish != 0 && d.toks[i].end-d.toks[i].start > 2 { // short ones stand in other languages too: "me", "a", "in"
			english++
		}
		for k, l := range languages {
			if f&l.flag != 0 {
				counts[k]++
			}
		}
	}
	best := max(1, english, slices.Max(counts[:]))
	for k, l := range languages {
		if counts[k] == best {
			d.tongues = append(d.tongues, l)
		}
	}
	return d.tongues
}

// wordKey is the normal form of a word token, empty for other tokens.
func (d *doc) wordKey(i int) string {
	if k := d.toks[i].kind; k != kWord && k != kNumber {
		return ""
	}
	return extract.Key(d.str(i))
}

// formAt finds the phrase of a table that begins at token i, the longest first, and where its object lies: [lo, hi) up to
// its closing words, hi is 0 where nothing closes it. word is what "*" or "{k}" stands for.
func (d *doc) formAt(s *sentence, l *language, table map[string][]*phrase, i int) (p *phrase, lo, hi, word int) {
	for _, p := range table[d.wordKey(i)] {
		j, word := i, -1
		ok := true
		for n, w := range p.before {
			if ok = j < s.hi; !ok {
				break
			}
			switch key := d.wordKey(j); {
			case w == "*":
				word, ok = j, d.toks[j].kind == kWord
			case w == "{k}":
				word, ok = j, l.kinWords[key] != ""
			default:
				ok = key == w
			}
			if ok = ok && (n == 0 || d.toks[j].gap <= gapLine); !ok {
				break
			}
			j++
		}
		if !ok || j >= s.hi {
			continue
		}
		if len(p.after) == 0 {
			return p, j, 0, word
		}
		for end := j + 1; end+len(p.after) <= s.hi && end <= j+maxSpan && d.toks[end-1].kind != kPunct; end++ {
			match := true
			for n, w := range p.after {
				match = match && d.wordKey(end+n) == w
			}
			if match {
				return p, j, end, word
			}
		}
	}
	return nil, 0, 0, 0
}
