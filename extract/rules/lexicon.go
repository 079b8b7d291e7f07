package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

// flag says what a word can be; a word can be several things.
type flag uint64

const (
	fStop     flag = 1 << iota // function word: never a name alone, never begins one at a sentence start
	fStarter                   // often begins a sentence with a capital without being a name
	fConn                      // may stand inside a name in lower case
	fGiven                     // given name
	fPlace                     // country, state or city
	fDemonym                   // nationality or language
	fMonth                     // English month, num 1-12
	fMonthX                    // month in another language, num 1-12
	fWeekday                   // num 0-6, Sunday is 0
	fSeason                    // num is the first month
	fTitle                     // Dr, Mrs, President
	fAbbrev                    // a dot behind it does not end a sentence
	fOrg                       // a name with this word is an organisation
	fLoc                       // ... a location
	fEvent                     // ... an event
	fProject                   // ... a project
	fProduct                   // is a product, programming language or platform
	fUnit                      // unit of a quantity
	fTimeUnit                  // day, week, month, year; num is days
	fClock                     // am, pm, h
	fOrdinal                   // st, nd, rd, th
	fScale                     // million, k
	fCurrency                  // dollars, EUR
	fNum                       // number word, num is the value
	fI                         // I, me
	fWe
	fYou
	fHe
	fShe
	fIt
	fThey
	fPoss    // my, her, their: the pronoun flag says whose
	fBe      // am, is, was
	fHave    // have, had
	fDo      // do, did
	fModal   // will, can
	fFuture  // will, 'll, gonna
	fHyp     // would, could, if, maybe: what follows is not stated as true
	fNeg     // not, never, n't
	fRetract // "no longer", "anymore"
	fAdv     // may stand between subject and verb
	fDet     // a, the, this
	fPrep
	fConj
	fWh
	fDayWord  // today, yesterday; num is the offset in days, noWord for "no date"
	fTemporal // last, next, ago, since, during
	fDatePart // early, first, end: what follows is a part of a period
	fDateLead // a, few, in, last, this: a relative date may begin with it
	fKin      // wife, boss, friend
	fRole     // engineer, founder
	fAdj      // common adjective
	fNoun     // common noun that often begins a sentence
	fGerman   // function word of German
	fEnglish  // function word of English
	fForeign  // function word of another language
	fSpanish
	fFrench
	fPortuguese
	fItalian
	fYes
	fNo
)

// fTongues are the languages with tables.
const fTongues = fGerman | fSpanish | fFrench | fPortuguese | fItalian

// word is what the lexicon knows about a word.
type word struct {
	flags flag
	num   int16
	verb  int16 // index+1 into verbs
	form  form
}

// lookup finds a word in any case and with any Latin accents as they are in the lists.
func lookup(s string) word {
	if len(s) > maxLookup {
		return word{}
	}
	var key lexKey
	h := uint32(lexSeed)
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return lookupSlow(s)
		}
		if isUpperByte(c) {
			c |= 0x20
		}
		key[i] = c
		h = (h ^ uint32(c)) * lexPrime
	}
	w, _ := lexicon.find(&key, len(s), h)
	return w
}

func lookupSlow(s string) word {
	if w, ok := lexicon.get(strings.ReplaceAll(strings.ToLower(s), "’", "'")); ok {
		return w
	}
	w, _ := lexicon.get(extract.Key(s)) // "María" is in the list as "maria"
	return word{flags: w.flags & (fGiven | fPlace)}
}

func isUpperRune(r rune) bool { return unicode.IsUpper(r) }

func buildLexicon() *lexTable {
	m := make(map[string]word, 6000)
	add := func(f flag, words string) {
		for w := range strings.FieldsSeq(words) {
			e := m[w]
			e.flags |= f
			m[w] = e
		}
	}
	addNum := func(f flag, words string, first, step int) {
		n := first
		for w := range strings.FieldsSeq(words) {
			for alt := range strings.SplitSeq(w, "/") {
				e := m[alt]
				e.flags |= f
				e.num = int16(n)
				m[alt] = e
			}
			n += step
		}
	}
	addFunctionWords(add, addNum)
	addCues(add, addNum)
	add(fGiven, givenNames)
	add(fPlace, placeWords)
	add(fDemonym, demonyms)
	for _, l := range []*language{&spanish, &german, &french, &portuguese, &italian} {
		add(l.flag, l.function)
	}
	addVerbs(m)
	return newLexTable(m)
}
