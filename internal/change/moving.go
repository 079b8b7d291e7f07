package change

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// "Priya's moving to Bristol" and "Priya has found a flat in Bristol" say that "Priya lives in Toronto" ends, and of the rest of what was told about
// Priya nothing. A move with a day to come ends nothing before: see plan. What is found orders two memories and is not shown.

const moverPattern = `((?:my |our |the )?[\pL][\pL'’-]*?(?: (?:and |& )?[\pL][\pL'’-]*?){0,3}?)`

var (
	// moving matches clauses that say where somebody moves. The groups are who, and the place with what follows.
	moving = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)^(?:(?:so|and|oh|well|good news|big news|update)[,: ]+)*` + moverPattern + `(?:['’](?:s|re|m)| is| are| am)(?: (?:finally|now|actually|definitely|also|both|just|all))* (?:moving|relocating|emigrating|coming home|going back|going to live|moved|back|gone)(?: (?:back|house|home|over|out|up|down|away|in|to live|for good))*(?: (?:to|into|in|with))+ (.+)$`),
		lazyregexp.New(`(?i)^(?:(?:so|and|oh|well|good news|big news|update)[,: ]+)*` + moverPattern + `(?:['’](?:s|ve)| has| have)?(?: (?:finally|now|actually|also|just))* (?:moved|relocated|emigrated|gone to live|moved house)(?: (?:back|house|home|over|out|up|down|away|in))*(?: (?:to|into|in|with))+ (.+)$`),
		lazyregexp.New(`(?i)^(?:(?:so|and|oh|well|good news|big news|update)[,: ]+)*` + moverPattern + `(?:['’](?:s|ve)| has| have)?(?: (?:finally|now|actually|also|just))* (?:found|bought|rented|got) ((?:an?|the|(?:his|her|their|my|our) own|(?:his|her|their|my|our) first) (?:[\pL-]+ ){0,2}?` + homeNouns + `(?: of (?:his|her|their|my|our) own)? (?:in|at|near|on) \p{Lu}.*)$`),
	}
	movePlace   = lazyregexp.New(`^(?:\p{Lu}[\pL'’.-]*|(?:the )?(?:UK|US|USA|Netherlands|States|coast|country|countryside|city|sea)\b|(?:an?|the|my|our|his|her|their)(?: own)? (?:[\pL-]+ ){0,3}?(?:care home|nursing home|` + homeNouns[3:len(homeNouns)-1] + `|village|town)\b|(?:us|me|him|her|them|my|his|her|their)\b)`)
	noMove      = lazyregexp.New(`(?i)\b(?:primary|school|academy|college|university|uni|nursery|hospital|ward|office|branch|team|department|desk|room|floor|store|shop|gym|site|class|shift|days|nights|holiday|visit|trip|week|weekend|fortnight|temporarily|while|summer|if|might|maybe)\b`)
	laterMove   = lazyregexp.New(`(?i)\b(?:next (?:\pL+)|tomorrow|in (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\pL*|in (?:the )?(?:spring|summer|autumn|winter|new year|\d+|a few|two|three|six)|after|when|once|until|till|on (?:the )?(?:mon|tues|wednes|thurs|fri|satur|sun|\d)[\pL\d]*|by (?:\pL+)|from (?:the )?(?:\pL+ )?\d)`)
	residing    = lazyregexp.New(`(?i)\b(?:live|lives|living|based|lodging|staying|settled|home is|house is|flat is)\b`)
	moverForm   = words("my our the and & sister brother mum mam mom dad gran granny grandad grandma grandpa nan aunt auntie uncle cousin son daughter wife husband partner friend mate boss neighbour neighbor")
	house       = lazyregexp.New(`(?i)\b(?:` + homeNouns[3:len(homeNouns)-1] + `|moving (?:back|house|home)|moved (?:back|house|home|in))\b`)
	firstPlural = words("i we i'm we're i've we've")
)

// move is what a clause says of where somebody moves.
type move struct {
	who  []string // words of the name, in lower case; empty: the speaker
	text string
}

// moves returns who moves by a statement, and computes it once.
func (s *statement) moves() []move {
	if s.movesRead {
		return s.movers
	}
	s.movesRead = true
	if len(s.text) > maxStated || triggersOf(s.text)&mayMoveHouse == 0 {
		return nil
	}
	for _, c := range s.parse() {
		switch c.Mode {
		case "", extract.ModeAsserted, extract.ModePast, extract.ModePlan:
		default:
			continue
		}
		text := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
		for _, r := range moving {
			m := r.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			if where := m[2]; !movePlace.MatchString(where) || noMove.MatchString(text) || laterMove.MatchString(where) {
				break
			}
			if who, ok := mover(m[1]); ok && (len(who) > 0 || house.MatchString(text) || namesPlace(m[2])) {
				s.movers = append(s.movers, move{who, c.Text})
			}
			break
		}
	}
	return s.movers
}

// namesPlace reports whether a text begins with the name of a place that is known.
func namesPlace(text string) bool {
	w, _, _ := strings.Cut(strings.TrimPrefix(text, "the "), " ")
	return language.Lookup(strings.ToLower(strings.Trim(w, ",.!"))).Flags&language.PlaceName != 0
}

// mover returns the words of the name of who moves, none for the speaker. It reports false if that is unknown.
func mover(name string) (who []string, ok bool) {
	all := strings.Fields(strings.ToLower(name))
	speaker := false
	for i, w := range all {
		switch {
		case i+1 < len(all) && (strings.HasSuffix(w, "'s") || strings.HasSuffix(w, "’s")):
			return nil, false // "Callum's boss"
		case firstPlural[w]:
			speaker = true
		case noSubject[w] && w != "and":
			return nil, false
		case !moverForm[w] || len(all) == 1:
			who = append(who, strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s"))
		}
	}
	if speaker {
		return nil, true
	}
	if len(who) == 0 && len(all) > 0 {
		who = append(who, all[len(all)-1]) // "my sister"
	}
	return who, len(who) > 0
}

// resides reports whether a clause says where who lives; none: the speaker.
func resides(e *clause, who []string) bool {
	at := residing.Compiled().FindStringIndex(e.Text)
	if at == nil || !states(e) || e.Mode == extract.ModePlan || e.Mode == extract.ModeWish {
		return false
	}
	before := lettersOf.Compiled().FindAllString(strings.ToLower(e.Text[:at[0]]), -1)
	if len(who) == 0 {
		return slices.ContainsFunc(before, func(w string) bool { return firstPlural[w] || w == "i'm" }) && !othersThing.MatchString(e.Text[:at[0]])
	}
	if at[0] > 0 && len(before) > 12 {
		return false
	}
	for _, w := range who {
		if !slices.ContainsFunc(before, func(b string) bool {
			return strings.TrimSuffix(strings.TrimSuffix(b, "'s"), "’s") == w
		}) {
			return false
		}
	}
	return true
}

// byMove decides by where somebody moves, who lives somewhere else by the earlier statement.
func byMove(later, earlier *statement) (verdict, bool) {
	for _, l := range later.moves() {
		es := earlier.parse()
		for i := range es {
			if e := &es[i]; resides(e, l.who) {
				return verdict{confidence: likely, matter: livingPart(e.Text), evidence: l.text, decider: "rules: moving", matters: []string{"home"}}, true
			}
		}
	}
	return verdict{}, false
}

// livingPart returns the part of a clause that says where somebody lives.
func livingPart(text string) string {
	return partWith(text, strings.ToLower(residing.Compiled().FindString(text)))
}
