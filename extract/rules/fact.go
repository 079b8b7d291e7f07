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
	d.namedStates(s)
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
		case d.IsPunct(s, i-1, ';') && d.in.Memory && d.Tokens[i].Word().Verb > 0 && d.Tokens[i].Word().Form == language.ThirdForm:
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
			if n.Is(language.FormOfBe) && n.Kind == language.KindWord || n.Kind == language.KindWord && n.Word().Verb > 0 && n.Word().Form&(language.ThirdForm|language.PastForm) != 0 && n.Word().Form&language.BaseForm == 0 {
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
	return d.coordinator(s, i-1) || p.Kind == language.KindWord && p.Word().Verb > 0 && wordLists()["chatter"][language.VerbAt(p.Word().Verb).Base] && d.ownVerb(s, at) // "I think I like"

}

// over reports whether the sentence of a fact says that it has ended, in a clause without a subject of its own: "I moved to Oslo and
// no longer live in Bonn".
func (d *doc) over(f *extract.Fact) bool {
	for i := len(d.out.Relations) - 1; i >= d.stated && d.out.Relations[i].Context == f.Evidence; i-- {
		if r := &d.out.Relations[i]; r.Retracts && !f.Retracts && r.Predicate == f.Predicate && r.Target == extract.Key(f.Object) {
			return true
		}
	}
	return false
}

// addFact fills in the evidence of a fact and adds it, unless it says nothing or is not meant. If one statement gives two facts, the second
// gets a sentence of its own.
func (d *doc) addFact(s *language.Sentence, f extract.Fact) {
	mode := d.modeAt(d.at)
	if len(d.out.Facts) >= maxFacts || d.emptyFact(&f) || d.notMeant(s, &f, mode) {
		return
	}
	f.Mode = factMode(&f, mode)
	if f.Mode == extract.ModeAsserted && d.bygone(f.Predicate, d.at) {
		f.Mode, f.Functional = extract.ModePast, false
	}
	if f.Mode == extract.ModePast && d.at >= 0 && (f.Kind == extract.KindRelationship && d.stillRelated(f.Predicate, d.at) || d.arrived(s, f.Predicate, d.at, f.ValidFrom)) {
		f.Mode = extract.ModeAsserted
	}
	if f.Mode == extract.ModePlan && f.Kind == extract.KindRelationship && d.ownedBy(d.at) {
		f.Mode = extract.ModeAsserted
	}
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
	if d.soundFact(s, &f) {
		d.keepFact(f)
	}
}

// emptyFact reports whether a fact lacks a part, or its object says nothing.
func (d *doc) emptyFact(f *extract.Fact) bool {
	if f.Subject == "" || f.Predicate == "" || f.Text == "" || emptyObject(f.Predicate, f.Object) || f.Object == "" && wordLists()["no-event"][f.Predicate] {
		return true
	}
	if f.Predicate == "good_at" && strings.Contains(f.Object, " at ") {
		return true
	}
	return d.in.Memory && (timeAlone(f.Predicate, f.Object) || hollow(f.Predicate, f.Object) || endsInOwner(f.Predicate, f.Object))
}

// notMeant reports whether the words of a fact are not stated as true, or are somebody else's.
func (d *doc) notMeant(s *language.Sentence, f *extract.Fact, mode extract.Mode) bool {
	if !mode.Believable() || d.off(s) || d.unreal(s, d.at) || f.Kind == extract.KindEvent && d.isDate(s, f.Object) {
		return true
	}
	return d.in.Memory && (d.supposed(s, d.at) || d.hearsay(s, d.at))
}

// keepFact adds a fact. Of two equal facts it keeps the one with the higher confidence.
func (d *doc) keepFact(f extract.Fact) {
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
