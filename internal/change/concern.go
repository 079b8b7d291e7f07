package change

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/slot"
)

// A succession of a memory with several matters is about some of them. It names these: slots of facts, such as "home", or kinds of
// answers, such as "when". A question about another matter is not concerned by it: who moved house may still have the same employer.

// Kinds of answers. A question asks for one by its words, and a value has one by its form.
const (
	asksWhen  = "when"
	asksWho   = "who"
	asksWhere = "where"
	asksCount = "how much"
	asksElse  = "else" // no value: why something is so, what a text is about
)

var standardSlots = sync.OnceValue(func() *slot.Taxonomy {
	t, err := slot.New(nil)
	if err != nil {
		panic(err) // the standard taxonomy is part of the program
	}
	return t
})

// orStandard returns t, or the standard taxonomy if t is nil.
func orStandard(t *slot.Taxonomy) *slot.Taxonomy {
	if t == nil {
		return standardSlots()
	}
	return t
}

// together maps slots to the name of a group whose members change with each other.
var together = map[string]string{"address": "home", "role": "employer", "salary": "employer"}

// answers maps slots to the kinds of answers that tell their values.
var answers = map[string][]string{"home": {asksWhere}, "origin": {asksWhere}, "school": {asksWhere}, "employer": {asksWhere, asksWho, asksCount}, "partner": {asksWho}, "doctor": {asksWho},
	"family": {asksWho}, "friends": {asksWho}, "pet": {asksWho}, "birthday": {asksWhen}, "money": {asksCount}, "subscription": {asksCount}}

// kindAnswers maps kinds of values to kinds of answers.
var kindAnswers = map[string]string{"weekday": asksWhen, "time": asksWhen, "date": asksWhen, "money": asksCount}

// slotsOf returns the matters of a fact. Where a caller's slot takes a predicate of a standard slot, the fact is a matter of both, since questions
// may use the words of either.
func slotsOf(t *slot.Taxonomy, predicate, object string) (out []string) {
	if object == "vegan" || object == "vegetarian" { // "I'm vegan" says what the user is, and tells what the user eats
		predicate = "diet"
	}
	for _, t := range []*slot.Taxonomy{orStandard(t), standardSlots()} {
		if name, sure := t.Of(predicate, object, false); sure >= .5 && !slices.Contains(out, group(name)) {
			out = append(out, group(name))
		}
	}
	return out
}

func group(name string) string {
	if g := together[name]; g != "" {
		return g
	}
	return name
}

// Asked is what a question asks about. The zero value asks about anything.
type Asked struct {
	slot, kind string
	terms      map[string]bool // what the question is about
	things     map[string]bool // slots of the things that it names, if slot is empty: "pet" of "what sort of dog"
	slots      *slot.Taxonomy
}

var (
	asksKinds = []struct {
		kind  string
		words *lazyregexp.Regexp
	}{
		{asksElse, lazyregexp.New(`(?i)\b(?:why|warum|wieso|pourquoi|por qué|perché|por que)\b|\babout ?\?*$|为什么|なぜ`)},
		{asksWhen, lazyregexp.New(`(?i)\b(?:when|what time|(?:what|which) (?:day|date|week|month)|deadline|due|wann|quand|quando)\b|\bcuándo\b|いつ|何時|何日|什么时候|什麼時候|几点|幾點|哪天|几号`)},
		{asksCount, lazyregexp.New(`(?i)\b(?:how much|how many|wie ?viele?|combien|quant[oaie]|cuánt[oa]s?)\b|多少|几个|いくら`)},
		{asksWho, lazyregexp.New(`(?i)\b(?:who|whose|whom|wer|wem|wen|chi|quem|quién(?:es)?)\b|^qui\b|谁|誰`)},
		{asksWhere, lazyregexp.New(`(?i)\b(?:where|wo|wohin|dónde|dove|onde)\b|(?:^|\s)où(?:\s|$)|哪里|哪裡|哪儿|どこ`)},
	}
	asksHome   = lazyregexp.New(`(?i)\b(?:live|living|wohne|wohnst|lebe|vivo|vives|habite|habites|moro|moras|abito|abiti)\b|住`)
	asksHaving = lazyregexp.New(`(?i)\b(?:do|have|did) (?:i|we) (?:have|own|got)\b`)
	asksWork   = lazyregexp.New(`(?i)\b(?:work|working|arbeite|arbeitest|trabajo|trabajas|travaille|travailles|trabalho|trabalhas|lavoro|lavori)\b|工作|上班|働`)
)

// Ask reads what a question asks about, by the slots of t; nil: the standard ones.
func Ask(t *slot.Taxonomy, question string) (a Asked) {
	a.slots, a.terms = orStandard(t), termsOf(question)
	for _, k := range asksKinds {
		if k.words.MatchString(question) {
			a.kind = k.kind
			break
		}
	}
	if name, sure := a.slots.OfQuestion(question); sure >= .7 {
		a.slot = group(name)
	}
	if a.slot == "" {
		a.things = map[string]bool{}
		for _, w := range lettersOf.Compiled().FindAllString(strings.ToLower(question), -1) {
			if name, sure := a.slots.Of("has", w, false); sure >= .7 {
				a.things[group(name)] = true
			}
		}
	}
	switch {
	case a.slot == "" && a.kind == "" && asksHaving.MatchString(question):
		a.slot = "belongings"
		for _, w := range lettersOf.Compiled().FindAllString(strings.ToLower(question), -1) {
			if name, sure := a.slots.Of("has", w, false); sure >= .7 {
				a.slot = group(name)
			}
		}
	case a.slot != "" || a.kind != asksWhere:
	case asksHome.MatchString(question):
		a.slot = "home"
	case asksWork.MatchString(question):
		a.slot = "employer"
	}
	return a
}

// settlings are matters of which a move or another job tells nothing else: "what sort of dog does Niamh have?" asks for neither.
var settlings = map[string]bool{"home": true, "employer": true}

// Elsewhere reports whether the succession with the given extra bytes is about other matters than the question.
func (a Asked) Elsewhere(extra []byte) bool {
	all, _ := unwrap(extra)
	if len(a.things) > 0 && len(all) > 0 && a.slot == "" && a.kind != asksWhere && !slices.ContainsFunc(all, func(m string) bool { return !settlings[m] || a.things[m] }) {
		return true
	}
	return len(all) > 0 && a.slot+a.kind != "" && !slices.ContainsFunc(all, a.fits)
}

// Beside reports whether the question names something in a text beside the part that no longer holds, and nothing in that part.
func (a Asked) Beside(text, matter string) bool {
	matter = strings.TrimRight(matter, ".!;, ")
	before, behind, ok := strings.Cut(text, matter)
	if !ok || matter == "" {
		return false
	}
	in, rest := termsOf(matter), termsOf(before+" . "+behind)
	found := false
	for t := range a.terms {
		if in[t] {
			return false
		}
		found = found || rest[t]
	}
	return found
}

// fits reports whether the question may be about a matter.
func (a Asked) fits(matter string) bool {
	kinds, isSlot := answers[matter]
	switch {
	case matter == a.slot || matter == a.kind:
		return true
	case isSlot || a.slots.Has(matter):
		return a.slot == "" && (a.kind == "" || len(kinds) == 0 || slices.Contains(kinds, a.kind))
	}
	return a.kind == "" // the matter is a kind of answers
}

const namesMatters = 0xffffffff // begins extra bytes that name matters; other ones begin with the hash of a model's name

// wrap puts the names of matters before the encoded Matter.
func wrap(matters []string, rest []byte) []byte {
	if len(matters) == 0 {
		return rest
	}
	names := strings.Join(matters, "\n")
	b := binary.LittleEndian.AppendUint32(nil, namesMatters)
	b = append(binary.AppendUvarint(b, uint64(len(names))), names...)
	return append(b, rest...)
}

// unwrap returns the matters that extra bytes name, and the encoded Matter behind them.
func unwrap(extra []byte) (matters []string, rest []byte) {
	if len(extra) < 5 || binary.LittleEndian.Uint32(extra) != namesMatters {
		return nil, extra
	}
	size, n := binary.Uvarint(extra[4:])
	if n <= 0 || size > uint64(len(extra)-4-n) {
		return nil, nil
	}
	names := extra[4+n:]
	return strings.Split(string(names[:size]), "\n"), names[size:]
}
