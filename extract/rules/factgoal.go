package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// goalPhrases are verbs that state a goal together with the word after them.
var goalPhrases = []struct {
	verb, word string
	progress   bool // only in the progressive: "I'm thinking of"
	predicate  string
}{
	{"have", "to", false, "needs"},
	{"look", "forward", false, "looks_forward_to"},
	{"look", "for", false, "looks_for"},
	{"think", "of", true, "considers"},
	{"think", "about", true, "considers"},
	{"dream", "of", true, "considers"},
	{"dream", "about", true, "considers"},
}

// goalPhrase reads "I have to ...", "I'm looking for ..." and the like.
func (d *doc) goalPhrase(a *action) bool {
	for i := range goalPhrases {
		p := &goalPhrases[i]
		if a.name != p.verb || p.progress && !a.g.progress || !d.IsWord(a.s, a.next, p.word) || p.word == "to" && !a.toVerb {
			continue
		}
		object := a.next + 1
		if p.word == "forward" { // "to"
			object = min(a.next+2, a.g.hi)
		}
		d.goal(a.s, a.g, a.f, p.predicate, object)
		return true
	}
	return false
}

// wished reads "I'd like to ..." and "I'd rather ...".
func (d *doc) wished(a *action) bool {
	if !a.g.wish || a.g.hyp {
		return false
	}
	if d.anyWord(a.s, a.next, a.g.hi, "than") {
		return true // "I'd rather live in a tent than"
	}
	object := a.next
	switch {
	case a.name != "like" && a.name != "love" && a.name != "prefer":
		object = a.verb // "would rather walk"
	case a.toVerb:
		object++
	}
	d.goal(a.s, a.g, a.f, "wants", object)
	return true
}

// goalVerb reads the object of a verb that states a goal: "I hope to ...", "I want a boat".
func (d *doc) goalVerb(a *action) bool {
	if !wordLists()["goal-verbs"][a.name] || !a.toVerb && a.name != "want" && a.name != "need" {
		return false
	}
	object := a.next
	if a.toVerb {
		object++
	}
	d.goal(a.s, a.g, a.f, goalPredicate(a.name), object)
	return true
}

// planned reads an action that is still to come.
func (d *doc) planned(a *action) bool {
	if !a.g.future && (!a.g.arranged || a.g.perfect) {
		return false
	}
	d.goal(a.s, a.g, a.f, "plans", a.verb)
	return true
}

// goalPredicate returns the third person of a verb.
func goalPredicate(name string) string {
	if w := language.Lookup(name); w.Verb > 0 {
		return language.VerbAt(w.Verb).Third
	}
	return name
}

// goal adds what the speaker wants or plans, unless it is a request to the listener.
func (d *doc) goal(s *language.Sentence, g *segment, f extract.Fact, predicate string, i int) {
	for j := i; j < g.hi && j < i+4; j++ {
		if wordLists()["request-words"][strings.ToLower(d.TokenText(j))] {
			return
		}
	}
	if d.vagueGoal(g, predicate, i) {
		return
	}
	f.Predicate, f.Object, f.Kind, f.Confidence = predicate, d.object(i, g.hi), extract.KindGoal, f.Confidence*confGoal/confState
	if d.in.Memory && (wordLists()["no-plan"][strings.ToLower(f.Object)] || (predicate == "wants" || predicate == "needs") && d.IsOneOf(s, i, "near", "for")) {
		return // "I'm going to."
	}
	if d.in.Memory && !f.ValidTo.IsZero() && !f.ValidTo.After(d.Reference) {
		f.ValidFrom, f.ValidTo, f.Precision = time.Time{}, time.Time{}, "" // no goal lies in the past: "we've decided to marry in May"
	}
	if f.Object != "" {
		d.addFact(s, f)
	}
}

// vagueGoal reports whether a goal from token i on is not understandable alone, or is one of the past: "I wanted a boat" says nothing about
// the present.
func (d *doc) vagueGoal(g *segment, predicate string, i int) bool {
	if d.objectIsPronoun(i, g.hi) {
		return true
	}
	if !d.in.Memory {
		return false
	}
	if (i+2 == g.hi || i+1 < g.hi && d.verbName(i) == "do") && d.objectIsPronoun(i+1, g.hi) {
		return true
	}
	if !g.past || g.perfect {
		return false
	}
	return !g.progress && !g.future || g.future && predicate == "plans"
}
