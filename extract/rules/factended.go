package rules

import (
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// stopped reads "I stopped eating meat", "I gave up coffee", "I quit my job at Acme".
func (d *doc) stopped(s *language.Sentence, g *segment, f extract.Fact, verb int) bool {
	i := verb + 1
	if d.verbName(verb) == "give" {
		if !d.IsWord(s, i, "up") {
			return false
		}
		i++
	}
	if d.in.Memory && (g.negated && !g.ended || d.IsWord(s, i, "for") || i < g.hi && d.Tokens[i].Kind == language.KindPunct && d.Tokens[i].Sign != '"') {
		return true // "I don't stop tea", "I've stopped, for real"
	}
	if i >= g.hi || d.Tokens[i].Is(language.Preposition) && d.Tokens[i].Kind == language.KindWord {
		return i < g.hi
	}
	f.Retracts, f.Negated, f.Kind = true, false, extract.KindFact
	d.endAt(&f)
	if t := &d.Tokens[i]; t.Word().Verb > 0 && t.Word().Form&language.IngForm != 0 {
		hi := d.untilDate(s, i+1, g.hi)
		f.Predicate, f.Object = d.verbName(i), d.withoutArticle(i+1, hi)
		v := framesOf(t.Word())
		for k := range v {
			fr := &v[k]
			switch {
			case len(fr.preps) == 0 && !fr.passive && (i+1 >= g.hi || !d.Tokens[i+1].Is(language.Preposition)):
				f.Predicate, f.Kind, f.Functional = fr.predicate, fr.kind, fr.functional
			case !fr.passive && i+1 < g.hi && fr.matches(d.TokenText(i+1)):
				f.Predicate, f.Object, f.Kind, f.Functional = fr.predicate, d.withoutArticle(i+2, hi), fr.kind, fr.functional
			default:
				continue
			}
			break
		}
		if f.Kind == extract.KindEvent {
			f.Kind = extract.KindFact
		}
		d.addFact(s, f)
		return true
	}
	if d.leftJob(s, g, f, i) {
		return true
	}
	f.Predicate, f.Object = "does", d.withoutArticle(i, d.untilTime(i, d.untilDate(s, i, g.hi)))
	d.addFact(s, f)
	return true
}

// newJob reads "I got a job at Acme" as working there.
func (d *doc) newJob(s *language.Sentence, g *segment, f extract.Fact, name string, i int) bool {
	switch name {
	case "get", "start", "begin", "land", "accept", "take", "find":
	default:
		return false
	}
	if g.negated || g.ended {
		return false
	}
	for j := i; j+2 < g.hi; j++ {
		if (d.IsWord(s, j, "job") || d.IsWord(s, j, "position") || d.IsWord(s, j, "role") || d.IsWord(s, j, "work")) && (d.IsWord(s, j+1, "at") || d.IsWord(s, j+1, "with")) && d.objectFits(s, "works_at", j+2, g.hi) {
			end, _ := d.typedEnd(s, "works_at", j+2, g.hi)
			f.Predicate, f.Object, f.Kind, f.Functional, f.ValidTo = "works_at", d.withoutArticle(j+2, end), extract.KindFact, true, time.Time{}
			d.addFact(s, f)
			return true
		}
	}
	return false
}

// leftJob reads the job that ends after "I quit" or "I left" at token i.
func (d *doc) leftJob(s *language.Sentence, g *segment, f extract.Fact, i int) bool {
	f.Retracts, f.Negated, f.Kind = true, false, extract.KindFact
	d.endAt(&f)
	for j := i; j < g.hi; j++ {
		if (d.IsWord(s, j, "job") || d.IsWord(s, j, "position") || d.IsWord(s, j, "work")) && (d.IsWord(s, j+1, "at") || d.IsWord(s, j+1, "with")) {
			f.Predicate, f.Object, f.Functional = "works_at", d.withoutArticle(j+2, g.hi), true
			d.addFact(s, f)
			return true
		}
	}
	return false
}

// abstractObject reports whether the object from token i on says nothing lasting: "a feeling", "no idea".
func (d *doc) abstractObject(i, hi int) bool {
	for j := i; j < hi && j < i+5; j++ {
		if d.Tokens[j].Kind != language.KindWord {
			return false
		}
		if wordLists()["abstract"][d.WordKey(j)] {
			return true
		}
		if d.Tokens[j].Is(language.Preposition) {
			return false
		}
	}
	return false
}

// leftEmployer reads "I left Acme" as the end of working there.
func (d *doc) leftEmployer(s *language.Sentence, g *segment, f extract.Fact, sts []statement) bool {
	for i := range sts {
		st := &sts[i]
		if st.predicate == "left" && st.target.kind == nodeName && st.target.typ == extract.TypeOrganization && st.target.lo >= g.lo && st.target.hi <= g.hi {
			f.Predicate, f.Object, f.Kind, f.Retracts, f.Functional = "works_at", d.nodeName(&st.target), extract.KindFact, true, true
			d.endAt(&f)
			d.addFact(s, f)
			return true
		}
	}
	return false
}
