package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// kinPredicates says what "Y's NOUN X" makes of X and Y.
var kinPredicates = map[string]string{
	"wife": "married_to", "husband": "married_to", "spouse": "married_to", "partner": "partner_of", "fiancé": "engaged_to", "fiancée": "engaged_to", "fiance": "engaged_to",
	"fiancee": "engaged_to", "girlfriend": "partner_of", "boyfriend": "partner_of", "mother": "parent_of", "father": "parent_of", "mom": "parent_of", "mum": "parent_of",
	"dad": "parent_of", "parent": "parent_of", "son": "child_of", "daughter": "child_of", "child": "child_of", "kid": "child_of", "baby": "child_of", "brother": "sibling_of",
	"sister": "sibling_of", "sibling": "sibling_of", "twin": "sibling_of", "uncle": "relative_of", "aunt": "relative_of", "cousin": "relative_of", "nephew": "relative_of",
	"niece": "relative_of", "grandmother": "grandparent_of", "grandfather": "grandparent_of", "grandma": "grandparent_of", "grandpa": "grandparent_of",
	"grandson": "grandchild_of", "granddaughter": "grandchild_of", "friend": "friend_of", "bestie": "friend_of", "roommate": "lives_with", "flatmate": "lives_with",
	"neighbor": "neighbor_of", "neighbour": "neighbor_of", "colleague": "colleague_of", "coworker": "colleague_of", "co-worker": "colleague_of", "boss": "manages",
	"manager": "manages", "mentor": "mentors", "coach": "coaches", "trainer": "coaches", "teacher": "teaches", "tutor": "teaches", "doctor": "doctor_of", "dentist": "doctor_of",
	"therapist": "therapist_of", "landlord": "landlord_of", "ex": "former_partner_of", "ex-wife": "former_partner_of", "ex-husband": "former_partner_of",
	"mother-in-law": "relative_of", "father-in-law": "relative_of", "brother-in-law": "relative_of", "sister-in-law": "relative_of", "assistant": "works_for",
	"lawyer": "works_for", "accountant": "works_for", "stepmother": "parent_of", "stepfather": "parent_of", "godmother": "relative_of", "godfather": "relative_of", "godson": "relative_of",
	"dog": "pet_of", "cat": "pet_of", "puppy": "pet_of", "kitten": "pet_of", "pet": "pet_of", "horse": "pet_of", "parrot": "pet_of", "hamster": "pet_of",
}

// kinNoun returns the kin noun at token i, past adjectives, or -1.
func (r *relator) kinNoun(s *sentence, i int) int {
	d := r.d
	for j := i; j < s.hi && j < i+3; j++ {
		if d.toks[j].kind != kWord {
			return -1
		}
		if d.toks[j].is(fKin) {
			if _, ok := kinPredicates[strings.ToLower(d.str(j))]; ok {
				return j
			}
		}
	}
	return -1
}

// kin reads "Anna's brother Boris", "my wife Clara", "my wife is Clara", "my dog is called Rex".
func (r *relator) kin(s *sentence) {
	d := r.d
	for i := s.lo; i < s.hi; i++ {
		t := &d.toks[i]
		if t.kind != kWord || !t.is(fKin) || t.shape != sLower {
			continue
		}
		predicate, ok := kinPredicates[strings.ToLower(d.str(i))]
		if !ok {
			continue
		}
		owner, ok := r.possessor(s, i)
		if !ok {
			continue
		}
		j := i + 1
		if d.isPunct(s, j, ',') {
			j++
		}
		if j < s.hi && d.toks[j].kind == kClitic && d.isWord(s, j+1, "name") {
			j += 2
		}
		negated := false
		if j < s.hi && d.toks[j].is(fBe) {
			negated = d.toks[j].is(fNeg) || d.isWord(s, j+1, "not")
			j++
		}
		for j < s.hi && (d.isWord(s, j, "called") || d.isWord(s, j, "named")) {
			j++
		}
		k := nodeAt(r.nodes, j)
		if k < 0 || r.nodes[k].kind != nodeName || negated {
			continue
		}
		n := r.nodes[k]
		if predicate != "pet_of" && (n.typ == extract.TypeLocation || n.typ == extract.TypeOrganization || n.typ == extract.TypeEvent) && j > i+1 {
			continue
		}
		r.add(statement{source: n, target: owner, predicate: predicate, raw: d.str(i), conf: confCopula, frame: &frame{predicate: predicate, source: extract.TypePerson, kind: extract.KindRelationship}})
	}
}

// possessor returns whose the noun at i is: "my", "his", "Anna's".
func (r *relator) possessor(s *sentence, i int) (node, bool) {
	d := r.d
	for j := i - 1; j >= s.lo && j >= i-3; j-- {
		t := &d.toks[j]
		if t.kind == kWord && t.is(fPoss) {
			if t.is(fI|fWe) && s.speaker != "" {
				return d.speakerNode(s, j), true
			}
			if k := nodeAt(r.nodes, j); k >= 0 {
				return r.nodes[k], true
			}
			return node{}, false
		}
		if t.kind == kClitic && d.text[t.end-1] == 's' {
			if k := nodeAt(r.nodes, j-1); k >= 0 {
				return r.nodes[k], true
			}
			return node{}, false
		}
		if t.kind == kWord && t.is(fDet) && j-2 >= s.lo && s.speaker != "" && d.toks[j-2].is(fI|fWe) && d.toks[j-1].w.verb > 0 {
			return d.speakerNode(s, j-2), true // "I have a dog named Rex"
		}
		if t.kind != kWord || t.is(fStop) && !t.is(fAdj) {
			return node{}, false
		}
	}
	return node{}, false
}
