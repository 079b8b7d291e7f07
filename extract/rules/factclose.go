package rules

import (
	"sort"
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
		switch {
		case d.endsOwned(s, g, i):
			return false
		case d.in.Memory && (d.pluralThing(g, i) || d.ownerOfOther(g, i)):
		case d.isBe(g, i):
			d.openBe(g, i)
			return i > g.lo+1
		case i == g.lo+1: // the noun
		case t.WordIs(language.Modal | language.FormOfDo | language.FormOfHave):
			return d.openVerb(s, g, i)
		case t.Kind == language.KindWord && t.Word().Verb > 0 && t.Word().Form&(language.ThirdForm|language.PastForm) != 0 && t.Word().Form&language.BaseForm == 0:
			g.verb, g.comp = i, i+1
			g.past = t.Word().Form&language.PastForm != 0
			g.negated = d.in.Memory && d.WordKey(i-1) == "never" // "my dad never eats fish"
			return true
		}
	}
	return false
}

// endsOwned reports whether the token at i ends what follows "my" before a verb was found.
func (d *doc) endsOwned(s *language.Sentence, g *segment, i int) bool {
	switch t := &d.Tokens[i]; t.Kind {
	case language.KindPunct:
		return t.Sign != ',' || i+1 < g.hi && d.Tokens[i+1].Is(language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural)
	case language.KindWord:
		return t.Is(language.FirstPerson) && !t.Is(language.Possessive) || d.IsOneOf(s, i, "when", "because", "if")
	}
	return false
}

// pluralThing reports whether the word at token i is a plural and no verb, since a verb follows: "my library books are overdue".
func (d *doc) pluralThing(g *segment, i int) bool {
	t := &d.Tokens[i]
	if t.Kind != language.KindWord || t.Word().Verb == 0 || t.Word().Form != language.ThirdForm || i+1 >= g.hi {
		return false
	}
	next := &d.Tokens[i+1]
	if next.Kind != language.KindWord {
		return false
	}
	return next.Is(language.FormOfBe|language.Modal|language.FormOfHave|language.FormOfDo) || next.Is(language.Adverb) && d.verbWithin(g, i+2) || next.Word().Verb > 0 && next.OnlyPast()
}

// ownerOfOther reports whether "'s" at token i makes the words before it the owner of somebody or something else: "my friend's other brother".
func (d *doc) ownerOfOther(g *segment, i int) bool {
	t := &d.Tokens[i]
	if t.Kind != language.KindClitic || d.Text[t.End-1] != 's' || i+2 >= g.hi {
		return false
	}
	other, noun := &d.Tokens[i+1], &d.Tokens[i+2]
	return other.Is(language.Adjective) && !other.Is(language.Adverb|language.Determiner) && noun.Kind == language.KindWord && noun.Shape == language.LowerCase && noun.Word().Verb == 0 &&
		!noun.Is(language.FunctionWord|language.Adverb|language.Preposition|language.Conjunction|language.Temporal)
}

// isBe reports whether the form of "be" at token i is no "'s" of an owner.
func (d *doc) isBe(g *segment, i int) bool {
	t := &d.Tokens[i]
	if !t.Is(language.FormOfBe) {
		return false
	}
	if d.in.Memory && t.Kind == language.KindClitic {
		if i+1 < g.hi && d.WordKey(i+1) == "own" {
			return false // "my supervisor's own book"
		}
		j := i + 1
		for j < g.hi && d.Tokens[j].Is(language.Adverb) {
			j++
		}
		if j < g.hi && d.WordKey(j) == "getting" {
			return true // "my sister's getting married"
		}
		if j < g.hi && (d.WordKey(j) == "had" || j+1 < g.hi && d.Tokens[j].Word().Verb > 0 && d.Tokens[j].OnlyPast() && d.Tokens[j+1].WordIs(language.Determiner|language.Possessive|language.NumberWord)) {
			return false // "my brother's just had twins", "my lad's just passed his test"
		}
		if j < g.hi && isDiet(d.WordKey(j)) {
			return d.sentenceEndsAt(j, g.hi) // "my husband's vegan", not "my husband's vegan curry"
		}
	}
	return t.Kind == language.KindWord || d.Text[t.End-1] != 's' || i+1 < g.hi && !d.isName(i+1) && d.Tokens[i+1].Is(language.Determiner|language.Adjective|language.Adverb)
}

// openBe makes the form of "be" at token i the verb of a segment.
func (d *doc) openBe(g *segment, i int) {
	g.be, g.verb, g.comp = true, i, i+1
	w := strings.ToLower(d.TokenText(i))
	g.past, g.negated = w == "was" || w == "were", d.Tokens[i].Is(language.Negation)
	for g.comp < g.hi && d.Tokens[g.comp].WordIs(language.Adverb|language.Negation) && d.WordKey(g.comp) != "first" && d.WordKey(g.comp) != "long" {
		g.negated = g.negated || d.Tokens[g.comp].Is(language.Negation)
		g.comp++
	}
}

// owned is what a segment says of somebody or something of the speaker.
type owned struct {
	s    *language.Sentence
	g    *segment
	f    extract.Fact
	noun string // what it is, without "my"
	kin  bool   // a relative or friend
}

// myFact reads "my favorite color is blue", "my name is Alexandra", "my dog barks".
func (d *doc) myFact(s *language.Sentence, g *segment, f extract.Fact, sts []statement) {
	nounHi := g.verb
	for nounHi > g.lo+1 && (d.Tokens[nounHi-1].Is(language.Adverb|language.Modal|language.FormOfDo|language.FormOfHave|language.Negation) || d.Tokens[nounHi-1].Kind == language.KindPunct) {
		nounHi--
	}
	if t := &d.Tokens[nounHi-1]; d.in.Memory && nounHi > g.lo+2 && t.Is(language.Masculine|language.Feminine|language.ThirdPlural) && !t.Is(language.Possessive) {
		nounHi-- // "my daughter she is a dentist"
	}
	if d.in.Memory && nounHi > g.lo+2 && d.WordKey(nounHi-1) == "to" {
		nounHi--
	}
	if d.in.Memory && nounHi > g.lo+2 && d.WordKey(nounHi-1) == "going" {
		nounHi-- // "my son's going to be a vet"
		if d.Tokens[nounHi-1].Kind == language.KindClitic {
			nounHi--
		}
	}
	o := owned{s: s, g: g, f: f, noun: d.object(g.lo+1, nounHi), kin: d.Tokens[nounHi-1].Is(language.KinNoun)}
	switch {
	case o.noun == "", d.in.Memory && d.saysBefore(g.lo+1, nounHi):
	case d.in.Memory && g.be && d.gerundWithin(g, g.comp) && g.comp+1 < g.hi && wordLists()["doings"][d.WordKey(nounHi-1)]: // "my day job is teaching"
	case d.homeFact(&o), d.kinFacts(s, g, f, sts), d.namedSubject(s, g, f, sts), d.relativeFact(s, g, f, nounHi), d.relativeDiet(s, g, f, nounHi):
	case wordLists()["body"][strings.ToLower(d.TokenText(nounHi-1))]: // "my hands are full", "my throat closes"
	case !g.be || d.progressive(&o):
		d.ownedDoes(&o)
	default:
		d.ownedIs(&o)
	}
}

// gerundWithin reports whether token i is in a segment and a form of a verb with "-ing".
func (d *doc) gerundWithin(g *segment, i int) bool { return i < g.hi && d.gerund(i) }

// homeFact reads "my home is in Oslo now".
func (d *doc) homeFact(o *owned) bool {
	g := o.g
	if !d.in.Memory || !g.be || g.past || g.negated || !d.IsOneOf(o.s, g.comp, "in", "at") || !wordLists()["homes"][strings.ToLower(o.noun)] {
		return false
	}
	end, ok := d.typedEnd(o.s, "lives_in", g.comp+1, g.hi)
	if !ok {
		return false
	}
	f := o.f
	f.Predicate, f.Object, f.Kind, f.Functional, f.ValidTo = "lives_in", d.withoutArticle(g.comp+1, end), extract.KindFact, true, time.Time{}
	d.addFact(o.s, f)
	return true
}

// progressive reports whether the form of "be" is only the auxiliary of what somebody is doing: "my sister is moving".
func (d *doc) progressive(o *owned) bool {
	if _, known := noteKey(o.noun); known {
		return false
	}
	g := o.g
	return d.Tokens[g.verb].Is(language.FormOfBe) && d.gerundWithin(g, g.comp) && d.Tokens[g.comp].Word().Verb > 0
}

// ownedDoes adds what somebody or something of the speaker does.
func (d *doc) ownedDoes(o *owned) {
	s, g, f := o.s, o.g, o.f
	v := g.verb
	if g.be {
		v = g.comp
	}
	f.Subject = s.Speaker + "'s " + o.noun
	f.Predicate, f.Object, f.Kind = d.verbName(v), d.object(v+1, g.hi), extract.KindFact
	f.Confidence = confGeneric
	if d.in.Memory && f.Object == "" && v+1 < g.hi && d.Tokens[v+1].Kind == language.KindWord && !d.isAdverbEnd(v+1) || !d.deed(s, &f, v, g.hi) {
		return // "my mother still bakes without"
	}
	if f.Predicate == "lives_in" && !d.somebody(s, v) {
		if d.verbName(v) == "live" {
			return // "my avatar lives in Tokyo"
		}
		f.Predicate, f.Functional = "moved_to", false // "my team moved to the Delft office"
	}
	if g.wish && f.Predicate == "likes" {
		f.Predicate = "wants" // "my daughter would like a rabbit"
	}
	if o.kin {
		f.Kind = extract.KindRelationship
	} else if g.past {
		f.Kind = extract.KindEvent
	}
	d.addFact(s, f)
}

// ownedIs adds what somebody or something of the speaker is. An attribute such as "my birthday" becomes one of the speaker.
func (d *doc) ownedIs(o *owned) {
	g, f := o.g, o.f
	if d.gerundWithin(g, g.comp) && d.objectIsPronoun(g.comp+1, g.hi) {
		return // "my head is killing me"
	}
	f.Object, f.Predicate, f.Kind = d.withoutArticle(g.comp, d.untilAnd(g.comp, g.hi)), snake(o.noun), extract.KindFact
	if f.Object == "" {
		return
	}
	asAttribute(&f)
	owner := o.s.Speaker
	if of, attribute, ok := strings.Cut(o.noun, "'s "); ok && o.kinOwner() && wordLists()["attributes"][snake(attribute)] {
		owner, f.Predicate = owner+"'s "+of, snake(attribute)
		f.Subject = owner // "my mum's birthday is 3 May"
		asAttribute(&f)
	}
	f.Functional = (wordLists()["attributes"][f.Predicate] || f.Kind == extract.KindPreference) && d.attributeValue(f.Predicate, f.Object)
	if g.past && f.Functional {
		return // "my address was" says nothing of today
	}
	if o.kin || !f.Functional && f.Kind != extract.KindGoal {
		f.Subject, f.Predicate, f.Kind, f.Functional = o.s.Speaker+"'s "+o.noun, "is", extract.KindFact, false
		if g.past {
			f.Predicate = "was"
		}
		if o.kin {
			f.Kind = extract.KindRelationship
		}
	}
	d.addFact(o.s, f)
}

// kinOwner reports whether a word for family, friends or pets owns the noun: "my mum's birthday".
func (o *owned) kinOwner() bool {
	of, _, _ := strings.Cut(o.noun, "'s ")
	return language.Lookup(of[strings.LastIndexByte(of, ' ')+1:]).Flags&language.KinNoun != 0
}

// asAttribute gives a fact whose predicate is the noun after "my" the predicate and kind that this noun has for all speakers.
func asAttribute(f *extract.Fact) {
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
		fact.ValidFrom, fact.ValidTo, fact.Precision = d.validity(s, d.datesOf(s), st)
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
	case "phone", "phone_number", "number", "age", "height", "weight", "shoe_size", "birthday", "salary", "budget", "mobile", "mobile_number", "hourly_rate", "wage", "rent", "council_tax", "postcode", "post_code", "zip_code", "zip", "ring_size":
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
	at := g.comp
	if i, ok := d.dietAt(s, g.comp, g.hi); ok && d.in.Memory {
		at = i
	}
	c, ok := beComplement(strings.ToLower(d.TokenText(at)))
	f.Subject = d.relative(s, g.lo, nounHi)
	f.Confidence *= confOther / confState
	if !ok || c.predicate == "marital_status" {
		if joined := d.joinedStates(s, at, g.hi); len(joined) > 0 { // "my son is five and allergic to eggs"
			d.addJoinedStates(s, g, f, joined)
			g.hi = joined[0].lo
		}
		return false
	}
	d.complementAndJoined(s, g, f, &c, at)
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
	for i := sort.Search(len(d.Names), func(k int) bool { return d.Names[k].Lo > lo }); i < len(d.Names) && d.Names[i].Lo < hi; i++ {
		if h := &d.Names[i]; h.Hi == hi && !h.Part {
			return d.SpanText(h.Lo, h.Hi)
		}
	}
	return s.Speaker + "'s " + d.object(lo+1, hi)
}
