// Package slot assigns statements and questions to slots such as home, diet or pet. The taxonomy is in slots.txt; callers may add to it.
package slot

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/contextmem/contextmem/facts"
)

//go:embed slots.txt
var file string

// Confidence of a slot by the rule that found it.
const (
	byPredicate = .9 // only this slot has the predicate
	byObject    = .8 // a general predicate with a word of the slot
	byPattern   = .7 // a predicate that begins as the slot's do
	byGeneral   = .5 // a general predicate alone
)

// general lists predicates whose slot depends on a word of the object.
var general = map[string]bool{"has": true, "got": true, "gets": true, "owns": true, "wants": true, "needs": true, "bought": true, "adopted": true, "uses": true, "drives": true, "takes": true, "has_condition": true, "plans": true,
	"likes": true, "earns": true, "pays": true, "married_to": true, "feel": true, "expects": true}

// concrete lists those general predicates for which a word of the object is enough. "likes" is not among them: who likes dogs need not have one.
var concrete = map[string]bool{"has": true, "got": true, "is_a": true, "owns": true, "bought": true, "adopted": true, "takes": true, "drives": true}

// Taxonomy is an immutable list of slots.
type Taxonomy struct {
	slots      []facts.Slot
	predicates map[string]int // exact predicate -> index of the first slot that has it
	inverse    map[string]int
	objects    map[string]int
	prefixes   []ask
	asks       []ask           // phrases, longest first
	own        map[string]bool // names of slots that callers added or added to
	more       []facts.Slot    // what callers added
}

// ask is a phrase of questions with its slot.
type ask struct {
	text string
	slot int
}

var standard = sync.OnceValue(func() []facts.Slot {
	var out []facts.Slot
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		col := strings.Split(line, "|")
		out = append(out, facts.Slot{Name: strings.TrimSpace(col[0]), Card: facts.Cardinality(strings.TrimSpace(col[1])), Predicates: list(col[2]), Inverse: list(col[3]),
			Objects: list(col[4]), Asks: list(col[5])})
	}
	return out
})

func list(col string) (out []string) {
	for s := range strings.SplitSeq(col, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// New returns the standard taxonomy with additional slots. A slot with the name of a standard one adds to it; others come after the standard ones. The error names the slot and the field.
func New(more []facts.Slot) (*Taxonomy, error) {
	t := &Taxonomy{slots: slices.Clone(standard()), predicates: map[string]int{}, inverse: map[string]int{}, objects: map[string]int{}, own: map[string]bool{}, more: more}
	for i, s := range more {
		switch {
		case s.Name == "" || strings.ContainsFunc(s.Name, func(r rune) bool { return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }):
			return nil, fmt.Errorf("Slots[%d].Name: needs lower-case letters, digits and _", i)
		case s.Card != "" && s.Card != facts.One && s.Card != facts.Many && s.Card != facts.History:
			return nil, fmt.Errorf("Slots[%d].Card: must be one, many or history", i)
		}
		t.own[s.Name] = true
		if at := t.find(s.Name); at >= 0 {
			old := &t.slots[at]
			*old = facts.Slot{Name: s.Name, Card: old.Card, Predicates: both(s.Predicates, old.Predicates), Inverse: both(s.Inverse, old.Inverse), Objects: both(s.Objects, old.Objects),
				Asks: both(s.Asks, old.Asks)}
			if s.Card != "" {
				old.Card = s.Card
			}
			continue
		}
		if s.Card == "" {
			s.Card = facts.Many
		}
		t.slots = append(t.slots, s)
	}
	for pass := range 2 { // additions of callers take precedence over the standard
		for i := range t.slots {
			s := &t.slots[i]
			if own := slices.ContainsFunc(more, func(m facts.Slot) bool { return m.Name == s.Name }); own != (pass == 0) {
				continue
			}
			t.index(i, s)
		}
	}
	slices.SortStableFunc(t.asks, func(a, b ask) int { return len(b.text) - len(a.text) })
	return t, nil
}

func both(a, b []string) []string { return append(slices.Clone(a), b...) }

func (t *Taxonomy) index(i int, s *facts.Slot) {
	for _, p := range s.Predicates {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			t.prefixes = append(t.prefixes, ask{prefix, i})
		} else {
			first(t.predicates, p, i)
		}
	}
	for _, p := range s.Inverse {
		first(t.inverse, p, i)
	}
	for _, w := range s.Objects {
		first(t.objects, strings.ToLower(w), i)
	}
	for _, a := range s.Asks {
		t.asks = append(t.asks, ask{strings.ToLower(a), i})
	}
}

func first(m map[string]int, key string, i int) {
	if _, ok := m[key]; !ok {
		m[key] = i
	}
}

// Slots returns the slots in order. The caller must not change them.
func (t *Taxonomy) Slots() []facts.Slot { return t.slots }

// Additions returns a text that differs between taxonomies to which callers added different slots. It is empty if they added none.
func (t *Taxonomy) Additions() string {
	if len(t.more) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", t.more)
}

// Has reports whether there is a slot with a name.
func (t *Taxonomy) Has(name string) bool { return t.find(name) >= 0 }

func (t *Taxonomy) find(name string) int {
	return slices.IndexFunc(t.slots, func(s facts.Slot) bool { return s.Name == name })
}

// Of returns the slot of a statement about its subject, or about its object if inverse is set, and the confidence of that. A confidence of 0 means no slot.
func (t *Taxonomy) Of(predicate, object string, inverse bool) (name string, confidence float64) {
	if inverse {
		if i, ok := t.inverse[predicate]; ok {
			return t.slots[i].Name, byPredicate
		}
		return "", 0
	}
	if concrete[predicate] {
		if i, ok := t.objectOf(object); ok {
			return t.slots[i].Name, byObject
		}
	}
	if i, ok := t.predicates[predicate]; ok {
		if general[predicate] {
			return t.slots[i].Name, byGeneral
		}
		return t.slots[i].Name, byPredicate
	}
	if i, ok := t.inverse[predicate]; ok { // a symmetric predicate such as "married_to" counts for its subject too
		return t.slots[i].Name, byPattern
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(predicate, p.text) {
			return t.slots[p.slot].Name, byPattern
		}
	}
	return "", 0
}

// OfThing returns the slot of a thing by the words for it, as of "blood pressure pills", and the confidence of that; 0 means no slot.
func (t *Taxonomy) OfThing(words string) (name string, confidence float64) {
	if i, ok := t.objectOf(words); ok {
		return t.slots[i].Name, byPattern
	}
	return "", 0
}

// OfEvent returns the slot of what happened to a subject, if nothing tells a closer one.
func (t *Taxonomy) OfEvent() (name string, confidence float64) {
	if t.Has("event") {
		return "event", byGeneral
	}
	return "", 0
}

// objectOf returns the slot of the head of an object: its last word, or the word before "named".
func (t *Taxonomy) objectOf(object string) (int, bool) {
	object = strings.ToLower(object)
	for _, cut := range [...]string{" named ", " called ", " with ", " of ", ", ", " who ", " that ", " for ", " in "} {
		object, _, _ = strings.Cut(object, cut)
	}
	words := strings.FieldsFunc(object, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	if len(words) == 0 {
		return 0, false
	}
	i, ok := t.objects[words[len(words)-1]]
	return i, ok
}

// OfQuestion returns the slot that a question asks about and the confidence of that; 0 means no slot. The longest phrase that occurs decides. If there is none, the noun after "my" does.
func (t *Taxonomy) OfQuestion(question string) (name string, confidence float64) {
	q := " " + strings.Join(strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-' }), " ") + " "
	for _, a := range t.asks {
		if before, after, gap := strings.Cut(a.text, "*"); gap {
			if _, rest, ok := strings.Cut(q, " "+before); ok && strings.Contains(rest, after+" ") {
				return t.slots[a.slot].Name, byPattern
			}
			continue
		}
		if whole, ok := strings.CutSuffix(a.text, "$"); ok {
			if strings.HasSuffix(q, " "+whole+" ") {
				return t.slots[a.slot].Name, byObject
			}
			continue
		}
		if _, rest, ok := strings.Cut(q, " "+a.text+" "); ok {
			if i, thing := t.thing(rest); thing && strings.HasPrefix(a.text, "do i ") && t.slots[a.slot].Name == "belongings" {
				return t.slots[i].Name, byObject // "do I have a dog?"
			}
			return t.slots[a.slot].Name, byObject
		}
	}
	if _, rest, ok := strings.Cut(q, " my "); ok {
		if i, thing := t.thing(rest); thing {
			return t.slots[i].Name, byPattern
		}
	}
	return "", 0
}

// thing returns the slot of the first or second word of words, as of "dog" in "old dog called".
func (t *Taxonomy) thing(words string) (int, bool) {
	for n, w := range strings.Fields(words) {
		if n > 1 {
			break
		}
		if strings.HasSuffix(w, "'s") {
			return 0, false // "my dog's vet" is about the vet
		}
		if i, ok := t.objects[w]; ok {
			return i, true
		}
	}
	return 0, false
}
