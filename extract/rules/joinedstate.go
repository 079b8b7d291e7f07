package rules

import (
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// joinedState is a state that stands behind another one without a verb of its own: "I'm vegetarian and allergic to hazelnuts".
type joinedState struct {
	lo, at int  // the joining word or comma, and the word that names the state
	but    bool // a "but" stands before it
}

// joinedStates returns the states behind the first one in the tokens [i, hi): diets, allergies, intolerances and illnesses that last. It returns
// none if the first one is no state of a person: "something cheap and vegan".
func (d *doc) joinedStates(s *language.Sentence, i, hi int) []joinedState {
	var out []joinedState
	for j := i + 1; d.in.Memory && j < hi; j++ {
		if !d.IsPunct(s, j, ',') && !d.IsOneOf(s, j, "and", "but") {
			continue
		}
		for k := i; k < j; k++ {
			if d.Tokens[k].Is(language.WhWord | language.FormOfBe) {
				return out // "married to a man who is bald and vegan"
			}
		}
		st := joinedState{lo: j, but: d.IsWord(s, j, "but")}
		k := j + 1
		if d.IsPunct(s, j, ',') && k < hi && d.IsOneOf(s, k, "and", "but") {
			st.but, k = d.IsWord(s, k, "but"), k+1
		}
		k = d.afterAdverbs(k, hi)
		if st.at = d.lastingState(s, k, hi); st.at < 0 {
			continue
		}
		if len(out) == 0 && !d.stateOfPerson(s, i, j, st.at) {
			return nil
		}
		out = append(out, st)
		j = st.at
	}
	return out
}

// lastingState returns the token that names the diet, allergy, intolerance or illness that begins at token i, or -1.
func (d *doc) lastingState(s *language.Sentence, i, hi int) int {
	if i >= hi {
		return -1
	}
	if at, ok := d.dietAt(s, i, hi); ok {
		return at
	}
	c, ok := beComplement(d.WordKey(i))
	switch {
	case ok && c.preps != "" && (c.predicate == "allergic_to" || c.predicate == "intolerant_to"):
		if i+2 < hi && d.IsWord(s, i+1, "to") {
			return i
		}
	case ok && c.predicate == "has_condition" && d.sentenceEndsAt(i, hi), d.intoleranceAt(s, i, hi), d.lastingAt(i, hi):
		return i
	}
	return -1
}

// intoleranceAt reports whether "lactose intolerant" stands at token i.
func (d *doc) intoleranceAt(s *language.Sentence, i, hi int) bool {
	return i+1 < hi && d.IsWord(s, i+1, "intolerant") && d.Tokens[i].Kind == language.KindWord && !d.Tokens[i].Is(language.FunctionWord|language.Adverb) && d.sentenceEndsAt(i+1, hi)
}

// lastingAt reports whether a quality that lasts stands at token i, and ends what is said or is followed by more: "asthmatic, left-handed and short-sighted".
func (d *doc) lastingAt(i, hi int) bool {
	return wordLists()["lasting"][d.WordKey(i)] && d.sentenceEndsAt(i, hi)
}

// lastingBehind reports whether only qualities that last stand from token i on, behind a state without a preposition: the reader of clauses takes
// "left-handed" for a verb, in "I'm a plumber and left-handed".
func (d *doc) lastingBehind(s *language.Sentence, g *segment, i int) bool {
	if !d.in.Memory || !g.be || g.negated || g.past || i <= g.comp {
		return false
	}
	for j := g.comp; j < i; j++ {
		if t := &d.Tokens[j]; t.Is(language.Preposition|language.WhWord|language.FormOfBe) || t.Word().Verb > 0 && t.Word().Form&language.IngForm != 0 {
			return false
		}
	}
	n := 0
	for ; i < g.hi; i++ {
		switch {
		case wordLists()["lasting"][d.WordKey(i)]:
			n++
		case !d.IsOneOf(s, i, "and") && !d.onlySigns(i, i+1):
			return false
		}
	}
	return n > 0
}

// stateOfPerson reports whether the words [i, hi) behind "I'm" say what the speaker is, and not what somebody does, wants or looks for. The state at
// token next follows them.
func (d *doc) stateOfPerson(s *language.Sentence, i, hi, next int) bool {
	if c, ok := beComplement(d.WordKey(i)); ok && (c.preps == "" || c.kind == extract.KindFact || d.IsWord(s, next+1, "to")) || d.lastingState(s, i, hi) >= 0 {
		return true
	}
	if hi-i > 4 || hi-i == 1 && d.IsWord(s, next+1, "intolerant") && d.Tokens[i].Shape == language.LowerCase && !d.Tokens[i].Is(language.Adjective) {
		return false // "I'm lactose and gluten intolerant"
	}
	for j := i; j < hi; j++ {
		t := &d.Tokens[j]
		if t.Kind != language.KindWord {
			continue
		}
		other := t.Is(language.Neuter | language.ThirdPlural | language.SecondPerson | language.Masculine | language.Feminine | language.FirstPerson | language.FirstPlural)
		doing := t.Word().Verb > 0 && t.Word().Form&(language.IngForm|language.PastForm) != 0
		inside := t.Is(language.Preposition) && (j == i || !d.IsOneOf(s, j, "at", "in")) && !d.IsWord(s, j, "from")
		if other || doing || inside || d.IsOneOf(s, j, "something", "anything", "that", "which", "who", "all", "sure", "either") {
			return false
		}
	}
	return true
}

// addJoinedStates adds the facts of states that are joined to the first state of a segment.
func (d *doc) addJoinedStates(s *language.Sentence, g *segment, f extract.Fact, states []joinedState) {
	if g.past && !g.perfect {
		return
	}
	for k, st := range states {
		if (g.negated || g.ended) && !st.but {
			continue // "I'm not vegan and allergic to nuts" may deny both
		}
		sub, fact := *g, f
		if sub.comp = st.at; k+1 < len(states) {
			sub.hi = states[k+1].lo
		}
		for j := st.at; j+1 < sub.hi; j++ {
			if d.IsWord(s, j, "and") && d.IsOneOf(s, j+1, "a", "an") {
				sub.hi = j // "allergic to nuts, and a runner"
			}
		}
		fact.Negated, fact.Retracts, sub.negated, sub.ended = false, false, false, false
		if c, ok := beComplement(d.WordKey(st.at)); ok {
			d.complementFact(s, &sub, fact, &c, st.at)
			continue
		}
		fact.Kind, fact.Predicate, fact.Object = extract.KindFact, "is", d.SpanText(st.at, st.at+1)
		if !wordLists()["lasting"][d.WordKey(st.at)] {
			fact.Object = d.SpanText(st.at, st.at+2) // "lactose intolerant"
		}
		d.addFact(s, fact)
	}
}

// complementAndJoined adds what a known word at token i after "be" states, and the states that are joined to it.
func (d *doc) complementAndJoined(s *language.Sentence, g *segment, f extract.Fact, c *complement, i int) {
	first, joined := *g, d.joinedStates(s, i, g.hi)
	if len(joined) > 0 {
		first.hi = joined[0].lo
	}
	d.complementFact(s, &first, f, c, i)
	d.addJoinedStates(s, g, f, joined)
}
