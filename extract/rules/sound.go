package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// pointsFirst reports whether an object begins with a pronoun that stands for somebody or something said before: "her a raise", "them raw", "ours to a couple".
func pointsFirst(words []string) bool {
	switch words[0] {
	case "them", "em", "him", "us", "ours", "mine", "yours", "theirs", "meself":
		return true
	case "her":
		if len(words) == 1 {
			return true
		}
		w := language.Lookup(words[1])
		return w.Flags&(language.Determiner|language.Preposition|language.NumberWord|language.Adverb|language.Conjunction) != 0 && w.Flags&language.Adjective == 0 || words[1][0] >= '0' && words[1][0] <= '9'
	}
	return false
}

// besideObject reports whether a name or pronoun behind a verb is not what it acts on: "it" may be anything said before, and whom somebody gives something to is no gift:
// "gave Larcier the 31st", "cook him eggs". Nor is a day where somebody goes.
func (r *relator) besideObject(s *language.Sentence, c *clause, fr *frame, object *node) bool {
	d := r.d
	switch object.kind {
	case nodePronoun:
		if d.Tokens[object.lo].Is(language.Neuter | language.ThirdPlural) {
			return true
		}
	case nodeName:
	case nodeDate:
		return strings.HasPrefix(fr.predicate, "went_") || strings.HasPrefix(fr.predicate, "goes_")
	default:
		return false
	}
	if len(fr.preps) > 0 || object.hi >= s.Hi {
		return false
	}
	next := &d.Tokens[object.hi]
	if next.Kind == language.KindNumber || next.Kind == language.KindWord && next.Is(language.NumberWord) {
		return object.kind == nodePronoun || wordLists()["giving"][d.verbName(c.verbTok)]
	}
	if next.Kind != language.KindWord || !(object.kind == nodePronoun || wordLists()["giving"][d.verbName(c.verbTok)]) {
		return false
	}
	if next.Is(language.Determiner | language.Possessive) {
		return !d.dateBegins(s, object.hi)
	}
	return next.Shape == language.LowerCase && !next.Is(language.FunctionWord|language.Adverb|language.Preposition|language.Conjunction|language.Temporal|language.DayWord) && !d.isAdverbEnd(object.hi) && next.Word.Verb == 0
}

// classes reports whether what something is said to be can be said of it: not a number or a mere quality, no place of a person and no person of a place.
func (d *doc) classes(st *statement) bool {
	if st.predicate != "is_a" && st.predicate != "has_role" || st.target.kind != nodePhrase {
		return true
	}
	n := &st.target
	t := &d.Tokens[n.hi-1]
	switch {
	case n.hi-n.lo == 1 && (t.Kind == language.KindNumber || t.Is(language.Adjective) && !t.Is(language.Occupation|language.KinNoun|language.Demonym)), d.Tokens[n.lo].Kind == language.KindNumber:
		return false
	case st.clause != nil || st.source.kind != nodeName:
		return true // only what stands behind a comma may belong to another name
	}
	head := d.head(n)
	someone := t.Is(language.Occupation|language.KinNoun) || wordLists()["persons"][head] || wordLists()["kinds-of-people"][head]
	switch st.source.typ {
	case extract.TypeLocation, extract.TypeOrganization, extract.TypeDate, extract.TypeEvent:
		return !someone
	case extract.TypePerson:
		return someone || !wordLists()["places"][head] && !wordLists()["organizations"][head] && !wordLists()["dwellings"][head]
	}
	return !someone || !d.Tokens[st.source.lo].Is(language.PlaceName|language.Month|language.Weekday)
}

// clippedIng reports whether a word is a participle that is spelled as it is spoken: "thinkin", "stayin'".
func clippedIng(t *language.Token, w string) bool {
	if len(w) < 5 || !strings.HasSuffix(w, "in") || t.Word.Flags != 0 || t.Word.Verb != 0 {
		return false
	}
	whole := language.Lookup(w + "g")
	return whole.Verb > 0 && whole.Form&language.IngForm != 0
}

// saysI reports whether the text speaks of its writer as "I", so that a sentence without a subject is about who was named before: "She's from Wollongong. Eats prawns tho".
func (d *doc) saysI() bool {
	for i := range d.Tokens {
		t := &d.Tokens[i]
		if t.Kind == language.KindWord && t.Is(language.FirstPerson|language.FirstPlural) {
			return true
		}
	}
	return false
}

// newStatement reports whether a statement of its own begins at token i within the words before hi: "a splint and dreamt", "500 a month and she is proud", "the blinds because
// it's hot".
func (d *doc) newStatement(i, hi int) bool {
	switch d.WordKey(i) {
	case "because", "cuz", "cos", "coz":
		return true
	case "and", "but", "so":
	default:
		return false
	}
	for j := i + 1; j < min(hi, i+5); j++ {
		t := &d.Tokens[j]
		if t.Kind == language.KindPunct {
			return false
		}
		switch {
		case j == i+1 && t.Kind == language.KindWord && t.Is(language.FirstPerson|language.FirstPlural|language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural) && !t.Is(language.Possessive):
			return d.WordKey(j) != "me" && d.WordKey(j) != "us"
		case t.Kind == language.KindWord && t.Is(language.FormOfBe) && j > i+1:
			return true
		case t.Kind == language.KindWord && t.Word.Verb > 0 && t.Word.Form&language.PastForm != 0 && t.Word.Form&language.BaseForm == 0 && (j == i+1 || t.Word.Form&language.Participle == 0) && !t.Is(language.Adjective):
			return true
		}
	}
	return false
}

// skill reports whether what one can do says something about oneself: "I can speak Welsh", "I can play G7".
func (d *doc) skill(g *segment) bool {
	return g.verb >= 0 && wordLists()["skills"][d.verbName(g.verb)]
}

// personBeside reports whether a name begins at token i with what its bearer is given behind it: "gave Larcier the 31st".
func (d *doc) personBeside(s *language.Sentence, i int) bool {
	for k := range d.Names {
		if h := &d.Names[k]; h.Lo == i && !h.Part && h.Hi < s.Hi {
			next := &d.Tokens[h.Hi]
			return next.Kind == language.KindWord && next.Is(language.Determiner|language.Possessive) && !d.dateBegins(s, h.Hi)
		}
	}
	return false
}
