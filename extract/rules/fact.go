package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// Confidence of facts by the way they were found; facts from relations have the relation's confidence.
const (
	confState   = 0.75 // a known form such as "I'm 34" or "my favorite X is Y"
	confGoal    = 0.7
	confGeneric = 0.55 // a verb without a frame
	confOther   = 0.6  // about someone else
	factorWe    = 0.85
	factorReply = 0.85 // "yes" to a question
)

// maxFactWords is the maximum length of a segment that becomes a fact as a whole.
const maxFactWords = 60

// segment is a part of a sentence with the speaker as its subject: the tokens [lo, hi).
type segment struct {
	lo, hi   int
	opener   int  // number of tokens before lo of an opening date: "Last May, I ..."
	comp     int  // start of the complement, after the main verb
	verb     int  // main verb or form of "be"
	we       bool // "we"
	my       bool // "my X ..."
	bare     bool // a note without a subject: "Prefers tea"
	third    bool // "The user prefers tea"
	be       bool
	negated  bool
	hyp      bool
	past     bool
	perfect  bool
	future   bool
	ended    bool
	progress bool
	wish     bool // "would like to"
	may      bool // "can", "must": not done yet
	arranged bool // is about the future: "we're moving in December"
}

// factsOf adds the facts that a sentence states about its speaker.
func (d *doc) factsOf(k int, s *language.Sentence, sts []statement) {
	if s.Speaker == "" || s.Role == language.RoleAssistant || len(d.out.Facts) >= maxFacts {
		return
	}
	d.at = -1
	if d.reply(k, s) || s.Question {
		return
	}
	if d.standing(s) {
		return
	}
	if d.at = s.Lo; d.note(s) {
		return
	}
	d.segments(s, func(g *segment) {
		if n := g.hi - g.lo; n <= maxFactWords && (n > 1 || g.bare) {
			d.segmentFacts(s, g, sts)
		}
	})
	d.otherFacts(s, sts)
}

// segments splits a sentence wherever a new statement about the speaker begins.
func (d *doc) segments(s *language.Sentence, yield func(*segment)) {
	lo := d.skipOpeners(s, s.Lo)
	open := lo
	lo = d.skipDate(s, lo)
	start := lo
	flush := func(hi int) {
		for hi > start && (d.Tokens[hi-1].Kind == language.KindPunct && d.Tokens[hi-1].Sign != '"' && d.Tokens[hi-1].Sign != ')' || d.Tokens[hi-1].Kind == language.KindWord && d.coordinator(s, hi-1)) {
			hi--
		}
		if hi > start {
			g := segment{lo: start, hi: hi, verb: -1}
			if start == lo {
				g.opener = lo - open
			}
			if d.openSegment(s, &g) {
				yield(&g)
			}
		}
	}
	for i := lo + 1; i < s.Hi; i++ {
		switch {
		case d.subjectStart(s, i) && d.boundary(s, i):
			flush(i)
			start = i
		case d.IsPunct(s, i-1, ';') && d.in.Memory && d.Tokens[i].Word.Verb > 0 && d.Tokens[i].Word.Form == language.ThirdForm:
			flush(i)
			start = i // "Likes hiking; hates rain"
		case d.IsPunct(s, i-1, ',') && d.turnsAway(s, i):
			flush(i)
			start = s.Hi // the rest is not about the speaker until a new segment begins
		}
	}
	flush(s.Hi)
}

// turnsAway reports whether a coordinating word at token i, after a comma, begins something that is not about the speaker: ", but she".
func (d *doc) turnsAway(s *language.Sentence, i int) bool {
	if !d.coordinator(s, i) && !d.IsWord(s, i, "which") && !d.IsWord(s, i, "maybe") {
		return false
	}
	if i+1 >= s.Hi || d.subjectStart(s, i+1) {
		return false
	}
	next := &d.Tokens[i+1]
	return !d.IsWord(s, i, "and") || next.Kind == language.KindWord && next.Is(language.Masculine|language.Feminine|language.Neuter|language.ThirdPlural|language.SecondPerson)
}

// skipOpeners skips "Well,", "Yes,", "Also" and the like.
func (d *doc) skipOpeners(s *language.Sentence, i int) int {
	for i < s.Hi {
		t := &d.Tokens[i]
		switch {
		case t.Kind == language.KindPunct && t.Sign != '"':
			i++
		case t.Kind == language.KindWord && i+1 < s.Hi && d.IsPunct(s, i+1, ',') && (t.Is(language.Affirmative|language.Dissent|language.Starter|language.Adverb|language.Conjunction) || d.IsWord(s, i, "well")) && !t.Is(language.Hypothetical):
			i += 2
		case t.Kind == language.KindWord && d.coordinator(s, i), i == s.Lo && d.greets(s), d.IsWord(s, i, "also"), d.IsWord(s, i, "actually"), d.IsWord(s, i, "because"), d.IsWord(s, i, "btw"):
			i++
		default:
			return i
		}
	}
	return i
}

// skipDate skips a date at the start of a sentence, before the subject: "In 2015 I", "Last week, I".
func (d *doc) skipDate(s *language.Sentence, i int) int {
	for k := range d.datesOf(s) {
		h := &d.datesOf(s)[k]
		if h.Lo != i && !(h.Lo == i+1 && d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.Preposition)) {
			continue
		}
		j := h.Hi
		if j < s.Hi && d.IsPunct(s, j, ',') {
			j++
		}
		if j < s.Hi && d.subjectStart(s, j) {
			return j
		}
	}
	return i
}

func (d *doc) coordinator(s *language.Sentence, i int) bool {
	return d.IsWord(s, i, "and") || d.IsWord(s, i, "but") || d.IsWord(s, i, "so") || d.IsWord(s, i, "because") || d.IsWord(s, i, "though") || d.IsWord(s, i, "although") || d.IsWord(s, i, "plus")
}

// subjectStart reports whether token i can be the subject of a statement about the speaker.
func (d *doc) subjectStart(s *language.Sentence, i int) bool {
	t := &d.Tokens[i]
	if t.Kind != language.KindWord {
		return false
	}
	if t.Is(language.FirstPerson|language.FirstPlural) && !t.Is(language.Possessive) {
		return !d.IsWord(s, i, "me") && !d.IsWord(s, i, "us") && !d.IsWord(s, i, "myself") && !d.IsWord(s, i, "ourselves")
	}
	if t.Is(language.FirstPerson|language.FirstPlural) && t.Is(language.Possessive) && !d.IsWord(s, i, "mine") && !d.IsWord(s, i, "ours") {
		for j := i + 1; j < s.Hi && j < i+6; j++ { // "my old boss is": a verb follows soon
			n := &d.Tokens[j]
			if n.Is(language.FormOfBe) && n.Kind == language.KindWord || n.Kind == language.KindWord && n.Word.Verb > 0 && n.Word.Form&(language.ThirdForm|language.PastForm) != 0 && n.Word.Form&language.BaseForm == 0 {
				return true
			}
			if n.Kind == language.KindPunct || n.Is(language.Conjunction|language.Preposition) {
				return false
			}
		}
	}
	return false
}

// boundary reports whether a statement may begin at token i: after a comma or a coordinating word.
func (d *doc) boundary(s *language.Sentence, i int) bool {
	p := &d.Tokens[i-1]
	if p.Kind == language.KindPunct {
		return p.Sign == ',' || p.Sign == ';' || p.Sign == '-' || p.Sign == ':'
	}
	if d.IsWord(s, i-1, "that") && i-2 > s.Lo {
		p = &d.Tokens[i-2]
	}
	at := i - 1
	if d.IsWord(s, at, "that") {
		at--
	}
	return d.coordinator(s, i-1) || p.Kind == language.KindWord && p.Word.Verb > 0 && wordLists()["chatter"][language.VerbAt(p.Word.Verb).Base] && d.ownVerb(s, at) // "I think I like"

}

// openSegment reads the subject and the verb group of a segment.
func (d *doc) openSegment(s *language.Sentence, g *segment) bool {
	t := &d.Tokens[g.lo]
	i := g.lo + 1
	switch {
	case t.Kind != language.KindWord:
		return false
	case t.Is(language.FirstPerson|language.FirstPlural) && t.Is(language.Possessive):
		g.my = true
		return d.openMy(s, g)
	case t.Is(language.FirstPerson) && !d.IsWord(s, g.lo, "me") && !d.IsWord(s, g.lo, "myself"):
		if d.IsWord(s, g.lo, "im") || d.IsWord(s, g.lo, "i'm") {
			i = g.lo // subject and verb are one word
		}
	case t.Is(language.FirstPlural) && !d.IsWord(s, g.lo, "us"):
		g.we = true
	case d.IsWord(s, g.lo, "the") && d.IsWord(s, g.lo+1, "user"):
		g.third = true
		i++
	case d.IsWord(s, g.lo, "user"), language.FoldEqual(d.TokenText(g.lo), s.Speaker):
		g.third = true
	case t.Word.Verb > 0 && t.Word.Form == language.ThirdForm && d.in.Memory && !d.saysI() && d.actsOn(g) && !d.IsWord(s, g.lo+1, "to") && !d.behindOther(s) && !d.asksBare(g):
		g.bare, g.verb, g.comp = true, g.lo, g.lo+1
		return true
	case d.in.Memory && g.lo == d.skipOpeners(s, s.Lo) && d.barePast(s, g):
		return true
	case d.complementWord(s, g.lo) && d.in.Memory && d.standsAlone(g) && !(t.Word.Verb > 0 && d.behindOther(s)):
		g.bare, g.be, g.verb, g.comp = true, true, g.lo, g.lo
		return true
	default:
		return false
	}
	return d.openVerb(s, g, i)
}

// barePast reads a note that begins with what the writer did: "Started at Acme", "just moved to Oslo".
func (d *doc) barePast(s *language.Sentence, g *segment) bool {
	i := g.lo
	if d.IsWord(s, i, "just") || d.IsWord(s, i, "finally") || d.IsWord(s, i, "recently") {
		i++
	}
	if i+1 >= g.hi {
		return false
	}
	t := &d.Tokens[i]
	if n := &d.Tokens[i+1]; n.Kind == language.KindPunct && n.Sign != '"' || d.IsWord(s, i+1, "by") || d.IsPunct(s, i+2, ':') || n.Capital() && (d.IsWord(s, i, "called") || d.IsWord(s, i, "named")) {
		return false // "Sent, ten minutes to spare", "Checked by Lujan", "Called Mizzle"
	}
	if c := d.ClauseOf(i); c == nil || c.About != extract.AboutSpeaker || t.Kind != language.KindWord || t.Word.Verb == 0 || t.Word.Form&language.PastForm == 0 || t.Word.Form&language.BaseForm != 0 || t.Is(language.FormOfBe|language.FormOfHave|language.FormOfDo) || d.IsWord(s, i+1, "to") || d.participleAt(i+1, g.hi) {
		return false
	}
	if d.behindOther(s) {
		return false
	}
	g.bare, g.past, g.verb, g.comp = true, true, i, i+1
	return true
}

// complementWord reports whether a note may begin with the word at i without a subject: "Allergic to nuts", "Vegetarian".
func (d *doc) complementWord(s *language.Sentence, i int) bool {
	_, ok := beComplement(strings.ToLower(d.TokenText(i)))
	return ok
}

// openVerb reads auxiliaries from token i to the main verb.
func (d *doc) openVerb(s *language.Sentence, g *segment, i int) bool {
	for ; i < g.hi; i++ {
		t := &d.Tokens[i]
		if t.Kind == language.KindPunct || t.Kind == language.KindNumber {
			break
		}
		w := strings.ToLower(d.TokenText(i))
		switch {
		case w == "used" && d.IsWord(s, i+1, "to"):
			g.ended, g.past = true, true
			i++
			continue
		case w == "gotta" || w == "wanna":
			g.hyp = true
			continue
		case w == "no" && d.IsWord(s, i+1, "longer"):
			g.ended = true
			i++
			continue
		case (w == "sort" || w == "kind") && d.in.Memory && d.IsWord(s, i+1, "of") && i+2 < g.hi && d.Tokens[i+2].Word.Verb > 0:
			i++
			continue // "I sort of miss her"
		case w == "'d" || w == "would":
			if d.IsWord(s, i+1, "like") || d.IsWord(s, i+1, "love") || d.IsWord(s, i+1, "rather") || d.IsWord(s, i+1, "prefer") {
				g.wish = true
			} else if i+1 < g.hi && w == "'d" && d.Tokens[i+1].Word.Form&language.Participle != 0 && d.Tokens[i+1].Word.Form&language.BaseForm == 0 {
				g.past = true
			} else {
				g.hyp = true
			}
			continue
		case (w == "going" || w == "gonna") && g.be && (w == "gonna" || d.IsWord(s, i+1, "to") && i+2 < g.hi && d.Tokens[i+2].Word.Verb > 0):
			g.future, g.be = true, false
			if w == "going" {
				i++
			}
			continue
		case t.Is(language.Future):
			g.future, g.negated = true, g.negated || t.Is(language.Negation)
			continue
		case t.Is(language.Modal):
			g.hyp, g.negated = g.hyp || t.Is(language.Hypothetical), g.negated || t.Is(language.Negation)
			g.may = g.may || !t.Is(language.Negation)
			continue
		case t.Is(language.FormOfDo) && i+1 < g.hi && d.leadsToVerb(i+1) && !d.doesThing(g, i) && !d.didThing(i, w) && !((w == "do" || w == "does") && d.Tokens[i+1].Word.Verb == 0 && plainPlural(d.TokenText(i+1)) && !d.Tokens[i+1].Is(language.Adverb|language.Negation)): // not "I do nights"
			g.past, g.negated = g.past || w == "did" || w == "didn't" || w == "didnt", g.negated || t.Is(language.Negation)
			continue
		case t.Is(language.FormOfHave) && d.auxiliary(s, i) && !d.IsWord(s, i+1, "to"):
			g.perfect, g.negated = true, g.negated || t.Is(language.Negation)
			continue
		case t.Is(language.FormOfBe) && !(t.Kind == language.KindClitic && w == "'s"):
			g.be, g.verb = true, i
			g.past = g.past || w == "was" || w == "were"
			g.negated = g.negated || t.Is(language.Negation)
			continue
		case t.Is(language.Negation) || t.Is(language.Adverb) && t.Word.Verb == 0 || t.Word.Verb == 0 && t.Word.Flags == 0 && len(w) > 5 && strings.HasSuffix(w, "ly"):
			g.negated = g.negated || t.Is(language.Negation)
			g.hyp = g.hyp || t.Is(language.Hypothetical)
			continue
		}
		if t.Kind == language.KindWord && t.Word.Verb > 0 && !(g.be && t.Word.Form&(language.IngForm|language.Participle) == 0) {
			if g.be && t.Word.Form&language.IngForm != 0 {
				g.progress, g.be = true, false
			} else if g.be {
				break // a participle after "be": a state
			}
			g.verb, g.comp = i, i+1
			g.past = g.past || g.perfect || t.Word.Form&language.PastForm != 0 && t.Word.Form&language.BaseForm == 0
			return true
		}
		if t.Kind == language.KindWord && !g.be && t.Shape == language.LowerCase && !t.Is(language.FunctionWord) && w != "tho" { // a verb that is not in the table
			g.verb, g.comp = i, i+1
			g.past = g.past || strings.HasSuffix(w, "ed")
			return true
		}
		break
	}
	g.comp = i
	return g.be && g.comp < g.hi
}

// leadsToVerb reports whether a verb follows at i, possibly after adverbs.
func (d *doc) leadsToVerb(i int) bool {
	for j := i; j < len(d.Tokens) && j < i+4; j++ {
		t := &d.Tokens[j]
		if t.Kind == language.KindWord && t.Word.Verb > 0 {
			return true
		}
		if !t.Is(language.Adverb | language.Negation) {
			return t.Kind == language.KindWord && !t.Is(language.FunctionWord)
		}
	}
	return false
}

func (d *doc) isName(i int) bool { return d.Tokens[i].Shape != language.LowerCase }

// over reports whether the sentence of a fact says that it has ended, in a clause without a subject of its own: "I moved to Oslo and
// no longer live in Bonn".
func (d *doc) over(f *extract.Fact) bool {
	for i := len(d.out.Relations) - 1; i >= 0 && d.out.Relations[i].Context == f.Evidence; i-- {
		if r := &d.out.Relations[i]; r.Retracts && !f.Retracts && r.Predicate == f.Predicate && r.Target == extract.Key(f.Object) {
			return true
		}
	}
	return false
}

// addFact fills in the evidence of a fact and adds it. Of two equal facts it keeps the one with the higher confidence. If one
// statement gives two facts, the second gets a sentence of its own.
func (d *doc) addFact(s *language.Sentence, f extract.Fact) {
	if len(d.out.Facts) >= maxFacts || f.Subject == "" || f.Predicate == "" || f.Text == "" || emptyObject(f.Predicate, f.Object) || f.Object == "" && wordLists()["no-event"][f.Predicate] {
		return
	}
	if d.in.Memory && (timeAlone(f.Predicate, f.Object) || hollow(f.Predicate, f.Object) || endsInOwner(f.Predicate, f.Object) || d.supposed(s, d.at) || d.hearsay(s, d.at)) {
		return
	}
	mode := d.modeAt(d.at)
	if !mode.Believable() || d.off(s) || d.unreal(s, d.at) || f.Kind == extract.KindEvent && d.isDate(s, f.Object) || f.Predicate == "good_at" && strings.Contains(f.Object, " at ") {
		return
	}
	f.Mode = factMode(&f, mode)
	if f.Time = d.in.Time; !s.Said.IsZero() {
		f.Time = s.Said
	}
	if f.Asserted.IsZero() {
		f.Asserted = d.earlier(s)
	}
	f.Start, f.End = int(d.Tokens[s.Lo].Start), int(d.Tokens[s.Hi-1].End)
	f.Evidence = clip(d.Text[f.Start:f.End])
	if d.over(&f) {
		return
	}
	f.Confidence = min(f.Confidence, 1)
	if f.Negated && !strings.HasPrefix(f.Predicate, extract.NotPrefix) {
		f.Predicate = extract.NotPrefix + f.Predicate
	}
	if !d.soundFact(s, &f) {
		return
	}
	for i := range d.out.Facts {
		o := &d.out.Facts[i]
		if o.Predicate == f.Predicate && o.Negated == f.Negated && o.Retracts == f.Retracts && strings.EqualFold(o.Object, f.Object) && strings.EqualFold(o.Subject, f.Subject) {
			if f.Confidence > o.Confidence {
				*o = f
			}
			return
		}
		if o.Text == f.Text && !f.Negated && !f.Retracts {
			f.Text = plainText(&f)
		}
	}
	d.out.Facts = append(d.out.Facts, f)
}
