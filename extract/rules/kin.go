package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// kinNoun returns the index of the kin noun at token i, which adjectives may precede, or -1.
func (r *relator) kinNoun(s *language.Sentence, i int) int {
	d := r.d
	for j := i; j < s.Hi && j < i+3; j++ {
		if d.Tokens[j].Kind != language.KindWord {
			return -1
		}
		if d.Tokens[j].Is(language.KinNoun) {
			if kinPredicate(strings.ToLower(d.TokenText(j))) != "" {
				return j
			}
		}
	}
	return -1
}

// kin reads "Anna's brother Boris", "my wife Clara", "my wife is Clara", "my dog is called Rex".
func (r *relator) kin(s *language.Sentence) {
	d := r.d
	for i := s.Lo; i < s.Hi; i++ {
		if t := &d.Tokens[i]; !t.WordIs(language.KinNoun) || t.Shape != language.LowerCase {
			continue
		}
		predicate := kinPredicate(strings.ToLower(d.TokenText(i)))
		if predicate == "" || d.formerKin(s, i, predicate) || r.notThatOne(s, i) {
			continue
		}
		owner, ok := r.possessor(s, i)
		if !ok {
			continue
		}
		k, be, at := r.kinName(s, i)
		if k < 0 || predicate != "pet_of" && r.mistakenKin(s, &r.nodes[k], be, at > i+1) {
			continue
		}
		r.add(statement{source: r.nodes[k], target: owner, predicate: predicate, raw: d.TokenText(i), conf: confCopula, frame: &frame{predicate: predicate, source: extract.TypePerson, kind: extract.KindRelationship}})
	}
}

// formerKin reports whether the word before the kin noun at token i ends the relationship or gives it another meaning: "my old flatmate", "my
// business partner".
func (d *doc) formerKin(s *language.Sentence, i int, predicate string) bool {
	switch predicate {
	case "partner_of":
		return d.in.Memory && i > s.Lo && wordLists()["partnerships"][d.WordKey(i-1)]
	case "lives_with":
		return d.IsOneOf(s, i-1, "old", "former", "previous", "ex")
	}
	return false
}

// notThatOne reports whether the kin noun at token i describes a name that is denied, so that a name behind it is of somebody else: "not Linda my
// sister, Linda next door".
func (r *relator) notThatOne(s *language.Sentence, i int) bool {
	d := r.d
	if i-3 < s.Lo || !d.in.Memory || !d.Tokens[i-1].Is(language.Possessive) {
		return false
	}
	before := i - 2
	if d.IsPunct(s, before, ',') {
		before--
	}
	k := nodeAt(r.nodes, before)
	return k >= 0 && r.nodes[k].kind == nodeName && d.IsWord(s, r.nodes[k].lo-1, "not")
}

// kinName returns the node of the name after the kin noun at token i, the form of "be" between them, and the token where the name is
// expected. The first two are -1 for none; so is the node if the form of "be" is negated.
func (r *relator) kinName(s *language.Sentence, i int) (k, be, j int) {
	d := r.d
	j = i + 1
	if d.IsPunct(s, j, ',') {
		j++
	}
	if j < s.Hi && d.Tokens[j].Kind == language.KindClitic && d.IsWord(s, j+1, "name") {
		j += 2
	}
	be = -1
	if j < s.Hi && d.Tokens[j].Is(language.FormOfBe) {
		if d.Tokens[j].Is(language.Negation) || d.IsWord(s, j+1, "not") {
			return -1, j, j
		}
		be = j
		j++
	}
	for d.IsOneOf(s, j, "called", "named") {
		j++
	}
	if k = nodeAt(r.nodes, j); k < 0 || r.nodes[k].kind != nodeName {
		return -1, be, j
	}
	return k, be, j
}

// mistakenKin reports whether a name after a kin noun is not that of the relative: "my cousin's Altima", "my dad was Air Force". apart says
// that other words stand between the two.
func (r *relator) mistakenKin(s *language.Sentence, n *node, be int, apart bool) bool {
	d := r.d
	if n.typ == extract.TypePerson {
		return false
	}
	if d.in.Memory && be >= 0 {
		ends := n.hi >= s.Hi || d.Tokens[n.hi].Kind == language.KindPunct
		if d.IsWord(s, be, "was") || d.Tokens[be].Kind == language.KindClitic && (n.typ != extract.TypeConcept || !ends) {
			return true
		}
	}
	return apart && (n.typ == extract.TypeLocation || n.typ == extract.TypeOrganization || n.typ == extract.TypeEvent)
}

// ownedBy reports whether a possessive at token i relates two people, which holds whatever else is planned: "my manager Rohit is moving in April".
func (d *doc) ownedBy(i int) bool {
	return d.in.Memory && i >= 0 && d.Tokens[i].Is(language.Possessive)
}

// stillRelated reports whether two people are related although the clause at token i, whose verb is past, says it by the way: "my wife Folake
// joined me in 2023". A verb that ends a relation, or a word such as "late", leaves it open.
func (d *doc) stillRelated(predicate string, i int) bool {
	blood := false
	switch predicate {
	case "sibling_of", "child_of", "parent_of", "grandchild_of", "grandparent_of", "relative_of":
		blood = true
	case "married_to", "partner_of", "engaged_to", "friend_of", "colleague_of", "neighbor_of", "manages", "works_for", "lives_with", "pet_of":
	default:
		return false
	}
	c := d.ClauseOf(i)
	if c == nil || !d.in.Memory || d.Tokens[i].Word().Verb > 0 {
		return false // the verb itself relates them: "I married Ana"
	}
	for j := c.Lo; j < c.Hi; j++ {
		t := &d.Tokens[j]
		if t.Kind != language.KindWord {
			continue
		}
		if t.Word().Verb > 0 && !t.Is(language.FormOfBe) {
			switch base := language.VerbAt(t.Word().Verb).Base; {
			case base == "move" && !blood && predicate != "manages" && predicate != "works_for" && predicate != "lives_with" && predicate != "neighbor_of" && !(j+1 < c.Hi && d.WordKey(j+1) == "out"):
				continue // "my best friend Tuva moved to Oslo"
			case base == "die" || base == "pass" || base == "kill" || base == "lose", !blood && wordLists()["parting"][base]:
				return false
			}
		}
		if j < i || j > i+3 && !t.Is(language.FormOfBe) {
			continue // "my late husband" says it near the possessive
		}
		switch w := d.WordKey(j); w {
		case "late", "former", "ex", "old", "first", "second", "previous", "then", "was", "were":
			if !blood || w == "late" || w == "former" {
				return false
			}
		}
	}
	return true
}

// possessor returns the owner of the noun at i: "my", "his", "Anna's".
func (r *relator) possessor(s *language.Sentence, i int) (node, bool) {
	d := r.d
	for j := i - 1; j >= s.Lo && j >= i-3; j-- {
		t := &d.Tokens[j]
		if t.Kind == language.KindWord && t.Is(language.Possessive) {
			if t.Is(language.FirstPerson|language.FirstPlural) && s.Speaker != "" {
				return d.speakerNode(s, j), true
			}
			if k := nodeAt(r.nodes, j); k >= 0 {
				return r.nodes[k], true
			}
			return node{}, false
		}
		if t.Kind == language.KindClitic && d.Text[t.End-1] == 's' {
			if k := nodeAt(r.nodes, j-1); k >= 0 {
				return r.nodes[k], true
			}
			return node{}, false
		}
		if t.Kind == language.KindWord && t.Is(language.Determiner) && j-2 >= s.Lo && s.Speaker != "" && d.Tokens[j-2].Is(language.FirstPerson|language.FirstPlural) && d.Tokens[j-1].Word().Verb > 0 {
			return d.speakerNode(s, j-2), true // "I have a dog named Rex"
		}
		if t.Kind != language.KindWord || t.Is(language.FunctionWord) && !t.Is(language.Adjective) {
			return node{}, false
		}
	}
	return node{}, false
}
