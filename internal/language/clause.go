package language

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// Clause is a part of a sentence with its own verb: the tokens [Lo, Hi).
type Clause struct {
	Lo, Hi   int
	Sentence int // its index
	Mode     extract.Mode
	About    extract.About
	Who      Span // the speaker of a quoted clause (ModeQuote), else the subject; empty if nobody is named
	told     bool // the clause is what somebody was told, which may be untrue
	Report   bool // only introduces what somebody says or believes: "my boss thinks"
}

// ClauseOptions says how a text is divided into clauses. The zero value means a text with one speaker.
type ClauseOptions struct {
	// Pairs says that the text consists of turns that begin with "user:" and "assistant:".
	Pairs bool
}

// Clauses divides a text into clauses and determines the mode and the subject of each. It reads English; in other languages it
// recognises only sentences, questions and quotations. Clauses are in the order of the text and do not overlap; punctuation between
// them belongs to none.
func Clauses(text string, o ClauseOptions) []extract.Clause {
	d := newDocument(text, time.Time{})
	defer d.free()
	d.SplitText()
	d.languages()
	if o.Pairs {
		d.pairRoles()
	}
	d.ReadClauses()
	out := make([]extract.Clause, 0, len(d.Clauses))
	for i := range d.Clauses {
		c := &d.Clauses[i]
		start, end := int(d.Tokens[c.Lo].Start), int(d.Tokens[c.Hi-1].End)
		clause := extract.Clause{Text: d.Text[start:end], Start: start, End: end, Mode: c.Mode, About: c.About}
		if c.Who.Hi > c.Who.Lo {
			clause.Who = d.SpanText(c.Who.Lo, c.Who.Hi)
		}
		out = append(out, clause)
	}
	return out
}

// pairRoles gives each sentence the role of its turn and removes the label of the turn from it.
func (d *Document) pairRoles() {
	role := RoleNone
	for k := range d.Sentences {
		s := &d.Sentences[k]
		if (k == 0 || d.Tokens[s.Lo].Gap >= LineGap) && d.IsPunct(s, s.Lo+1, ':') {
			switch strings.ToLower(d.TokenText(s.Lo)) {
			case "user", "human":
				role = RoleUser
				s.Lo = min(s.Lo+2, s.Hi-1)
			case "assistant", "ai", "bot", "system":
				role = RoleAssistant
				s.Lo = min(s.Lo+2, s.Hi-1)
			}
		}
		s.Role = role
	}
}

// ReadClauses divides the sentences into clauses and finds their modes.
func (d *Document) ReadClauses() {
	d.Clauses = d.Clauses[:0]
	d.verbs = slices.Grow(d.verbs[:0], len(d.Tokens))[:len(d.Tokens)]
	clear(d.verbs)
	d.verbless = Span{}
	defer func() { d.verbs = d.verbs[:0] }() // later steps may change tokens
	d.findQuotes()
	for k := range d.Sentences {
		first := len(d.Clauses)
		d.findPhrases(&d.Sentences[k])
		d.cutSentence(k)
		d.sentenceModes(k, first)
	}
}

// ClauseOf returns the clause of token i, nil for punctuation between clauses.
func (d *Document) ClauseOf(i int) *Clause {
	lo, hi := 0, len(d.Clauses)
	for lo < hi {
		m := (lo + hi) / 2
		if d.Clauses[m].Hi <= i {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(d.Clauses) && d.Clauses[lo].Lo <= i {
		return &d.Clauses[lo]
	}
	return nil
}

// maxQuote is the maximum length of a quotation in tokens, so that an unclosed quotation mark does not quote the rest of the text.
const maxQuote = 400

// findQuotes marks the tokens between quotation marks.
func (d *Document) findQuotes() {
	d.quoted = d.quoted[:0]
	open, sign := -1, byte(0)
	for i := range d.Tokens {
		t := &d.Tokens[i]
		if t.Kind != KindPunct || t.Sign != '"' && t.Sign != '\'' {
			continue
		}
		if open >= 0 && (t.Sign == sign && (sign == '"' || t.Gap == NoGap) || i-open > maxQuote) {
			if i-open > 1 && i-open <= maxQuote && d.anyVerb(open+1, i) {
				d.quoted = append(d.quoted, Span{Lo: open + 1, Hi: i})
			}
			open = -1
			continue
		}
		if open < 0 && (t.Sign == '"' || t.Gap != NoGap && i+1 < len(d.Tokens) && d.Tokens[i+1].Gap == NoGap) {
			open, sign = i, t.Sign
		}
	}
}

// anyVerb reports whether the tokens [lo, hi) contain a verb form. A quotation without one is a name or a word.
func (d *Document) anyVerb(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		t := &d.Tokens[i]
		if t.Is(FormOfBe|FormOfHave|FormOfDo|Modal) || t.Kind == KindWord && t.Word().Verb > 0 && t.Shape == LowerCase || t.Kind == KindScript || t.Is(FirstPerson|tableFlags) {
			return hi-lo > 1
		}
	}
	return false
}

// quoteAt returns the quotation that contains token i, nil for none.
func (d *Document) quoteAt(i int) *Span {
	k := sort.Search(len(d.quoted), func(k int) bool { return d.quoted[k].Hi > i })
	if k < len(d.quoted) && d.quoted[k].Lo <= i {
		return &d.quoted[k]
	}
	return nil
}

// cutSentence adds the clauses of sentence k.
func (d *Document) cutSentence(k int) {
	s := &d.Sentences[k]
	first := len(d.Clauses)
	start := s.Lo
	flush := func(hi int, hard bool) {
		lo := start
		start = hi
		for lo < hi && d.Tokens[lo].Kind == KindPunct && d.Tokens[lo].Sign != '$' {
			lo++
		}
		for hi > lo && d.Tokens[hi-1].Kind == KindPunct && d.Tokens[hi-1].Sign != '%' && d.Tokens[hi-1].Sign != '?' && d.Tokens[hi-1].Sign != '!' {
			hi--
		}
		if lo >= hi {
			return
		}
		if n := len(d.Clauses); n > first && !hard && (!d.hasVerb(s, lo, hi) && !d.standsAlone(lo, hi) || !d.hasVerb(s, d.Clauses[n-1].Lo, d.Clauses[n-1].Hi) && !d.standsAlone(d.Clauses[n-1].Lo, d.Clauses[n-1].Hi)) &&
			d.quoteAt(lo) == d.quoteAt(d.Clauses[n-1].Lo) {
			d.Clauses[n-1].Hi = hi // a part without a verb belongs to its neighbour
			return
		}
		d.Clauses = append(d.Clauses, Clause{Lo: lo, Hi: hi, Sentence: k})
	}
	for i := s.Lo + 1; i < s.Hi; i++ {
		switch {
		case d.quoteAt(i) != d.quoteAt(i-1):
			flush(i, true)
		case i > start && d.cutsBefore(s, start, i):
			flush(i, false)
		}
	}
	flush(s.Hi, false)
}

// standsAlone reports whether tokens without a verb form a statement of their own: a word such as "lol" or a short answer.
func (d *Document) standsAlone(lo, hi int) bool {
	return hi-lo <= 3 && d.phraseIn(jokePhrases, lo, hi) >= 0
}

// cutsBefore reports whether a clause that began at start ends before token i.
func (d *Document) cutsBefore(s *Sentence, start, i int) bool {
	t, prev := &d.Tokens[i], &d.Tokens[i-1]
	if prev.Kind == KindPunct {
		if cuts, sure := d.signCuts(prev, t); sure {
			return cuts
		}
	}
	if t.Kind == KindPunct && t.Sign == '(' {
		return true
	}
	if t.Kind != KindWord || !d.hasVerb(s, start, i) {
		return false
	}
	switch {
	case d.isJoiner(i):
		return d.joinerCuts(s, i)
	case i == start+1 && prev.Is(FormOfBe|FormOfHave|FormOfDo|Modal):
		return false // "had I known"
	case d.IsWord(s, i, "it") && i+1 < s.Hi && d.Tokens[i+1].Kind == KindClitic && !prev.Is(Preposition):
		return true // "a feeling it'll rain"
	case prev.Kind == KindWord && (prev.Is(Conjunction) && !d.IsWord(s, i-1, "that") || prev.Is(WhWord) || d.isJoiner(i-1)):
		return false
	case d.subjectAt(s, i) && d.reportBefore(s, start, i):
		return true
	}
	return d.nominative(s, i) && i > start+1 && d.beginsWithSubject(s, i)
}

// signCuts reports whether the sign before token t ends a clause. It is not sure for signs that may also stand inside of one.
func (d *Document) signCuts(sign, t *Token) (cuts, sure bool) {
	switch sign.Sign {
	case ';', '(', ')', ':', ',':
		return sign.Gap != NoGap || t.Gap != NoGap, true
	case '-':
		return sign.Gap != NoGap && t.Gap != NoGap, true
	}
	cuts = sign.Sign == '.' && t.Gap != NoGap
	return cuts, cuts
}

// joinerCuts reports whether the joining word at token i begins a clause, since a subject or a verb follows.
func (d *Document) joinerCuts(s *Sentence, i int) bool {
	if d.subjectAt(s, i+1) || d.IsWord(s, i+1, "please") || d.IsOneOf(s, i, "if", "unless", "because", "although") {
		return true
	}
	return d.IsOneOf(s, i, "and", "but", "then") && i+1 < s.Hi && d.finiteVerb(s, i+1) && d.Tokens[i+1].Word().Form&BaseForm == 0
}

// beginsWithSubject reports whether a verb, or a word that may be one, follows the pronoun at token i.
func (d *Document) beginsWithSubject(s *Sentence, i int) bool {
	if d.verbSoon(s, i+1, 2) {
		return true
	}
	if i+1 >= s.Hi {
		return false
	}
	next := &d.Tokens[i+1]
	return next.Kind == KindWord && next.Shape == LowerCase && !next.Is(FunctionWord|Conjunction)
}

// isJoiner reports whether token i is a word that joins clauses.
func (d *Document) isJoiner(i int) bool {
	var buf [maxCueWord]byte
	switch string(d.lowerWord(i, &buf)) {
	case "and", "but", "or", "so", "because", "cause", "cos", "cuz", "though", "although", "while", "whereas", "if", "unless", "when", "once", "until", "till", "since", "then", "plus", "yet":
		return true
	}
	return false
}

// nominative reports whether token i is a pronoun that can only be a subject.
func (d *Document) nominative(s *Sentence, i int) bool {
	if i >= s.Hi || d.Tokens[i].Kind != KindWord {
		return false
	}
	if d.Tokens[i].End-d.Tokens[i].Start > 4 {
		return false
	}
	switch strings.ToLower(d.TokenText(i)) {
	case "i", "we", "he", "she", "they", "im", "i'm", "ive", "id":
		return true
	}
	return false
}

// subjectAt reports whether a subject with its verb begins at token i.
func (d *Document) subjectAt(s *Sentence, i int) bool {
	if i >= s.Hi || d.Tokens[i].Kind != KindWord {
		return false
	}
	t := &d.Tokens[i]
	if d.nominative(s, i) || d.IsWord(s, i, "it") || d.IsWord(s, i, "you") || d.IsWord(s, i, "there") || d.IsWord(s, i, "that") || d.IsWord(s, i, "this") || d.IsWord(s, i, "who") {
		return d.verbSoon(s, i+1, 3) || d.IsWord(s, i, "im") || d.IsWord(s, i, "i'm") || d.IsWord(s, i, "ive")
	}
	var buf [maxCueWord]byte
	switch string(d.lowerWord(i, &buf)) {
	case "everyone", "everybody", "someone", "somebody", "nobody", "people", "nothing", "everything":
		return d.verbSoon(s, i+1, 2)
	}
	if t.Is(Possessive|Determiner) || t.Capital() || t.Is(GivenName) {
		return d.verbSoon(s, i+1, 5)
	}
	return false
}

// verbSoon reports whether a finite verb occurs within n words from token i on.
func (d *Document) verbSoon(s *Sentence, i, n int) bool {
	for j := i; j < s.Hi && j < i+n; j++ {
		if d.Tokens[j].Kind == KindPunct && d.Tokens[j].Sign != '-' {
			return false
		}
		if d.finiteVerb(s, j) {
			return true
		}
		if d.Tokens[j].Is(Preposition) && !d.Tokens[j].Is(Adverb) {
			return false
		}
	}
	return false
}

// answer is the cached answer to a yes-or-no question about a token.
type answer uint8

// The values of answer.
const (
	unknown answer = iota
	no
	yes
)

// finiteVerb reports whether token i of a sentence can be the verb of a clause. It caches the answer, as ReadClauses asks several
// times per token.
func (d *Document) finiteVerb(s *Sentence, i int) bool {
	if i < s.Lo || i >= s.Hi {
		return false
	}
	if i >= len(d.verbs) {
		return d.isFiniteVerb(s, i)
	}
	if d.verbs[i] == unknown {
		d.verbs[i] = no
		if d.isFiniteVerb(s, i) {
			d.verbs[i] = yes
		}
	}
	return d.verbs[i] == yes
}

func (d *Document) isFiniteVerb(s *Sentence, i int) bool {
	t := &d.Tokens[i]
	switch {
	case t.Is(FormOfBe | FormOfHave | FormOfDo | Modal):
		return d.isAuxiliary(s, i)
	case t.Kind != KindWord:
		return false
	case t.Word().Verb == 0:
		return d.unknownVerb(s, i)
	case t.Shape == Capitalized && i != s.Lo, d.after(s, i, Possessive), d.after(s, i, Determiner) && !d.after(s, i, Masculine|Feminine|ThirdPlural):
		return false
	case t.OnlyPast():
		return !d.after(s, i, Preposition)
	case t.Word().Form&ThirdForm != 0:
		return !d.after(s, i, Preposition|Adjective|NumberWord)
	}
	return t.Word().Form&BaseForm != 0 && d.baseIsFinite(s, i)
}

// after reports whether the token before token i of a sentence is a word with any of the flags f.
func (d *Document) after(s *Sentence, i int, f Flag) bool {
	return i > s.Lo && d.Tokens[i-1].WordIs(f)
}

// isAuxiliary reports whether the form of "be" or another auxiliary at token i is finite. "Anna's book" has none.
func (d *Document) isAuxiliary(s *Sentence, i int) bool {
	t := &d.Tokens[i]
	if t.Kind != KindClitic || d.Text[t.End-1]|0x20 != 's' {
		return !d.IsWord(s, i, "being") && !d.IsWord(s, i, "having")
	}
	return i > s.Lo && (d.Tokens[i-1].Is(Neuter|Masculine|Feminine|WhWord) || d.IsOneOf(s, i-1, "that", "there")) ||
		i+1 < s.Hi && d.Tokens[i+1].Is(Determiner|Adverb|Preposition|Negation)
}

// unknownVerb reports whether the word at token i, which the tables of verbs do not have, is a verb of saying or ends like a past form.
func (d *Document) unknownVerb(s *Sentence, i int) bool {
	t := &d.Tokens[i]
	if d.after(s, i, Determiner|Possessive) {
		return false
	}
	if i > s.Lo && !d.after(s, i, Preposition) && modeTables().report.has(d.TokenText(i)) {
		return true
	}
	return t.Shape == LowerCase && t.Word().Flags == 0 && t.End-t.Start > 4 && strings.HasSuffix(d.TokenText(i), "ed")
}

// baseIsFinite reports whether the base form of a verb at token i stands after its subject or an auxiliary, or first in an imperative.
func (d *Document) baseIsFinite(s *Sentence, i int) bool {
	if i == s.Lo {
		return true
	}
	switch prev := &d.Tokens[i-1]; prev.Kind {
	case KindPunct:
		return true
	case KindClitic:
		return prev.Is(Modal)
	case KindWord:
		if prev.Is(Modal|FormOfDo|Negation|WhWord) || prev.Is(FirstPerson|FirstPlural|SecondPerson|ThirdPlural|Adverb) && !prev.Is(Possessive) || d.IsWord(s, i-1, "please") {
			return true
		}
	}
	return plural(strings.ToLower(d.TokenText(i - 1)))
}

// hasVerb reports whether the tokens [lo, hi) have a finite verb, or a participle without an auxiliary, as in notes ("working on it").
func (d *Document) hasVerb(s *Sentence, lo, hi int) bool {
	i := lo
	if d.verbless.Lo == lo { // one token more than in the call before, mostly
		i = min(max(lo, d.verbless.Hi), hi)
	}
	for i < hi && !d.finiteVerb(s, i) {
		i++
	}
	d.verbless = Span{Lo: lo, Hi: i}
	return i < hi || lo < hi && d.Tokens[lo].Word().Verb > 0
}

// reportBefore reports whether a verb of saying stands right before token i; "that" and the listener may stand in between.
func (d *Document) reportBefore(s *Sentence, lo, i int) bool {
	for j := i - 1; j > lo && j > i-4; j-- { // a verb at the start is an imperative
		t := &d.Tokens[j]
		if t.Kind == KindPunct {
			continue
		}
		w := d.TokenText(j)
		if modeTables().report.has(w) || modeTables().own.has(w) {
			return true
		}
		switch strings.ToLower(w) {
		case "that", "me", "him", "her", "us", "them", "you", "everyone", "'s", "like":
			continue
		}
		return false
	}
	return false
}
