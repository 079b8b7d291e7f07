package language

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/extract"
)

// DateLanguage is a language other than English whose relative dates are recognised.
type DateLanguage struct {
	Name     string // "spanish"
	flag     Flag
	dates    map[string][]*datePhrase // by the first word
	weekdays map[string]int           // 0 is Sunday
	seasons  map[string]int           // number of the first month
	numbers  map[string]int
}

//go:embed tables/spanish.txt
var spanishTable string

//go:embed tables/german.txt
var germanTable string

//go:embed tables/french.txt
var frenchTable string

//go:embed tables/portuguese.txt
var portugueseTable string

//go:embed tables/italian.txt
var italianTable string

// dateTables are the languages with tables. When two languages have equally many words in a sentence, the first one is more likely.
var dateTables = [...]struct {
	name  string
	flag  Flag
	table *string
}{
	{"spanish", Spanish, &spanishTable}, {"german", German, &germanTable}, {"french", French, &frenchTable},
	{"portuguese", Portuguese, &portugueseTable}, {"italian", Italian, &italianTable},
}

// dateLanguages reads the tables when the first text in another language is read.
var dateLanguages = sync.OnceValue(func() []*DateLanguage {
	var out []*DateLanguage
	for i := range dateTables {
		t := &dateTables[i]
		out = append(out, readDateLanguage(t.name, t.flag, *t.table))
	}
	return out
})

func readDateLanguage(name string, f Flag, table string) *DateLanguage {
	sections := TableSections(table)
	order := func(words string, step int) map[string]int {
		m := make(map[string]int)
		for i, w := range strings.Fields(words) {
			m[extract.Key(w)] = i * step
		}
		return m
	}
	numbers := make(map[string]int)
	for pair := range strings.FieldsSeq(sections["numbers"]) {
		w, value, _ := strings.Cut(pair, "=")
		numbers[extract.Key(w)], _ = strconv.Atoi(value)
	}
	return &DateLanguage{Name: name, flag: f, dates: parseDatePhrases(sections["dates"]), weekdays: order(sections["weekdays"], 1),
		seasons: order(sections["seasons"], 3), numbers: numbers}
}

// LanguagesOf returns the languages with the most function words in a sentence: several if they have equally many, and none if English
// has more.
func (d *Document) LanguagesOf(s *Sentence) []*DateLanguage {
	d.dateLanguages = d.dateLanguages[:0]
	if !d.Foreign {
		return nil
	}
	all := dateLanguages()
	var counts [8]int
	english := 0
	for i := s.Lo; i < s.Hi; i++ {
		f := d.Tokens[i].Word().Flags
		if f&(English|tableFlags) == 0 {
			continue
		}
		if f&English != 0 && d.Tokens[i].End-d.Tokens[i].Start > 2 { // short words occur in several languages: "me", "a", "in"
			english++
		}
		if f&tableFlags == 0 {
			continue
		}
		for k, l := range all {
			if f&l.flag != 0 {
				counts[k]++
			}
		}
	}
	best := max(1, english, slices.Max(counts[:]))
	for k, l := range all {
		if counts[k] == best {
			d.dateLanguages = append(d.dateLanguages, l)
		}
	}
	return d.dateLanguages
}

// WordKey returns the normal form of a word token, empty for other tokens.
func (d *Document) WordKey(i int) string {
	if k := d.Tokens[i].Kind; k != KindWord && k != KindNumber {
		return ""
	}
	w := d.TokenText(i)
	if len(w) == 1 {
		switch c := w[0]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return w
		case c >= 'A' && c <= 'Z':
			return letters[c-'A' : c-'A'+1] // "I"
		}
	}
	return extract.Key(w)
}

// letters are the keys of words of one letter.
const letters = "abcdefghijklmnopqrstuvwxyz"
