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
	clauses := d.Clauses[first:]
	asks := s.Question
	joke := d.phraseIn(jokePhrases, s.Lo, s.Hi) >= 0
	code := d.looksLikeCode(s)
	shown := false // the rest of the sentence is quoted text
	for i := range clauses {
		c := &clauses[i]
		var before *Clause
		if i > 0 {
			before = &clauses[i-1]
		}
		d.clauseAbout(s, c, before)
		c.Mode = d.clauseMode(s, c, before)
		shown = shown || c.Mode == extract.ModeQuote && before != nil && d.quoteAt(c.Lo) == nil && c.Lo > s.Lo && d.Tokens[c.Lo-1].Kind == KindPunct && d.Tokens[c.Lo-1].Sign == ':'
		if d.Tokens[c.Hi-1].Sign == '?' && d.Tokens[c.Hi-1].Kind == KindPunct || d.questionOrder(s, c) || before != nil && before.Mode == extract.ModeQuestion && before.Hi == c.Lo && d.Tokens[c.Lo-1].Kind == KindWord && d.Tokens[c.Lo-1].Is(FormOfDo|FormOfBe|Modal) {
			c.Mode = extract.ModeQuestion
		}
		if asks && i == len(clauses)-1 && c.Mode != extract.ModeQuote {
			c.Mode = extract.ModeQuestion
		}
		if c.Mode == extract.ModeQuestion && first+i > 0 && c.Lo > 0 && d.Tokens[c.Lo-1].Sign == ',' && d.tag(c) {
			if said := &d.Clauses[first+i-1]; said.Mode.Believable() { // the tag is a sentence of its own, after the comma
				said.Mode = extract.ModeQuestion
			}
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
	for i < c.Hi && (d.IsWord(s, i, "and") || d.IsWord(s, i, "but") || d.IsWord(s, i, "so") || d.IsWord(s, i, "or") || d.Tokens[i].Is(Affirmative|Starter) && !d.Tokens[i].Is(FormOfDo|Modal)) {
		i++
	}
	if i >= c.Hi || d.Tokens[i].Kind != KindWord {
		return false
	}
	t := &d.Tokens[i]
	if t.Is(WhWord) || d.IsWord(s, i, "whats") || d.IsWord(s, i, "hows") || d.IsWord(s, i, "wheres") {
		if d.IsWord(s, i, "when") || d.IsWord(s, i, "which") || d.IsWord(s, i, "who") || d.IsWord(s, i, "that") {
			return i+2 < c.Hi && d.Tokens[i+1].Is(FormOfBe|FormOfDo|Modal) && d.Tokens[i+2].Is(FirstPerson|FirstPlural|SecondPerson|Determiner|Masculine|Feminine|ThirdPlural|Neuter) && !d.Tokens[i+1].Is(Possessive)
		}
		return i == c.Lo || !d.IsWord(s, i, "what")
	}
	if !t.Is(FormOfBe|FormOfDo|Modal|FormOfHave) || i+1 >= c.Hi || t.Kind != KindWord {
		return false
	}
	next := &d.Tokens[i+1]
	subject := next.Kind == KindWord && next.Is(FirstPerson|FirstPlural|SecondPerson|Masculine|Feminine|Neuter|ThirdPlural) && !d.IsWord(s, i+1, "me")
	if t.Is(FormOfHave) { // "had I known" is a condition, "have the same" an imperative
		return subject && !next.Is(Possessive) && !d.IsWord(s, i, "had")
	}
	if t.Is(FormOfDo) && t.Is(Negation) || d.IsWord(s, i, "do") && !subject {
		return subject && !next.Is(Possessive) || d.IsWord(s, i+1, "people") || next.Is(Determiner) && d.IsWord(s, i, "does")
	}
	return subject || next.Is(Determiner) && !d.IsWord(s, i, "be") || next.Capital()
}

// clauseAbout determines whom a clause is about: its first subject, or that of the previous clause if it has none.
func (d *Document) clauseAbout(s *Sentence, c *Clause, before *Clause) {
	c.About = extract.AboutWorld
	if s.Role == RoleAssistant {
		c.About = extract.AboutAssistant
	}
	speaker := extract.AboutSpeaker
	if s.Role == RoleAssistant {
		speaker = extract.AboutAssistant
	}
	verb := false
	for i := c.Lo; i < c.Hi; i++ {
		t := &d.Tokens[i]
		if t.Kind != KindWord && t.Kind != KindClitic {
			continue
		}
		switch {
		case t.Is(FirstPerson|FirstPlural) && t.Is(Possessive) || t.Is(FirstPerson|FirstPlural) && t.Kind == KindWord && !verb:
			c.About = speaker
			if t.Is(Possessive) {
				if n := d.kinBehind(s, i, c.Hi); n > i {
					c.About, c.Who = extract.AboutOther, Span{Lo: i, Hi: n + 1}
				}
			}
			return
		case verb:
			continue
		case t.Is(FormOfBe|FormOfDo|FormOfHave|Modal) && i == c.Lo && i+1 < c.Hi && d.Tokens[i+1].Is(FirstPerson|FirstPlural|SecondPerson|Masculine|Feminine|Neuter|ThirdPlural|Possessive|Determiner):
			continue // "do I live"
		case t.Is(SecondPerson) && t.Kind == KindWord:
			c.About = extract.AboutAssistant
			if s.Role == RoleAssistant {
				c.About = extract.AboutSpeaker
			}
			return
		case t.Is(Masculine|Feminine|ThirdPlural) && t.Kind == KindWord && !t.Is(Possessive), t.Capital() && t.Is(GivenName), d.IsWord(s, i, "everyone") || d.IsWord(s, i, "nobody") || d.IsWord(s, i, "people"):
			c.About, c.Who = extract.AboutOther, Span{Lo: i, Hi: i + 1}
			return
		case t.Capital() && i > c.Lo || t.Is(Neuter|Determiner):
			return
		case d.finiteVerb(s, i) || t.Word.Verb > 0 && i == c.Lo:
			verb = true
			if d.onlyOpeners(s, c.Lo, i) { // the clause has no subject
				c.About = speaker
				if before != nil && before.About != extract.AboutAssistant {
					c.About, c.Who = before.About, before.Who
				} else if t.Word.Form&BaseForm != 0 && t.Word.Form&PastForm == 0 {
					c.About = extract.AboutAssistant
				}
			}
		}
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

// clauseMode determines the mode of a clause outside of quotations and stories.
func (d *Document) clauseMode(s *Sentence, c *Clause, before *Clause) extract.Mode {
	joined := before != nil && d.isJoiner(c.Lo)
	c.Report = d.reports(s, c)
	c.told = d.quotesOwnWords(s, c) || joined && before.told && !d.hasSubject(s, c)
	if before != nil && before.Report && !joined && (!d.ownReport(s, before) || before.told || before.Mode == extract.ModeQuote) { // the clause is what somebody says
		c.Who = before.Who
		return extract.ModeQuote
	}
	if before != nil && !before.Mode.Believable() && before.Mode != extract.ModeInstruction && (joined || d.IsWord(s, c.Lo, "that") || d.IsWord(s, c.Lo-1, "that")) && (!d.hasSubject(s, c) || before.Mode == extract.ModeQuestion && !joined) {
		return before.Mode // "... but work in Denmark"
	}
	if before != nil && before.About != extract.AboutSpeaker && c.Lo > s.Lo && d.Tokens[c.Lo-1].Sign == ':' && d.Tokens[c.Lo-1].Kind == KindPunct && d.nominative(s, c.Lo) {
		return extract.ModeQuote // "the podcast opens with: I ..."
	}
	if before != nil && d.IsWord(s, before.Lo, "according") {
		return extract.ModeQuote
	}
	if d.IsWord(s, c.Lo, "according") && d.IsWord(s, c.Lo+1, "to") {
		return extract.ModeQuote
	}
	if at := d.phraseIn(conditionPhrases, c.Lo, min(c.Hi, c.Lo+3)); at >= 0 && (at == c.Lo || joined || d.Tokens[c.Lo].Is(Starter|Adverb)) {
		return extract.ModeHypothetical
	}
	if before != nil && before.Mode == extract.ModeHypothetical && !joined && (d.conditional(s, before) || !d.hasSubject(s, c)) {
		return extract.ModeHypothetical // depends on a condition
	}
	if at := d.phraseIn(hedgePhrases, c.Lo, c.Hi); at >= 0 && d.phraseIn(wishPhrases, c.Lo, c.Hi) < 0 && !(d.Tokens[at].Is(Month) && d.Tokens[at].Shape == Capitalized) {
		return extract.ModeHypothetical
	}
	if d.wouldBe(s, c) {
		return extract.ModeHypothetical
	}
	if (d.IsWord(s, c.Lo, "when") || d.IsWord(s, c.Lo, "once") || d.IsWord(s, c.Lo, "until") || d.IsWord(s, c.Lo, "till")) && !d.past(s, c) {
		return extract.ModeHypothetical // "once I have a dog"
	}
	if d.phraseIn(cancelledPhrases, c.Lo, c.Hi) >= 0 {
		return extract.ModeCancelled
	}
	if d.phraseAt(wishPhrases, c.Lo, c.Hi) > 0 {
		return extract.ModeWish
	}
	if d.orders(s, c) {
		return extract.ModeInstruction
	}
	if d.phraseIn(endedPhrases, c.Lo, c.Hi) >= 0 {
		return extract.ModeEnded
	}
	if d.phraseIn(wishPhrases, c.Lo, c.Hi) >= 0 {
		return extract.ModeWish
	}
	if d.phraseIn(planPhrases, c.Lo, c.Hi) >= 0 || d.arranged(s, c) {
		return extract.ModePlan
	}
	if d.negates(s, c) {
		return extract.ModeNegated
	}
	if at := d.phraseIn(correctedPhrases, c.Lo, c.Hi); at >= 0 && at <= c.Lo+1 {
		return extract.ModeCorrected
	}
	if d.past(s, c) {
		return extract.ModePast
	}
	return extract.ModeAsserted
}
