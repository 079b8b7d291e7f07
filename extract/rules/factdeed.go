package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// deed reads what a person close to the speaker does, using the frames of the verb at v. It reports whether that states anything.
func (d *doc) deed(s *language.Sentence, f *extract.Fact, v, hi int) bool {
	a := action{s: s, g: &segment{hi: hi}, verb: v, name: d.verbName(v), next: v + 1}
	switch {
	case d.emptyDeed(&a, f):
		return false
	case d.in.Memory && wordLists()["giving"][a.name] && d.IsOneOf(s, a.next, "me", "us") && d.determinerAt(&a, a.next+1):
		return d.received(&a, f)
	case d.undergoneDeed(&a, f):
		return false
	case (a.name == "stop" || a.name == "quit") && d.ingAfter(&a):
		f.Predicate, f.Object, f.Kind, f.Retracts, f.Negated = d.verbName(a.next), d.withoutArticle(a.next+1, hi), extract.KindRelationship, true, false
		d.endAt(f)
		return true
	case d.in.Memory && a.next+1 < hi && d.IsWord(s, a.next, "to") && wordLists()["wishing"][a.name]:
		return d.wishedDeed(&a, f)
	case d.in.Memory && a.next+1 < hi && wordLists()["turning"][d.WordKey(a.next)]:
		return d.particleDeed(&a, f)
	case d.in.Memory && f.Object != "" && v > 0 && d.IsWord(s, v, "got") && d.Tokens[v-1].Is(language.FormOfHave|language.FormOfBe):
		f.Predicate, f.Kind = "has", extract.KindRelationship // "my sister's got six bantams"
		return true
	case d.prepositional(s, a.g, f, v):
		return f.Object != ""
	case a.next < hi && d.Tokens[a.next].WordIs(language.Preposition|language.Adverb) && !d.Tokens[a.next].Is(language.Adjective|language.Determiner):
		return !wordLists()["light"][a.name]
	}
	return d.directDeed(&a, f)
}

// emptyDeed reports whether a deed says nothing without its context: "kills me", "wants me to go", not "gave me a raise".
func (d *doc) emptyDeed(a *action, f *extract.Fact) bool {
	switch {
	case wordLists()["chatter"][a.name]:
		return true
	case f.Object == "" && !f.Negated && !f.Retracts && wordLists()["light"][a.name]:
		return true
	case a.name == "keep" && d.ingAfter(a):
		return true
	}
	return d.objectIsPronoun(a.next, a.g.hi) && (a.next+1 >= a.g.hi || !d.Tokens[a.next+1].Is(language.Determiner|language.Possessive|language.NumberWord))
}

// ingAfter reports whether a word with "-ing" follows the verb.
func (d *doc) ingAfter(a *action) bool {
	return a.next < a.g.hi && strings.HasSuffix(d.TokenText(a.next), "ing")
}

// determinerAt reports whether a noun phrase with a determiner begins at token i.
func (d *doc) determinerAt(a *action, i int) bool {
	return i < a.g.hi && d.Tokens[i].WordIs(language.Determiner|language.Possessive|language.NumberWord)
}

// received reads the object after "me": "my aunt lent me her camper".
func (d *doc) received(a *action, f *extract.Fact) bool {
	f.Object = d.withoutArticle(a.next+1, a.g.hi)
	if d.Tokens[a.verb].OnlyPast() {
		f.Predicate = d.WordKey(a.verb)
	}
	return f.Object != ""
}

// undergoneDeed reports whether a deed only happens to somebody, or is not possible: "got soaked", "can't have egg".
func (d *doc) undergoneDeed(a *action, f *extract.Fact) bool {
	switch a.name {
	case "get":
		return d.in.Memory && d.gerund(a.verb) || d.participleAt(a.next, a.g.hi)
	case "have":
		return d.in.Memory && d.gerund(a.verb) || f.Negated && d.Tokens[a.verb-1].Is(language.Modal)
	}
	return false
}

// wishedDeed reads "my son wants to try". What was wanted says nothing about the present.
func (d *doc) wishedDeed(a *action, f *extract.Fact) bool {
	if d.Tokens[a.verb].Word().Form&language.PastForm != 0 || wordLists()["request-words"][d.WordKey(a.next+1)] {
		return false
	}
	f.Predicate, f.Object = language.VerbAt(d.Tokens[a.verb].Word().Verb).Third, d.object(a.next+1, a.g.hi)
	return f.Object != ""
}

// particleDeed reads the object after a particle, and a preposition after it: "my partner gave up his passport", "came back from Crete".
func (d *doc) particleDeed(a *action, f *extract.Fact) bool {
	i, hi := a.next+1, a.g.hi
	f.Predicate, f.Object = a.name+"_"+d.WordKey(a.next), d.withoutArticle(i, hi)
	if i+1 < hi && f.Object != "" && d.IsOneOf(a.s, i, "from", "of", "to", "with", "on", "for") {
		f.Predicate, f.Object = f.Predicate+"_"+d.WordKey(i), d.withoutArticle(i+1, hi)
	}
	return !d.objectIsPronoun(i, hi)
}

// directDeed gives a fact the predicate of the verb's frame with a direct object, if there is such an object.
func (d *doc) directDeed(a *action, f *extract.Fact) bool {
	t := &d.Tokens[a.verb]
	if t.Word().Verb == 0 || f.Object == "" {
		return true
	}
	if next := &d.Tokens[a.next]; next.Is(language.Preposition|language.FunctionWord) && !next.Is(language.Determiner|language.Possessive|language.NumberWord) {
		return true
	}
	fr := directFrame(t.Word())
	if fr == nil {
		return true
	}
	if !d.objectFits(a.s, fr.predicate, a.next, a.g.hi) {
		return false
	}
	past := t.Word().Form&language.PastForm != 0 || d.helped(a.verb) && !(d.in.Memory && d.gerund(a.verb))
	f.Predicate = d.habitual(&clause{verbTok: a.verb, past: past}, fr.predicate)
	dislike(f)
	return true
}
