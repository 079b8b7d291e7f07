package change

import (
	"maps"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// owner says who is responsible for a thing: a project, a task, a shift.
type owner struct {
	thing   map[string]bool // words of the thing
	person  string          // lower case
	changed bool            // the clause says that it was somebody else before
	clause  string
}

const (
	personPattern = `((?:\p{Lu}[\pL'’-]*|I|We|we)(?: \p{Lu}[\pL'’-]*)?)`
	thingPattern  = `((?:[Tt]he |[Oo]ur |[Mm]y )?[\pL\d][\pL\d'’-]*(?: [\pL\d][\pL\d'’-]*){0,4}?)`
	tailPattern   = `(?: (?:from|starting|since|as of|until|with effect from|instead of|together with) .+| (?:now|instead|again|this week|next week|today))?(?:,.*)?$`
	roleNouns     = `(?:owner|lead|leader|head|manager|project manager|product manager|pm|po|maintainer|contact|contact person|driver|dri|editor|organi[sz]er|chair|captain)`
)

// owning matches clauses that say who is responsible for a thing. The groups are the person, a word for a change, and the thing.
var owning = []struct {
	clause        *lazyregexp.Regexp
	person, thing int
	changed       bool // always a change
	cue           int  // a group that is not empty if it is a change
}{
	{lazyregexp.New(`^` + personPattern + `(?: is| am|['’]s|['’]m| are)?((?: now)?) (?:owns?|leads?|runs?|manages?|heads?|maintains?|drives?|coordinates?|leading|running|managing|owning|responsible for|in charge of|looks? after|looking after) ` + thingPattern + tailPattern), 1, 3, false, 2},
	{lazyregexp.New(`^` + personPattern + ` (?:is|am|are)((?: now)?) the ((?:new )?)` + roleNouns + ` (?:of|for|on) ` + thingPattern + tailPattern), 1, 4, false, 2},
	{lazyregexp.New(`^` + personPattern + `(?: has| have| will| is| am|['’]s|['’]ll)?(?: just| now)? (?:takes?|took|taken|taking) over ` + thingPattern + tailPattern), 1, 2, true, 0},
	{lazyregexp.New(`^` + personPattern + `(?: has| have)?(?: just| now)? (?:inherited|inherits|picks up|picked up) ` + thingPattern + tailPattern), 1, 2, true, 0},
	{lazyregexp.New(`^(?:\p{Lu}[\pL'’-]*|I|We|we) (?:has |have |just )?(?:handed|hands|passed|passes|gave|gives|transferred) ` + thingPattern + `(?: over| on)? to ` + personPattern + tailPattern), 2, 1, true, 0},
	{lazyregexp.New(`^(?:\p{Lu}[\pL'’-]*|I|We|we) (?:has |have |just )?(?:handed|hands|passed|passes) (?:over |on )` + thingPattern + ` to ` + personPattern + tailPattern), 2, 1, true, 0},
	{lazyregexp.New(`^` + thingPattern + ` (?:goes to|passes to|went to|was reassigned to|is reassigned to|was assigned to|is now assigned to|was handed (?:over )?to|has been handed (?:over )?to|is now owned by|is now led by|is now with|now belongs to) ` + personPattern + tailPattern), 2, 1, true, 0},
	{lazyregexp.New(`^` + personPattern + ` (?:does|handles|writes|organi[sz]es|is doing|is handling|is writing|is organi[sz]ing|will do|will handle) ` + thingPattern + `((?: from now on| now| instead(?: of \p{Lu}[\pL'’-]*)?)?)$`), 1, 2, false, 3},
	{lazyregexp.New(`^` + thingPattern + `: ` + personPattern + `$`), 2, 1, false, 0},
	{lazyregexp.New(`^` + thingPattern + ` is (?:owned|led|run|managed|maintained) by ` + personPattern + `$`), 2, 1, false, 0},
	{lazyregexp.New(`^(?:[Tt]he )?((?:[Nn]ew )?)` + roleNouns + ` (?:of|for) ` + thingPattern + `(?: is|:)((?: now)?) ` + personPattern + tailPattern), 4, 2, false, 3},
	{lazyregexp.New(`^` + personPattern + ` (?:replaces|replaced|succeeds|succeeded) \p{Lu}[\pL'’-]* (?:as (?:the )?` + roleNouns + ` (?:of|for|on)|on|for) ` + thingPattern + tailPattern), 1, 2, true, 0},
	{lazyregexp.New(`^` + personPattern + ` (?:übernimmt|übernahm|hat) ` + thingPattern + `(?: von \p{Lu}[\pL'’-]*)?((?: übernommen)?)$`), 1, 2, false, 3},
	{lazyregexp.New(`^` + personPattern + ` (?:ist((?: jetzt| nun)?) (?:verantwortlich|zuständig) für|leitet((?: jetzt| nun)?)|verantwortet) ` + thingPattern + `$`), 1, 4, false, 2},
	{lazyregexp.New(`^` + personPattern + ` (?:est((?: maintenant| désormais)?) (?:responsable|chargée?) (?:de|du)|dirige|gère|s['’]occupe (?:de|du)) ` + thingPattern + `$`), 1, 3, false, 2},
	{lazyregexp.New(`^` + personPattern + ` (?:reprend|a repris) ` + thingPattern + `$`), 1, 2, true, 0},
	{lazyregexp.New(`^` + personPattern + ` (?:es((?: ahora)?) (?:responsable|la responsable|el responsable|la encargada|el encargado) (?:de|del)|dirige|lleva|se encarga((?: ahora)?) (?:de|del)) ` + thingPattern + `$`), 1, 4, false, 2},
	{lazyregexp.New(`^` + personPattern + ` (?:asume|se hace cargo de|se hace cargo del) ` + thingPattern + `$`), 1, 2, true, 0},
}

// noPerson are capitalised words that begin no name.
var noPerson = words(`my the our this that her his their your its these those a an today now here there`)

// atLast matches words at the end of a clause that say that something was different.
var atLast = lazyregexp.New(`(?i) (?:now|instead|from now on)$`)

var conjunction = lazyregexp.New(`(?i)^(?:so|and|but|then|und|et|y|e)[, ]+`)

// thingForm are words that say nothing of which thing it is.
var thingForm = words(`the a an our my this that project task work workstream ticket der die das den dem le la les el los las l`)

// owners returns what a statement says of who is responsible, and computes it once.
func (s *statement) owners() []owner {
	if s.handed {
		return s.owned
	}
	s.handed = true
	if len(s.text) > maxStated {
		return nil
	}
	for _, c := range s.parse() {
		switch c.Mode {
		case "", extract.ModeAsserted, extract.ModePast, extract.ModeCorrected, extract.ModeEnded, extract.ModeInstruction:
		default:
			continue
		}
		if o, ok := readOwner(conjunction.ReplaceAllString(strings.TrimRight(strings.TrimSpace(c.Text), ".!;,"), "")); ok && (c.About != extract.AboutAssistant && c.Mode != extract.ModeInstruction || !addressed.MatchString(c.Text)) {
			o.clause = c.Text
			if o.person == "i" || o.person == "we" {
				o.person = s.person("i")
			}
			s.owned = append(s.owned, o)
		}
	}
	return s.owned
}

func readOwner(text string) (o owner, ok bool) {
	for _, form := range owning {
		m := form.clause.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		o.person, o.thing = strings.ToLower(m[form.person]), map[string]bool{}
		if first, _, _ := strings.Cut(o.person, " "); noPerson[first] {
			return o, false
		}
		for _, w := range lettersOf.Compiled().FindAllString(strings.ToLower(m[form.thing]), -1) {
			if !thingForm[w] {
				o.thing[w] = true
			}
		}
		o.changed = form.changed || form.cue > 0 && strings.TrimSpace(m[form.cue]) != "" || newThing.MatchString(text) || atLast.MatchString(text) || strings.Contains(text, "übernimmt") || strings.Contains(text, "übernahm")
		return o, len(o.thing) > 0
	}
	return o, false
}

// byOwner decides by who is responsible for a thing: somebody else took it over.
func byOwner(later, earlier *statement) (verdict, bool) {
	for _, l := range later.owners() {
		if !l.changed {
			continue
		}
		for _, e := range earlier.owners() {
			if l.person != e.person && maps.Equal(l.thing, e.thing) {
				return verdict{confidence: ruleConfidence, matter: e.clause, evidence: l.clause, decider: "rules: owner", matters: []string{asksWho}}, true
			}
		}
	}
	return verdict{}, false
}
