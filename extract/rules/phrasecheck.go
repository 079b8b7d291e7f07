package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/language"
)

// phraseSayable is the last check of what a phrase of another language states in a memory. The tables match words without their accents and
// know no grammar, so this reports whether the verb is the one that the phrase means, nobody denies or quotes it, and the object can be one of
// the predicate. at is the phrase, object its object; own says that the phrase is in the first person.
func (d *doc) phraseSayable(s *language.Sentence, f *tableForm, at, object language.Span, own bool) bool {
	if !d.in.Memory && !d.in.Pairs || f.predicate == "kin" {
		return true
	}
	if d.accentDiffers(at, own) || !f.negated && !f.retracts && d.deniedPhrase(s, at, object) || own && d.quotedPhrase(s, at.Lo) {
		return false
	}
	if f.predicate == "wants" && at.Lo > s.Lo && wordLists()["phrase-clitics"][d.WordKey(at.Lo-1)] {
		return false // "lo voglio pronto": what is wanted stands before the verb
	}
	return d.phraseObject(s, f, at, object)
}

// phraseCodes are the codes of the languages that have tables of phrases.
var phraseCodes = map[string]string{"spanish": "es", "german": "de", "french": "fr", "portuguese": "pt", "italian": "it"}

// writtenIn reports whether a sentence of a memory can be in a language that has a table of phrases: its words, or those of the text, are not
// those of another one. "Ama" is a verb in Italian and "but" in Turkish.
func (d *doc) writtenIn(s *language.Sentence, name string) bool {
	if !d.in.Memory && !d.in.Pairs {
		return true
	}
	tongue := language.Guess(d.Text[d.Tokens[s.Lo].Start:d.Tokens[s.Hi-1].End])
	return tongue == "" || tongue == phraseCodes[name] || language.Guess(d.Text) == phraseCodes[name]
}

// accentDiffers reports whether a word of a phrase has another accent than the verb that the phrase means: "habló" is not "hablo", nor "e" "é".
func (d *doc) accentDiffers(at language.Span, own bool) bool {
	for i := at.Lo; i < at.Hi; i++ {
		w := d.TokenText(i)
		if w == "e" || own && strings.HasSuffix(w, "ó") {
			return true
		}
	}
	return false
}

// deniedPhrase reports whether a word before or behind a phrase denies it: "no quiero ir", "ich will nicht".
func (d *doc) deniedPhrase(s *language.Sentence, at, object language.Span) bool {
	for i := at.Lo - 1; i >= s.Lo && i >= at.Lo-2 && d.Tokens[i].Kind != language.KindPunct; i-- {
		if wordLists()["phrase-denials"][d.WordKey(i)] {
			return true
		}
	}
	return wordLists()["phrase-denials"][d.WordKey(object.Lo)]
}

// quotedPhrase reports whether the phrase at token i is what somebody says: "Nacho dice que soy un fantasma".
func (d *doc) quotedPhrase(s *language.Sentence, i int) bool {
	for j := i - 1; j > s.Lo && j >= i-3; j-- {
		switch d.WordKey(j) {
		case "que", "che", "dass":
			return wordLists()["phrase-saying"][d.WordKey(j-1)]
		}
	}
	return false
}

// phraseObject reports whether words can be the object of a predicate.
func (d *doc) phraseObject(s *language.Sentence, f *tableForm, at, object language.Span) bool {
	first, t := d.WordKey(object.Lo), &d.Tokens[object.Lo]
	if wordLists()["phrase-hollow"][first] && (object.Hi-object.Lo == 1 || f.predicate != "wants" && f.predicate != "prefers") {
		return false
	}
	number := t.Kind == language.KindNumber || at.Hi < object.Lo && d.Tokens[object.Lo-1].Kind == language.KindNumber
	switch f.predicate {
	case "speaks":
		for i := object.Lo; i < object.Hi; i++ {
			if wordLists()["phrase-languages"][d.WordKey(i)] {
				return true
			}
		}
		return false
	case "name":
		return t.Capital() || object.Hi-object.Lo == 1
	case "works_at":
		return !number && !d.nounPhrase(s, at.Lo) && (t.Shape != language.LowerCase || object.Lo > at.Hi || !infinitive(first))
	case "from":
		return !number && (t.Shape != language.LowerCase || object.Lo > at.Hi || !infinitive(first))
	case "has_role":
		return !number && !wordLists()["phrase-no-role"][first] && !wordLists()["phrase-no-role"][d.WordKey(at.Hi)]
	case "lives_in":
		return !number && !wordLists()["phrase-no-home"][first]
	}
	return true
}

// nounPhrase reports whether the word at token i is the noun "work", not the verb: "le dieron trabajo en Cancún".
func (d *doc) nounPhrase(s *language.Sentence, i int) bool {
	switch d.WordKey(i) {
	case "trabajo", "trabalho", "lavoro":
	default:
		return false
	}
	if i == s.Lo || d.Tokens[i-1].Kind != language.KindWord {
		return false
	}
	return !wordLists()["phrase-before-verb"][d.WordKey(i-1)]
}

// infinitive reports whether a word in lower case ends as infinitives do in Romance languages: "travaille pour payer".
func infinitive(w string) bool {
	for _, end := range [...]string{"ar", "er", "ir", "are", "ere", "ire", "arse", "rre"} {
		if strings.HasSuffix(w, end) && len(w) > len(end)+1 {
			return true
		}
	}
	return false
}

// scriptSayable is phraseSayable for Chinese and Japanese, where words have no signs between them.
func scriptSayable(predicate, object string, subject bool) bool {
	n := utf8.RuneCountInString(object)
	first, _ := utf8.DecodeRuneInString(object)
	switch predicate {
	case "age":
		return !strings.ContainsFunc(object, func(r rune) bool {
			return !unicode.IsDigit(r) && !strings.ContainsRune("零一二三四五六七八九十百廿半", r)
		}) && object != "十"
	case "name":
		return n <= 5 && !strings.ContainsRune("你我他她它牠这那這", first) || first < unicode.MaxLatin1 && !subject
	case "lives_in", "works_at":
		return n > 1 && !strings.ContainsRune("零一二三四五六七八九十两兩几幾", first)
	case "likes":
		return first != '人'
	}
	return !strings.HasSuffix(object, "不") && !strings.HasSuffix(object, "没")
}
