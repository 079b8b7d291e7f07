package language

import "sort"

// ongoing are verbs of what goes on until its time comes: "I'm training for the marathon in May".
var ongoing = map[string]bool{"save": true, "train": true, "practise": true, "practice": true, "prepare": true, "revise": true, "study": true, "learn": true, "wait": true, "look": true, "count": true, "feel": true}

// arranged reports whether a progressive form is about the future: "we're moving in December", "I'm seeing Dan tomorrow"; or a verb of coming
// and going with a time that lies ahead: "she comes back on 3 May".
func (d *Document) arranged(s *Sentence, c *Clause) bool {
	ing := false
	for i := c.Lo; i < c.Hi; i++ {
		if t := &d.Tokens[i]; t.Word().Form&IngForm != 0 && i > c.Lo && (d.Tokens[i-1].Is(FormOfBe) || d.Tokens[i-1].Is(Adverb|Negation) && i > c.Lo+1 && d.Tokens[i-2].Is(FormOfBe)) {
			ing = !d.IsOneOf(s, i-1, "was", "were", "been") && !(t.Word().Verb > 0 && ongoing[VerbAt(t.Word().Verb).Base])
		}
	}
	if ing || d.scheduled(s, c.Lo, c.Hi) {
		return d.aheadWords(s, c) || d.dateAhead(s, c, true)
	}
	switch d.travels(s, c) {
	case anyDate:
		return d.dateAhead(s, c, true)
	case ownDate:
		return d.dateAhead(s, c, false)
	}
	return false
}

// looksAhead reports whether a clause has a phrase of plans. "planning" as a noun is none: "context for planning".
func (d *Document) looksAhead(s *Sentence, c *Clause) bool {
	for lo := c.Lo; lo < c.Hi; {
		at := d.phraseIn(planPhrases, lo, c.Hi)
		if at < 0 {
			return false
		}
		if !d.IsWord(s, at, "planning") || at == c.Lo || d.Tokens[at-1].Kind == KindWord && !d.Tokens[at-1].Is(Preposition|Determiner|Possessive) && !d.IsPunct(s, at+1, ':') {
			return true
		}
		lo = at + 1
	}
	return false
}

// aheadWords reports whether a clause has words for a time that is to come.
func (d *Document) aheadWords(s *Sentence, c *Clause) bool {
	for i := c.Lo; i < c.Hi; i++ {
		switch {
		case d.IsOneOf(s, i, "tomorrow", "soon", "upcoming"), d.IsWord(s, i, "next") && !d.IsOneOf(s, i+1, "to", "door") && !d.IsOneOf(s, i-1, "until", "till", "til", "before"):
			return true
		case !d.IsOneOf(s, i, "in", "on", "this") || i+1 >= c.Hi:
		case d.Tokens[i+1].Is(Month | Season), d.Tokens[i+1].Is(Weekday) && !d.habit(s, i+1):
			return true
		case i+2 < c.Hi && d.Tokens[i+2].Is(TimeUnit) && d.Tokens[i+1].Is(NumberWord|Determiner) && !d.IsWord(s, i+1, "the"), i+2 < c.Hi && d.Tokens[i+2].Is(Season) && d.IsWord(s, i+1, "the"):
			return true
		}
	}
	return false
}

// dateAhead reports whether a clause has a date that lies ahead and is no start of what goes on. A month or a season alone counts only with
// months.
func (d *Document) dateAhead(s *Sentence, c *Clause, months bool) bool {
	if d.Reference.IsZero() {
		return false
	}
	today := Midnight(d.Reference)
	for k := sort.Search(len(d.Dates), func(i int) bool { return d.Dates[i].Lo >= c.Lo }); k < len(d.Dates) && d.Dates[k].Lo < c.Hi; k++ {
		h := &d.Dates[k]
		switch {
		case h.Hi > c.Hi || !h.From.After(today), d.IsOneOf(s, h.Lo-1, "since", "until", "till", "before", "by"):
		case h.Hi == h.Lo+1 && d.Tokens[h.Lo].Is(Weekday), !months && h.Yearless && h.Hi == h.Lo+1, d.saidOfThing(s, c, h.Lo):
		default:
			return !d.always(s, c)
		}
	}
	return false
}

// always reports whether a clause has a word that says how often.
func (d *Document) always(s *Sentence, c *Clause) bool {
	for i := c.Lo; i < c.Hi; i++ {
		if d.IsOneOf(s, i, "every", "each", "always", "usually", "often", "sometimes", "normally", "whenever", "most") {
			return true
		}
	}
	return false
}

// saidOfThing reports whether the date at token i is when something else is: "I'm rewriting it, the deadline is 3 May".
func (d *Document) saidOfThing(s *Sentence, c *Clause, i int) bool {
	for i--; i > c.Lo && d.Tokens[i].Is(Preposition|Determiner) && d.Tokens[i].Kind == KindWord; i-- {
	}
	return i >= c.Lo && (d.Tokens[i].Is(FormOfBe) || d.IsOneOf(s, i, "due", "deadline", "birthday"))
}

// The kinds of verbs of coming and going.
const (
	anyDate = iota + 1 // with any date they tell of what is to come: "she comes in May"
	ownDate            // a month or a season may be when it is always done: "we go to Crete in August"
)

var travelling = map[string]int{"come": anyDate, "return": anyDate, "arrive": anyDate, "fly": anyDate, "graduate": anyDate, "finish": anyDate, "begin": anyDate, "end": anyDate, "move": anyDate, "marry": anyDate,
	"go": ownDate, "travel": ownDate, "visit": ownDate, "open": ownDate, "close": ownDate}

// travels returns the kind of the first verb of a clause if it is one of coming and going in the present tense; else 0.
func (d *Document) travels(s *Sentence, c *Clause) int {
	for i := c.Lo; i < c.Hi; i++ {
		t := &d.Tokens[i]
		switch {
		case t.Is(FormOfBe | FormOfHave | FormOfDo | Modal | Negation):
			return 0
		case t.Kind != KindWord || t.Word().Verb == 0 || t.Shape != LowerCase || i == c.Lo || !d.finiteVerb(s, i):
			continue
		}
		if t.Word().Form&PastForm != 0 && !(t.Word().Form&BaseForm != 0 && d.nominative(s, i-1)) || t.Word().Form&(BaseForm|ThirdForm) == 0 {
			return 0
		}
		return travelling[VerbAt(t.Word().Verb).Base]
	}
	return 0
}

// scheduled reports whether the first verb of the words [lo, hi) is one of a beginning or an end, in the present tense and with a subject
// before it. With a time it is about the future: "I start at the garden on Monday", "my brother joins the navy in September".
func (d *Document) scheduled(s *Sentence, lo, hi int) bool {
	for i := lo; i < hi; i++ {
		t := &d.Tokens[i]
		switch {
		case t.Kind == KindClitic && d.Text[t.End-1] == 's':
			continue // an owner
		case t.Is(FormOfBe | FormOfHave | FormOfDo | Modal | Negation):
			return false
		case t.Kind != KindWord || t.Word().Verb == 0 || t.Shape != LowerCase || i == lo:
			continue
		}
		switch VerbAt(t.Word().Verb).Base {
		case "start", "join", "leave", "retire":
			return t.Word().Form&PastForm == 0 && t.Word().Form&(BaseForm|ThirdForm) != 0 && !d.Tokens[i-1].Is(Determiner|Possessive|Preposition)
		}
		if t.Word().Form&(PastForm|ThirdForm) != 0 && t.Word().Form&BaseForm == 0 {
			return false
		}
	}
	return false
}
