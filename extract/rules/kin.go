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
		t := &d.Tokens[i]
		if t.Kind != language.KindWord || !t.Is(language.KinNoun) || t.Shape != language.LowerCase {
			continue
		}
		predicate := kinPredicate(strings.ToLower(d.TokenText(i)))
		if predicate == "" {
			continue
		}
		if d.in.Memory && predicate == "partner_of" && i > s.Lo && wordLists()["partnerships"][d.WordKey(i-1)] {
			continue
		}
		owner, ok := r.possessor(s, i)
		if !ok {
			continue
		}
		j := i + 1
		if d.IsPunct(s, j, ',') {
			j++
		}
		if j < s.Hi && d.Tokens[j].Kind == language.KindClitic && d.IsWord(s, j+1, "name") {
			j += 2
		}
		if predicate == "lives_with" && (d.IsWord(s, i-1, "old") || d.IsWord(s, i-1, "former") || d.IsWord(s, i-1, "previous") || d.IsWord(s, i-1, "ex")) {
			continue // a former relationship: "lived with"
		}
		negated, copula := false, -1
		if j < s.Hi && d.Tokens[j].Is(language.FormOfBe) {
			negated = d.Tokens[j].Is(language.Negation) || d.IsWord(s, j+1, "not")
			copula = j
			j++
		}
		for j < s.Hi && (d.IsWord(s, j, "called") || d.IsWord(s, j, "named")) {
			j++
		}
		k := nodeAt(r.nodes, j)
		if k < 0 || r.nodes[k].kind != nodeName || negated {
			continue
		}
		n := r.nodes[k]
		if d.in.Memory && copula >= 0 && predicate != "pet_of" && n.typ != extract.TypePerson && (d.Tokens[copula].Kind == language.KindClitic && (n.typ != extract.TypeConcept || n.hi < s.Hi && d.Tokens[n.hi].Kind != language.KindPunct) || d.IsWord(s, copula, "was")) {
			continue // "my cousin's Altima", "my dad was Air Force"
		}
		if predicate != "pet_of" && (n.typ == extract.TypeLocation || n.typ == extract.TypeOrganization || n.typ == extract.TypeEvent) && j > i+1 {
			continue
		}
		r.add(statement{source: n, target: owner, predicate: predicate, raw: d.TokenText(i), conf: confCopula, frame: &frame{predicate: predicate, source: extract.TypePerson, kind: extract.KindRelationship}})
	}
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
		if t.Kind == language.KindWord && t.Is(language.Determiner) && j-2 >= s.Lo && s.Speaker != "" && d.Tokens[j-2].Is(language.FirstPerson|language.FirstPlural) && d.Tokens[j-1].Word.Verb > 0 {
			return d.speakerNode(s, j-2), true // "I have a dog named Rex"
		}
		if t.Kind != language.KindWord || t.Is(language.FunctionWord) && !t.Is(language.Adjective) {
			return node{}, false
		}
	}
	return node{}, false
}
