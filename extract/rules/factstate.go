package rules

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
)

// complement is what "I'm WORD ..." says.
type complement struct {
	preps      string // the object follows one of these; empty for none
	predicate  string
	kind       string
	object     string // the object when nothing follows, "" for the word itself
	functional bool
}

// beComplements are states that a word behind "I'm" gives a meaning of their own.
var beComplements = map[string]complement{
	"allergic":    {"to", "allergic_to", extract.KindFact, "", false},
	"intolerant":  {"to", "intolerant_to", extract.KindFact, "", false},
	"vegetarian":  {"", "diet", extract.KindPreference, "vegetarian", true},
	"vegan":       {"", "diet", extract.KindPreference, "vegan", true},
	"pescatarian": {"", "diet", extract.KindPreference, "pescatarian", true},
	"diabetic":    {"", "has_condition", extract.KindFact, "diabetes", false},
	"celiac":      {"", "has_condition", extract.KindFact, "celiac disease", false},
	"interested":  {"in", "interested_in", extract.KindPreference, "", false},
	"into":        {"", "interested_in", extract.KindPreference, "", false},
	"fond":        {"of", "likes", extract.KindPreference, "", false},
	"keen":        {"on", "likes", extract.KindPreference, "", false},
	"passionate":  {"about", "likes", extract.KindPreference, "", false},
	"crazy":       {"about", "likes", extract.KindPreference, "", false},
	"obsessed":    {"with", "likes", extract.KindPreference, "", false},
	"addicted":    {"to", "likes", extract.KindPreference, "", false},
	"afraid":      {"of", "fears", extract.KindPreference, "", false},
	"scared":      {"of", "fears", extract.KindPreference, "", false},
	"terrified":   {"of", "fears", extract.KindPreference, "", false},
	"good":        {"at with", "good_at", extract.KindFact, "", false},
	"bad":         {"at with", "bad_at", extract.KindFact, "", false},
	"fluent":      {"in", "speaks", extract.KindFact, "", false},
	"married":     {"to", "marital_status", extract.KindFact, "married", true},
	"engaged":     {"to", "marital_status", extract.KindFact, "engaged", true},
	"single":      {"", "marital_status", extract.KindFact, "single", true},
	"divorced":    {"", "marital_status", extract.KindFact, "divorced", true},
	"widowed":     {"", "marital_status", extract.KindFact, "widowed", true},
	"retired":     {"from", "employment_status", extract.KindFact, "retired", true},
	"unemployed":  {"", "employment_status", extract.KindFact, "unemployed", true},
	"pregnant":    {"", "expects", extract.KindEvent, "a child", false},
	"excited":     {"about for", "excited_about", extract.KindPreference, "", false},
	"proud":       {"of", "proud_of", extract.KindPreference, "", false},
	"worried":     {"about", "worried_about", extract.KindFact, "", false},
}

// segmentFacts adds the facts of one segment.
func (d *doc) segmentFacts(s *sentence, g *segment, sts []statement) {
	if g.hyp || g.verb < 0 {
		return
	}
	for i := g.comp; g.negated && i < g.hi; i++ {
		g.ended = g.ended || d.isWord(s, i, "anymore") || d.isWord(s, i, "any") && (d.isWord(s, i+1, "more") || d.isWord(s, i+1, "longer"))
	}
	base := extract.Fact{Subject: s.speaker, Confidence: confState, Retracts: g.ended, Negated: g.negated && !g.ended}
	if g.we {
		base.Confidence *= factorWe
	}
	c := clause{verbTok: g.verb, lo: g.lo, hi: g.comp, end: g.hi, past: g.past, perfect: g.perfect, ended: g.ended}
	base.ValidFrom, base.ValidTo, base.Precision = d.validity(s, d.datesOf(s), &statement{clause: &c})
	base.Text = d.restate(s, g, g.hi)
	switch {
	case base.Text == "":
	case g.my:
		d.myFact(s, g, base, sts)
	case g.be:
		d.stateFact(s, g, base, sts)
	default:
		d.verbFact(s, g, base, sts)
	}
}

// object returns the words [lo, hi) without signs and date words at the end.
func (d *doc) object(lo, hi int) string {
	for hi > lo && (d.toks[hi-1].kind == kPunct && d.toks[hi-1].ch != '%' || d.toks[hi-1].kind == kWord && (d.toks[hi-1].is(fDayWord|fPrep|fConj) || d.isAdverbEnd(hi-1)) && hi-1 > lo) {
		hi--
	}
	for lo < hi && d.toks[lo].kind == kPunct && d.toks[lo].ch != '$' {
		lo++
	}
	hi = min(hi, lo+16)
	if lo >= hi || hi-lo == 1 && d.toks[lo].kind == kWord && d.toks[lo].is(fPrep|fConj|fAdv) && !d.toks[lo].is(fAdj) {
		return ""
	}
	return d.surface(lo, hi)
}

func (d *doc) isAdverbEnd(i int) bool {
	switch strings.ToLower(d.str(i)) {
	case "anymore", "too", "either", "now", "again", "lately", "recently", "though", "already", "then", "once", "twice", "alone", "together", "yet", "tonight":
		return true
	}
	return false
}

// withoutArticle reads an object from token i, past its article.
func (d *doc) withoutArticle(i, hi int) string {
	for i < hi-1 && d.toks[i].kind == kWord && (foldEqual(d.str(i), "a") || foldEqual(d.str(i), "an") || foldEqual(d.str(i), "the") || d.toks[i].is(fPoss)) {
		i++
	}
	return d.object(i, hi)
}

// stateFact reads "I'm ...": age, role, origin, diet, feelings, plans.
func (d *doc) stateFact(s *sentence, g *segment, f extract.Fact, sts []statement) {
	i := g.comp
	for i < g.hi && d.toks[i].kind == kWord && d.toks[i].is(fAdv) && d.toks[i].w.verb == 0 {
		i++
	}
	if i >= g.hi {
		return
	}
	t := &d.toks[i]
	w := strings.ToLower(d.str(i))
	if n, ok := d.age(s, g, i); ok {
		f.Predicate, f.Object, f.Kind, f.Functional = "age", n, extract.KindFact, true
		d.addFact(s, f)
		return
	}
	if c, ok := beComplements[w]; ok {
		d.complementFact(s, g, f, &c, i)
		return
	}
	if d.fanOf(s, g, i, &f) {
		d.addFact(s, f)
		return
	}
	if d.linkedFacts(s, g, f, sts) {
		return
	}
	f.Kind = extract.KindFact
	switch {
	case w == "to" && d.isWord(s, g.verb, "been"):
		f.Predicate, f.Object, f.Kind = "visited", d.withoutArticle(i+1, g.hi), extract.KindEvent
	case w == "called" || w == "named":
		f.Predicate, f.Object, f.Functional = "name", d.object(i+1, g.hi), true
	case t.w.form&formIng != 0 && t.w.verb > 0:
		d.verbFact(s, g, f, sts)
		return
	case t.is(fDet):
		f.Predicate, f.Object = "is_a", d.withoutArticle(i, g.hi)
		if d.toks[i].is(fPoss) {
			return
		}
	case t.w.verb > 0 && t.w.form&formPart != 0:
		f.Predicate, f.Object, f.Kind = "was_"+snake(w), d.object(i+1, g.hi), extract.KindEvent
	case t.kind == kWord && !t.is(fStop):
		f.Predicate, f.Object, f.Confidence = "is", d.object(i, g.hi), confGeneric*f.Confidence/confState
		if g.past {
			f.Kind = extract.KindEvent
		}
		if w == "sure" || w == "sorry" || w == "glad" || w == "curious" || w == "aware" || w == "confused" || w == "fine" || w == "ok" || w == "okay" || w == "done" {
			return
		}
	default:
		return
	}
	if f.Object != "" {
		d.addFact(s, f)
	}
}

// fanOf reads "I'm a (big) fan of X".
func (d *doc) fanOf(s *sentence, g *segment, i int, f *extract.Fact) bool {
	for j := i; j < min(g.hi, i+5); j++ {
		if (d.isWord(s, j, "fan") || d.isWord(s, j, "lover")) && d.isWord(s, j+1, "of") {
			f.Predicate, f.Object, f.Kind = "likes", d.withoutArticle(j+2, g.hi), extract.KindPreference
			if f.Negated {
				f.Predicate, f.Negated = "dislikes", false
			}
			return true
		}
	}
	return false
}

// age reads "34", "34 years old", "turning 40 next week" is not one.
func (d *doc) age(s *sentence, g *segment, i int) (string, bool) {
	n, ok := d.number(i)
	if !ok || n < 1 || n > 120 {
		return "", false
	}
	j := i + 1
	if d.isWord(s, j, "years") || d.isWord(s, j, "yrs") || d.isWord(s, j, "yo") {
		return d.str(i), true
	}
	return d.str(i), j >= g.hi || d.toks[j].kind == kPunct && d.toks[j].ch != '%' || d.isWord(s, j, "and") || d.isWord(s, j, "now")
}

// complementFact adds what a known word behind "be" says, once per object of a list.
func (d *doc) complementFact(s *sentence, g *segment, f extract.Fact, c *complement, i int) {
	f.Kind, f.Predicate, f.Functional = c.kind, c.predicate, c.functional
	if c.functional && !f.Negated && !f.Retracts {
		f.ValidTo = time.Time{} // "I got married yesterday" lasts
	}
	j := i + 1
	if c.preps != "" && j < g.hi && strings.Contains(" "+c.preps+" ", " "+strings.ToLower(d.str(j))+" ") {
		j++
	} else if c.preps != "" || c.object != "" {
		f.Object = c.object
		if f.Object == "" {
			f.Predicate, f.Object, f.Confidence, f.Kind = "is", d.object(i, g.hi), confGeneric, extract.KindFact
		}
		d.addFact(s, f)
		return
	}
	if c.predicate == "marital_status" && j < g.hi {
		status := f
		status.Object = c.object
		d.addFact(s, status)
		f.Predicate = "married_to"
		if c.object == "engaged" {
			f.Predicate = "engaged_to"
		}
	}
	if c.predicate == "employment_status" {
		f.Object = c.object
		d.addFact(s, f)
		return
	}
	d.eachObject(s, j, g.hi, func(object string) {
		fact := f
		fact.Object = object
		d.addFact(s, fact)
	})
}

// eachObject calls yield for the parts of a list: "nuts, shellfish and milk".
func (d *doc) eachObject(s *sentence, i, hi int, yield func(string)) {
	lo := i
	for n := 0; i <= hi && n < maxObjects; i++ {
		if i < hi && !d.isPunct(s, i, ',') && !d.isWord(s, i, "and") && !d.isWord(s, i, "or") {
			continue
		}
		if w := d.withoutArticle(lo, i); w != "" {
			yield(w)
			n++
		}
		lo = i + 1
		if lo < hi && (d.isWord(s, lo, "and") || d.isWord(s, lo, "or")) {
			continue
		}
		if lo < hi && d.toks[lo].kind == kWord && !d.toks[lo].is(fDet|fPoss) && (d.toks[lo].is(fStop|fAdv) || d.toks[lo].w.verb > 0 && d.toks[lo].w.form&(formBase|formIng) == 0) {
			return // ", who ...": the list is over
		}
	}
}

// american spells the names of attributes in one way.
var american = strings.NewReplacer("favourite", "favorite", "colour", "color")

// attributes are what "my X is Y" says about oneself, one value at a time.
var attributes = map[string]bool{"name": true, "full_name": true, "first_name": true, "last_name": true, "nickname": true, "birthday": true, "age": true, "email": true,
	"email_address": true, "phone_number": true, "phone": true, "number": true, "address": true, "has_role": true, "hometown": true, "username": true, "height": true,
	"weight": true, "salary": true, "budget": true, "timezone": true, "time_zone": true, "native_language": true, "blood_type": true, "shoe_size": true, "gender": true,
	"nationality": true, "religion": true, "zodiac_sign": true, "pronouns": true, "employer": true, "title": true, "major": true, "school": true}

// myFact reads "my favorite color is blue", "my name is Alexandra", "my dog barks".
func (d *doc) myFact(s *sentence, g *segment, f extract.Fact, sts []statement) {
	nounHi := g.verb
	for nounHi > g.lo+1 && (d.toks[nounHi-1].is(fAdv|fModal|fDo|fHave|fNeg) || d.toks[nounHi-1].kind == kPunct) {
		nounHi--
	}
	noun := d.object(g.lo+1, nounHi)
	if noun == "" {
		return
	}
	kin := d.toks[nounHi-1].is(fKin)
	if d.kinFacts(s, g, f, sts) {
		return
	}
	if d.namedSubject(s, g, f, sts) {
		return
	}
	if _, known := noteKey(noun); !g.be || !known && d.toks[g.verb].is(fBe) && g.comp < g.hi && d.toks[g.comp].w.form&formIng != 0 && d.toks[g.comp].w.verb > 0 {
		v := g.verb
		if g.be {
			v = g.comp
		}
		f.Subject = s.speaker + "'s " + noun
		f.Predicate, f.Object, f.Kind = d.verbName(v), d.object(v+1, g.hi), extract.KindFact
		f.Confidence = confGeneric
		if kin {
			f.Kind = extract.KindRelationship
		} else if g.past {
			f.Kind = extract.KindEvent
		}
		d.addFact(s, f)
		return
	}
	f.Object, f.Predicate, f.Kind = d.withoutArticle(g.comp, g.hi), snake(noun), extract.KindFact
	if f.Object == "" {
		return
	}
	if strings.HasPrefix(f.Predicate, "favorite") || strings.HasPrefix(f.Predicate, "favourite") {
		f.Kind = extract.KindPreference
		f.Predicate = american.Replace(f.Predicate)
	}
	switch f.Predicate {
	case "birthday":
		f.ValidFrom, f.ValidTo, f.Precision = time.Time{}, time.Time{}, ""
	case "goal", "dream", "plan", "aim":
		f.Kind, f.Predicate = extract.KindGoal, "goal"
	case "job", "occupation", "profession":
		f.Predicate = "has_role"
	}
	f.Functional = attributes[f.Predicate] || f.Kind == extract.KindPreference
	if kin || !f.Functional && f.Kind != extract.KindGoal {
		f.Subject, f.Predicate, f.Kind, f.Functional = s.speaker+"'s "+noun, "is", extract.KindFact, false
		if kin {
			f.Kind = extract.KindRelationship
		}
	}
	d.addFact(s, f)
}

// kinFacts adds the relationships of a "my" segment that relations already found.
func (d *doc) kinFacts(s *sentence, g *segment, f extract.Fact, sts []statement) bool {
	self, found := extract.Key(s.speaker), false
	for i := range sts {
		st := &sts[i]
		if st.target.key != self || st.source.kind != nodeName || st.source.lo < g.lo || st.source.hi > g.hi || st.source.lo < g.verb {
			continue
		}
		fact := f
		fact.Subject, fact.Predicate, fact.Object, fact.Kind, fact.Confidence = d.nodeName(&st.source), st.predicate, s.speaker, extract.KindRelationship, st.conf
		d.addFact(s, fact)
		found = true
	}
	return found
}

// namedSubject reads "my brother Tom works at Acme", which is about Tom.
func (d *doc) namedSubject(s *sentence, g *segment, f extract.Fact, sts []statement) bool {
	found := false
	for i := range sts {
		st := &sts[i]
		if st.clause == nil || st.clause.verbTok != g.verb || st.source.kind != nodeName || st.source.lo <= g.lo {
			continue
		}
		fact := f
		fact.Subject, fact.Predicate, fact.Object, fact.Kind, fact.Confidence = d.nodeName(&st.source), st.predicate, d.nodeName(&st.target), extract.KindRelationship, st.conf
		fact.Functional, fact.Asserted = d.functional(st), d.asserted(s, d.datesOf(s), st)
		dislike(&fact)
		d.addFact(s, fact)
		found = true
	}
	return found
}
