package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// statusNouns are what a thing has one value of at a time: "the status of Apollo is", "Apollo's deadline is".
var statusNouns = map[string]bool{"status": true, "state": true, "stage": true, "phase": true, "priority": true, "severity": true, "deadline": true, "budget": true,
	"owner": true, "assignee": true, "version": true, "price": true, "location": true}

// statusWords are values of a status that need no noun: "Apollo is delayed", "the release is on hold".
var statusWords = map[string]bool{"delayed": true, "blocked": true, "done": true, "finished": true, "completed": true, "cancelled": true, "canceled": true, "approved": true,
	"rejected": true, "pending": true, "active": true, "inactive": true, "shipped": true, "released": true, "deprecated": true, "archived": true, "overdue": true,
	"paused": true, "postponed": true, "resolved": true, "unresolved": true, "live": true, "launched": true, "in progress": true, "in review": true, "on hold": true,
	"on track": true, "at risk": true, "out of stock": true, "back in stock": true, "under review": true, "under construction": true}

// statusFrame lets a newer status retire an older one.
var statusFrame = frame{predicate: "status", kind: extract.KindFact, functional: true}

// status reads what the clause of a form of "be" says of the state of a thing with a name.
func (r *relator) status(s *sentence, c *clause) bool {
	d := r.d
	subject, noun := r.statusSubject(s, c.lo)
	if subject == nil {
		return false
	}
	lo, hi := c.hi, c.hi
	for hi < s.hi && hi-lo < maxPhrase && (d.toks[hi].kind != kPunct || d.toks[hi].ch == '%' || d.toks[hi].ch == '$') && !d.coordinator(s, hi) {
		hi++
	}
	for hi > lo && d.isAdverbEnd(hi-1) {
		hi--
	}
	for lo < hi && d.toks[lo].kind == kWord && d.toks[lo].is(fDet) && noun != "" {
		lo++
	}
	if lo >= hi {
		return false
	}
	value := extract.Key(d.surface(lo, hi))
	fr := &statusFrame
	switch {
	case noun == "" && !statusWords[value], value == "", value == subject.key:
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
	cc.past = false // "was shipped" is its status since
	r.add(statement{source: *subject, target: target, predicate: fr.predicate, raw: strings.TrimSpace(noun + " " + d.surface(c.lo, c.hi)), conf: confCopula, clause: cc, frame: fr})
	return true
}

// statusSubject returns the name before token i whose state is told, and the noun that names what is told of it, empty
// for the state itself.
func (r *relator) statusSubject(s *sentence, i int) (*node, string) {
	d := r.d
	k := nodeAt(r.nodes, i-1)
	if k >= 0 && r.nodes[k].hi == i && r.nodes[k].kind == nodeName {
		j := r.nodes[k].lo // "the status of (the project) NAME"
		for j > s.lo && j > r.nodes[k].lo-3 && d.toks[j-1].kind == kWord && !d.isWord(s, j-1, "of") && d.toks[j-1].shape == sLower && !d.toks[j-1].is(fPrep|fConj) {
			j--
		}
		if j-2 >= s.lo && d.isWord(s, j-1, "of") && statusNouns[strings.ToLower(d.str(j-2))] {
			return &r.nodes[k], strings.ToLower(d.str(j - 2))
		}
		if r.nodes[k].typ == extract.TypePerson || d.governed(s, r.nodes[k].lo) {
			return nil, ""
		}
		return &r.nodes[k], ""
	}
	// "NAME's status"
	if i-1 <= s.lo || !statusNouns[strings.ToLower(d.str(i-1))] || i < s.lo+3 || d.toks[i-2].kind != kClitic {
		return nil, ""
	}
	if k := nodeAt(r.nodes, i-3); k >= 0 && r.nodes[k].kind == nodeName {
		return &r.nodes[k], strings.ToLower(d.str(i - 1))
	}
	return nil, ""
}
