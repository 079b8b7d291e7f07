package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// pointsFirst reports whether an object begins with a pronoun for somebody or something mentioned before: "her a raise", "them raw",
// "ours to a couple".
func pointsFirst(words []string) bool {
	switch words[0] {
	case "them", "em", "him", "us", "ours", "mine", "yours", "theirs", "hers", "meself", "til", "till", "until", "both", "none", "nowt":
		return true
	case "his":
		return len(words) == 1
	case "her":
		if len(words) == 1 {
			return true
		}
		w := language.Lookup(words[1])
		return w.Flags&(language.Determiner|language.Preposition|language.NumberWord|language.Adverb|language.Conjunction) != 0 && w.Flags&language.Adjective == 0 || words[1][0] >= '0' && words[1][0] <= '9'
	}
	return false
}

// besideObject reports whether a name or pronoun after a verb is not its direct object. "it" may mean anything mentioned before, and
// the receiver of a gift is not the gift: "gave Larcier the 31st", "cook him eggs". Nor is a day the place where somebody goes.
func (r *relator) besideObject(s *language.Sentence, c *clause, fr *frame, object *node) bool {
	d := r.d
	if r.otherVerb(s, c, fr, object) {
		return true
	}
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
	if len(fr.preps) > 0 || object.hi >= s.Hi || object.kind == nodeName && !wordLists()["giving"][d.verbName(c.verbTok)] {
		return false
	}
	return d.giftAt(s, object)
}

// otherVerb reports whether the words after a verb give it another meaning than its frame: "gone to one weekend in two", "took the aids out",
// "Aniket wanted Maldives", "I want ask the fishmonger".
func (r *relator) otherVerb(s *language.Sentence, c *clause, fr *frame, object *node) bool {
	d := r.d
	switch d.verbName(c.verbTok) {
	case "go", "get":
		if strings.HasSuffix(fr.predicate, "_to") && d.shareAt(object.lo) {
			return true
		}
	case "put", "take":
		if object.hi < s.Hi && wordLists()["aways"][d.WordKey(object.hi)] && (object.hi+1 >= s.Hi || d.Tokens[object.hi+1].Kind == language.KindPunct || d.Tokens[object.hi+1].Is(language.Conjunction)) {
			return true
		}
	}
	if fr.predicate != "wants" && fr.predicate != "needs" {
		return false
	}
	return c.past && !c.perfect && !c.ended || object.kind == nodePhrase && object.hi-object.lo == 1 && d.bareVerb(object.lo)
}

// giftAt reports whether what somebody gets stands after a name or pronoun.
func (d *doc) giftAt(s *language.Sentence, receiver *node) bool {
	i := receiver.hi
	t := &d.Tokens[i]
	switch {
	case t.Kind == language.KindNumber:
		return true
	case t.Kind != language.KindWord:
		return false
	case t.Is(language.NumberWord):
		return true
	case t.Is(language.Determiner | language.Possessive):
		return !d.dateBegins(s, i)
	case t.Shape != language.LowerCase || t.Is(language.FunctionWord|language.Adverb|language.Preposition|language.Conjunction|language.Temporal|language.DayWord) || d.isAdverbEnd(i):
		return false
	}
	return t.Word().Verb == 0 || t.Word().Form&language.BaseForm != 0 && receiver.kind == nodeName
}

// classes reports whether a description can apply to its subject: it is no number or mere quality, a person is not described as a
// place, and a place not as a person.
func (d *doc) classes(st *statement) bool {
	if st.predicate != "is_a" && st.predicate != "has_role" || st.target.kind != nodePhrase {
		return true
	}
	n := &st.target
	if st.predicate == "is_a" && !d.kindOfPerson(n) && !wordLists()["persons"][d.head(n)] && st.source.kind != nodeSpeaker {
		if st.source.typ == extract.TypePerson || st.source.kind == nodePronoun || n.lo == 0 || !d.Tokens[n.lo-1].Is(language.Determiner|language.Possessive) {
			return false // "Sandy is a gun", "export is money"
		}
	}
	t := &d.Tokens[n.hi-1]
	switch {
	case d.WordKey(min(n.hi, len(d.Tokens)-1)) == "one", n.hi-n.lo == 1 && (d.head(n) == "person" || strings.HasSuffix(d.head(n), "iest")):
		return false // "the dark one", "a person with a cane", "the happiest she's been"
	case n.hi-n.lo == 1 && (t.Kind == language.KindNumber || t.Is(language.Adjective) && !t.Is(language.Occupation|language.KinNoun|language.Demonym)), d.Tokens[n.lo].Kind == language.KindNumber:
		return false
	case st.clause != nil || st.source.kind != nodeName:
		return true // only a description after a comma may belong to another name
	}
	head := d.head(n)
	someone := t.Is(language.Occupation|language.KinNoun) || wordLists()["persons"][head] || wordLists()["kinds-of-people"][head]
	switch st.source.typ {
	case extract.TypeLocation, extract.TypeOrganization, extract.TypeDate, extract.TypeEvent:
		return !someone
	case extract.TypePerson:
		return someone || !wordLists()["places"][head] && !wordLists()["organizations"][head] && !wordLists()["dwellings"][head]
	}
	return !someone || !d.Tokens[st.source.lo].Is(language.PlaceName|language.Month|language.Weekday) && !d.Tokens[st.source.hi-1].Is(language.LocWord)
}

// clippedIng reports whether a word is a participle in colloquial spelling: "thinkin", "stayin'".
func clippedIng(t *language.Token, w string) bool {
	if len(w) < 5 || !strings.HasSuffix(w, "in") || t.Word().Flags != 0 || t.Word().Verb != 0 {
		return false
	}
	whole := language.Lookup(w + "g")
	return whole.Verb > 0 && whole.Form&language.IngForm != 0
}

// saysI reports whether the writer of the text says "I". A sentence without a subject is then about the person named before: "She's
// from Wollongong. Eats prawns tho".
func (d *doc) saysI() bool {
	for i := range d.Tokens {
		t := &d.Tokens[i]
		if t.Kind == language.KindWord && t.Is(language.FirstPerson|language.FirstPlural) {
			return true
		}
	}
	return false
}

// newStatement reports whether another statement begins at token i, before hi: "a splint and dreamt", "500 a month and she is proud",
// "the blinds because it's hot".
func (d *doc) newStatement(i, hi int) bool {
	if d.asksOn(i, hi) {
		return true
	}
	switch d.WordKey(i) {
	case "because", "cuz", "cos", "coz":
		return true
	case "which":
		return i+1 < hi && d.Tokens[i+1].Is(language.FormOfBe) // "shellfish which is hilarious"
	case "by":
		return i+2 < hi && d.WordKey(i+1) == "the" && d.WordKey(i+2) == "way"
	case "like":
		return i+1 < hi && d.Tokens[i+1].Kind == language.KindWord && !d.Tokens[i+1].Is(language.Possessive) && d.Tokens[i+1].Is(language.FirstPerson|language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural)
	case "so":
		return i+1 >= hi || !d.Tokens[i+1].Is(language.Adjective)
	case "and", "but":
		return d.joinsStatement(i, hi) || d.opensStatement(i, hi) || d.statementBehind(i, hi)
	}
	return false
}

// joinsStatement reports whether the "and" or "but" at token i begins a statement together with the words after it: "and no longer", "52 and
// that makes me diabetic".
func (d *doc) joinsStatement(i, hi int) bool {
	but := d.WordKey(i) == "but"
	if but && !wordLists()["exceptions"][d.WordKey(i-1)] {
		return true
	}
	if i+2 >= hi {
		return false
	}
	switch after := &d.Tokens[i+2]; d.WordKey(i + 1) {
	case "no":
		return but || d.WordKey(i+2) == "longer"
	case "that", "this", "there":
		return after.Is(language.FormOfBe) || after.Word().Form&(language.ThirdForm|language.PastForm) != 0
	}
	return false
}

// opensStatement reports whether the word after the "and" or "but" at token i is the subject or the verb of a statement.
func (d *doc) opensStatement(i, hi int) bool {
	j := i + 1
	if j >= hi {
		return false
	}
	t := &d.Tokens[j]
	switch {
	case t.WordIs(language.FirstPerson|language.FirstPlural|language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural) && !t.Is(language.Possessive):
		return d.WordKey(j) != "me" && d.WordKey(j) != "us"
	case t.WordIs(language.FormOfDo) && t.Is(language.Negation):
		return true
	case j+1 < hi && d.WordKey(i) == "and" && t.Kind == language.KindWord && t.Word().Verb > 0 && t.Word().Form == language.BaseForm && !t.Is(language.Occupation|language.Adjective) && d.Tokens[j+1].WordIs(language.Determiner|language.Possessive):
		return true // "120 board and do the lawns"
	}
	return t.Kind == language.KindWord && t.Word().Verb > 0 && t.OnlyPast() && !t.Is(language.Adjective)
}

// statementBehind reports whether a verb stands close behind the "and" or "but" at token i, after its subject: "and she is proud".
func (d *doc) statementBehind(i, hi int) bool {
	if w := d.WordKey(min(i+1, hi-1)); i+1 >= hi || d.Tokens[i+1].Kind == language.KindPunct || w == "me" || w == "us" {
		return false
	}
	but := d.WordKey(i) == "but"
	for j := i + 2; j < min(hi, i+5); j++ {
		t := &d.Tokens[j]
		switch {
		case t.Kind == language.KindPunct:
			return false
		case t.Kind != language.KindWord:
		case but && d.onlyThird(j) && !d.Tokens[j-1].Is(language.Preposition|language.Determiner|language.Possessive|language.Adjective):
			return true // "buy the house but bank wants 15 percent"
		case t.Is(language.FormOfBe):
			return true
		case t.Word().Verb > 0 && t.OnlyPast() && t.Word().Form&language.Participle == 0 && !t.Is(language.Adjective):
			return true
		}
	}
	return false
}

// skill reports whether the verb of a segment is a skill, so that "can" says something about the person: "I can speak Welsh".
func (d *doc) skill(g *segment) bool {
	return g.verb >= 0 && wordLists()["skills"][d.verbName(g.verb)]
}

// personBeside reports whether a name at token i is the receiver of the thing after it: "gave Larcier the 31st".
func (d *doc) personBeside(s *language.Sentence, i int) bool {
	for k := range d.Names {
		if h := &d.Names[k]; h.Lo == i && !h.Part && h.Hi < s.Hi {
			next := &d.Tokens[h.Hi]
			return next.Kind == language.KindWord && next.Is(language.Determiner|language.Possessive) && !d.dateBegins(s, h.Hi)
		}
	}
	return false
}

// untilComma returns the first comma from token i on, or hi.
func (d *doc) untilComma(i, hi int) int {
	for j := i + 1; j < hi; j++ {
		if t := &d.Tokens[j]; d.in.Memory && t.Kind == language.KindPunct && t.Sign == ',' {
			return j
		}
	}
	return hi
}

// untilDate returns the start of the first date after token i, including the preposition before it, or hi.
func (d *doc) untilDate(s *language.Sentence, i, hi int) int {
	for _, h := range d.datesOf(s) {
		if h.Lo > i && h.Lo < hi && d.in.Memory {
			if h.Lo-1 > i && d.Tokens[h.Lo-1].Kind == language.KindWord && d.Tokens[h.Lo-1].Is(language.Preposition) {
				return h.Lo - 1
			}
			return h.Lo
		}
	}
	return hi
}

// causes reports whether somebody has something done, or something is in progress: "had the date moved", "got the oven running", "have
// the council round".
func (d *doc) causes(s *language.Sentence, c *clause, i int) bool {
	if base := d.verbName(c.verbTok); base != "have" && base != "get" && base != "need" && base != "want" || i >= s.Hi {
		return false
	}
	t := &d.Tokens[i]
	if t.Kind == language.KindWord && t.Shape == language.LowerCase && d.unknownParticiple(i) {
		return true // "got my nose pierced"
	}
	return t.Kind == language.KindWord && t.Word().Verb > 0 && t.Word().Form&(language.Participle|language.IngForm) != 0 && t.Word().Form&language.BaseForm == 0 && !t.Is(language.Preposition|language.Conjunction|language.Adjective) && t.Shape == language.LowerCase && !d.IsWord(s, i, "called") && !d.IsWord(s, i, "named")
}

// detached reports whether a preposition does not belong to the verb of its clause: "run the line on Montague Street" does not run on
// anything.
func (d *doc) detached(s *language.Sentence, c *clause, fr *frame, p int) bool {
	if !d.in.Memory {
		return false
	}
	base := d.verbName(c.verbTok)
	switch {
	case base == "run" || base == "get":
		return p != c.hi && !d.IsWord(s, p-1, "back") && !d.IsWord(s, p-1, "in")
	case base == "go" && d.toInfinitive(s, c.hi):
		return true // "I'm not going to argue with"
	case base == "go" && strings.EqualFold(d.TokenText(p), "on"):
		for i := p + 1; i < min(s.Hi, p+5); i++ {
			if wordLists()["journeys"][d.WordKey(i)] {
				return false
			}
		}
		return true
	case base == "lose":
		return p+1 >= s.Hi || !d.Tokens[p+1].Capital() && !d.Tokens[p+1].Is(language.Determiner)
	}
	return false
}

// doesThing reports whether the "do" at token i has an object instead of a following verb: "I do water reed", "I don't do gluten".
func (d *doc) doesThing(g *segment, i int) bool {
	w := d.WordKey(i)
	if !d.in.Memory || w != "do" && w != "does" {
		return false
	}
	return !(d.Tokens[i+1].Word().Verb > 0 && wordLists()["emphatic"][d.verbName(i+1)]) && !d.Tokens[i+1].Is(language.Adverb|language.Negation)
}

// actsOn reports whether the first word, which may be a verb or a noun, is followed by its object: "Likes tea", not "Books were
// rotten".
func (d *doc) actsOn(g *segment) bool {
	if g.lo+1 >= g.hi {
		return true
	}
	t := &d.Tokens[g.lo+1]
	return t.Kind != language.KindPunct && !t.Is(language.FormOfBe|language.FormOfHave|language.Modal) && !(t.Word().Verb > 0 && t.Word().Form&language.PastForm != 0 && t.Word().Form&language.BaseForm == 0)
}

// standsAlone reports whether a state at the beginning of a note is not part of a noun phrase: "Vegetarian.", "allergic to nuts", not
// "Vegetarian menu".
func (d *doc) standsAlone(g *segment) bool {
	if g.lo+1 >= g.hi {
		return true
	}
	t := &d.Tokens[g.lo+1]
	return t.Kind != language.KindWord || t.Is(language.Preposition|language.Conjunction|language.Adverb|language.Temporal|language.Possessive|language.Determiner) || t.Shape != language.LowerCase || d.Tokens[g.lo].Word().Verb > 0 && !(t.Word().Verb == 0 && t.Word().Flags&^language.Occupation == 0)
}

// asksOf reports whether, from token j on, somebody asks the writer a question: "he asks do I like dancing".
func (d *doc) asksOf(s *language.Sentence, j int) bool {
	switch d.WordKey(j) {
	case "asks", "asked", "ask", "wonders", "wondered":
	default:
		return false
	}
	if d.IsWord(s, j+1, "me") {
		j++
	}
	if j+2 >= s.Hi {
		return false
	}
	return d.Tokens[j+1].Is(language.FormOfDo|language.FormOfBe|language.Modal|language.FormOfHave) && d.Tokens[j+2].Is(language.FirstPerson)
}

// heading reports whether the word before a colon is a topic and not a speaker: "Opinion: I've come round".
func (d *doc) heading(s *language.Sentence, name string) bool {
	t := &d.Tokens[s.Lo]
	return d.in.Memory && !t.Is(language.GivenName|language.PersonTitle) && (wordLists()["headings"][strings.ToLower(name)] || strings.Contains(name, "-") || t.Shape == language.UpperCase && t.End-t.Start > 1)
}

// toInfinitive reports whether "to" and a verb stand at token i.
func (d *doc) toInfinitive(s *language.Sentence, i int) bool {
	return d.IsWord(s, i, "to") && i+1 < s.Hi && d.Tokens[i+1].Shape == language.LowerCase && d.Tokens[i+1].Word().Verb > 0 && d.Tokens[i+1].Word().Form&language.BaseForm != 0
}

// bearsName reports whether a name at the beginning of a statement can be a name: "Quietly" and "Half" cannot.
func (d *doc) bearsName(n *node) bool {
	if n.kind != nodeName {
		return true
	}
	t := &d.Tokens[n.lo]
	if t.Kind == language.KindNumber || t.Kind == language.KindWord && t.Is(language.NumberWord) && !t.Is(language.GivenName) {
		return false
	}
	w := d.TokenText(n.lo)
	return n.hi-n.lo > 1 || t.Kind != language.KindWord || t.Is(language.GivenName) || !(strings.HasSuffix(w, "ly") && n.weak || n.weak && t.Is(language.Adverb|language.Adjective) || t.Shape == language.UpperCase && t.Word().Verb > 0 && t.Word().Form&language.PastForm != 0)
}

// bareVerb reports whether token i is a verb and nothing makes it a noun.
func (d *doc) bareVerb(i int) bool {
	t := &d.Tokens[i]
	return t.Word().Verb > 0 && t.Word().Form&language.BaseForm != 0 && t.Word().Flags == 0 && i > 0 && !d.Tokens[i-1].Is(language.Determiner|language.Possessive|language.Adjective) &&
		i+1 < len(d.Tokens) && d.Tokens[i+1].Is(language.Determiner|language.Possessive)
}

// unfinished reports whether an object is incomplete: "my job is to know", "I have nine years", "Mum's still got".
func unfinished(predicate string, words []string) bool {
	switch predicate {
	case "is", "was", "have", "has_role":
		switch words[0] {
		case "to", "got", "gone", "been", "started", "supposed", "used":
			return true
		}
	case "has", "had", "got", "gets":
		numbers, last := true, language.Lookup(words[len(words)-1])
		for _, w := range words {
			number := strings.Trim(w, "0123456789.,") == "" || language.Lookup(w).Flags&language.NumberWord != 0
			numbers = numbers && number
		}
		first := words[0][0] >= '0' && words[0][0] <= '9' || language.Lookup(words[0]).Flags&language.NumberWord != 0
		return numbers || first && len(words) == 2 && last.Flags&language.TimeUnit != 0
	}
	return false
}

// untilAnd returns where another subject begins after "and" from token i on, or hi: "half and the pump, Sonja, gives 900 l".
func (d *doc) untilAnd(i, hi int) int {
	for j := i + 1; j+1 < hi && d.in.Memory; j++ {
		if d.WordKey(j) == "and" && (d.Tokens[j+1].Is(language.Possessive) || d.WordKey(j+1) == "the") {
			return j
		}
	}
	return hi
}
