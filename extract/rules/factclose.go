package rules

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// openMy reads "my X is Y" and "my X does Y"; g.verb becomes the verb after the noun.
func (d *doc) openMy(s *language.Sentence, g *segment) bool {
	for i := g.lo + 1; i < g.hi && i < g.lo+7; i++ {
		t := &d.Tokens[i]
		if t.Kind == language.KindPunct && (t.Sign != ',' || i+1 < g.hi && d.Tokens[i+1].Is(language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural)) ||
			t.Kind == language.KindWord && (t.Is(language.FirstPerson) && !t.Is(language.Possessive) || d.IsWord(s, i, "when") || d.IsWord(s, i, "because") || d.IsWord(s, i, "if")) {
			return false
		}
		if d.in.Memory && t.Kind == language.KindWord && t.Word.Verb > 0 && t.Word.Form == language.ThirdForm && i+1 < g.hi && d.Tokens[i+1].Kind == language.KindWord && (d.Tokens[i+1].Is(language.FormOfBe|language.Modal|language.FormOfHave|language.FormOfDo) || d.Tokens[i+1].Is(language.Adverb) && i+2 < g.hi && d.Tokens[i+2].Word.Verb > 0 || d.Tokens[i+1].Word.Verb > 0 && d.Tokens[i+1].Word.Form&language.PastForm != 0 && d.Tokens[i+1].Word.Form&language.BaseForm == 0) {
			continue // "my library books are overdue"
		}
		if d.in.Memory && t.Kind == language.KindClitic && i+2 < g.hi && d.Text[t.End-1] == 's' && d.Tokens[i+1].Is(language.Adjective) && !d.Tokens[i+1].Is(language.Adverb|language.Determiner) && d.Tokens[i+2].Kind == language.KindWord && d.Tokens[i+2].Shape == language.LowerCase && !d.Tokens[i+2].Is(language.FunctionWord|language.Adverb|language.Preposition|language.Conjunction|language.Temporal) && d.Tokens[i+2].Word.Verb == 0 {
			continue // "my friend's other brother"
		}
		if t.Is(language.FormOfBe) && (t.Kind == language.KindWord || d.Text[t.End-1] != 's' || i+1 < g.hi && !d.isName(i+1) && d.Tokens[i+1].Is(language.Determiner|language.Adjective|language.Adverb)) {
			g.be, g.verb, g.comp = true, i, i+1
			w := strings.ToLower(d.TokenText(i))
			g.past, g.negated = w == "was" || w == "were", t.Is(language.Negation)
			for g.comp < g.hi && d.Tokens[g.comp].Kind == language.KindWord && d.Tokens[g.comp].Is(language.Adverb|language.Negation) {
				g.negated = g.negated || d.Tokens[g.comp].Is(language.Negation)
				g.comp++
			}
			return i > g.lo+1
		}
		if t.Kind == language.KindWord && t.Is(language.Modal|language.FormOfDo|language.FormOfHave) && i > g.lo+1 {
			return d.openVerb(s, g, i)
		}
		if t.Kind == language.KindWord && t.Word.Verb > 0 && t.Word.Form&(language.ThirdForm|language.PastForm) != 0 && t.Word.Form&language.BaseForm == 0 && i > g.lo+1 {
			g.verb, g.comp = i, i+1
			g.past = t.Word.Form&language.PastForm != 0
			return true
		}
	}
	return false
}

// myFact reads "my favorite color is blue", "my name is Alexandra", "my dog barks".
func (d *doc) myFact(s *language.Sentence, g *segment, f extract.Fact, sts []statement) {
	nounHi := g.verb
	for nounHi > g.lo+1 && (d.Tokens[nounHi-1].Is(language.Adverb|language.Modal|language.FormOfDo|language.FormOfHave|language.Negation) || d.Tokens[nounHi-1].Kind == language.KindPunct) {
		nounHi--
	}
	noun := d.object(g.lo+1, nounHi)
	if noun == "" {
		return
	}
	if w := d.WordKey(nounHi - 1); d.in.Memory && g.be && g.comp+1 < g.hi && d.Tokens[g.comp].Word.Form&language.IngForm != 0 && wordLists()["doings"][w] {
		return // "my day job is teaching"
	}
	if d.in.Memory && g.be && !g.past && !g.negated && (d.IsWord(s, g.comp, "in") || d.IsWord(s, g.comp, "at")) && wordLists()["homes"][strings.ToLower(noun)] {
		if end, ok := d.typedEnd(s, "lives_in", g.comp+1, g.hi); ok { // "my home is in Oslo now"
			f.Predicate, f.Object, f.Kind, f.Functional, f.ValidTo = "lives_in", d.withoutArticle(g.comp+1, end), extract.KindFact, true, time.Time{}
			d.addFact(s, f)
			return
		}
	}
	kin := d.Tokens[nounHi-1].Is(language.KinNoun)
	if d.kinFacts(s, g, f, sts) {
		return
	}
	if d.namedSubject(s, g, f, sts) || d.relativeFact(s, g, f, nounHi) {
		return
	}
	if wordLists()["body"][strings.ToLower(d.TokenText(nounHi-1))] {
		return // "my hands are full", "my throat closes"
	}
	if _, known := noteKey(noun); !g.be || !known && d.Tokens[g.verb].Is(language.FormOfBe) && g.comp < g.hi && d.Tokens[g.comp].Word.Form&language.IngForm != 0 && d.Tokens[g.comp].Word.Verb > 0 {
		v := g.verb
		if g.be {
			v = g.comp
		}
		f.Subject = s.Speaker + "'s " + noun
		f.Predicate, f.Object, f.Kind = d.verbName(v), d.object(v+1, g.hi), extract.KindFact
		f.Confidence = confGeneric
		if !d.genericObject(s, &f, v, g.hi) {
			return
		}
		if f.Predicate == "lives_in" && !d.somebody(s, v) {
			f.Predicate, f.Functional = "moved_to", false // "my team moved to the Delft office"
		}
		if g.wish && f.Predicate == "likes" {
			f.Predicate = "wants" // "my daughter would like a rabbit"
		}
		if kin {
			f.Kind = extract.KindRelationship
		} else if g.past {
			f.Kind = extract.KindEvent
		}
		d.addFact(s, f)
		return
	}
	if g.comp < g.hi && d.Tokens[g.comp].Word.Form&language.IngForm != 0 && d.objectIsPronoun(g.comp+1, g.hi) {
		return // "my head is killing me"
	}
	f.Object, f.Predicate, f.Kind = d.withoutArticle(g.comp, d.untilAnd(g.comp, g.hi)), snake(noun), extract.KindFact
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
	f.Functional = (wordLists()["attributes"][f.Predicate] || f.Kind == extract.KindPreference) && d.attributeValue(f.Predicate, f.Object)
	if g.past && f.Functional {
		return // "my address was" says nothing of today
	}
	if kin || !f.Functional && f.Kind != extract.KindGoal {
		f.Subject, f.Predicate, f.Kind, f.Functional = s.Speaker+"'s "+noun, "is", extract.KindFact, false
		if g.past {
			f.Predicate = "was"
		}
		if kin {
			f.Kind = extract.KindRelationship
		}
	}
	d.addFact(s, f)
}

// kinFacts adds the relationships of a "my" segment for which relations already exist.
func (d *doc) kinFacts(s *language.Sentence, g *segment, f extract.Fact, sts []statement) bool {
	self, found := extract.Key(s.Speaker), false
	for i := range sts {
		st := &sts[i]
		if st.target.key != self || st.source.kind != nodeName || st.source.lo < g.lo || st.source.hi > g.hi || st.source.lo < g.verb {
			continue
		}
		fact := f
		fact.Subject, fact.Predicate, fact.Object, fact.Kind, fact.Confidence = d.nodeName(&st.source), st.predicate, s.Speaker, extract.KindRelationship, st.conf
		d.addFact(s, fact)
		found = true
	}
	return found
}

// namedSubject reads "my brother Tom works at Acme", which is about Tom.
func (d *doc) namedSubject(s *language.Sentence, g *segment, f extract.Fact, sts []statement) bool {
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

// attributeValue reports whether an object can be the value of an attribute. A phone number has digits; "my phone is dead" is about a
// thing.
func (d *doc) attributeValue(attribute, object string) bool {
	switch attribute {
	case "phone", "phone_number", "number", "age", "height", "weight", "shoe_size", "birthday", "salary", "budget":
		return strings.ContainsAny(object, "0123456789") || attribute == "birthday" || len(strings.Fields(object)) < 3 && attribute == "age"
	case "name", "first_name", "last_name", "full_name", "nickname", "username":
		r, _ := utf8.DecodeRuneInString(object)
		return unicode.IsUpper(r) || !strings.Contains(object, " ")
	case "email", "email_address":
		return strings.Contains(object, "@")
	case "address", "school", "major", "title", "employer":
		r, _ := utf8.DecodeRuneInString(object)
		return unicode.IsUpper(r) || strings.ContainsAny(object, "0123456789")
	}
	return true
}

// relativeFact reads "my friend Lena is allergic to bees": the state of a person who is named or described by the words before the
// verb at nounHi.
func (d *doc) relativeFact(s *language.Sentence, g *segment, f extract.Fact, nounHi int) bool {
	if !g.be || g.comp >= g.hi || !d.kinBefore(g.lo, nounHi) {
		return false
	}
	c, ok := beComplement(strings.ToLower(d.TokenText(g.comp)))
	if !ok || c.predicate == "marital_status" {
		return false
	}
	f.Subject = d.relative(s, g.lo, nounHi)
	f.Confidence *= confOther / confState
	d.complementFact(s, g, f, &c, g.comp)
	return true
}

// kinBefore reports whether one of the tokens [lo, hi) is a word for family or friends.
func (d *doc) kinBefore(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if d.Tokens[i].Is(language.KinNoun) {
			return true
		}
	}
	return false
}

// relative returns who "my friend Lena" or "my sister" is: the name at the end, else a description relative to the speaker.
func (d *doc) relative(s *language.Sentence, lo, hi int) string {
	for i := range d.Names {
		if h := &d.Names[i]; h.Hi == hi && h.Lo > lo && !h.Part {
			return d.SpanText(h.Lo, h.Hi)
		}
	}
	return s.Speaker + "'s " + d.object(lo+1, hi)
}

// genericObject reads what a person close to the speaker does, using the frames of the verb at v. It reports whether that states
// anything.
func (d *doc) genericObject(s *language.Sentence, f *extract.Fact, v, hi int) bool {
	if wordLists()["chatter"][d.verbName(v)] || f.Object == "" && !f.Negated && !f.Retracts && wordLists()["light"][d.verbName(v)] || d.verbName(v) == "keep" && v+1 < hi && strings.HasSuffix(d.TokenText(v+1), "ing") {
		return false
	}
	if d.objectIsPronoun(v+1, hi) && (v+2 >= hi || !d.Tokens[v+2].Is(language.Determiner|language.Possessive|language.NumberWord)) {
		return false // "kills me", "wants me to go", not "gave me a raise"
	}
	if d.in.Memory && v+2 < hi && (d.IsWord(s, v+1, "me") || d.IsWord(s, v+1, "us")) && d.Tokens[v+2].Kind == language.KindWord && d.Tokens[v+2].Is(language.Determiner|language.Possessive|language.NumberWord) && wordLists()["giving"][d.verbName(v)] {
		f.Object = d.withoutArticle(v+2, hi) // "my aunt lent me her camper"
		if d.Tokens[v].Word.Form&language.PastForm != 0 && d.Tokens[v].Word.Form&language.BaseForm == 0 {
			f.Predicate = d.WordKey(v)
		}
		return f.Object != ""
	}
	switch name := d.verbName(v); {
	case d.in.Memory && (name == "have" || name == "get") && d.Tokens[v].Word.Form&language.IngForm != 0, name == "get" && d.participleAt(v+1, hi), name == "have" && f.Negated && d.Tokens[v-1].Is(language.Modal):
		return false // "got soaked", "can't have egg"
	case (name == "stop" || name == "quit") && v+1 < hi && strings.HasSuffix(d.TokenText(v+1), "ing"):
		f.Predicate, f.Object, f.Kind, f.Retracts, f.Negated = d.verbName(v+1), d.withoutArticle(v+2, hi), extract.KindRelationship, true, false
		d.endAt(f)
		return true
	case d.in.Memory && v+2 < hi && d.IsWord(s, v+1, "to") && wordLists()["wishing"][name]:
		if d.Tokens[v].Word.Form&language.PastForm != 0 || wordLists()["request-words"][d.WordKey(v+2)] {
			return false
		}
		f.Predicate, f.Object = language.VerbAt(d.Tokens[v].Word.Verb).Third, d.object(v+2, hi) // "my son wants to try"
		return f.Object != ""
	case d.in.Memory && v+2 < hi && wordLists()["turning"][d.WordKey(v+1)]:
		f.Predicate, f.Object = name+"_"+d.WordKey(v+1), d.withoutArticle(v+2, hi) // "my partner gave up his passport"
		if i := v + 2; i+1 < hi && (d.IsWord(s, i, "from") || d.IsWord(s, i, "of") || d.IsWord(s, i, "to") || d.IsWord(s, i, "with") || d.IsWord(s, i, "on") || d.IsWord(s, i, "for")) && f.Object != "" {
			f.Predicate, f.Object = f.Predicate+"_"+d.WordKey(i), d.withoutArticle(i+1, hi) // "came back from Crete"
		}
		return !d.objectIsPronoun(v+2, hi)
	case d.in.Memory && name == "get" && v > 0 && d.IsWord(s, v, "got") && d.Tokens[v-1].Is(language.FormOfHave|language.FormOfBe) && f.Object != "":
		f.Predicate, f.Kind = "has", extract.KindRelationship // "my sister's got six bantams"
		return true
	}
	if d.prepositional(s, &segment{hi: hi}, f, v) {
		return f.Object != ""
	}
	if v+1 < hi && d.Tokens[v+1].Kind == language.KindWord && d.Tokens[v+1].Is(language.Preposition|language.Adverb) && !d.Tokens[v+1].Is(language.Adjective|language.Determiner) {
		return !wordLists()["light"][d.verbName(v)]
	}
	if verb := d.Tokens[v].Word.Verb; verb > 0 && f.Object != "" && !d.Tokens[v+1].Is(language.Preposition|language.FunctionWord) || verb > 0 && f.Object != "" && d.Tokens[v+1].Is(language.Determiner|language.Possessive|language.NumberWord) {
		for _, fr := range framesOf(d.Tokens[v].Word) {
			if len(fr.preps) == 0 && !fr.passive {
				if !d.objectFits(s, fr.predicate, v+1, hi) {
					return false
				}
				f.Predicate = d.habitual(&clause{verbTok: v, past: d.Tokens[v].Word.Form&language.PastForm != 0 || d.helped(v) && !(d.in.Memory && d.Tokens[v].Word.Form&language.IngForm != 0)}, fr.predicate)
				dislike(f)
				break
			}
		}
	}
	return true
}
