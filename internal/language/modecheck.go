package language

import (
	"strings"
)

// conditional reports whether a clause begins with a condition.
func (d *Document) conditional(s *Sentence, c *Clause) bool {
	return d.phraseIn(conditionPhrases, c.Lo, min(c.Hi, c.Lo+2)) >= 0 || d.IsWord(s, c.Lo, "when") || d.IsWord(s, c.Lo, "once") || d.phraseAt(hedgePhrases, c.Lo, c.Hi) > 1
}

// hasSubject reports whether a clause begins with a subject of its own.
func (d *Document) hasSubject(s *Sentence, c *Clause) bool {
	for i := c.Lo; i < c.Hi && i < c.Lo+3; i++ {
		if d.subjectAt(s, i) {
			return true
		}
	}
	return false
}

// reports reports whether a clause ends in a verb of saying or believing, so that the next clause is its content.
func (d *Document) reports(s *Sentence, c *Clause) bool {
	end := c.Hi
	for end > c.Lo+1 {
		switch strings.ToLower(d.TokenText(end - 1)) {
		case "that", "me", "him", "her", "us", "them", "you", "everyone", "like":
			end--
			continue
		}
		break
	}
	w := d.TokenText(end - 1)
	return end > c.Lo && (modeTables().report.has(w) || modeTables().own.has(w))
}

// ownReport reports whether the speaker is the one who says or believes something in a clause: "I think", not "my doctor thinks".
func (d *Document) ownReport(s *Sentence, c *Clause) bool {
	for i := c.Lo; i < c.Hi; i++ {
		t := &d.Tokens[i]
		switch {
		case d.finiteVerb(s, i):
			return true // without a subject, or with "it": "turns out", "looks like"
		case t.Is(WhWord), d.IsWord(s, i, "everyone") || d.IsWord(s, i, "everybody") || d.IsWord(s, i, "people") || d.IsWord(s, i, "nobody") || d.IsWord(s, i, "someone") || d.IsWord(s, i, "somebody"):
			return false
		case t.Kind == KindWord && t.Is(FirstPerson|FirstPlural):
			return !t.Is(Possessive)
		case t.Kind == KindWord && t.Is(Neuter):
			return true
		case t.Kind == KindWord && (t.Is(Determiner|Masculine|Feminine|ThirdPlural|SecondPerson|KinNoun) || !t.Is(FunctionWord|Adverb|Starter)):
			return false
		}
	}
	return true
}

// wouldBe reports whether "'d" in a clause is "would": "I'd be a bad nurse".
func (d *Document) wouldBe(s *Sentence, c *Clause) bool {
	for i := c.Lo; i+1 < c.Hi; i++ {
		if t := &d.Tokens[i]; t.Kind != KindClitic || d.Text[t.End-1]|0x20 != 'd' {
			continue
		}
		if d.phraseIn(wishPhrases, i, min(i+3, c.Hi)) >= 0 {
			return false
		}
		j := i + 1
		for j < c.Hi && d.Tokens[j].Is(Adverb|Negation) {
			j++
		}
		if j < c.Hi {
			w := &d.Tokens[j]
			return d.IsWord(s, j, "be") || d.IsWord(s, j, "have") || w.Word().Form&BaseForm != 0 && w.Word().Form&(PastForm|Participle) == 0
		}
	}
	return false
}

// quotesOwnWords reports whether the speaker quotes words said to somebody else, which may be untrue: "I told him", "I lied". Words said to the
// reader do not count: "as I said", "I told you".
func (d *Document) quotesOwnWords(s *Sentence, c *Clause) bool {
	for i := c.Lo; i < c.Hi; i++ {
		switch strings.ToLower(d.TokenText(i)) {
		case "told", "tell", "telling":
			return !d.IsWord(s, i+1, "you") && !d.IsWord(s, i+1, "u")
		case "lied", "pretended", "joked", "claimed", "bragged", "saying", "reads", "read", "goes":
			return true
		}
	}
	return false
}

// past reports whether the first verb of a clause is in the past and the clause does not extend to the present.
func (d *Document) past(s *Sentence, c *Clause) bool {
	for i := c.Lo; i < c.Hi; i++ {
		if !d.finiteVerb(s, i) {
			continue
		}
		t := &d.Tokens[i]
		if t.Is(FormOfBe | FormOfDo | FormOfHave) {
			switch strings.ToLower(d.TokenText(i)) {
			case "was", "were", "did", "had", "wasn't", "weren't", "didn't", "hadn't":
				return true
			}
			return false
		}
		if t.Word().Verb == 0 {
			return strings.HasSuffix(d.WordKey(i), "ed") // "we facetimed", not "we facetime"
		}
		if d.WordKey(i) == "got" && i > s.Lo && d.Tokens[i-1].Kind == KindClitic {
			return false // "my sister's got a cat" has it
		}
		return t.Word().Form&PastForm != 0 && t.Word().Form&BaseForm == 0
	}
	return false
}

// negates reports whether the verb of a clause is negated, or its subject is "nobody" or the like.
func (d *Document) negates(s *Sentence, c *Clause) bool {
	if t := &d.Tokens[c.Lo]; d.IsWord(s, c.Lo, "nobody") || d.IsWord(s, c.Lo, "not") || t.Is(Negation) && !d.IsWord(s, c.Lo, "without") {
		return true
	}
	verb := false
	for i := c.Lo; i < c.Hi; i++ {
		t := &d.Tokens[i]
		if d.finiteVerb(s, i) {
			if t.Is(Negation) {
				return true
			}
			if verb {
				return false
			}
			verb = true
			continue
		}
		if verb && t.Is(Negation) && !d.IsWord(s, i, "without") {
			return true
		}
		if verb && !t.Is(Adverb) {
			return d.IsWord(s, i, "no")
		}
	}
	return false
}

// orders reports whether a clause is an imperative.
func (d *Document) orders(s *Sentence, c *Clause) bool {
	if d.phraseIn(requestPhrases, c.Lo, min(c.Hi, c.Lo+4)) >= 0 || d.phraseIn(standingPhrases, c.Lo, c.Hi) >= 0 {
		return true
	}
	i := c.Lo
	for i < c.Hi && (d.Tokens[i].Is(Starter|Adverb|Affirmative) && d.Tokens[i].Word().Verb == 0 || d.isJoiner(i) || d.IsWord(s, i, "always") || d.IsWord(s, i, "never")) {
		i++
	}
	if i >= c.Hi {
		return false
	}
	t := &d.Tokens[i]
	if d.IsWord(s, i, "don't") || d.IsWord(s, i, "dont") || d.IsWord(s, i, "do") && d.IsWord(s, i+1, "not") {
		return i+1 < c.Hi && d.Tokens[i+1].Word().Form&BaseForm != 0 && !d.Tokens[i+1].Is(FirstPerson|FirstPlural)
	}
	if t.Kind != KindWord || t.Word().Verb == 0 || t.Word().Form&BaseForm == 0 || t.Word().Form&(PastForm|ThirdForm) != 0 || t.Is(FormOfHave|FormOfDo|FormOfBe|Modal) {
		return false
	}
	if i+1 >= c.Hi { // a single word such as "love" or "work" is no imperative
		return false
	}
	if d.finiteVerb(s, i+1) && d.Tokens[i+1].Word().Form&BaseForm == 0 || d.IsWord(s, i+1, "since") || d.IsWord(s, i+1, "for") {
		return false // "rent went up", "clean since Easter"
	}
	next := &d.Tokens[i+1]
	return next.Is(Determiner|Possessive|FirstPerson|FirstPlural|Preposition|Adverb|Neuter|Masculine|Feminine|ThirdPlural|Conjunction) || next.Kind == KindPunct || next.Shape != LowerCase || next.Kind != KindWord || !next.Is(FunctionWord)
}
