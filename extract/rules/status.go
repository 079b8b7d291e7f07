package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// statusFrame makes a newer status supersede an older one.
var statusFrame = frame{predicate: "status", kind: extract.KindFact, functional: true}

// status reads the state of a named thing from a clause with a form of "be".
func (r *relator) status(s *language.Sentence, c *clause) bool {
	d := r.d
	subject, noun := r.statusSubject(s, c.lo)
	if subject == nil {
		return false
	}
	lo, hi := c.hi, c.hi
	for hi < s.Hi && hi-lo < maxPhrase && (d.Tokens[hi].Kind != language.KindPunct || d.Tokens[hi].Sign == '%' || d.Tokens[hi].Sign == '$') && !d.coordinator(s, hi) {
		hi++
	}
	for hi > lo && d.isAdverbEnd(hi-1) {
		hi--
	}
	for lo < hi && d.Tokens[lo].Kind == language.KindWord && d.Tokens[lo].Is(language.Determiner) && noun != "" {
		lo++
	}
	if lo >= hi {
		return false
	}
	value := extract.Key(d.SpanText(lo, hi))
	fr := &statusFrame
	switch {
	case noun == "" && !wordLists()["status-words"][strings.ReplaceAll(value, " ", "_")], value == "", value == subject.key:
		return false
	case noun != "" && noun != "status":
		fr = &frame{predicate: "has_" + noun, kind: extract.KindFact, functional: true}
	}
	target := node{lo: lo, hi: hi, kind: nodePhrase, key: value, typ: extract.TypeConcept}
	if k := nodeAt(r.nodes, lo); k >= 0 && r.nodes[k].lo == lo && r.nodes[k].hi == hi {
		target = r.nodes[k]
	}
	cc := new(clause)
	*cc = *c
	cc.past = false // "was shipped" is the status from then on
	r.add(statement{source: *subject, target: target, predicate: fr.predicate, raw: strings.TrimSpace(noun + " " + d.SpanText(c.lo, c.hi)), conf: confCopula, clause: cc, frame: fr})
	return true
}

// statusSubject returns the name before token i whose state is described, and the noun for the described property; the noun is empty
// for the state itself.
func (r *relator) statusSubject(s *language.Sentence, i int) (*node, string) {
	d := r.d
	k := nodeAt(r.nodes, i-1)
	if k >= 0 && r.nodes[k].hi == i && r.nodes[k].kind == nodeName {
		j := r.nodes[k].lo // "the status of (the project) NAME"
		for j > s.Lo && j > r.nodes[k].lo-3 && d.Tokens[j-1].Kind == language.KindWord && !d.IsWord(s, j-1, "of") && d.Tokens[j-1].Shape == language.LowerCase && !d.Tokens[j-1].Is(language.Preposition|language.Conjunction) {
			j--
		}
		if j-2 >= s.Lo && d.IsWord(s, j-1, "of") && wordLists()["status-nouns"][strings.ToLower(d.TokenText(j-2))] {
			return &r.nodes[k], strings.ToLower(d.TokenText(j - 2))
		}
		if r.nodes[k].typ == extract.TypePerson || d.governed(s, r.nodes[k].lo) {
			return nil, ""
		}
		return &r.nodes[k], ""
	}
	// "NAME's status"
	if i-1 <= s.Lo || !wordLists()["status-nouns"][strings.ToLower(d.TokenText(i-1))] || i < s.Lo+3 || d.Tokens[i-2].Kind != language.KindClitic {
		return nil, ""
	}
	if k := nodeAt(r.nodes, i-3); k >= 0 && r.nodes[k].kind == nodeName {
		return &r.nodes[k], strings.ToLower(d.TokenText(i - 1))
	}
	return nil, ""
}
