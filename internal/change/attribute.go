package change

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// attribute is a property that a clause gives a subject: the number of Bob's phone, the day of the deadline.
type attribute struct {
	subject  string // sorted words of the subject
	bare     bool   // the subject is a name alone, which can have many properties at a time
	prep     string // preposition before the value
	value    string // lower case; empty if the clause says that all of the subject is over
	kind     string
	was      string // the earlier value, if the clause names it
	changed  bool   // the clause says that the value was another one
	future   bool   // the value holds only in the future
	set      bool   // the clause says that somebody set the value, so that it needs no type
	over     bool   // the clause says that the value, or all of the subject, is over
	switched bool   // the clause says that the user has another one of the subject's kind
	evidence string
}

const subjectPattern = `((?:the |my |our |this )?[\pL\d][\pL\d'’-]*(?: (?:(?:for|of) (?:the |my |our )?)?[\pL\d][\pL\d'’-]*){0,5}?)`

var (
	hasValue  = lazyregexp.New(`(?i)^` + subjectPattern + `(?: is|['’]s| are| will be| starts| ends| begins| runs| meets)((?: now| currently| still)?)(?: (at|in|on|for|due|every))?(?: on)? (.+)$`)
	getsValue = lazyregexp.New(`(?i)^` + subjectPattern + `(?: is| was| has been| got| gets| has| will be)?(?: now| just| recently)? (?:moved|changed|updated|set|reset|raised|lowered|increased|reduced|cut|pushed|postponed|brought|rescheduled|bumped|switched|upgraded|renamed|shifted|extended|went|dropped|delayed)(?: (?:back|forward|up|down|out))?(?: from (.+?))? (to|until|till|at|for|by) (.+)$`)
	isOver    = lazyregexp.New(`(?i)^` + subjectPattern + ` (?:was|were|is|are|has been|have been|got|gets)(?: now| just| finally)? (?:cancelled|canceled|called off|scrapped|discontinued|abolished|shut down|closed down|no longer happening|off)(?: .*)?$`)
	noLonger  = lazyregexp.New(`(?i)^` + subjectPattern + `(?: is| are|['’]m|['’]s) no longer (?:(at|in|on|for) )?(.+)$`)
	notMore   = lazyregexp.New(`(?i)^` + subjectPattern + `(?: is not| are not| isn['’]t| aren['’]t|['’]s not|['’]m not) (?:(at|in|on|for) )?(.+?) (?:any ?more|any longer)$`)
)

// kindsOfValue are types of values, in addition to kinds, of which a subject has one at a time.
var kindsOfValue = []kind{
	{"amount", lazyregexp.New(`^[£$€]?\d[\d.,]*%?(?: [\pL/%]+){0,4}$`)},
	{"number", lazyregexp.New(`^[+(]?\d[\d ()./-]{4,}$`)},
	{"version", lazyregexp.New(`(?i)^v?\d+(?:\.\d+)+$`)},
	{"address", lazyregexp.New(`^(?:https?://)?[\pL\d._%+-]+(?:@|\.)[\pL\d.-]+\.?\pL{2,}\S*$`)},
	{"name", lazyregexp.New(`^\p{Lu}[\pL\d.&'’-]*(?: (?:(?:of|de|van|von|der|the|and|du|la) )?\p{Lu}[\pL\d.&'’-]*){0,4}$`)},
}

var (
	// noSubject are words that do not occur in subjects: the text is then a clause, or its subject is unknown.
	noSubject = words(`i you he she it they we there who what that which and or but if when because so as than then not no never to with without about
		is are was were be been has have had do does did will would can could should may might must say says said think thinks thought here this these those
		one some any many most each another other last next first second third previous former old original`)
	adjectives = words(`new current latest present updated the my our this for of a an`)
	// several are things of which a person has more than one, so that another value belongs to another thing.
	several = words(`sister brother friend colleague cousin son daughter child kid aunt uncle niece nephew neighbour neighbor coworker teammate student teacher guest client customer member
		dog cat pet goal plan idea problem reason advice thing point tip note question issue task example part way feature rule option exercise book film movie song ingredient
		skill strength weakness hobby interest passion concern risk requirement advantage benefit reference option symptom step item choice sibling grandson granddaughter patient`)
	single = words(`favourite favorite preferred default`)
	phones = words(`phone number mobile cell telephone`) // words for the number at which somebody is called
	// newNumber and switchedTo match clauses that say that the user has another number, and another doctor.
	newNumber  = lazyregexp.New(`(?i)^(?:(?:i|we|i['’]ve|we['’]ve) (?:just |now )?(?:got |have )|got )?(?:a |my |our )?new (?:phone |mobile |cell )?number(?: is|:|,)? (\+?\d[\d ()/.-]{5,})$`)
	newOne     = lazyregexp.New(`^((?:[Tt]he |[Dd]r\.? )?\p{Lu}[\pL'’-]*(?: \p{Lu}[\pL'’-]*){0,3})(?: is|['’]s) (?:now )?(my|our) new ([\pL -]+)$`)                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           // "The Crown is my new favourite pub"
	otherOne   = lazyregexp.New(`^(?i:(?:so|and|well|ok|finally)[, ]+)*(?i:i|we|i['’]ve|we['’]ve|i have|we have|i['’]m|we['’]re|the (?:kids|children|boys|girls|twins|dogs?|cats?))(?: just| finally| now| recently)* (?i:have|has|got|found|use|see|started with|chose|chosen|picked|hired|go to|going to|been to|(?:switched|changed|moved)(?: \pL+){0,3} to|registered with|signed (?:up )?with|(?:am|are) with|with) (?i:an? (?:different|new)|(another)) ([\pL-]+(?: [\pL-]+){0,2}?)((?: now| these days| instead)?)(?:,| called| named|:) (?:called )?((?:[Dd]r\.? |[Mm]rs?\.? |[Mm]s\.? )?\p{Lu}[\pL'’-]*(?: \p{Lu}[\pL'’-]*){0,3})$`) // "We've moved to a different vet, Dr Amin"
	called     = lazyregexp.New(`^(?:called|named) `)
	placeTail  = lazyregexp.New(`^(\p{Lu}[\pL.'’-]*(?: \p{Lu}[\pL'’-]*){0,3}) (?:in|at|near|on|from) (?:the )?\p{Lu}[\pL' -]*$`)
	switchedTo = lazyregexp.New(`(?i)^(?:i|we|i['’]ve|we['’]ve) (?:just |recently |finally )?(?:switched|changed) (?:my |our )?(phone numbers?|numbers?|dentists?|doctors?|gps?|therapists?|physios?|hairdressers?|barbers?|vets?|banks?|gyms?|insurers?|accountants?|lawyers?|opticians?|cleaners?|childminders?|schools?)(?: again| recently| last \pL+)?$`)
)

// attributes returns the attributes in a statement, and computes them once. It returns none for statements longer than maxStated.
func (s *statement) attributes() []attribute {
	if s.valued {
		return s.values
	}
	s.valued = true
	if len(s.text) > maxStated {
		return nil
	}
	for _, c := range s.parse() {
		if !settled[c.Mode] && c.Mode != extract.ModePlan || c.About == extract.AboutAssistant {
			continue
		}
		if a, ok := s.attribute(strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")); ok {
			a.evidence = c.Text
			s.values = append(s.values, a)
		}
	}
	return s.values
}

func (s *statement) attribute(text string) (a attribute, ok bool) {
	may := triggersOf(text)
	if may&mayValue == 0 {
		return a, false
	}
	match := func(needs trigger, r *lazyregexp.Regexp) []string {
		if may&needs == 0 {
			return nil
		}
		return r.FindStringSubmatch(text)
	}
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	nameless := noSubject[strings.TrimSuffix(strings.TrimSuffix(first, "'s"), "’s")] // as of most clauses about the speaker
	var subject, value string
	if m := match(mayNumber, newNumber); m != nil {
		subject, value, a.changed = "my phone", m[1], true
	} else if m := match(mayGet, switchedTo); m != nil {
		subject, a.over, a.switched = "my "+strings.TrimSuffix(m[1], "s"), true, true
	} else if m := match(mayOther, otherOne); m != nil && (m[1] == "" || m[3] != "") {
		subject, value, a.changed = "my "+m[2], m[4], true
	} else if m := match(mayHave, newOne); m != nil {
		subject, value, a.changed = m[2]+" "+m[3], m[1], true
	} else if nameless {
		return a, false
	} else if m := match(mayBeOver, isOver); m != nil {
		subject, a.over = m[1], true
	} else if m := match(mayEnd, noLonger); m != nil {
		subject, a.prep, value, a.over = m[1], m[2], m[3], true
	} else if m := match(mayEnd, notMore); m != nil {
		subject, a.prep, value, a.over = m[1], m[2], m[3], true
	} else if m := match(mayGet, getsValue); m != nil {
		subject, a.was, value, a.changed = m[1], strings.ToLower(m[2]), m[4], true
		a.set = setTo.MatchString(text)
	} else if m := match(mayHave, hasValue); m != nil {
		subject, a.prep, value = m[1], strings.ToLower(m[3]), m[4]
		a.changed = strings.TrimSpace(strings.ToLower(m[2])) == "now" || newThing.MatchString(subject)
		a.future = strings.Contains(text, " will be ")
	} else {
		return a, false
	}
	if a.subject, a.bare = s.subject(subject); a.subject == "" {
		return a, false
	}
	if trimmed := trailing.ReplaceAllString(value, ""); trimmed != value {
		a.changed = a.changed || nowWord.MatchString(value)
		value = trimmed
	}
	value = strings.TrimSpace(article.ReplaceAllString(called.ReplaceAllString(value, ""), ""))
	if m := placeTail.FindStringSubmatch(value); m != nil && a.prep == "" && kindOf(value) == "" {
		value = m[1]
	}
	if value == "" && !a.over || clauseWord.MatchString(value) {
		return a, false
	}
	a.kind, a.value = kindOf(value), strings.ToLower(value)
	return a, true
}

var (
	setTo      = lazyregexp.New(`(?i)\b(?:changed|switched|renamed|updated|set|reset) to\b`)
	newThing   = lazyregexp.New(`(?i)\bnew\b`)
	trailing   = lazyregexp.New(`(?i)(?:,? (?:now|these days|from now on|currently|at the moment|as of \pL+|starting \pL+|this (?:week|month|year)|already|again))+$`)
	article    = lazyregexp.New(`(?i)^(?:the|a|an) `)
	clauseWord = lazyregexp.New(`(?i)(?:,|\b(?:that|which|who|because|but|or|if|when|while|and then)\b)`)
)

// subject returns the sorted words of a value's subject, and whether it is a name alone. It returns no words for an unknown subject.
func (s *statement) subject(text string) (string, bool) {
	var out []string
	own := false
	all := strings.Fields(strings.ToLower(strings.NewReplacer("'s ", " ", "’s ", " ", "s' ", " ", "s’ ", " ").Replace(text + " ")))
	for _, w := range all {
		switch {
		case noSubject[w]:
			return "", false
		case w == "my" || w == "our":
			own = true
		case w == "user":
			own = true
		case adjectives[w]:
		default:
			out = append(out, w)
		}
	}
	who := "user"
	if s.user != "" {
		who = strings.ToLower(s.user)
	}
	if own && !slices.ContainsFunc(out, func(w string) bool { return !phones[w] }) {
		out = []string{"phone"}
	}
	if own {
		out = append(out, strings.Fields(who)...)
	}
	bare := !strings.ContainsAny(strings.TrimSpace(text), " ") || len(out) == 1 && own
	if len(out) == 0 || !slices.ContainsFunc(out, func(w string) bool { return single[w] }) && slices.ContainsFunc(out, func(w string) bool { return several[w] || several[strings.TrimSuffix(w, "s")] }) {
		return "", false
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " "), bare
}

// kindOf returns the type of a value, empty if it has none.
func kindOf(value string) string {
	for _, k := range kinds {
		if k.value.MatchString(value) {
			return k.name
		}
	}
	for _, k := range kindsOfValue {
		if !k.value.MatchString(value) {
			continue
		}
		if k.name == "amount" { // amounts have one type for each unit
			if _, unit, ok := strings.Cut(value, " "); ok {
				return "amount of " + strings.ToLower(unit)
			}
		}
		return k.name
	}
	return ""
}

// byAttribute decides by the attributes of two statements with the same subject: the value changed or is over.
func byAttribute(later, earlier *statement) (verdict, bool) {
	for _, l := range later.attributes() {
		for _, e := range earlier.attributes() {
			if e.over || e.subject != l.subject {
				continue
			}
			cue := l.after(&e)
			if cue == "" {
				continue
			}
			return verdict{confidence: ruleConfidence, retracts: cue == "over" && !l.switched, matter: e.evidence, evidence: l.evidence, decider: "rules: " + cue, matters: l.matters(&e)}, true
		}
	}
	return verdict{}, false
}

// matters returns the matter of an attribute that e had before; nil if unknown.
func (l *attribute) matters(e *attribute) []string {
	if l.kind != "" && l.kind == e.kind {
		if kind := kindAnswers[l.kind]; kind != "" {
			return []string{kind}
		}
		if l.kind == "phone" {
			return []string{"phone"}
		}
	}
	return nil
}

// after returns the cue by which l ends an earlier attribute of the same subject: "value", "over", or empty if l does not end it.
func (l *attribute) after(e *attribute) string {
	same := within(l.value, e.value) || within(e.value, l.value)
	switch {
	case l.over && l.value == "":
		if e.bare && !l.switched {
			return ""
		}
		return "over"
	case l.over:
		if same && l.prep == e.prep {
			return "over"
		}
		return ""
	case same || l.future && !e.future:
		return ""
	case l.was != "" && (within(l.was, e.value) || within(e.value, l.was)):
		return "value"
	case l.kind == "" || l.kind != e.kind || !l.changed && l.prep != e.prep:
		return l.favourite(e)
	case l.bare && l.kind == "name": // "Alice is German", "Alice is Catholic"
		return ""
	}
	return "value"
}

// favourite decides for values without a type: a subject has one favourite at a time, and one value that somebody set.
func (l *attribute) favourite(e *attribute) string {
	if l.set && e.prep == "" {
		return "value"
	}
	for w := range words(l.subject) {
		if single[w] && l.prep == e.prep {
			return "value"
		}
	}
	return ""
}
