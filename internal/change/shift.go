package change

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// What the speaker moved or switched is elsewhere from then on: "we moved the backups over to Dublin" ends "our backups run in Frankfurt". The
// thing is a definite one that the earlier statement names by all of its words, with a name behind a preposition.

var (
	shifted = lazyregexp.New(`^(?:(?i:so|and|well|ok|finally|also)[, ]+)*(?:I|We|i|we|I['’]ve|We['’]ve|I have|We have)(?: just| finally| now| recently)* (?:moved|switched|transferred|migrated|shifted|swapped|brought|taken|took) ((?:the |my |our |all (?:the |my |our )?)?[\pL\d][\pL\d'’-]*(?: [\pL\d][\pL\d'’-]*){0,3}?) (?:over |across |back )?(?:to|into) (?:the )?(\p{Lu}[\pL\d'’&.-]*(?: \p{Lu}[\pL\d'’&.-]*){0,3})(?:$|,| (?:because|since|as|so|for|to|last|this|now|in|on|after|until)\b)`)
	// relocated matches clauses in which a thing moved, or was moved.
	relocated = lazyregexp.New(`^(?:(?i:so|and|well|ok|also)[, ]+)*((?:[Tt]he|[Mm]y|[Oo]ur) [\pL\d][\pL\d'’-]*(?: [\pL\d][\pL\d'’-]*){0,2}?) (?:(?:has|have) (?:now |just )?|now |just |will now be )?(?:(?:was|were|is|are|been|being) )?(?:now |just )?(?:moved|switched|transferred|migrated|relocated|shifted|moves) (?:over |across |back )?(?:to|into) (?:the )?(\p{Lu}[\pL\d'’&.-]*(?: \p{Lu}[\pL\d'’&.-]*){0,3})(?:$|,| (?:because|since|as|so|for|last|this|now|in|on|after|until)\b)`)
	// stands matches clauses that say where a thing is.
	stands = lazyregexp.New(`\b(?:is|are|runs?|sits?|stands?|meets?|hosted|parked|kept|stored|based|housed|lives?|rehearses?|trains?)(?: \pL+)? (?:in|at|with|on)\b`)
	placed = lazyregexp.New(`\b(?:in|at|with|on|from) (?:the )?(\p{Lu}[\pL\d'’&.-]*(?: \p{Lu}[\pL\d'’&.-]*){0,3})`)
	// someOf are words for a part of a thing, or for another one.
	someOf = words(`a an one two some few another more it them this that these those everything`)
	dayOf  = lazyregexp.New(`(?i)^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december)\b`)
)

// shift is a thing that is elsewhere from then on.
type shift struct {
	thing, to string
	itself    bool // it moved, or was moved by somebody else
	clause    string
}

// shifts returns what a statement says was moved, and computes it once.
func (s *statement) shifts() []shift {
	if s.searched {
		return s.moved
	}
	s.searched = true
	if len(s.text) > maxStated || triggersOf(s.text)&mayCarry == 0 {
		return nil
	}
	for _, c := range s.parse() {
		if c.Mode != extract.ModeAsserted && c.Mode != extract.ModePast && c.Mode != "" {
			continue
		}
		text, x := strings.TrimRight(strings.TrimSpace(c.Text), ".!;"), shift{clause: c.Text}
		m := shifted.FindStringSubmatch(text)
		if m == nil {
			m = relocated.FindStringSubmatch(text)
			x.itself = true
		}
		if m == nil || x.itself && relatives(&c) != "" {
			continue
		}
		x.thing, x.to = m[1], m[2]
		first, _, _ := strings.Cut(strings.ToLower(x.thing), " ")
		if !someOf[first] && !ofSomebody.MatchString(x.to+" x") && !dayOf.MatchString(x.to) {
			s.moved = append(s.moved, x)
		}
	}
	return s.moved
}

// byShift decides by a thing that was moved to another place, provider or person of which both statements have the name.
func byShift(later, earlier *statement, v *vocabulary) (verdict, bool) {
	for _, l := range later.shifts() {
		for _, e := range earlier.parse() {
			at := placed.FindStringSubmatch(e.Text)
			if at == nil || l.itself && !stands.MatchString(e.Text) || !states(&e) || e.About == extract.AboutOther && !strings.HasPrefix(strings.ToLower(e.Text), "the ") || dayOf.MatchString(at[1]) ||
				strings.EqualFold(at[1], l.to) || !v.within(l.thing, &e) {
				continue
			}
			return verdict{confidence: ruleConfidence, matter: e.Text, evidence: l.clause, decider: "rules: shifted"}, true
		}
	}
	return verdict{}, false
}
