package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// turkishObject returns an object without the endings of its case: "fıstığ" is "fıstık", "İzmir'" "İzmir", "yer fıstığın" "yer fıstığı".
func (l *clauseLanguage) turkishObject(f *clausePhrase, form *tableForm, o string) string {
	if form.predicate == "birthday" {
		if k := strings.IndexAny(o, "'’"); k > 0 {
			o = o[:k]
		}
		return o
	}
	o = strings.TrimRight(o, "'’ ")
	one := strings.IndexByte(o, ' ') < 0
	switch f.ending {
	case "dat":
		if folded, _ := l.fold(o); slices.Contains(l.words["only-nominative"], folded) {
			return o // "yumurta alerjim var"
		}
		if k := strings.LastIndexAny(o, "'’"); k > 0 {
			return o[:k]
		}
		last, n := utf8.DecodeLastRuneInString(o)
		if !strings.ContainsRune("ae", last) {
			return o
		}
		o = o[:len(o)-n]
		before, m := utf8.DecodeLastRuneInString(o)
		switch {
		case before == 'y' && len(o) > 1 && turkishVowel(o[:len(o)-1]):
			return o[:len(o)-m]
		case before == 'n' && !one && len(o) > 1 && turkishVowel(o[:len(o)-1]):
			return o[:len(o)-m]
		}
		return turkishHard(o)
	case "acc":
		if k := strings.LastIndexAny(o, "'’"); k > 0 {
			return o[:k]
		}
		last, n := utf8.DecodeLastRuneInString(o)
		if !strings.ContainsRune("ıiuü", last) {
			return o
		}
		short := o[:len(o)-n]
		switch before, m := utf8.DecodeLastRuneInString(short); {
		case before == 'y' && turkishVowel(short[:len(short)-1]):
			return short[:len(short)-m]
		case before == 'ğ', strings.HasSuffix(short, "lar"), strings.HasSuffix(short, "ler"):
			return turkishHard(short)
		}
	}
	return o
}

// turkishVowel reports whether a text ends with a vowel.
func turkishVowel(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune("aeıioöuü", last)
}

// turkishHard returns a word with the consonant that it has without an ending: "ilac" is "ilaç".
func turkishHard(o string) string {
	last, n := utf8.DecodeLastRuneInString(o)
	hard := map[rune]string{'ğ': "k", 'b': "p", 'c': "ç", 'd': "t"}[last]
	if hard == "" || utf8.RuneCountInString(o) < 4 {
		return o
	}
	return o[:len(o)-n] + hard
}

// turkishSayable reports whether an object can be that of a predicate by its capitals: a home is a name, an employer too or one of the words for
// places of work.
func (r *clauseReader) turkishSayable(form *tableForm, o string) bool {
	first, _ := utf8.DecodeRuneInString(o)
	folded, _ := r.l.fold(o)
	words := strings.Fields(folded)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	named := strings.ContainsFunc(o, unicode.IsUpper)
	switch form.predicate {
	case "lives_in", "from":
		return named || len(words) == 1 && !r.d.hasCapitals() && utf8.RuneCountInString(o) > 3
	case "works_at":
		return named || slices.Contains(r.l.words["only-workplaces"], last)
	case "name", "kin", "kin-named":
		return unicode.IsUpper(first) || len(words) == 1 && !r.d.hasCapitals()
	}
	return true
}
