package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// standing reads an order that is meant to last, such as "Always answer in French", as a preference.
func (d *doc) standing(s *sentence) bool {
	i := s.lo
	for i < s.hi && (d.toks[i].kind == kPunct || d.isWord(s, i, "please") || d.isWord(s, i, "also")) {
		i++
	}
	if d.isWord(s, i, "from") && d.isWord(s, i+1, "now") && d.isWord(s, i+2, "on") {
		if i += 3; d.isPunct(s, i, ',') {
			i++
		}
		if d.isWord(s, i, "please") {
			i++
		}
	} else if !d.isWord(s, i, "always") && !d.isWord(s, i, "never") {
		return false
	}
	verb := i
	if d.isWord(s, i, "always") || d.isWord(s, i, "never") {
		verb++
	}
	if verb+1 >= s.hi || d.toks[verb].w.form&formBase == 0 && (d.toks[verb].is(fStop) || d.toks[verb].kind != kWord) || s.hi-s.lo > maxFactWords {
		return false
	}
	g := segment{lo: i, hi: s.hi, verb: verb}
	for g.hi > verb && d.toks[g.hi-1].kind == kPunct {
		g.hi--
	}
	if verb+1 >= g.hi {
		return false
	}
	text := d.restate(s, &g, g.hi)
	if text == "" {
		return false
	}
	text = strings.ToLower(text[:1]) + text[1:]
	d.addFact(s, extract.Fact{Subject: s.speaker, Predicate: "wants_assistant_to", Object: d.object(i, g.hi), Kind: extract.KindPreference,
		Text: s.speaker + " wants the assistant to " + text, Confidence: confState})
	return true
}

// reply turns "yes" and "no" behind a question into what was asked.
func (d *doc) reply(k int, s *sentence) bool {
	if k == 0 {
		return false
	}
	q := &d.sents[k-1]
	if !q.question || q.speaker == s.speaker && q.role == s.role {
		return false
	}
	i := s.lo
	for i < s.hi && d.toks[i].kind == kPunct {
		i++
	}
	if i >= s.hi || !d.toks[i].is(fYes|fNo) || d.toks[i].is(fYes) && d.toks[i].is(fNo) {
		return false
	}
	text, ok := d.answered(q, d.toks[i].is(fYes))
	if !ok {
		return false
	}
	in := extract.Input{Text: text, Time: d.ref, Speaker: s.speaker, Memory: true, Infer: true}
	t := newDoc(text)
	defer t.free()
	t.in, t.ref = &in, d.ref
	t.read()
	t.textMentions()
	t.relations()
	for _, f := range t.out.Facts {
		f.Confidence *= factorReply
		d.addFact(s, f)
	}
	return i+2 >= s.hi // more may follow behind the "yes"
}

// answered spells the statement that a yes or no to question q makes.
func (d *doc) answered(q *sentence, yes bool) (string, bool) {
	for i := q.lo; i+2 < q.hi; i++ {
		if d.toks[i].kind == kWord && d.toks[i].is(fWh) {
			return "", false
		}
		if !d.isWord(q, i+1, "you") || d.toks[i].kind != kWord {
			continue
		}
		var verb string
		switch w := strings.ToLower(d.str(i)); {
		case w == "do" && yes:
		case w == "do":
			verb = "don't "
		case w == "did" && yes:
			verb = "did "
		case w == "did":
			verb = "didn't "
		case w == "are" && yes:
			verb = "am "
		case w == "are":
			verb = "am not "
		case w == "were" && yes:
			verb = "was "
		case w == "were":
			verb = "was not "
		case w == "have" && yes:
			verb = "have "
		case w == "have":
			verb = "haven't "
		case w == "will" && yes:
			verb = "will "
		case w == "will":
			verb = "won't "
		default:
			return "", false
		}
		return "I " + verb + d.turned(q, i+2) + ".", true
	}
	return "", false
}

// turned spells the rest of a question with "your" as "my".
func (d *doc) turned(q *sentence, i int) string {
	var b strings.Builder
	for ; i < q.hi; i++ {
		t := &d.toks[i]
		if t.kind == kPunct && (t.ch == '?' || t.ch == '!') || d.isWord(q, i, "ever") || d.isWord(q, i, "any") {
			continue
		}
		if b.Len() > 0 && t.gap != gapNone {
			b.WriteByte(' ')
		}
		switch {
		case d.isWord(q, i, "your"):
			b.WriteString("my")
		case d.isWord(q, i, "yourself"):
			b.WriteString("myself")
		default:
			b.WriteString(d.str(i))
		}
	}
	return b.String()
}
