package change

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/slot"
)

// recently is how long ago a change may have been to replace what was told between it and its telling.
const recently = 200 * 24 * time.Hour

// maxStated is the length in bytes up to which the facts of a text are compared. In longer texts the rules for facts are wrong more often.
const maxStated = 600

// fact is a statement about a subject that has one such object at a time, or a statement that something is over.
type fact struct {
	subject, predicate, object string // lower case
	holds                      bool   // false: it is over
	only                       bool   // the subject has one such object at a time
	now                        bool   // the clause says that it is new
	vague                      bool   // the object may be no name, see unnamed, or replaces no other one
	passing                    bool   // see plainFacts
	since                      time.Time
	evidence                   string
}

var (
	// factual matches texts that may state a replacing fact; only these are parsed closely.
	factual = lazyregexp.New(`(?i)\b(live[sd]?|living|move[sd]?|relocated|settled|work(?:s|ed|ing)?|job|position|role|employ\pL*|joined|left|quit|resigned|retired|married|engaged|divorced|dat(?:es|ing)|seeing|broke|broken|split|separated|sold|switched|prefers?|favou?rites?|vegetarian|vegan|name|called|now|no longer|any ?more)\b`)
	nowWord = lazyregexp.New(`(?i)\b(now|nowadays|these days|currently|instead|from now on|switched|no longer|any ?more)\b`)
	wentOut = lazyregexp.New(`(?i)\b(?:left|leave|leaving)\b`)
	newJob  = lazyregexp.New(`(?i)\b(job|position|role|working|work)\b`)
	parted  = lazyregexp.New(`(?i)^(?:(?:so|well|ok|sadly|and)[, ]+)*(\pL[\pL'’-]*) (?:and|&) (\pL[\pL'’-]*) (?:have |has )?(?:just |finally |recently )?(?:broke up|broken up|split up|split|separated|parted ways|called it a day|called it quits|divorced|got divorced|are divorced|are no longer together)(?:$|[.,;!]| (?:in|last|this|for|a|two|after|because|again|yesterday|and|so|but)\b)`)
	leftOne = lazyregexp.New(`^(?:(?i:so|well|ok|sadly|and)[, ]+)*((?i:the user|i|we|\p{Lu}[\pL'’-]*))(?: has| have|['’]ve)?(?: just| finally| recently)? (?:broke|broken|split) up with (\p{Lu}[\pL'’-]*)`)
)

// ends maps a predicate to the predicates of the facts that it ends.
var ends = map[string][]string{
	"left": {"works_at"}, "quit": {"works_at"}, "resigned_from": {"works_at"}, "retired_from": {"works_at"}, "fired_from": {"works_at"}, "laid_off_from": {"works_at"},
	"divorced_from": {"married_to", "dates", "engaged_to"}, "divorced": {"married_to", "dates", "engaged_to"},
	"moved_from": {"lives_in"}, "moved_out_of": {"lives_in"}, "switched_from": {"uses", "prefers", "works_with"}, "sold": {"drives"},
}

var reader = rules.New()

// facts returns the facts in a statement, and computes them once.
func (s *statement) facts() []fact {
	if s.read {
		return s.stated
	}
	s.read = true
	if len(s.text) > maxStated {
		return nil
	}
	out, err := reader.Extract(context.Background(), []extract.Input{{Text: withSubject(s.text), Time: item.StatedAt(s.src), Speaker: s.user, Memory: true}})
	if err != nil || len(out) != 1 {
		return nil
	}
	for _, r := range out[0].Relations {
		if r.Mode != "" && !settled[r.Mode] {
			continue
		}
		f := fact{subject: r.Source, predicate: r.Predicate, object: r.Target, holds: !r.Retracts && !r.Negated, only: r.Functional, since: r.Asserted, evidence: s.clauseOf(r.Context, r.Raw)}
		f.now = nowWord.MatchString(f.evidence)
		f.vague = r.Functional && triggersOf(r.Context)&mayTell != 0 && unnamed(&r, out[0].Mentions)
		if f.predicate == "started_at" && newJob.MatchString(f.evidence) {
			f.predicate, f.only = "works_at", true
		}
		if !f.holds && !r.Retracts { // a negation that retracts nothing ends nothing
			continue
		}
		if (r.Predicate == "left" || r.Retracts) && wentOut.MatchString(f.evidence) && awhile.MatchString(f.evidence) { // "I left Asda early today"
			continue
		}
		for _, p := range ends[r.Predicate] {
			s.stated = append(s.stated, fact{subject: r.Source, predicate: p, object: r.Target, evidence: f.evidence})
		}
		s.stated = append(s.stated, f)
	}
	s.stated = append(s.stated, s.plainFacts()...)
	for _, c := range s.parse() {
		if !settled[c.Mode] {
			continue
		}
		if m := parted.FindStringSubmatch(c.Text); m != nil {
			s.part(s.person(m[1]), s.person(m[2]), c.Text)
		} else if m := leftOne.FindStringSubmatch(c.Text); m != nil {
			s.part(s.person(m[1]), m[2], c.Text)
		}
	}
	return s.stated
}

// person returns the key of the person with a name; the user gets the name that is known.
func (s *statement) person(name string) string {
	name = strings.ToLower(name)
	switch name {
	case "i", "we", "user", "the user":
		if s.user != "" {
			return strings.ToLower(s.user)
		}
		return "user"
	}
	return name
}

// settled are the modes of clauses that say what is true, was true, or is over.
var settled = map[extract.Mode]bool{"": true, extract.ModeAsserted: true, extract.ModePast: true, extract.ModeEnded: true, extract.ModeCorrected: true, extract.ModeNegated: true, extract.ModeCancelled: true}

// part adds the fact that two people are no longer a couple.
func (s *statement) part(a, b, evidence string) {
	for _, p := range []string{"dates", "married_to", "engaged_to", "related_to", "sees", "seeing", "partner_of", "girlfriend_of", "boyfriend_of", "wife_of", "husband_of"} {
		for _, x := range [][2]string{{a, b}, {b, a}} {
			s.stated = append(s.stated, fact{subject: strings.ToLower(x[0]), predicate: p, object: strings.ToLower(x[1]), evidence: evidence})
		}
	}
}

// clauseOf returns the clause of a sentence that contains words, else the sentence.
func (s *statement) clauseOf(sentence, words string) string {
	for _, c := range s.parse() {
		if text := withSubject(c.Text); strings.Contains(sentence, text) && (text != c.Text || strings.Contains(strings.ToLower(text), strings.ToLower(words))) {
			return c.Text
		}
	}
	return sentence
}

// byFacts decides by the facts of two statements about one subject: it has another home, employer or favourite now, or the fact is over. t names the
// matters of facts.
func byFacts(later, earlier *statement, t *slot.Taxonomy) (x verdict, ok bool) {
	add := func(confidence float64, matter, evidence string, f *fact) {
		if confidence > x.confidence {
			x, ok = verdict{confidence: confidence, matter: matter, evidence: evidence, decider: "rules: fact", matters: x.matters}, true
		}
		for _, name := range slotsOf(t, f.predicate, f.object) {
			if !slices.Contains(x.matters, name) {
				x.matters = append(x.matters, name)
			}
		}
	}
	for _, l := range later.facts() {
		if l.predicate == "works_at" && !l.holds { // "left Figma" ends "is the head of design at Figma"
			if text, ok := earlier.at(&l); ok {
				add(ruleConfidence, text, l.evidence, &l)
			}
		}
		for _, e := range earlier.facts() {
			if l.subject != e.subject || l.predicate != e.predicate || !e.holds {
				continue
			}
			confidence := ruleConfidence
			if !l.since.IsZero() && l.since.Before(item.StatedAt(earlier.src)) {
				if item.StatedAt(later.src).Sub(l.since) > recently {
					continue
				}
				confidence = likely // "I moved to Oslo last month": what was told in between may have been out of date
			}
			same := within(l.object, e.object) || within(e.object, l.object)
			switch {
			case !l.holds && same && (l.predicate != "drives" || lastWord(l.object) == lastWord(e.object)), // "no longer lives in Bonn"
				l.holds && l.only && e.only && !same && !l.vague && (!e.vague || e.passing), // "moved to Oslo"
				l.holds && l.now && !same && lastWord(l.object) == lastWord(e.object):       // "now prefers light mode"
				add(confidence, partWith(e.evidence, e.object), l.evidence, &e)
			}
		}
	}
	return x, ok
}

// joints are between the parts of a clause that say different things of one subject: "I live in Bristol and work at Southmead".
var joints = lazyregexp.New(`(?:,| and| but| und| et| y| e| ed| mais| pero| ma| mas) `)

// partWith returns the part of a clause between joints that contains an object, else the clause.
func partWith(clause, object string) string {
	from := 0
	for _, at := range append(joints.Compiled().FindAllStringIndex(clause, -1), []int{len(clause), len(clause)}) {
		if strings.Contains(strings.ToLower(clause[from:at[0]]), object) {
			return strings.TrimRight(strings.TrimSpace(clause[from:at[0]]), ".!;,")
		}
		from = at[1]
	}
	return clause
}

// workingAs matches beginnings of clauses in which speakers tell what they work as.
var workingAs = lazyregexp.New(`^(?:i['’]m an? |i am an? |i work |i teach |i['’]ve been an? )`)

// at returns the clause that says that the subject of a fact is something at or for the fact's object.
func (s *statement) at(f *fact) (string, bool) {
	for _, c := range s.parse() {
		text := strings.ToLower(c.Text)
		own := c.About == extract.AboutSpeaker && f.subject == s.person("i") && workingAs.MatchString(text)
		if !states(&c) || f.object == "" || !own && !strings.HasPrefix(text, f.subject+" is ") && !strings.HasPrefix(text, "the "+f.subject+" is ") {
			continue
		}
		for _, prep := range []string{" at ", " for ", " with ", " at the ", " for the ", " with the "} {
			if _, rest, ok := strings.Cut(text, prep+f.object); ok && (rest == "" || strings.ContainsAny(rest[:1], " .,;!")) {
				return c.Text, true
			}
		}
	}
	return "", false
}

// within reports whether all words of phrase occur in other.
func within(phrase, other string) bool {
	all := words(other)
	for w := range words(phrase) {
		if !all[w] {
			return false
		}
	}
	return true
}

func lastWord(phrase string) string {
	return phrase[strings.LastIndexByte(phrase, ' ')+1:]
}
