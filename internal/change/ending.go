package change

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// People end what they told before by other words than they told it in: "I've gone vegan" ends "I eat fish", "I've stopped drinking" ends "I drink
// beer", "I've finished therapy" ends "I see a therapist". The table endings.txt knows what diets exclude and which words name an activity. What was
// told has to be a habit of the speaker's: "I work with fish" is none, and neither is "I made beer once".

// ending is what a clause says that the speaker no longer does, eats or has.
type ending struct {
	classes []string        // classes of things that the speaker no longer eats or drinks
	stem    string          // an activity: what the speaker does, whatever the object
	words   map[string]bool // index terms of what ended, if it is neither
	means   map[string]bool // words of which one stands for it in an earlier clause; nil: its own words do
	sold    bool            // a thing that the speaker no longer has
	text    string          // the clause
}

const (
	endOpening = `(?i)^(?:(?:so|and|well|sadly|ok|okay|but|anyway|right|actually|update|finally|yes|now|turns out|good news|as of (?:this|last|next)? ?[\pL\d]+|since (?:last )?[\pL\d]+|in the end|at last)[,: ]+)*`
	endSelf    = `(?:(?:i|we)(?:['’]ve|['’]m|['’]re| have| am| are)? |(?:ive|im) )?`
	endAdverbs = `(?:(?:just|now|finally|fully|completely|totally|entirely|officially|recently|already|also|actually|all|strictly|properly|both|strict|since|only just|gradually) )*`
	endWhen    = `(?:$|[,!;:(]| [-–—]| (?:since|last (?:week|month|year|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december|\pL+day)|this (?:week|month|year|spring|summer|autumn|winter)|now|these days|nowadays|for good|at last|in the end|yesterday|today|altogether|completely|entirely|years ago|because|after|due|and|but|so|as of|too|again)\b| (?:a|two|three|six|\d+) (?:days?|weeks?|months?|years?) ago\b)`
	endMonth   = `|(?: back)? (?:in|on) (?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|\d{4}|\pL+day)(?:$|[,!;.])`
)

var (
	dietBegun = lazyregexp.New(endOpening + endSelf + endAdverbs + `(?:gone|went|turned|become|became|go) ` + endAdverbs + `(?:an? )?` + dietNames() + `(?:` + endWhen + endMonth + `)`)
	dietIs    = lazyregexp.New(endOpening + `(?:(?:i|we)(?:['’]m|['’]re| am| are|['’]ve been| have been)|im|ive been|been|turns out i['’]m) ` + endAdverbs + `(?:an? )?` + endAdverbs + dietNames() + `(?:er)?` + endWhen)
	dietOnly  = lazyregexp.New(endOpening + `(?:an? )?` + endAdverbs + dietNames() + ` (?:now|since|these days)\b`)
	dietFound = lazyregexp.New(endOpening + endSelf + `(?:just |recently )?(?:got |was |been )?diagnosed (?:as |with )?(?:an? )?` + dietNames() + `\b`)
	dietSince = lazyregexp.New(endOpening + `(?:i['’]m |i am |i['’]ve been )?(?:[\pL]+|\d+) (?:days?|weeks?|months?|years?) ` + dietNames() + `(?: today| now| yesterday|$|[,!;])`)

	gaveUp     = lazyregexp.New(endOpening + endSelf + endAdverbs + `(gave up|given up|had to give up|quit|had to quit|stopped|had to stop|packed in|packed up|kicked|cut out|had to cut out|ditched|jacked in|chucked in|dropped|cancelled|canceled|finished|left|dropped out of|deleted|came off|come off) ` + endThing + `(?:` + endWhen + endMonth + `)`)
	isOffIt    = lazyregexp.New(endOpening + `(?:(?:i|we)(?:['’]m|['’]re| am| are|['’]ve been| have been)|im|ive been|been) ` + endAdverbs + `off ` + endThing + endWhen)
	nowNotMore = lazyregexp.New(endOpening + `(?:i|we) (?:don['’]?t|do not|can['’]?t|cannot) (eat|drink|have|smoke|vape|run|swim|do|play|go to) ?` + endThingOrNot + ` ?(?:any ?(?:more|longer)|these days|nowadays)\b`)
	noMore     = lazyregexp.New(endOpening + `(?:i|we) no longer (eat|drink|have|smoke|vape|run|swim|do|play|go to)` + endMaybe + `(?:` + endWhen + endMonth + `)`)
	notSince   = lazyregexp.New(endOpening + `(?:(?:i|we) |(?:i|we)['’]ve )?(?:haven['’]?t|have not|not) ` + endAdverbs + `(?:touched|eaten|drunk|had|smoked|vaped) (?:an?(?: single)? |any |one )?` + endThing + `(?: since\b| (?:in|for) (?:(?:over|about|nearly|almost|more than) )?(?:an? |\pL+ |\d+ )?(?:days|weeks?|months?|years?|ages)\b)`)
	without    = lazyregexp.New(endOpening + `(?:i['’]m |i am )?(?:on )?(?:day \d+|(?:\pL+|\d+) (?:days|weeks?|months?|years?)) (?:without|off|free of) (?:an?(?: single)? |the |any )?` + endThing + endWhen)
	sinceLast  = lazyregexp.New(endOpening + `(?:it['’]s been )?(?:\pL+|\d+) (?:weeks?|months?|years?) since my last ` + endThing + endWhen)
	gaveItUp   = lazyregexp.New(endOpening + endSelf + endAdverbs + `(?:(?:gave|given) ((?:[\pL'’-]+ ){1,3}?)up|(?:packed|jacked|chucked) ((?:[\pL'’-]+ ){1,3}?)in|knocked ((?:[\pL'’-]+ ){1,3}?)on the head)(?:` + endWhen + endMonth + `)`)
	daysOver   = lazyregexp.New(endOpening + `my (\pL+ing) days are (?:over|behind me|done)\b`)
	doneWith   = lazyregexp.New(endOpening + `(?:(?:i['’]m|i am|we['’]re|im) ` + endAdverbs + `)?(?:done|through) with ` + endThing + `(?:` + endWhen + endMonth + `)`)
	discharged = lazyregexp.New(endOpening + `(?:the|my) (\pL+)(?:['’]s| has) ` + endAdverbs + `(?:discharged me|signed me off)\b`)
	exchanged  = lazyregexp.New(endOpening + endSelf + endAdverbs + `(?:swapped|switched from) ([\pL-]+(?: [\pL-]+)?) (?:for|to) [\pL-]+(?: [\pL-]+){0,2}` + endWhen)
	isGone     = lazyregexp.New(endOpening + `(?:the|my|our) (?:old )?` + endThing + `(?:(?:['’]s| is| has) (?:just |now |finally )*(?:gone|been sold|sold|been scrapped)|(?: has| got| was|['’]s been| been)+ (?:written off|stolen|scrapped|sold))` + endWhen)
	ownThing   = lazyregexp.New(`(?i)^(?:my|the|our|this|that) `)
	andDoing   = lazyregexp.New(`(?i)^ (?:and|but|or) \pL+ing\b`)
	noneFor    = lazyregexp.New(endOpening + `no (?:more )?` + endThing + ` for me(?:$|[,!;]| (?:any ?more|now|from now on|since)\b)`)
	parting    = lazyregexp.New(endOpening + endSelf + endAdverbs + `(?:sold|flogged|got rid of|gotten rid of|scrapped|gave away|given away|wrote off|written off) (?:the|my|our) (?:old )?` + endThing + `(?:` + endWhen + endMonth + `)`)
)

const (
	endThing      = `((?:[\pL\d'’-]+ )*?[\pL\d'’-]+?)`
	endThingOrNot = `((?:[\pL\d'’-]+ )*?)`
	endMaybe      = `((?: [\pL\d'’-]+)*?)`
)

var (
	// limited matches statements that leave something of what they end, or are about a short time.
	limited = lazyregexp.New(`(?i)\b(?:except|apart from|sometimes|mostly|mainly|basically|almost|nearly|practically|unless|weekdays|weekends|at home|occasionally|cheat|still (?:eat|drink|have|smoke)|for (?:lent|january|ramadan|an?|the)|last night|tonight|early|late|trying|was going to)\b`)
	// takenUp matches statements that end something and take it up again.
	takenUp = lazyregexp.New(`(?i)\b(?:and|but|then|now|started|back)\b.*\bagain\b`)
	// consumed matches the start of clauses in which speakers tell what they eat or drink.
	consumed = lazyregexp.New(`(?i)^(?:(?:and|so|also|but|well|usually|mostly|sometimes|every \pL+|most \pL+)[, ]+)*(?:(?:i|we)(?:['’]m|['’]re| am| are|['’]ve been)? (?:(?:\pL+ly|always|often|still|sometimes|also|just|do|love to|like to|only|tend to|normally) )*)?(?:eat|eating|drink|drinking|live on|living on|snack on|cook|put)\b`)
	// taken matches clauses with "have", which need a word for how often: "I have a pint after work most days".
	taken      = lazyregexp.New(`(?i)^(?:(?:and|so|also|but|well)[, ]+)*(?:i|we) (?:(?:\pL+ly|always|often|still|also|just) )*have\b.*\b(?:for (?:breakfast|lunch|dinner|tea|supper|pudding)|every|most|daily|(?:once|twice|\w+ times) a|(?:mon|tues|wednes|thurs|fri|satur|sun)days|at weekends|in the (?:evenings?|mornings?)|before bed|a day|a week|with (?:lunch|dinner|breakfast|every))\b`)
	likes      = lazyregexp.New(`(?i)^(?:i|we) (?:\pL+ly )?(?:love|like|adore|hate|enjoy)\b`)
	habitual   = lazyregexp.New(`(?i)^(?:(?:and|so|also|but|well)[, ]+)*(?:(?:i|we)(?:['’]m|['’]re|['’]ve| am| are| have)? (?:(?:\pL+ly|always|often|still|also|just|been) )*)?(?:play|playing|do|doing|go|going|attend|take|taking|train|training|practi[sc]e|practi[sc]ing|sing|singing|learn|learning|see|seeing|study|studying|belong|use|using|on|in|at|a member of|coach|volunteer|row|rowing|box|boxing|joined|signed|smoke|vape)\b`)
	possessing = lazyregexp.New(`(?i)\b(?:i|we)(?:['’]ve| have)? (?:\pL+ly |still |also )*(?:have|own|drive|ride|keep|got|bought|use)\b`)
)

// endings returns what a statement says has ended for the speaker, and computes it once.
func (s *statement) endings() []ending {
	if s.endRead {
		return s.ended
	}
	s.endRead = true
	if len(s.text) > maxStated || triggersOf(s.text)&mayGiveUp == 0 || limited.MatchString(s.text) || takenUp.MatchString(s.text) {
		return nil
	}
	for _, c := range s.parse() {
		switch c.Mode {
		case extract.ModeQuestion, extract.ModeHypothetical, extract.ModeQuote, extract.ModeFiction, extract.ModeJoke, extract.ModeWish, extract.ModeInstruction, extract.ModePlan, extract.ModeCorrected:
			continue
		}
		if c.About == extract.AboutOther || c.About == extract.AboutAssistant {
			continue
		}
		if e, ok := endingOf(strings.TrimRight(strings.TrimSpace(c.Text), ".")); ok {
			e.text = c.Text
			s.ended = append(s.ended, e)
		}
	}
	return s.ended
}

// endsClass reports whether a clause ends things of some classes alone, which other words that it shares with earlier clauses do not tell: "I've
// stopped drinking" does not end tea.
func (s *statement) endsClass(clause string) bool {
	return slices.ContainsFunc(s.endings(), func(e ending) bool { return e.text == clause && len(e.classes) > 0 })
}

// endingOf reads what a clause says has ended.
func endingOf(text string) (ending, bool) {
	for _, read := range []func(string) (e ending, matched bool){dietOf, partedFrom, givenUp, notDone, notLately} {
		if e, matched := read(text); matched {
			return e, len(e.words) > 0 || e.classes != nil || e.stem != ""
		}
	}
	return ending{}, false
}

// dietOf reads what a diet excludes: "I've gone vegan".
func dietOf(text string) (ending, bool) {
	for _, r := range []*lazyregexp.Regexp{dietBegun, dietIs, dietFound, dietSince, dietOnly} {
		if m := r.FindStringSubmatch(text); m != nil {
			return ending{classes: endTable().diets[strings.ToLower(m[1])]}, true
		}
	}
	return ending{}, false
}

// partedFrom reads what the speaker no longer has: "sold the car".
func partedFrom(text string) (ending, bool) {
	for _, r := range []*lazyregexp.Regexp{parting, isGone} {
		if m := r.FindStringSubmatch(text); m != nil {
			e := ending{words: termsOf(m[1]), sold: true}
			if strings.EqualFold(m[1], "car") {
				e.means = words("drive")
			}
			return e, true
		}
	}
	return ending{}, false
}

// givenUp reads what the speaker gave up: "quit smoking", "left Slimming World", "gave bouldering up".
func givenUp(text string) (ending, bool) {
	if m := gaveUp.Compiled().FindStringSubmatchIndex(text); m != nil {
		verb, thing := strings.ToLower(text[m[2]:m[3]]), text[m[4]:m[5]]
		switch {
		case andDoing.MatchString(text[m[5]:]):
			return ending{}, true // "stopped drinking and driving"
		case verb == "left" && thing[0] >= 'A' && thing[0] <= 'Z':
			verb = "quit"
		}
		return thingOf(verb, thing), true
	}
	for _, r := range []*lazyregexp.Regexp{discharged, daysOver, gaveItUp} {
		if m := r.FindStringSubmatch(text); m != nil {
			return thingOf("quit", strings.Join(m[1:], "")), true
		}
	}
	return ending{}, false
}

// notDone reads what the speaker does, eats or has no longer: "I'm off the booze", "I don't smoke any more".
func notDone(text string) (ending, bool) {
	for _, r := range []*lazyregexp.Regexp{isOffIt, noneFor} {
		if m := r.FindStringSubmatch(text); m != nil {
			if e := thingOf("quit", m[1]); e.classes != nil {
				return e, true
			}
		}
	}
	for _, r := range []*lazyregexp.Regexp{nowNotMore, noMore} {
		if m := r.FindStringSubmatch(text); m != nil {
			verb, object := strings.ToLower(m[1]), strings.TrimSpace(m[2])
			switch {
			case verb == "drink" || verb == "eat":
				return thingOf("stopped", verb+"ing "+object), true
			case verb == "have":
				return thingOf("stopped", "having "+object), true
			case object == "" && endTable().does[verb] != nil:
				return ending{stem: verb}, true
			}
			return thingOf("quit", object), true
		}
	}
	return ending{}, false
}

// notLately reads what the speaker has not done for long, or takes something else for: "haven't touched meat since May", "swapped coffee for tea".
func notLately(text string) (ending, bool) {
	for _, r := range []*lazyregexp.Regexp{notSince, without, sinceLast, doneWith, exchanged} {
		m := r.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if r == doneWith && ownThing.MatchString(m[1]) {
			return ending{}, true // "done with my swim"
		}
		e := thingOf("quit", m[1])
		if (r == notSince || r == sinceLast || r == exchanged) && len(e.words) > 0 {
			e.classes = []string{} // it was eaten or drunk
		}
		return e, true
	}
	return ending{}, false
}

// noCar are vehicles that people drive and do not call a car.
var noCar = words("van truck lorry bus minibus taxi cab tractor forklift ambulance train tram motorbike moped scooter")

// thingOf reads what somebody gave up, by the verb of giving up: "drinking", "the cello", "going to the gym". The result is empty if that names no
// activity or thing of its own.
func thingOf(verb, thing string) ending {
	t := endTable()
	all := trimForm(strings.Fields(strings.ToLower(thing)))
	if saysNothing(verb, strings.ToLower(thing), all) {
		return ending{}
	}
	eats := false
	switch first := all[0]; {
	case first == "drinking" && len(all) == 1:
		return ending{classes: []string{"alcohol"}}
	case first == "drinking" || first == "eating" || first == "having":
		all, eats = all[1:], true
	case len(all) == 1 && t.names[first] == "" && t.activity[first] != "":
		return ending{stem: t.activity[first]}
	case len(all) > 1 && activityVerbs[first]:
		all = all[1:]
	case strings.HasSuffix(verb, "stop") || verb == "stopped":
		if len(all) > 1 || !strings.HasSuffix(first, "ing") {
			return ending{} // "he stopped the car"
		}
	}
	if all = trimForm(all); len(all) == 0 {
		return ending{}
	}
	name := strings.Join(all, " ")
	if c := t.names[name]; c != "" {
		return ending{classes: []string{c}}
	}
	e := ending{words: termsOf(name), means: t.means[name]}
	if eats {
		e.classes = []string{} // eaten or drunk, by its own words
	}
	for w := range e.words {
		if e.means != nil || !unspecific[w] && !commonThing[w] && w[0] > '9' {
			return e
		}
	}
	return ending{}
}

// trimForm drops words of form before the last word.
func trimForm(all []string) []string {
	for len(all) > 1 && endForm[all[0]] {
		all = all[1:]
	}
	return all
}

// saysNothing reports whether what somebody gave up or left is nothing that ends: "left side", "dropped it in the harbour", "done with yoga for the
// day". all are the words of thing without form.
func saysNothing(verb, thing string, all []string) bool {
	if len(all) == 0 || len(all) > 5 || pronouns[all[0]] || thingless[all[0]] {
		return true
	}
	first, _, _ := strings.Cut(thing, " ")
	return verb == "left" && !leftForm[first] || slices.ContainsFunc(all, func(w string) bool { return momentary[w] })
}

var (
	endForm       = words("the my our all any a an to in on at with from of")
	leftForm      = words("the my our")
	momentary     = words("for today now yet tonight early late first before until yesterday ago")
	thingless     = words("them him her me us this that these those everything nothing off out up")
	activityVerbs = words("going seeing playing doing attending taking learning practising practicing using singing watching")
	commonThing   = words("cours lesson group club team job class app account communiti site websit card thread visual idea seat place room conversation talk smok")
)

// byEnding decides by what ended for the speaker, who did, ate or had it by the earlier statement.
func byEnding(later, earlier *statement) (x verdict, ok bool) {
	for _, l := range later.endings() {
		es := earlier.parse()
		last := -1
		for j := range es {
			e := &es[j]
			if !states(e) || e.Mode == extract.ModePlan || e.Mode == extract.ModeWish || e.About == extract.AboutOther || othersThing.MatchString(e.Text) {
				continue
			}
			part, ends := l.ends(e)
			switch {
			case !ends:
			case x.matter == "":
				x = verdict{confidence: ruleConfidence, matter: part, evidence: l.text, decider: "rules: ended", loose: l.sold && l.means != nil && !contains(e.terms(), l.words)}
				last = j
			case last == j-1 && es[last].Start <= e.Start && strings.HasSuffix(es[last].Text, x.matter):
				x.matter = earlier.text[es[last].End-len(x.matter) : e.Start+strings.Index(e.Text, part)+len(part)] // both clauses end
				last = -1
			}
		}
		if x.matter != "" {
			return x, true
		}
	}
	return x, false
}

// ends reports whether an earlier clause tells what ended, and returns its part that does.
func (x *ending) ends(e *clause) (string, bool) {
	text := strings.TrimRight(strings.TrimSpace(e.Text), ".!;,")
	all := strings.Fields(strings.ToLower(strings.NewReplacer(",", " ", ".", " ", "!", " ", ";", " ", ":", " ").Replace(text)))
	eats := consumed.MatchString(text) || taken.MatchString(text)
	switch {
	case len(x.classes) > 0:
		if !eats || likes.MatchString(text) {
			return "", false
		}
		if w := endTable().classWord(all, x.classes); w != "" {
			return partWith(e.Text, w), true
		}
		return "", false
	case x.stem != "":
		return text, doesStem(all, x.stem)
	case x.classes != nil && !eats:
		return "", false
	case x.sold && !possessing.MatchString(text), !x.sold && x.classes == nil && !habitual.MatchString(text):
		return "", false
	}
	if x.means != nil && slices.ContainsFunc(all, func(w string) bool { return x.means[w] }) && !(x.sold && slices.ContainsFunc(all, func(w string) bool { return noCar[w] })) {
		return text, true
	}
	if !contains(e.terms(), x.words) {
		return "", false
	}
	for _, w := range all {
		if contains(x.words, termsOf(w)) {
			return partWith(e.Text, w), true
		}
	}
	return text, true
}

// doesStem reports whether the words of a clause say that the speaker does an activity. Of verbs that mean more than that with an object, as "run
// a shop", none may follow.
func doesStem(all []string, stem string) bool {
	t := endTable()
	i := slices.IndexFunc(all, func(w string) bool { return t.does[stem][w] })
	if i < 0 || i > 6 || !slices.ContainsFunc(all[:max(i, 1)], func(w string) bool { return selfWords[w] }) {
		return false
	}
	if i+1 < len(all) && stem != "smoke" && stem != "vape" && (all[i+1] == "a" || all[i+1] == "an" || all[i+1] == "the" || all[i+1] == "my" || all[i+1] == "our") {
		return false
	}
	for _, w := range all[:i] {
		if !selfWords[w] && !stemForm[w] {
			return false
		}
	}
	return true
}

var (
	selfWords = words("i i'm i’m i've i’ve we we're im ive")
	stemForm  = words("go going usually always often still also just do a been and so well out have like to for keep regularly normally try mostly am")
)
