package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// standing reads a lasting instruction, such as "Always answer in French", as a preference.
func (d *doc) standing(s *language.Sentence) bool {
	i := s.Lo
	for i < s.Hi && (d.Tokens[i].Kind == language.KindPunct || d.IsWord(s, i, "please") || d.IsWord(s, i, "also")) {
		i++
	}
	if d.IsWord(s, i, "from") && d.IsWord(s, i+1, "now") && d.IsWord(s, i+2, "on") {
		if i += 3; d.IsPunct(s, i, ',') {
			i++
		}
		if d.IsWord(s, i, "please") {
			i++
		}
	} else if !d.IsWord(s, i, "always") && !d.IsWord(s, i, "never") {
		return d.lasting(s, i)
	}
	verb := i
	if i+1 < s.Hi && strings.HasSuffix(d.TokenText(i+1), "ing") {
		return false // "never opening that app again"
	}
	if at := i; at+1 < s.Hi {
		if d.IsWord(s, at, "always") || d.IsWord(s, at, "never") {
			at++
		}
		if w := d.Tokens[at].Word(); w.Verb > 0 && w.Form&language.BaseForm == 0 {
			return false // "never told HR"
		}
	}
	if d.IsWord(s, i, "always") || d.IsWord(s, i, "never") {
		verb++
	}
	if verb+1 >= s.Hi || d.Tokens[verb].Word().Form&language.BaseForm == 0 && (d.Tokens[verb].Is(language.FunctionWord) || d.Tokens[verb].Kind != language.KindWord) || s.Hi-s.Lo > maxFactWords {
		return false
	}
	g := segment{lo: i, hi: s.Hi, verb: verb}
	for g.hi > verb && d.Tokens[g.hi-1].Kind == language.KindPunct {
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
	d.addFact(s, extract.Fact{Subject: s.Speaker, Predicate: "wants_assistant_to", Object: d.object(i, g.hi), Kind: extract.KindPreference,
		Text: s.Speaker + " wants the assistant to " + text, Confidence: confState})
	return true
}

// lasting reads an instruction that its last words make lasting ("answer in prose from now on", "don't use emojis any more"), and how
// a person wants to be called.
func (d *doc) lasting(s *language.Sentence, i int) bool {
	hi := s.Hi
	for hi > i && d.Tokens[hi-1].Kind == language.KindPunct {
		hi--
	}
	switch {
	case d.IsWord(s, i, "call") && d.IsWord(s, i+1, "me") && i+2 < hi && d.Tokens[i+2].Kind == language.KindWord && d.isName(i+2):
	case hi-i > 4 && d.IsWord(s, hi-3, "from") && d.IsWord(s, hi-2, "now") && d.IsWord(s, hi-1, "on"):
		hi -= 3
	case hi-i > 3 && d.IsWord(s, hi-2, "any") && d.IsWord(s, hi-1, "more"):
		hi -= 2
	case hi-i > 2 && d.IsWord(s, hi-1, "anymore"):
		hi--
	default:
		return false
	}
	for hi > i && d.Tokens[hi-1].Kind == language.KindPunct {
		hi--
	}
	verb, not := i, ""
	switch {
	case d.IsWord(s, i, "don't") || d.IsWord(s, i, "don’t"):
		verb, not = i+1, "not "
	case d.IsWord(s, i, "do") && d.IsWord(s, i+1, "not"):
		verb, not = i+2, "not "
	}
	if verb+1 >= hi || hi-i > maxFactWords {
		return false
	}
	if w := &d.Tokens[verb]; w.Kind != language.KindWord || w.Word().Form&language.BaseForm == 0 || w.Is(language.FunctionWord) {
		return false
	}
	g := segment{lo: verb, hi: hi, verb: verb}
	text := d.restate(s, &g, hi)
	if text == "" {
		return false
	}
	text = strings.TrimRight(strings.ToLower(text[:1])+text[1:], ". ") + "."
	d.addFact(s, extract.Fact{Subject: s.Speaker, Predicate: "wants_assistant_to", Object: not + d.object(verb, hi), Kind: extract.KindPreference,
		Text: s.Speaker + " wants the assistant " + not + "to " + text, Confidence: confState})
	return true
}

// reply reads "yes" or "no" after a question as a statement of what was asked.
func (d *doc) reply(k int, s *language.Sentence) bool {
	if k == 0 {
		return false
	}
	q := &d.Sentences[k-1]
	if !q.Question || q.Speaker == s.Speaker && q.Role == s.Role {
		return false
	}
	i := s.Lo
	for i < s.Hi && d.Tokens[i].Kind == language.KindPunct {
		i++
	}
	if i >= s.Hi || !d.Tokens[i].Is(language.Affirmative|language.Dissent) || d.Tokens[i].Is(language.Affirmative) && d.Tokens[i].Is(language.Dissent) {
		return false
	}
	text, ok := d.answered(q, d.Tokens[i].Is(language.Affirmative))
	if !ok {
		return false
	}
	in := extract.Input{Text: text, Time: d.Reference, Speaker: s.Speaker, Memory: true, Infer: true}
	t := newDoc(&in)
	t.unjudged = true // the gate cannot judge a plain yes
	t.readItem()
	t.TextMentions()
	t.relations()
	for _, f := range t.out.Facts {
		f.Confidence *= factorReply
		d.addFact(s, f)
	}
	return i+2 >= s.Hi // more words may follow the "yes"
}

// answered returns the statement that a yes or no to question q makes.
func (d *doc) answered(q *language.Sentence, yes bool) (string, bool) {
	for i := q.Lo; i+2 < q.Hi; i++ {
		if d.Tokens[i].Kind == language.KindWord && d.Tokens[i].Is(language.WhWord) {
			return "", false
		}
		if !d.IsWord(q, i+1, "you") || d.Tokens[i].Kind != language.KindWord {
			continue
		}
		var verb string
		switch w := strings.ToLower(d.TokenText(i)); {
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

// turned returns the rest of a question with "your" replaced by "my".
func (d *doc) turned(q *language.Sentence, i int) string {
	var b strings.Builder
	for ; i < q.Hi; i++ {
		t := &d.Tokens[i]
		if t.Kind == language.KindPunct && (t.Sign == '?' || t.Sign == '!') || d.IsWord(q, i, "ever") || d.IsWord(q, i, "any") {
			continue
		}
		if b.Len() > 0 && t.Gap != language.NoGap {
			b.WriteByte(' ')
		}
		switch {
		case d.IsWord(q, i, "your"):
			b.WriteString("my")
		case d.IsWord(q, i, "yourself"):
			b.WriteString("myself")
		default:
			b.WriteString(d.TokenText(i))
		}
	}
	return b.String()
}
