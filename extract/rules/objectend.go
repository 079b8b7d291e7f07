package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// withoutReflexive skips "myself" before the thing that somebody does for himself: "bought myself a phone".
func (d *doc) withoutReflexive(lo, hi int) int {
	if hi-lo > 1 && (d.WordKey(lo) == "myself" || d.WordKey(lo) == "ourselves") && d.Tokens[lo+1].Kind == language.KindWord && d.Tokens[lo+1].Is(language.Determiner|language.Possessive) {
		return lo + 1
	}
	return lo
}

// withoutPhraseEnd cuts words off the end of an object that tell how, how often or how sure: "at last", "any more", "three times".
func (d *doc) withoutPhraseEnd(lo, hi int) int {
	if hi-lo > 1 && hi < len(d.Tokens) && d.WordKey(hi-1) == "back" && (d.WordKey(hi) == "when" || d.WordKey(hi) == "then") {
		hi-- // "back when it was a college"
	}
	hi = d.withoutVocative(lo, hi)
	if hi-lo > 1 && hi+1 < len(d.Tokens) && d.WordKey(hi-1) == "all" && d.WordKey(hi) == "over" {
		hi-- // "learning to cook all over again"
	}
	for hi-lo > 2 {
		last, before := d.WordKey(hi-1), &d.Tokens[hi-2]
		switch {
		case d.Tokens[hi-1].Kind == language.KindPunct && d.Tokens[hi-1].Sign != '%', d.Tokens[hi-1].Kind == language.KindWord && d.isAdverbEnd(hi-1):
			hi--
		case wordLists()["phrase-ends"][d.WordKey(hi-2)+"_"+last] && !d.Tokens[hi-3].Is(language.Preposition):
			hi -= 2
		case d.Tokens[hi-1].Kind == language.KindWord && d.Tokens[hi-1].Is(language.Weekday) && d.Tokens[hi-2].Kind == language.KindWord && !d.Tokens[hi-2].Is(language.Preposition|language.Determiner|language.Conjunction|language.Possessive|language.Temporal|language.Weekday) && !wordLists()["weekdays"][d.WordKey(hi-2)]:
			hi-- // "started at Nordkap Logistics monday"
		case d.weekdaysAt(hi-1) && !d.Tokens[hi-2].Is(language.Preposition|language.Determiner|language.Conjunction|language.Adjective):
			hi--
		case last == "times" && (before.Kind == language.KindNumber || before.Is(language.NumberWord)):
			hi -= 2 // "drew his ear eleven times"
		default:
			return hi
		}
	}
	return hi
}

// untilPlace returns where words that say where or since when begin behind the person at token i, or hi: "my sister in a flat".
func (d *doc) untilPlace(i, hi int) int {
	for j := i + 1; j < hi; j++ {
		switch d.WordKey(j) {
		case "in", "on", "at", "near", "since", "by":
			return j
		}
	}
	return hi
}

// owns reports whether the name that ends before token i is only an owner: "in Lowri's old room".
func (d *doc) owns(s *language.Sentence, i int) bool {
	return i+1 < s.Hi && d.Tokens[i].Kind == language.KindClitic && d.Text[d.Tokens[i].End-1] == 's' && d.Tokens[i+1].Kind == language.KindWord && !d.Tokens[i+1].Is(language.Preposition|language.Determiner)
}

// endsInOwner is ownerAlone for the object of a fact whose predicate has no preposition.
func endsInOwner(predicate, object string) bool {
	if strings.Contains(strings.TrimPrefix(predicate, extract.NotPrefix), "_") || !strings.HasSuffix(object, "'s") && !strings.HasSuffix(object, "’s") {
		return false
	}
	return object[0] >= 'a' && object[0] <= 'z' && !strings.Contains(object, " ")
}

// ownerAlone reports whether the words that end before token i are only the owner of a thing that is not named: "we're keeping grandad's".
func (d *doc) ownerAlone(s *language.Sentence, i int) bool {
	if i >= s.Hi || d.Tokens[i-1].Shape != language.LowerCase || d.Tokens[i].Kind != language.KindClitic || d.Text[d.Tokens[i].End-1] != 's' {
		return false
	}
	return i+1 >= s.Hi || d.Tokens[i+1].Kind == language.KindPunct || d.Tokens[i+1].Is(language.Conjunction)
}

// conditional reports whether a condition stands before the verb at token i in its part of the sentence: "here's one: if we went".
func (d *doc) conditional(s *language.Sentence, i int) bool {
	for j := i - 1; j >= s.Lo && j > i-8; j-- {
		t := &d.Tokens[j]
		if t.Kind == language.KindPunct {
			return false
		}
		switch d.WordKey(j) {
		case "if", "unless", "suppose", "imagine", "whether":
			return !d.IsWord(s, j-1, "as")
		case "and", "but", "so", "because", "when":
			return false
		}
	}
	return false
}

// topic reports whether the words before a colon, which ends before token i, name what a message is about and not who speaks: only one
// line of it has such words, and "I" does not follow.
func (d *doc) topic(name string, i int) bool {
	if !d.in.Memory || d.in.Speaker == "" || strings.EqualFold(name, d.in.Speaker) || i >= len(d.Tokens) || d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.FirstPerson|language.FirstPlural) {
		return false
	}
	lines := 0
	for line := range strings.Lines(d.Text) {
		if at := strings.Index(line, ": "); at > 0 && at < 30 && strings.Count(line[:at], " ") < 3 {
			lines++
		}
	}
	return lines < 2
}

// gift returns the thing after the person who gets it, as the object of a verb with two objects: "bought the team a cake" bought a
// cake. It returns the object n that ends before next if no such thing follows.
func (r *relator) gift(s *language.Sentence, c *clause, n node, next, end int) (node, int) {
	d := r.d
	if base := d.verbName(c.verbTok); !d.in.Memory || next >= end || !wordLists()["giving"][base] && !wordLists()["getting"][base] {
		return n, next
	}
	t := &d.Tokens[next]
	if n.kind == nodePronoun && d.Tokens[n.lo].Is(language.Possessive) || n.kind == nodeDate || n.kind == nodePhrase && !d.isPerson(&n) && !wordLists()["organizations"][d.head(&n)] && !wordLists()["groups"][d.head(&n)] ||
		t.Kind != language.KindWord || !t.Is(language.Determiner|language.Possessive) || t.Is(language.DatePart) || d.dateBegins(s, next) {
		return n, next
	}
	thing, ok := d.phraseNode(s, next)
	if !ok || thing.hi > end || thing.lo == next || nodeAt(r.nodes, thing.hi-1) >= 0 || d.Tokens[thing.lo].Is(language.TimeUnit|language.DayWord) {
		return n, next
	}
	return thing, thing.hi
}

// aside reports whether the words [lo, hi) after a comma are no further element of a list but say more of the one before.
func (d *doc) aside(s *language.Sentence, lo, hi int) bool {
	end := lo
	for ; end < hi && d.Tokens[end].Kind != language.KindPunct; end++ {
		if d.IsWord(s, end, "and") || d.IsWord(s, end, "or") {
			return false
		}
	}
	for i := end; i < hi; i++ {
		if d.IsWord(s, i, "and") || d.IsWord(s, i, "or") {
			return false
		}
	}
	return end-lo > 3
}

// asksBare reports whether a segment without a subject that begins with "does" asks something: "does crab count as seafood".
func (d *doc) asksBare(g *segment) bool {
	if !d.Tokens[g.lo].Is(language.FormOfDo) {
		return false
	}
	for i := g.lo + 2; i < min(g.hi, g.lo+5); i++ {
		if t := &d.Tokens[i]; t.Kind == language.KindWord && t.Word().Verb > 0 && t.Word().Form&language.BaseForm != 0 {
			return true
		}
	}
	return false
}

// lastPerson returns the last node before token i if it is a name that a person can have, else -1: who "she" is in "that's Abena now, she's in
// Kumasi".
func (d *doc) lastPerson(nodes []node, i int) int {
	for k := len(nodes) - 1; k >= 0; k-- {
		n := &nodes[k]
		if n.hi > i || n.kind == nodeDate {
			continue
		}
		if n.kind != nodeName || n.typ != extract.TypePerson && n.typ != extract.TypeConcept || d.Tokens[n.lo].Shape != language.Capitalized {
			return -1
		}
		return k
	}
	return -1
}

// visits reports whether those at token i, behind a form of "have" or "get", are only visiting: "we've got people over".
func (d *doc) visits(s *language.Sentence, i int) bool {
	n, ok := d.phraseNode(s, i)
	return ok && n.hi < s.Hi && (d.IsWord(s, n.hi, "over") || d.IsWord(s, n.hi, "round"))
}
