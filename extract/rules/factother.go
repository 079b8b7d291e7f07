package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// otherFacts adds what a sentence states about people and things other than the speaker.
func (d *doc) otherFacts(s *language.Sentence, sts []statement) {
	self := extract.Key(s.Speaker)
	for i := range sts {
		st := &sts[i]
		if st.source.key == self || st.predicate == "related_to" || st.conf < 0.5 || st.source.kind != nodeName && st.source.kind != nodePronoun {
			continue
		}
		c := st.clause
		if c != nil && (c.hyp || c.future || d.in.Memory && c.past && !c.perfect && !c.ended && d.Tokens[c.verbTok].Is(language.FormOfBe) && (st.predicate == "is_a" || st.predicate == "diet" || st.predicate == "has_role")) || d.in.Memory && st.target.kind == nodePhrase && hollow(st.predicate, st.target.key) {
			continue
		}
		if d.at = st.target.lo; c != nil {
			d.at = c.verbTok
		}
		f := extract.Fact{Subject: d.nodeName(&st.source), Predicate: st.predicate, Object: d.nodeName(&st.target), Kind: extract.KindEntity, Confidence: st.conf * confOther / confVerb}
		if st.target.key == self || st.frame != nil && st.frame.kind == extract.KindRelationship || st.source.typ == extract.TypePerson && st.target.typ == extract.TypePerson {
			f.Kind = extract.KindRelationship
		}
		f.Functional, f.Asserted = d.functional(st), d.asserted(s, d.datesOf(s), st)
		if c != nil {
			f.Negated, f.Retracts = c.negated && !c.ended, c.ended
			f.ValidFrom, f.ValidTo, f.Precision = d.validity(s, d.datesOf(s), st)
		}
		f.Text = d.stateOther(s, st, &f)
		d.addFact(s, f)
	}
}

// stateOther writes a relation as a sentence: the words of the text if they are understandable alone, else subject, verb and object.
func (d *doc) stateOther(s *language.Sentence, st *statement, f *extract.Fact) string {
	predicate := strings.ReplaceAll(st.predicate, "_", " ")
	switch {
	case f.Kind == extract.KindRelationship && strings.HasSuffix(st.predicate, "_of"):
		return f.Subject + " is " + article(strings.TrimSuffix(predicate, " of")) + " of " + f.Object + "."
	case st.predicate == "is_a" || st.predicate == "diet" || st.predicate == "has_role":
		return f.Subject + " is " + article(f.Object) + "."
	case st.predicate == "married_to" || st.predicate == "engaged_to" || st.predicate == "partner_of":
		return f.Subject + " is " + predicate + " " + f.Object + "."
	case st.predicate == "located_in" || st.predicate == "born_in" || st.predicate == "part_of" || st.predicate == "born_on" || st.predicate == "from":
		return f.Subject + " is " + predicate + " " + f.Object + "."
	case st.clause != nil && st.source.kind == nodeName && !d.firstPerson(s) && len(d.sentenceText(s)) < 240:
		return capitalised(strings.TrimRight(d.sentenceText(s), " .!,;") + ".")
	case st.clause != nil:
		c := st.clause
		words := d.SpanText(c.lo, c.hi)
		if k := strings.LastIndexByte(st.raw, ' '); k > 0 && !strings.HasSuffix(words, st.raw[k+1:]) && st.frame != nil && len(st.frame.preps) > 0 {
			words += st.raw[k:]
		}
		return f.Subject + " " + words + " " + f.Object + "."
	}
	return f.Subject + " " + predicate + " " + f.Object + "."
}

// plainText writes a fact from its parts: "Alex works at Zorblax."
func plainText(f *extract.Fact) string {
	words := strings.ReplaceAll(f.Predicate, "_", " ")
	first, _, _ := strings.Cut(words, " ")
	switch {
	case f.Predicate == "has_role" || f.Predicate == "is_a" || f.Predicate == "diet":
		return f.Subject + " is " + article(f.Object) + "."
	case strings.HasSuffix(f.Predicate, "_of") && first != "proud" && wordLists()["noun-predicates"][first]:
		return f.Subject + " is " + article(first) + " of " + f.Object + "."
	case wordLists()["state-predicates"][first]:
		return f.Subject + " is " + words + " " + f.Object + "."
	}
	return f.Subject + " " + words + " " + f.Object + "."
}

func article(noun string) string {
	if noun == "" || strings.HasPrefix(noun, "a ") || strings.HasPrefix(noun, "the ") || noun[0] >= 'A' && noun[0] <= 'Z' {
		return noun
	}
	if strings.IndexByte("aeiou", noun[0]) >= 0 {
		return "an " + noun
	}
	return "a " + noun
}

// firstPerson reports whether a sentence is about its speaker.
func (d *doc) firstPerson(s *language.Sentence) bool {
	for i := s.Lo; i < s.Hi; i++ {
		if d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.FirstPerson|language.FirstPlural) {
			return true
		}
	}
	return false
}

func (d *doc) sentenceText(s *language.Sentence) string {
	return d.Text[d.Tokens[s.Lo].Start:d.Tokens[s.Hi-1].End]
}

// nodeName returns the readable name of a node.
func (d *doc) nodeName(n *node) string {
	if n.kind == nodePronoun {
		return n.name
	}
	if n.name != "" {
		return n.name
	}
	return d.SpanText(n.lo, n.hi)
}
