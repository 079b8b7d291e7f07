package rules

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// clauseLanguage is the table of a language that is read clause by clause: a phrase has to explain a whole clause but for its object and for words that
// add nothing to it. The files are in the folder tables; turkish.txt says what its sections are.
type clauseLanguage struct {
	code    string
	spaced  bool // words stand between spaces
	persons bool // verbs tell the person

	phrases []*clausePhrase

	marks                                                   string
	self, adverbs, tails, splits, joins, rather, from       []string
	asks, unsaid, others, stops, subjects, adjectives, open []string
	words                                                   map[string][]string // of the sections that limit objects: "no-lives_in", "only-roles"
}

// clausePhrase is what stands around the object of a form in a clause: "", "de yaşıyorum".
type clausePhrase struct {
	form          *tableForm
	list          string // the section that has to have the object
	ending        string // of the object, which is cut off it: "dat", "acc"
	before, after string
	skip          string // what comes before the object at some distance: "انتقلت {x} إلى {o}"
	isSkip        bool
	me            bool   // the speaker has to be named before
	middle        string // what stands between a place of work and an occupation
	kin           string // what the relative is in English
	word          string // the word for the relative
}

var (
	turkish = sync.OnceValue(func() *clauseLanguage { return readClauses("turkish", "tr") })
	korean  = sync.OnceValue(func() *clauseLanguage { return readClauses("korean", "ko") })
	arabic  = sync.OnceValue(func() *clauseLanguage { return readClauses("arabic", "ar") })
	hindi   = sync.OnceValue(func() *clauseLanguage { return readClauses("hindi", "hi") })
	thai    = sync.OnceValue(func() *clauseLanguage { return readClauses("thai", "th") })
)

func readClauses(name, code string) *clauseLanguage {
	table := readTable(name)
	l := &clauseLanguage{code: code, spaced: table["spaced"] != "", persons: table["persons"] != "", words: make(map[string][]string)}
	list := func(section string) []string {
		var out []string
		for w := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(table[section]), "\n", ","), ",") {
			for _, w := range alternatives(strings.ReplaceAll(strings.TrimSpace(w), "_", " ")) {
				if w, _ = l.fold(w); w != "" {
					out = append(out, w)
				}
			}
		}
		slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) }) // longer ones first
		return out
	}
	l.marks = strings.ReplaceAll(strings.Join(strings.Fields(table["marks"]), ""), "_", " ") + "\n"
	l.self, l.adverbs, l.tails, l.splits, l.joins, l.rather, l.from = list("self"), list("adverbs"), list("tails"), list("splits"), list("joins"), list("rather"), list("from")
	l.asks, l.unsaid, l.others, l.stops, l.subjects = list("asks"), list("unsaid"), list("others"), list("stops"), list("subjects")
	l.adjectives, l.open = list("adjectives"), list("open")
	for section := range table {
		if strings.HasPrefix(section, "no-") || strings.HasPrefix(section, "only-") {
			l.words[section] = list(section)
		}
	}
	let := make(map[string]string)
	for line := range strings.SplitSeq(strings.TrimSpace(table["let"]), "\n") {
		if name, value, ok := strings.Cut(line, "="); ok {
			let["<"+strings.TrimSpace(name)+">"] = "(" + strings.TrimSpace(value) + ")"
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(table["forms"]), "\n") {
		col := strings.SplitN(line, ";", 3)
		predicate, only, _ := strings.Cut(strings.TrimSpace(col[0]), ":")
		f := newForm(predicate, strings.TrimSpace(col[1]))
		if strings.HasPrefix(f.predicate, "kin") {
			f.kind = extract.KindRelationship
		}
		for text := range strings.SplitSeq(col[2], ",") {
			for name, value := range let {
				text = strings.ReplaceAll(text, name, value)
			}
			for _, text := range alternatives(strings.TrimSpace(text)) {
				l.addPhrase(f, only, text, table)
			}
		}
	}
	seen := make(map[clausePhrase]bool)
	l.phrases = slices.DeleteFunc(l.phrases, func(p *clausePhrase) bool { // alternatives of two phrases may be the same
		same := *p
		same.form = nil
		again := seen[same]
		seen[same] = true
		return again
	})
	slices.SortStableFunc(l.phrases, func(a, b *clausePhrase) int {
		return len(b.before) + len(b.after) + len(b.middle) - len(a.before) - len(a.after) - len(a.middle)
	})
	return l
}

// alternatives returns the texts that a phrase stands for: "{o}(da/de) yaşıyorum" are two.
func alternatives(text string) []string {
	open := strings.IndexByte(text, '(')
	if open < 0 {
		return []string{text}
	}
	end := open + strings.IndexByte(text[open:], ')')
	var out []string
	for one := range strings.SplitSeq(text[open+1:end], "/") {
		out = append(out, alternatives(text[:open]+one+text[end+1:])...)
	}
	return out
}

// addPhrase adds a phrase, once for each word of the list of relatives that it names: "{k:of} adı {o}".
func (l *clauseLanguage) addPhrase(f *tableForm, only, text string, table map[string]string) {
	if at := strings.Index(text, "{k"); at >= 0 {
		end := at + strings.IndexByte(text[at:], '}')
		section := "kin" + strings.Replace(text[at+2:end], ":", "-", 1)
		for pair := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(table[section]), "\n", ","), ",") {
			if word, english, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
				p := l.newPhrase(f, only, text[:at]+word+text[end+1:])
				p.kin, p.word = english, word
				l.phrases = append(l.phrases, p)
			}
		}
		return
	}
	l.phrases = append(l.phrases, l.newPhrase(f, only, text))
}

func (l *clauseLanguage) newPhrase(f *tableForm, only, text string) *clausePhrase {
	p := &clausePhrase{form: f}
	if only = strings.TrimSpace(only); only != "" {
		p.list = "only-" + only
	}
	for _, ending := range [...]string{"dat", "acc"} {
		if strings.Contains(text, "{o:"+ending+"}") {
			p.ending, text = ending, strings.Replace(text, "{o:"+ending+"}", "{o}", 1)
		}
	}
	text, p.me = strings.CutPrefix(text, "{me} ")
	text, _ = l.fold(text)
	before, after, ok := strings.Cut(text, "{o}")
	if !ok {
		panic("rules: a phrase without an object: " + text)
	}
	p.before, p.after = before, after
	p.before, p.skip, p.isSkip = strings.Cut(p.before, "{x}")
	if middle, after, ok := strings.Cut(p.after, "{r}"); ok {
		p.middle, p.after = middle, after
	}
	return p
}

// fold returns a text in the form in which the phrases of a language are compared, and for each byte of it, and its end, the offset in text: lower case;
// in Arabic without vowel signs and with one form of alef; in Hindi without dots below and with one sign for nasal vowels.
func (l *clauseLanguage) fold(text string) (string, []int32) {
	var b strings.Builder
	at := make([]int32, 0, len(text)+1)
	for i, r := range text {
		n := b.Len()
		if r = l.letter(r); r > 0 {
			b.WriteRune(r)
		}
		for range b.Len() - n {
			at = append(at, int32(i))
		}
	}
	return b.String(), append(at, int32(len(text)))
}

// letter returns the form of a letter in which it is compared, 0 for none.
func (l *clauseLanguage) letter(r rune) rune {
	switch {
	case r == 'I' && l.code == "tr":
		return 'ı'
	case r == 'İ':
		return 'i'
	case r == '’' || r == '‘':
		return '\''
	case r == 'أ' || r == 'إ' || r == 'آ':
		return 'ا'
	case r == 'ى':
		return 'ي'
	case r >= 0x064B && r <= 0x0652, r == 0x0640, r == 0x093C, r >= 0x200B && r <= 0x200F:
		return 0
	case r == 0x0901:
		return 0x0902
	case r >= 0x0958 && r <= 0x095F:
		return [...]rune{'क', 'ख', 'ग', 'ज', 'ड', 'ढ', 'फ', 'य'}[r-0x0958]
	case r == '\t' || r == 0xA0:
		return ' '
	}
	return unicode.ToLower(r)
}

// clauseTongue returns the table of the language that a sentence in a script without capitals is in, nil if it has none.
func clauseTongue(d *doc, s *language.Sentence) *clauseLanguage {
	for i := s.Lo; i < s.Hi; i++ {
		if d.Tokens[i].Kind != language.KindScript {
			continue
		}
		for _, r := range d.TokenText(i) {
			switch {
			case r >= 0xAC00 && r <= 0xD7A3:
				return korean()
			case r >= 0x0621 && r <= 0x064A:
				return arabic()
			case r >= 0x0904 && r <= 0x0939:
				return hindi()
			case r >= 0x0E01 && r <= 0x0E46:
				return thai()
			case r >= 0x3040 && r <= 0x30FF || unicode.Is(unicode.Han, r):
				return nil
			}
		}
	}
	return nil
}
