package language

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// sentenceModes determines the modes of the clauses of sentence k; first is the index of its first clause.
func (d *Document) sentenceModes(k, first int) {
	s := &d.Sentences[k]
	if k == 0 || d.Tokens[s.Lo].Gap == BlankGap || d.Sentences[k-1].Role != s.Role {
		d.frame, d.frameStays = "", false
	}
	framed := d.frame != ""
	joke := d.phraseIn(jokePhrases, s.Lo, s.Hi) >= 0
	code := d.looksLikeCode(s)
	shown := false // the rest of the sentence is quoted text
	clauses := d.Clauses[first:]
	for i := range clauses {
		c := &clauses[i]
		var before *Clause
		if i > 0 {
			before = &clauses[i-1]
		}
		d.clauseAbout(s, c, before)
		c.Mode = d.clauseMode(s, c, before)
		shown = shown || before != nil && d.quotesAfterColon(s, c)
		if d.asks(s, c, before) || s.Question && i == len(clauses)-1 && c.Mode != extract.ModeQuote {
			c.Mode = extract.ModeQuestion
		}
		if c.Mode == extract.ModeQuestion {
			d.askBefore(first + i)
		}
		// A frame such as "in my novel" holds for the rest of its paragraph.
		if at := d.phraseIn(fictionPhrases, c.Lo, c.Hi); at >= 0 && d.quoteAt(at) == nil || d.shows(s, c) {
			d.frame = extract.ModeFiction
		}
		if c.Mode == extract.ModeCancelled && c.About == extract.AboutAssistant {
			c.About = extract.AboutSpeaker // "forget what I said" is about what the speaker does
		}
		switch {
		case code, d.quoteAt(c.Lo) != nil, shown:
			c.Mode = extract.ModeQuote
		case d.frame != "" && c.Mode != extract.ModeQuestion && c.Mode != extract.ModeInstruction:
			c.Mode = d.frame
		case joke && (c.Mode == extract.ModeAsserted || c.Mode == extract.ModeNegated):
			c.Mode = extract.ModeJoke
		}
	}
	if d.frame != "" && !framed {
		d.frameStays = d.frameLasts(s)
	}
	if !d.frameStays {
		d.frame = ""
	}
}

// quotesAfterColon reports whether a clause is a quotation that a colon introduces, although no quotation marks say so.
func (d *Document) quotesAfterColon(s *Sentence, c *Clause) bool {
	return c.Mode == extract.ModeQuote && d.quoteAt(c.Lo) == nil && c.Lo > s.Lo && d.IsPunct(s, c.Lo-1, ':')
}

// asks reports whether a clause is a question by its sign or its word order, or has the subject of a question whose verb ends the clause before it.
func (d *Document) asks(s *Sentence, c, before *Clause) bool {
	if d.IsPunct(s, c.Hi-1, '?') || d.questionOrder(s, c) {
		return true
	}
	return before != nil && before.Mode == extract.ModeQuestion && before.Hi == c.Lo && d.Tokens[c.Lo-1].WordIs(FormOfDo|FormOfBe|Modal)
}

// askBefore makes the clause before clause k a question if clause k is its tag. The tag is a sentence of its own, after the comma.
func (d *Document) askBefore(k int) {
	c := &d.Clauses[k]
	if k == 0 || c.Lo == 0 || d.Tokens[c.Lo-1].Sign != ',' || !d.tag(c) {
		return
	}
	if said := &d.Clauses[k-1]; said.Mode.Believable() {
		said.Mode = extract.ModeQuestion
	}
}

// tag reports whether a clause makes the previous one a question: "Anna lives in Bonn, doesn't she?"
func (d *Document) tag(c *Clause) bool {
	lo, hi := c.Lo, c.Hi
	for hi > lo && d.Tokens[hi-1].Kind == KindPunct {
		hi--
	}
	if hi-lo < 2 || hi-lo > 4 || !d.Tokens[lo].Is(FormOfBe|FormOfDo|FormOfHave|Modal) {
		return false
	}
	last := &d.Tokens[hi-1] // "do you?" after a statement asks the listener
	return last.Kind == KindWord && last.Is(FirstPerson|FirstPlural|Masculine|Feminine|ThirdPlural|Neuter) && !last.Is(Possessive)
}

// shows reports whether a clause asks the reader to write or read something; words such as "can you" may come first.
func (d *Document) shows(s *Sentence, c *Clause) bool {
	i := c.Lo
	for i < c.Hi && (d.isJoiner(i) || d.Tokens[i].Is(SecondPerson|Modal|Starter|Affirmative) || d.IsWord(s, i, "please") || d.IsWord(s, i, "to") || d.IsWord(s, i, "help") || d.IsWord(s, i, "me") ||
		d.Tokens[i].Kind == KindPunct) {
		i++
	}
	return i < c.Hi && d.quoteAt(i) == nil && d.phraseAt(shownPhrases, i, c.Hi) > 0
}

// frameLasts reports whether a frame in sentence s continues after it: "let's role-play. I'm a pirate.", "Write a letter: ...".
func (d *Document) frameLasts(s *Sentence) bool {
	for i := s.Lo; i < s.Hi; i++ {
		switch strings.ToLower(d.TokenText(i)) {
		case "roleplay", "role-play", "roleplaying", "pretend", "translate", "translation", "proofread", "rephrase", "paraphrase", "rewrite", "character", "act", "below", "fwd", "forwarded":
			return true
		case "write", "draft":
			return d.IsPunct(s, s.Hi-1, ':')
		case "role":
			return d.IsWord(s, i+1, "play")
		}
	}
	return false
}

// codeMarks are what a line of program code has and prose has not; "def " counts only with "):".
var codeMarks = [...]string{" = \"", "=\"", " = '", "(\"", "('", "();", "=>", "#include", "def ", "</", "/>", "){", ") {", "\": \"", "\":\""}

// codeSigns has a sign of each of codeMarks.
const codeSigns = `"()=#/`

// looksLikeCode reports whether a sentence is a line of program code.
func (d *Document) looksLikeCode(s *Sentence) bool {
	text := d.Text[d.Tokens[s.Lo].Start:d.Tokens[s.Hi-1].End]
	if !strings.ContainsAny(text, codeSigns) { // as of most sentences
		return false
	}
	for _, mark := range codeMarks {
		if strings.Contains(text, mark) {
			return mark != "def " || strings.Contains(text, "):")
		}
	}
	return false
}

// questionOrder reports whether a clause is a question by its word order: "do I live", "how do people", "where did I park".
func (d *Document) questionOrder(s *Sentence, c *Clause) bool {
	i := c.Lo
	for i < c.Hi && (d.IsOneOf(s, i, "and", "but", "so", "or") || d.Tokens[i].Is(Affirmative|Starter) && !d.Tokens[i].Is(FormOfDo|Modal)) {
		i++
	}
	if i >= c.Hi || d.Tokens[i].Kind != KindWord {
		return false
	}
	t := &d.Tokens[i]
	if t.Is(WhWord) || d.IsOneOf(s, i, "whats", "hows", "wheres") {
		return d.whQuestion(s, c, i)
	}
	return i+1 < c.Hi && t.Is(FormOfBe|FormOfDo|Modal|FormOfHave) && d.verbFirst(s, i)
}

// whQuestion reports whether the question word at token i asks. Those that also join clauses need a verb and a subject after them.
func (d *Document) whQuestion(s *Sentence, c *Clause, i int) bool {
	if !d.IsOneOf(s, i, "when", "which", "who", "that") {
		return i == c.Lo || !d.IsWord(s, i, "what")
	}
	return i+2 < c.Hi && d.Tokens[i+1].Is(FormOfBe|FormOfDo|Modal) && !d.Tokens[i+1].Is(Possessive) &&
		d.Tokens[i+2].Is(FirstPerson|FirstPlural|SecondPerson|Determiner|Masculine|Feminine|ThirdPlural|Neuter)
}

// verbFirst reports whether the auxiliary at token i stands before its subject, and so asks.
func (d *Document) verbFirst(s *Sentence, i int) bool {
	t, next := &d.Tokens[i], &d.Tokens[i+1]
	subject := next.WordIs(FirstPerson|FirstPlural|SecondPerson|Masculine|Feminine|Neuter|ThirdPlural) && !d.IsWord(s, i+1, "me")
	switch {
	case t.Is(FormOfHave): // "had I known" is a condition, "have the same" an imperative
		return subject && !next.Is(Possessive) && !d.IsWord(s, i, "had")
	case t.Is(FormOfDo) && t.Is(Negation), d.IsWord(s, i, "do") && !subject:
		return subject && !next.Is(Possessive) || d.IsWord(s, i+1, "people") || next.Is(Determiner) && d.IsWord(s, i, "does")
	}
	return subject || next.Is(Determiner) && !d.IsWord(s, i, "be") || next.Capital()
}

// clauseAbout determines whom a clause is about: its first subject, or that of the previous clause if it has none.
func (d *Document) clauseAbout(s *Sentence, c *Clause, before *Clause) {
	c.About = extract.AboutWorld
	speaker, listener := extract.AboutSpeaker, extract.AboutAssistant
	if s.Role == RoleAssistant {
		c.About = extract.AboutAssistant
		speaker, listener = listener, speaker
	}
	verb := false
	for i := c.Lo; i < c.Hi; i++ {
		t := &d.Tokens[i]
		if t.Kind != KindWord && t.Kind != KindClitic {
			continue
		}
		own := t.Is(FirstPerson | FirstPlural)
		switch {
		case own && t.Is(Possessive):
			c.About = speaker
			if n := d.kinBehind(s, i, c.Hi); n > i {
				c.About, c.Who = extract.AboutOther, Span{Lo: i, Hi: n + 1}
			}
			return
		case verb: // only "my" after it
		case own && t.Kind == KindWord:
			c.About = speaker
			return
		case d.inverted(c, i): // "do I live"
		case t.WordIs(SecondPerson):
			c.About = listener
			return
		case d.otherPerson(s, i):
			c.About, c.Who = extract.AboutOther, Span{Lo: i, Hi: i + 1}
			return
		case t.Capital() && i > c.Lo || t.Is(Neuter|Determiner):
			return
		case d.finiteVerb(s, i) || t.Word().Verb > 0 && i == c.Lo:
			verb = true
			if d.onlyOpeners(s, c.Lo, i) {
				d.withoutSubject(c, before, t, speaker)
			}
		}
	}
}

// inverted reports whether the auxiliary at token i begins a clause before its subject.
func (d *Document) inverted(c *Clause, i int) bool {
	return i == c.Lo && i+1 < c.Hi && d.Tokens[i].Is(FormOfBe|FormOfDo|FormOfHave|Modal) &&
		d.Tokens[i+1].Is(FirstPerson|FirstPlural|SecondPerson|Masculine|Feminine|Neuter|ThirdPlural|Possessive|Determiner)
}

// otherPerson reports whether the word at token i means a person other than the speaker and the listener.
func (d *Document) otherPerson(s *Sentence, i int) bool {
	t := &d.Tokens[i]
	return t.WordIs(Masculine|Feminine|ThirdPlural) && !t.Is(Possessive) || t.Capital() && t.Is(GivenName) || d.IsOneOf(s, i, "everyone", "nobody", "people")
}

// withoutSubject determines whom a clause is about that begins with its verb: the same as the clause before it, the listener of an
// imperative, or the speaker.
func (d *Document) withoutSubject(c, before *Clause, verb *Token, speaker extract.About) {
	switch {
	case before != nil && before.About != extract.AboutAssistant:
		c.About, c.Who = before.About, before.Who
	case verb.Word().Form&BaseForm != 0 && verb.Word().Form&PastForm == 0:
		c.About = extract.AboutAssistant
	default:
		c.About = speaker
	}
}

// onlyOpeners reports whether the tokens [lo, hi) can precede a verb without being its subject: "and just".
func (d *Document) onlyOpeners(s *Sentence, lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if t := &d.Tokens[i]; t.Kind != KindPunct && !d.isJoiner(i) && !t.Is(Adverb|Starter|Affirmative|Dissent|Negation) {
			return false
		}
	}
	return true
}

// kinBehind returns the kin noun after the possessive at token i, or the last token of a name after it; it returns i for none.
func (d *Document) kinBehind(s *Sentence, i, hi int) int {
	for j := i + 1; j < hi && j < i+4; j++ {
		t := &d.Tokens[j]
		if t.Kind != KindWord {
			return i
		}
		if t.Is(KinNoun) {
			for j+1 < hi && d.Tokens[j+1].Capital() && d.Tokens[j+1].Gap == SpaceGap {
				j++
			}
			return j
		}
		if t.Is(FunctionWord) && !t.Is(Adjective) {
			return i
		}
	}
	return i
}

// clauseMode determines the mode of a clause outside of quotations and stories: from the clause before it, else from its own words.
func (d *Document) clauseMode(s *Sentence, c *Clause, before *Clause) extract.Mode {
	joined := before != nil && d.isJoiner(c.Lo)
	c.Report = d.reports(s, c)
	c.told = d.quotesOwnWords(s, c) || joined && before.told && !d.hasSubject(s, c)
	if before != nil {
		if mode := d.modeFrom(s, c, before, joined); mode != "" {
			return mode
		}
	}
	switch {
	case d.IsWord(s, c.Lo, "according") && d.IsWord(s, c.Lo+1, "to"):
		return extract.ModeQuote
	case d.depends(s, c, before, joined), d.supposes(s, c):
		return extract.ModeHypothetical
	}
	return d.ownMode(s, c)
}

// modeFrom returns the mode that the clause before gives to a clause, empty for none; joined says that a word joins them.
func (d *Document) modeFrom(s *Sentence, c, before *Clause, joined bool) extract.Mode {
	if before.Report && !joined && (!d.ownReport(s, before) || before.told || before.Mode == extract.ModeQuote) { // the clause is what somebody says
		c.Who = before.Who
		return extract.ModeQuote
	}
	if !before.Mode.Believable() && before.Mode != extract.ModeInstruction && (joined || d.IsWord(s, c.Lo, "that") || d.IsWord(s, c.Lo-1, "that")) && (!d.hasSubject(s, c) || before.Mode == extract.ModeQuestion && !joined) {
		return before.Mode // "... but work in Denmark"
	}
	if before.About != extract.AboutSpeaker && c.Lo > s.Lo && d.IsPunct(s, c.Lo-1, ':') && d.nominative(s, c.Lo) {
		return extract.ModeQuote // "the podcast opens with: I ..."
	}
	if d.IsWord(s, before.Lo, "according") {
		return extract.ModeQuote
	}
	return ""
}

// depends reports whether a clause is a condition, or holds only under the condition in the clause before it.
func (d *Document) depends(s *Sentence, c, before *Clause, joined bool) bool {
	if at := d.phraseIn(conditionPhrases, c.Lo, min(c.Hi, c.Lo+3)); at >= 0 && (at == c.Lo || joined || d.Tokens[c.Lo].Is(Starter|Adverb)) {
		return true
	}
	return before != nil && before.Mode == extract.ModeHypothetical && !joined && (d.conditional(s, before) || !d.hasSubject(s, c))
}

// supposes reports whether a clause is a guess or a supposition: "maybe I moved", "I'd be a bad nurse", "once I have a dog".
func (d *Document) supposes(s *Sentence, c *Clause) bool {
	at := d.phraseIn(hedgePhrases, c.Lo, c.Hi)
	month := at >= 0 && d.Tokens[at].Is(Month) && d.Tokens[at].Shape == Capitalized // "May"
	if at >= 0 && !month && d.phraseIn(wishPhrases, c.Lo, c.Hi) < 0 {
		return true
	}
	return d.wouldBe(s, c) || d.IsOneOf(s, c.Lo, "when", "once", "until", "till") && !d.past(s, c)
}

// ownMode returns the mode that the words of a clause give it, if it is neither quoted nor supposed.
func (d *Document) ownMode(s *Sentence, c *Clause) extract.Mode {
	switch {
	case d.cancels(s, c):
		return extract.ModeCancelled
	case d.phraseAt(wishPhrases, c.Lo, c.Hi) > 0:
		return extract.ModeWish
	case d.orders(s, c):
		return extract.ModeInstruction
	case d.phraseIn(endedPhrases, c.Lo, c.Hi) >= 0:
		return extract.ModeEnded
	case d.phraseIn(wishPhrases, c.Lo, c.Hi) >= 0:
		return extract.ModeWish
	case d.looksAhead(s, c), d.arranged(s, c):
		return extract.ModePlan
	case d.negates(s, c):
		return extract.ModeNegated
	case d.corrects(c):
		return extract.ModeCorrected
	case d.past(s, c):
		return extract.ModePast
	}
	return extract.ModeAsserted
}

// cancels reports whether a clause says that something is called off. Who is off for a week, or off to Spain, is only away.
func (d *Document) cancels(s *Sentence, c *Clause) bool {
	at := d.phraseIn(cancelledPhrases, c.Lo, c.Hi)
	return at >= 0 && !(d.IsWord(s, at+1, "off") && d.IsOneOf(s, at+2, "for", "with", "to", "on", "sick", "work", "school", "his", "her", "their", "my", "the", "we", "i", "tomorrow", "today"))
}

// corrects reports whether a clause begins with a phrase that corrects something: "actually it's Aegon".
func (d *Document) corrects(c *Clause) bool {
	at := d.phraseIn(correctedPhrases, c.Lo, c.Hi)
	return at >= 0 && at <= c.Lo+1
}
