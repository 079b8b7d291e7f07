package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// action is what a segment says that its subject does: the verb and the words after it.
type action struct {
	s      *language.Sentence
	g      *segment
	f      extract.Fact // what every fact of the action starts from
	sts    []statement  // the relations of the sentence
	verb   int          // the token of the verb
	name   string       // the base form of the verb
	next   int          // the token after the verb
	toVerb bool         // "to" and more words follow the verb
}

func (d *doc) actionOf(s *language.Sentence, g *segment, f extract.Fact, sts []statement) action {
	a := action{s: s, g: g, f: f, sts: sts, verb: g.verb}
	if g.be || d.Tokens[g.verb].Is(language.FormOfBe) {
		a.verb = g.comp
	}
	a.name, a.next = d.verbName(a.verb), a.verb+1
	a.toVerb = d.IsWord(s, a.next, "to") && a.next+1 < g.hi
	return a
}

// verbFact reads "I VERB ...": preferences, goals, possessions, events and habits. The first reading that applies decides. Some readings
// only find that the words state nothing.
func (d *doc) verbFact(s *language.Sentence, g *segment, f extract.Fact, sts []statement) {
	a := d.actionOf(s, g, f, sts)
	switch {
	case d.emptyVerb(&a):
	case d.goalPhrase(&a), d.wished(&a), d.goalVerb(&a), d.drinksAgain(&a), d.turn(&a):
	case d.passingAction(&a), d.idiom(&a), d.chatter(&a):
	case d.planned(&a), d.wedding(&a), d.undergone(&a):
	case d.newJob(s, g, f, a.name, a.next), a.name == "leave" && d.leftJob(s, g, f, a.next):
	case d.objectElsewhere(&a):
	case a.name == "leave" && d.leftEmployer(s, g, f, sts), d.linkedFacts(s, g, f, sts):
	default:
		d.genericFact(&a)
	}
}

// emptyVerb reports whether an action says nothing for want of content: "I have to be honest", "I love how you explain it".
func (d *doc) emptyVerb(a *action) bool {
	s, next := a.s, a.next
	switch {
	case wordLists()["grasping"][a.name] && !a.toVerb && d.abstractObject(next, a.g.hi):
		return true
	case next < a.g.hi && d.Tokens[next].Is(language.WhWord) && a.name != "know":
		return true
	}
	switch a.name {
	case "get":
		return a.toVerb && (a.g.perfect || d.in.Memory)
	case "do":
		return d.in.Memory && d.withoutObject(next, a.g.hi) // "I did, through the Rockies"
	case "have":
		return a.toVerb && (a.g.past || d.IsWord(s, next+1, "be")) // "we had to put him down"
	case "need":
		return a.toVerb && d.IsWord(s, next+1, "be")
	case "find":
		return d.IsOneOf(s, next, "this", "that", "it") // "I find this boring"
	}
	return false
}

// withoutObject reports whether a sign or a preposition stands at token i, where the object of a verb would be.
func (d *doc) withoutObject(i, hi int) bool {
	if i >= hi {
		return false
	}
	t := &d.Tokens[i]
	return t.Kind == language.KindPunct && t.Sign != '"' || t.WordIs(language.Preposition)
}

// turn reads what an action ends or begins, or what somebody cannot stand: "I gave up coffee", "I got married".
func (d *doc) turn(a *action) bool {
	switch a.name {
	case "stop", "quit", "give":
		return d.stopped(a.s, a.g, a.f, a.verb)
	case "get":
		return a.next < a.g.hi && d.becomes(a.s, a.g, a.f, a.next)
	case "turn":
		return d.birthdayHad(a) || d.dietBegun(a)
	case "go", "become":
		return d.dietBegun(a)
	case "stand":
		if !a.g.negated {
			return false
		}
		f := a.f
		f.Predicate, f.Object, f.Kind, f.Negated = "dislikes", d.withoutArticle(a.next, a.g.hi), extract.KindPreference, false
		d.addFact(a.s, f)
		return true
	}
	return false
}

// birthdayHad reads "I turned 41 last week" as an age.
func (d *doc) birthdayHad(a *action) bool {
	if !d.in.Memory || a.next >= a.g.hi || !a.g.past || a.g.negated || a.g.we || !digits(d.TokenText(a.next)) || !d.birthdayEnds(a.s, a.next+1, a.g.hi) {
		return false
	}
	n, ok := d.Number(a.next)
	if !ok || n < 2 || n > 110 {
		return false
	}
	f := a.f
	f.Predicate, f.Object, f.Kind, f.Functional, f.ValidTo = "age", d.TokenText(a.next), extract.KindFact, true, time.Time{}
	d.addFact(a.s, f)
	return true
}

// birthdayEnds reports whether nothing but a date or an end of the clause stands at token i: not "turned 12 pages", "turned 30 in 2004".
func (d *doc) birthdayEnds(s *language.Sentence, i, hi int) bool {
	if i >= hi || d.Tokens[i].Kind == language.KindPunct && d.Tokens[i].Sign == ',' {
		return true
	}
	return d.IsOneOf(s, i, "today", "yesterday", "last", "this", "and", "on", "recently")
}

// passingAction reports whether an action in a memory tells nothing lasting, or has another meaning than its verb: "we're having a
// picnic", "got people over", "I think I left my jacket".
func (d *doc) passingAction(a *action) bool {
	if !d.in.Memory {
		return false
	}
	s, g, next := a.s, a.g, a.next
	switch a.name {
	case "have":
		if g.progress && !g.past && !g.arranged && !g.future || g.past && !g.ended && d.hadSomebody(s, next) {
			return true
		}
		fallthrough
	case "get":
		if d.going(s, next, g.hi) || d.visits(s, next) {
			return true // "got the raffle going on a quilt"
		}
	case "call":
		if d.callsSomething(next, g.hi) {
			return true // "I call her Mavis"
		}
	}
	return d.doubted(s, g) || d.verbBehind(next, g.hi) // "everything I owned smelled of vinegar"
}

// idiom reports whether the words after a verb make an idiom of it that states nothing: "call me", "get rid of".
func (d *doc) idiom(a *action) bool {
	switch s, next := a.s, a.next; a.name {
	case "call":
		return d.IsWord(s, next, "me")
	case "read", "learn":
		return d.IsWord(s, next, "that") && d.clauseBehind(s, next+1)
	case "get":
		return d.IsWord(s, next, "rid")
	case "hear":
		return !a.g.past
	case "promise":
		return !a.toVerb
	}
	return false
}

// chatter reports whether a verb only introduces what somebody thinks or says, as in "I guess". "I know how" is a skill.
func (d *doc) chatter(a *action) bool {
	return wordLists()["chatter"][a.name] && !(a.name == "know" && d.IsWord(a.s, a.next, "how")) && !d.linkedVerb(a.verb, a.sts)
}

// wedding reads "I married last summer". "I married my notes into one file" is none, and "I married Ana" is left to the relation.
func (d *doc) wedding(a *action) bool {
	if a.name != "marry" || d.objectFits(a.s, "married_to", a.next, a.g.hi) {
		return false
	}
	if a.next < a.g.hi && d.Tokens[a.next].Is(language.Possessive|language.Determiner) && !d.dateBegins(a.s, a.next) {
		return true
	}
	if a.g.negated {
		return false
	}
	f := a.f
	f.Predicate, f.Object, f.Kind, f.Functional, f.ValidTo = "marital_status", "married", extract.KindFact, true, time.Time{}
	d.addFact(a.s, f)
	return true
}

// undergone reports whether something happens to the subject, or is not possible for it: "got voted shop steward", "can't have egg".
func (d *doc) undergone(a *action) bool {
	return a.name == "get" && d.participleAt(a.next, a.g.hi) || a.name == "have" && a.g.negated && a.verb > a.g.lo && d.Tokens[a.verb-1].Is(language.Modal)
}

// objectElsewhere reports whether what follows a verb is not its object but a pronoun, or the receiver of the object.
func (d *doc) objectElsewhere(a *action) bool {
	return d.objectIsPronoun(a.next, a.g.hi) || d.in.Memory && wordLists()["giving"][a.name] && d.personBeside(a.s, a.next) && !d.linkedVerb(a.verb, a.sts)
}

// becomes reads "I got married".
func (d *doc) becomes(s *language.Sentence, g *segment, f extract.Fact, i int) bool {
	c, ok := beComplement(strings.ToLower(d.TokenText(i)))
	if ok && c.functional {
		d.complementFact(s, g, f, &c, i)
	}
	return ok && c.functional
}

// objectIsPronoun reports whether an object says nothing on its own: "it", "that".
func (d *doc) objectIsPronoun(i, hi int) bool {
	if i >= hi || d.Tokens[i].Kind != language.KindWord {
		return false
	}
	if d.Tokens[i].Is(language.SecondPerson) {
		return true // "your number"
	}
	w := strings.ToLower(d.TokenText(i))
	if w == "myself" || w == "ourselves" {
		return false
	}
	return d.Tokens[i].Is(language.Neuter|language.ThirdPlural|language.SecondPerson|language.Masculine|language.Feminine|language.FirstPerson|language.FirstPlural) && !d.Tokens[i].Is(language.Possessive) || w == "that" || w == "this" && i+1 == hi || w == "so"
}
