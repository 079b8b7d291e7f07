package language

import "strings"

// Form says which forms of a verb a word can be.
type Form uint8

// Forms of verbs.
const (
	BaseForm   Form = 1 << iota // go
	ThirdForm                   // goes
	PastForm                    // went
	Participle                  // gone
	IngForm                     // going
)

// Verb is a verb of the tables.
type Verb struct {
	Base  string // "go"
	Third string // "goes"
}

// addVerbs reads the verbs into the lexicon and returns them.
func addVerbs(m map[string]Word, table string) []Verb {
	var out []Verb
	for w := range tableWords(table) {
		forms := strings.Split(w, "/")
		if len(forms) == 1 {
			forms = RegularForms(w)
		}
		out = append(out, Verb{Base: forms[0], Third: forms[1]})
		for i, list := range forms {
			for f := range strings.SplitSeq(list, "|") {
				e := m[f]
				if e.Verb == 0 || int(e.Verb) == len(out) {
					e.Verb = int16(len(out))
					e.Form |= 1 << i
					m[f] = e
				}
			}
		}
	}
	return out
}

// Verbs returns the verbs of the tables. The numbers in Word.Verb count from 1.
func Verbs() []Verb {
	load()
	return verbs
}

// VerbAt returns the verb with the number n, as in Word.Verb.
func VerbAt(n int16) *Verb { return &verbs[n-1] }

// RegularForms returns the forms of a regular verb.
func RegularForms(base string) []string {
	n := len(base)
	last := base[n-1]
	vowelBefore := n > 1 && strings.IndexByte("aeiou", base[n-2]) >= 0
	switch {
	case last == 'e':
		return []string{base, base + "s", base + "d", base + "d", base[:n-1] + "ing"}
	case last == 'y' && !vowelBefore:
		stem := base[:n-1]
		return []string{base, stem + "ies", stem + "ied", stem + "ied", base + "ing"}
	case strings.HasSuffix(base, "ch"), strings.HasSuffix(base, "sh"), last == 's', last == 'x', last == 'z':
		return []string{base, base + "es", base + "ed", base + "ed", base + "ing"}
	case doubles(base):
		d := base + string(last)
		return []string{base, base + "s", d + "ed", d + "ed", d + "ing"}
	}
	return []string{base, base + "s", base + "ed", base + "ed", base + "ing"}
}

// doubles reports whether the last consonant is doubled: in short words that end in consonant, vowel, consonant.
func doubles(base string) bool {
	n := len(base)
	if n < 3 || n > 4 || strings.IndexByte("aeiouwxy", base[n-1]) >= 0 {
		return false
	}
	isVowel := func(i int) bool { return strings.IndexByte("aeiou", base[i]) >= 0 }
	return isVowel(n-2) && !isVowel(n-3)
}
