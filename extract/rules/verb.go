package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// form says which forms of a verb a word can be.
type form uint8

const (
	formBase form = 1 << iota
	form3s
	formPast
	formPart
	formIng
)

// frame is one way in which a verb links two things.
type frame struct {
	preps      []string // prepositions before the object; empty for a direct object
	passive    bool     // a form of "be" and the participle come before the preposition
	predicate  string
	source     string // type of the subject where its name tells nothing
	target     string // the same for the object
	kind       string // kind of the fact, for a first-person subject
	functional bool   // a newer one supersedes
	swap       bool   // the object is the source of the relation
}

// verb is a verb with its forms: base, third person, past, participle, -ing.
type verb struct {
	base   string
	third  string
	frames []frame
}

var verbs []verb

// addVerbs reads the verb table into the lexicon. A line is "base third past participle ing: frame; frame"; a frame
// is prepositions ("-" for none, "+in" for the passive with "in"), a predicate and marks: "<TYPE" of the subject,
// ">TYPE" of the object, a fact kind, "functional", "swap".
func addVerbs(m map[string]word) {
	verbs = nil
	for line := range strings.Lines(verbTable) {
		head, tail, _ := strings.Cut(strings.TrimSpace(line), ":")
		if head == "" {
			continue
		}
		addVerb(m, strings.Fields(head), tail)
	}
	for line := range strings.Lines(plainVerbs) {
		for w := range strings.FieldsSeq(line) {
			if f := strings.Split(w, "/"); len(f) == 5 {
				addVerb(m, f, "")
			} else {
				addVerb(m, regularForms(w), "")
			}
		}
	}
}

func addVerb(m map[string]word, forms []string, tail string) {
	if len(forms) == 1 {
		forms = regularForms(forms[0])
	}
	v := verb{base: forms[0], third: forms[1]}
	for part := range strings.SplitSeq(tail, ";") {
		if fields := strings.Fields(part); len(fields) > 1 {
			v.frames = append(v.frames, parseFrame(fields))
		}
	}
	verbs = append(verbs, v)
	for i, list := range forms {
		for f := range strings.SplitSeq(list, "|") {
			e := m[f]
			if e.verb == 0 || int(e.verb) == len(verbs) {
				e.verb = int16(len(verbs))
				e.form |= 1 << i
				m[f] = e
			}
		}
	}
}

func parseFrame(fields []string) frame {
	f := frame{predicate: fields[1], kind: extract.KindFact}
	preps := fields[0]
	if strings.HasPrefix(preps, "+") {
		f.passive = true
		preps = preps[1:]
	}
	if preps != "-" {
		f.preps = strings.Split(preps, "|")
	}
	for _, mark := range fields[2:] {
		switch {
		case mark[0] == '<':
			f.source = mark[1:]
		case mark[0] == '>':
			f.target = mark[1:]
		case mark == "functional":
			f.functional = true
		case mark == "swap":
			f.swap = true
		default:
			f.kind = mark
		}
	}
	return f
}

// regularForms spells the forms of a regular verb.
func regularForms(base string) []string {
	n := len(base)
	last := base[n-1]
	vowelBefore := n > 1 && strings.IndexByte("aeiou", base[n-2]) >= 0
	switch {
	case last == 'e':
		return []string{base, base + "s", base + "d", base + "d", base[:n-1] + "ing"}
	case last == 'y' && !vowelBefore:
		stem := base[:n-1]
		return []string{base, stem + "ies", stem + "ied", stem + "ied", base + "ing"}
	case strings.HasSuffix(base, "ch"), strings.HasSuffix(base, "sh"), last == 's', last == 'x', last == 'z':
		return []string{base, base + "es", base + "ed", base + "ed", base + "ing"}
	case doubles(base):
		d := base + string(last)
		return []string{base, base + "s", d + "ed", d + "ed", d + "ing"}
	}
	return []string{base, base + "s", base + "ed", base + "ed", base + "ing"}
}

// doubles reports whether the last consonant is doubled: short words that end consonant, vowel, consonant.
func doubles(base string) bool {
	n := len(base)
	if n < 3 || n > 4 || strings.IndexByte("aeiouwxy", base[n-1]) >= 0 {
		return false
	}
	isVowel := func(i int) bool { return strings.IndexByte("aeiou", base[i]) >= 0 }
	return isVowel(n-2) && !isVowel(n-3)
}
