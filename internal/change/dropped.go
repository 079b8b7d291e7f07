package change

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// People drop a plan in other words than "cancelled": "decided against the Micra", "Joe isn't coming", "Malaga's fallen through", "drop the Gwen thing
// completely". What they say names something of the plan. What is found orders two memories and is not shown.

// comesTail is what may follow "isn't coming": nothing that makes it another occasion.
const comesTail = `(?:$|,| (?:after all|any ?more|now|because|cos|as|either|with us|to (?:stay|visit))`

const wholePhrase = `(?:(?:so|and|but|well|ok|okay|right|actually|sadly|oh|anyway|please|update|also)[,: ]+)*`

var (
	// drops match clauses that say that something does not come about. A group is what it is.
	drops = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)\b(?:decided|opted|voted) (?:against|not to(?: go for| go to| go with| do| buy| get| take| have| apply for)?) (.+)$`),
		lazyregexp.New(`(?i)^` + wholePhrase + `(?:(?:i|we)(?:['’]m|['’]re| am| are|['’]ll)? ?)?(?:\pL+ )?(?:not|\pL+n['’]t) (?:(?:be )?(?:going to|gonna|doing|buying|getting|taking|having|hosting|entering|selling|running|moving|going|starting|applying)) (?:for |to |with |in )?(.+?)(?: after all| any ?more| this year| in the end)\b`),
		lazyregexp.New(`(?i)^` + wholePhrase + `(?:(?:i|we|they|i['’]ve|we['’]ve|they['’]ve|have|had to|finally|just) )*(?:withdrew|withdrawn|shelved|scrapped|binned|ditched|abandoned|deferred|turned down|knocked) (?:from )?((?:my|the|our) .+?)(?: on the head)?$`),
		lazyregexp.New(`(?i)\b(?:pull(?:ed|ing)? out|back(?:ed|ing)? out|bail(?:ed|ing)?|withdr(?:ew|awn|awing)) (?:of|from|on) (.+)$`),
		lazyregexp.New(`(?i)^` + wholePhrase + `(.+?)(?:['’]s| is| has| have| are| was| were| got|['’]ve)? (?:fallen through|fell through|not happening|isn['’]t happening|not going ahead|isn['’]t going ahead|went to (?:some(?:one|body) else|another \pL+)|come to nothing|came to nothing|fizzled out|gone bust|(?:a no[- ]go|dead in the water)$)\b`),
		lazyregexp.New(`(?i)^` + wholePhrase + `(.+?)(?:['’]s| is| has| have| are| was| were| got)?(?: been)? (?:refused|rejected)(?:$|[,!]| (?:by|so|because|after|again|today|yesterday)\b)`),
		lazyregexp.New(`(?i)^` + wholePhrase + `(\p{L}[\pL'’-]*(?: \pL+){0,2}?) (?:isn['’]t|is not|['’]s not|aren['’]t|are not|won['’]t be) (?:coming|joining|visiting|able to come)` + comesTail + `)`),
		lazyregexp.New(`(?i)^` + wholePhrase + `(\p{L}[\pL'’-]*(?: \pL+){0,2}?) (?:can['’]?t|cannot|couldn['’]?t|can not) (?:make it|come)` + comesTail + `)`),
	}
	// nothingOf match clauses that say that there is none of something, or no to it. A group is what it is. It has to be what the user means to do.
	nothingOf = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)^` + wholePhrase + `no (.+?)(?:,? (?:this (?:year|time|summer|month|weekend)|after all|for us|for me|then|now|any ?more)|,|$)`),
		lazyregexp.New(`(?i), no (.+?) (?:this (?:year|time|summer|month|weekend)|after all|for us|for me|any ?more)\b`),
		lazyregexp.New(`(?i)\bsa(?:id|ys|ying) no to (.+)$`),
	}
	// takesBack matches a request to leave out what the user told. A group is what it is about.
	takesBack = lazyregexp.New(`(?i)^` + wholePhrase + `(?:can you |could you |you can )?(?:forget|drop|scrap|bin|ignore|disregard|scratch|delete|erase|throw out|chuck out|cross off|strike|never ?mind|leave out|wipe)(?: about| all| out)*(?: (?:the|this|that|these|those|my|our|what i said|everything|anything|it))*(?: (?:thing|stuff|bit|part|idea|plan|business|one))?(?: (?:about|with|of|on|for|re))?(?: (?:the|this|that|my|our))? (.+?)(?:,? (?:thing|stuff|idea|plan|plans|business|bit|part|completely|entirely|altogether|please|then|for now|too|now))*$`)
	keepsIt   = lazyregexp.New(`(?i)\b(?:we['’]re|i['’]m|we|i) (?:are |am )?(?:keeping|hanging on to|holding on to|not selling) ((?:the|my|our) .+)$`)
	// personDid matches clauses about what somebody of the user's does or not, who is no part of the user's plans.
	personDid = lazyregexp.New(`(?i)^` + wholePhrase + `(?:my|our|his|her|their) [\pL'’]+(?: \pL+)? (?:(?:has|have|had|just|finally) )*(?:decided|opted|voted|withdrew|withdrawn|pull|pulled|backed|bailed|said|says|shelved|scrapped|binned|ditched|abandoned|deferred)\b`)
	selling   = lazyregexp.New(`(?i)\b(?:selling|sell|getting rid of|giving away|trading in|for sale|flogging)\b`)
	// intends matches clauses that tell of what somebody means to do, beside plans and wishes.
	intends = lazyregexp.New(`(?i)(?:['’](?:m|re|s)|\b(?:am|are|is|was|were))(?: \pL+ly| also| both| all| still| now)? (?:\pL+ing\b|off to\b|due\b|on\b|at\b|booked\b)|^(?:also |still |now )?(?:\pL+ing|off) |\b(?:booked|signed up|entered|enrolled|applied|put in for|thinking (?:of|about)|thought (?:i|we|of|about)|considering|planning|plan to|going to|gonna|want to|wants to|hope to|hoping|tempted|might|will|['’]ll|remind me|keep (?:it|this|that) in mind|arranged|agreed to|invited)\b`)
	// meansTo matches clauses that tell of what the user means to do.
	meansTo   = lazyregexp.New(`(?i)^` + wholePhrase + `(?:(?:i|we)(?:['’](?:m|re|ve|ll)| am| are| have| will)? )?(?:\pL+ly |also |both |all |still |just )*(?:getting|buying|booked|booking|planning|thinking (?:of |about )?|going to|gonna|having|doing|applying|applied|signed up|signing up|entered|enrolled|want to|hoping|hope to|moving|starting|hosting|meeting|adopting|tempted|considering|off to)\b`)
	dropPreps = words("in at on with for from about to off by till until")
	dropForm  = words("till until thing stuff idea plan plans business bit part place job time day place")
)

// dropped is what a clause says does not come about.
type dropped struct {
	head   string          // the term of about that names the thing: "people" of "boiler people"
	place  map[string]bool // terms of what stands behind a preposition after it: "the radio in the Micra"
	about  map[string]bool // index terms of what it is
	stated bool            // the user takes it back, so that any statement may be meant
	sold   bool            // the user keeps it, so that only a sale is over
	own    bool            // only what the user means to do is over
	clause string
}

// droppings returns what a statement says does not come about, and computes it once.
func (s *statement) droppings() []dropped {
	if s.dropRead {
		return s.drop
	}
	s.dropRead = true
	if len(s.text) > maxStated || triggersOf(s.text)&mayDrop == 0 {
		return nil
	}
	all := s.parse()
	for i := range all {
		s.dropsOf(all, i)
	}
	return s.drop
}

// dropsOf adds what clause i says does not come about.
func (s *statement) dropsOf(all []clause, i int) {
	c := &all[i]
	text := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
	add := func(d dropped, r *lazyregexp.Regexp) {
		m := r.FindStringSubmatch(text)
		if m == nil || personDid.MatchString(text) {
			return
		}
		name := m[1]
		if i > 0 && pronouns[strings.ToLower(name)] { // "Joe's got covid so he isn't coming"
			name, _, _ = strings.Cut(all[i-1].Text, " ")
			name = strings.TrimSuffix(strings.TrimSuffix(name, "'s"), "’s")
		}
		if d.about, d.place, d.head = dropTerms(name); d.head != "" {
			d.clause = c.Text
			s.drop = append(s.drop, d)
		}
	}
	switch c.Mode {
	case "", extract.ModeAsserted, extract.ModePast, extract.ModeNegated, extract.ModeEnded, extract.ModeCancelled, extract.ModePlan:
		for _, r := range drops {
			add(dropped{}, r)
		}
		for _, r := range nothingOf {
			add(dropped{own: true}, r)
		}
		add(dropped{sold: true}, keepsIt)
	}
	switch c.Mode {
	case "", extract.ModeAsserted, extract.ModeInstruction, extract.ModeCancelled:
		add(dropped{stated: true}, takesBack)
	}
}

// dropTerms returns the index terms of a phrase, without what only says that it is a plan, those behind a preposition after
// them, and the one that names the thing. It returns none of a phrase that is a clause of its own.
func dropTerms(phrase string) (about, place map[string]bool, head string) {
	if at := joints.Compiled().FindStringIndex(phrase); at != nil {
		phrase = phrase[:at[0]]
	}
	all := lettersOf.Compiled().FindAllString(phrase, -1)
	if len(all) > 8 {
		return nil, nil, ""
	}
	about = map[string]bool{}
	for i, w := range all {
		if dropPreps[strings.ToLower(w)] && head != "" {
			return about, termsOf(strings.Join(all[i:], " ")), head
		}
		for t := range termsOf(w) {
			if !dropForm[t] && t[0] > '9' {
				about[t], head = true, t
			}
		}
	}
	return about, nil, head
}

// byDropping decides by a plan of the earlier statement that does not come about.
func byDropping(later, earlier *statement, v *vocabulary) (verdict, bool) {
	for _, l := range later.droppings() {
		es := earlier.parse()
		for i := range es {
			e := &es[i]
			in := termsOf(withoutPurpose(e.Text))
			if !in[l.head] || !namesAll(l.place, in) || !l.of(e, earlier) || !v.named(l.about, in, l.stated) {
				continue
			}
			return verdict{confidence: likely, retracts: true, matter: e.Text, evidence: l.clause, decider: "rules: dropped", loose: l.stated}, true
		}
	}
	return verdict{}, false
}

// purpose matches what something that has an object of its own is for: "learning Portuguese for the Lisbon job" goes on without the job.
var purpose = lazyregexp.New(`(?i)^(.*ing (?:(?:a|an|the|my|our|some) )?[\pL'’-]+(?: [\pL'’-]+)?) for (?:the|my|our|this|that) .+$`)

// withoutPurpose returns a clause without what something in it is for.
func withoutPurpose(text string) string {
	if m := purpose.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

// of reports whether a clause of an earlier statement tells of a plan that may be dropped.
func (l *dropped) of(e *clause, earlier *statement) bool {
	switch e.Mode {
	case extract.ModeQuestion, extract.ModeFiction, extract.ModeJoke, extract.ModeCancelled, extract.ModeNegated, extract.ModeEnded:
		return false
	}
	if e.About == extract.AboutAssistant {
		return false
	}
	switch {
	case l.sold:
		return selling.MatchString(e.Text)
	case l.stated && intends.MatchString(earlier.text):
		return true
	case l.own:
		return e.About != extract.AboutOther && meansTo.MatchString(strings.TrimSpace(e.Text))
	}
	return e.Mode == extract.ModePlan || e.Mode == extract.ModeWish || e.Mode == extract.ModeHypothetical || intends.MatchString(e.Text)
}

// named reports whether a text has at least half of the terms by weight, and a rare one that is no value. With often, the term may be twice as
// frequent.
func (v *vocabulary) named(about, in map[string]bool, often bool) bool {
	var all, shared float64
	rare := false
	for t := range about {
		w := v.weight(t)
		all += w
		if in[t] {
			shared += w
			rare = rare || (v.rare(t) || often && float64(v.df[t]) <= 2*rareShare*float64(v.docs)) && !isValue(t)
		}
	}
	return rare && shared >= minCoverage*all
}
