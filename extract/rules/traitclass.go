package rules

import (
	"strings"

	"github.com/contextmem/contextmem/internal/language"
)

// signClasses are the classes of signs; the class of others is "sign".
var signClasses = [128]string{',': "comma", '.': "stop", '!': "stop", '?': "stop", ';': "stop", ':': "stop", '(': "paren", ')': "paren", '"': "quote", '\'': "quote", '-': "dash"}

// flagClasses are the classes of words by their flags. The first that applies decides.
var flagClasses = []struct {
	flags language.Flag
	class string
}{
	{language.SecondPerson, "you"},
	{language.Masculine | language.Feminine, "he"},
	{language.Neuter | language.ThirdPlural, "it"},
	{language.Negation, "not"},
	{language.FormOfBe, "be"},
	{language.FormOfHave, "have"},
	{language.FormOfDo, "do"},
	{language.Modal, "modal"},
	{language.WhWord, "wh"},
	{language.Conjunction, "conj"},
	{language.Determiner, "det"},
	{language.NumberWord, "number"},
	{language.Preposition, "prep"},
	{language.Month | language.Weekday | language.DayWord | language.TimeUnit | language.Season, "time"},
	{language.KinNoun, "kin"},
	{language.Occupation, "role"},
}

// classFlags are all flags of flagClasses.
var classFlags = func() (all language.Flag) {
	for _, c := range flagClasses {
		all |= c.flags
	}
	return all
}()

// endClasses are the classes of words that are not in the tables, by their endings.
var endClasses = [...]struct{ end, class string }{{"ly", "adv"}, {"ing", "ing"}, {"ed", "past"}, {"in", "in"}}

// class returns a coarse part of speech of a token.
func (d *doc) class(i int) string {
	t := &d.Tokens[i]
	switch t.Kind {
	case language.KindPunct:
		if t.Sign < 128 && signClasses[t.Sign] != "" {
			return signClasses[t.Sign]
		}
		return "sign"
	case language.KindClitic:
		switch d.Text[t.End-1] {
		case 's':
			return "'s"
		case 'm':
			return "'m"
		}
		return "clitic"
	case language.KindNumber:
		return "number"
	case language.KindWord:
		return d.wordClass(t)
	}
	return "literal"
}

// wordClass is class for a word.
func (d *doc) wordClass(t *language.Token) string {
	if class := flagClass(t); class != "" {
		return class
	}
	switch {
	case t.Shape == language.UpperCase && t.End-t.Start > 1:
		return "caps"
	case t.Shape != language.LowerCase:
		return "name"
	case t.Is(language.Adjective):
		return "adj"
	case t.Is(language.Adverb):
		return "adv"
	case t.Word().Verb > 0:
		return formClass(t.Word().Form)
	case t.Is(language.FunctionWord):
		return "func"
	}
	w := d.Text[t.Start:t.End]
	for _, e := range endClasses {
		if strings.HasSuffix(w, e.end) {
			return e.class
		}
	}
	if plainPlural(w) {
		return "nouns"
	}
	return "noun"
}

// flagClass returns the class that the flags of a word give it, empty for none.
func flagClass(t *language.Token) string {
	if t.Is(language.FirstPerson | language.FirstPlural) {
		if t.Is(language.Possessive) {
			return "my"
		}
		return "i"
	}
	if !t.Is(classFlags) {
		return ""
	}
	for i := range flagClasses {
		if !t.Is(flagClasses[i].flags) {
			continue
		}
		if class := flagClasses[i].class; class != "he" || !t.Is(language.Possessive) {
			return class
		}
		return "his"
	}
	return ""
}

// formClass returns the class of a verb by the forms that the word can be.
func formClass(f language.Form) string {
	switch {
	case f&language.IngForm != 0:
		return "ing"
	case f&language.BaseForm != 0:
		return "verb"
	case f&language.PastForm != 0:
		return "past"
	case f&language.Participle != 0:
		return "part"
	}
	return "third"
}
