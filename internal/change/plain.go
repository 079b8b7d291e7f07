package change

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// plain are facts about the user that notes state in passing: a new address is a new home, whoever sold the car no longer drives it. They
// serve comparison alone, where two statements have to fit together, and are too uncertain to be kept as facts.

const (
	namePattern  = `((?:the |The )?(?:\d+[a-z]? )?\p{Lu}[\pL\d'’&-]*(?: (?:of |and |& )?\p{Lu}[\pL\d'’&-]*){0,3})`
	homeNouns    = `(?:flat|house|cottage|room|apartment|studio|place|bungalow|condo|home|houseboat)`
	oftenPattern = `(?:just |finally |recently |also |have |already )*`
	iPattern     = `(?:^|\b)(?i:i|we|i['’]ve|we['’]ve|i['’]m|we['’]re|i have|we have) `
	goneForGood  = `(?: for good| behind| last \pL+| this \pL+| in \pL+| at the end of \pL+| on \pL+)?$`
)

// plainForm is a form of a plain fact. The last group is the object.
type plainForm struct {
	needs     string // words of which the clause has one, separated by "|"
	clause    *lazyregexp.Regexp
	predicate string
	over      bool
	old       bool // can be replaced, but replaces nothing
	now       bool
}

var plainForms = []plainForm{
	{needs: "address", clause: lazyregexp.New(`^(?i:(?:and )?(?:(?:my|our|the) )?new (?:home |postal )?address(?: is|:|['’]s))(?i: now)? ` + namePattern), predicate: "lives_in", now: true},
	{needs: "address", clause: lazyregexp.New(`^(?i:(?:my|our) (?:home |postal )?address(?: is|:))(?i: now)? ` + namePattern), predicate: "lives_in"},
	{needs: "new", clause: lazyregexp.New(`^(?i:(?:the|our|my) new ` + homeNouns + `(?: is|['’]s)) (?:an? (?:\pL+ ){1,3})?(?:in|at|on|near) ` + namePattern), predicate: "lives_in", now: true},
	{needs: "moved in", clause: lazyregexp.New(iPattern + oftenPattern + `moved in(?: together| with .+?)? (?:in|at|near) ` + namePattern), predicate: "lives_in", now: true},
	{needs: "moved|relocated", clause: lazyregexp.New(iPattern + oftenPattern + `(?:moved|relocated)(?: (?:back|over|house|home|out))? (?:in)?to (?:an? )(?:new |small |bigger |tiny )*` + homeNouns + ` (?:in|at|on|near) ` + namePattern), predicate: "lives_in", now: true},
	{needs: "live|living|share|rent|sharing", clause: lazyregexp.New(iPattern + `(?i:now )?(?:live|living|share|rent|sharing|renting)(?: in)? (?:an?|the|my|our) (?:[\pL-]+ ){0,2}?` + homeNouns + ` (?:\pL+ ){0,3}?(?:in|at|near) ` + namePattern), predicate: "lives_in", old: true},
	{needs: "left|Left", clause: lazyregexp.New(`^(?i:(?:so |finally |just |and )*(?:(?:i|we)(?:['’]ve| have)? )?(?:finally |just )?left) ` + namePattern + goneForGood), predicate: "lives_in", over: true},
	{needs: "left|quit|Left|Quit", clause: lazyregexp.New(`^(?i:(?:so |finally |just |and )*(?:(?:i|we)(?:['’]ve| have)? )?(?:finally |just )?(?:left|quit)) ` + namePattern + goneForGood), predicate: "works_at", over: true},
	{needs: "I'm|I’m|I am|i'm|i am", clause: lazyregexp.New(`(?i:\b(?:i['’]m|i am)) (?:an? |the )?(?:\pL+ ){1,3}?(?:at|for|with) ` + namePattern), predicate: "works_at", old: true},
	{needs: "now|currently", clause: lazyregexp.New(`(?i:\b(?:i['’]m|i am) (?:now|currently)) (?:an? |the )?(?:\pL+ ){1,3}?(?:at|for) ` + namePattern), predicate: "works_at", now: true},
	{needs: "redundant|laid off|fired|let go|sacked", clause: lazyregexp.New(`(?i:\b(?:i|i['’]ve|i was|i got|i have)) (?i:(?:just |now )?(?:been |got )?)(?:made redundant|laid off|fired|let go|sacked) (?:by|from|at) (?:the )?([\pL\d'’&-]+(?: \p{Lu}[\pL'’-]+){0,2})`), predicate: "works_at", over: true},
	{needs: "redundant|laid off|fired|let go|sacked|lost my job", clause: lazyregexp.New(`(?i:\b(?:i|i['’]ve|i was|i got|i have)) (?i:(?:just |now )?(?:been |got )?)(?:made redundant|laid off|fired|let go|sacked|lost my job)(?: (?:today|yesterday|last \pL+|this \pL+|on \pL+))?()$`), predicate: "works_at", over: true},
	{needs: "let me go|laid me off|fired me|sacked me|made me redundant", clause: lazyregexp.New(`^(?:[Tt]he )?(\p{Lu}[\pL\d'’&-]*(?: \p{Lu}[\pL\d'’&-]*){0,3}|[a-z]+)(?: has| have|['’]ve)?(?: just)? (?:let me go|laid me off|fired me|sacked me|made me redundant)$`), predicate: "works_at", over: true},
	{needs: "despidieron|despedido|despedida", clause: lazyregexp.New(`^(?:Me despidieron|Me han despedido|Fui despedid[oa]) (?:del?|da|do)(?: la| bar| restaurante| tienda)? (\p{Lu}\pL*(?: \p{Lu}\pL*){0,2})`), predicate: "works_at", over: true},
	{needs: "kündigt|entlassen", clause: lazyregexp.New(`^(\p{Lu}\pL*(?: \p{Lu}\pL*){0,2}) hat (?:mir gekündigt|mich entlassen)$`), predicate: "works_at", over: true},
	{needs: "licenci|viré", clause: lazyregexp.New(`^J['’]ai été (?:licenciée?|virée?) (?:de chez|par|de|chez) (\p{Lu}\pL*(?: \p{Lu}\pL*){0,2})`), predicate: "works_at", over: true},
	{needs: "licenziat", clause: lazyregexp.New(`^(?:Mi hanno licenziat[oa]|Sono stat[oa] licenziat[oa]) (?:da|dalla|dal|dall['’]) ?(\p{Lu}\pL*(?: \p{Lu}\pL*){0,2})`), predicate: "works_at", over: true},
	{needs: "let me go|laid me off|lost my job", clause: lazyregexp.New(`(?i:\b(?:they|i|they['’]ve|i['’]ve))(?: have)?(?: just)? (?:let me go|laid me off|lost my job) (?:from|at) (?:the )?([\pL\d'’&-]+(?: \p{Lu}[\pL'’-]+){0,2})`), predicate: "works_at", over: true},
	{needs: "living|based", clause: lazyregexp.New(`(?i:\b(?:i|we)['’]?(?:m|re)?) ` + `(?:am |are )?(?:living|based) (?:in|at|near) ` + namePattern), predicate: "lives_in", old: true},
	{needs: "Home is|home is", clause: lazyregexp.New(`^(?i:home is) (?:an? (?:\pL+ ){1,3})?(?:in|at|on|near) ` + namePattern), predicate: "lives_in", old: true},
	{needs: "moved|relocated|emigrated", clause: lazyregexp.New(`(?i:^(?:i|we|i['’]ve|we['’]ve) ` + oftenPattern + `)(?:moved|relocated|emigrated) (?:back |over |out |home )?to ` + namePattern), predicate: "lives_in", now: true},
	{needs: " in a", clause: lazyregexp.New(`(?i:\b(?:i['’]m|we['’]re|i am|we are)) in an? (?:\pL+ ){0,2}?` + homeNouns + ` in ` + namePattern + `(?: now| these days)$`), predicate: "lives_in", now: true},
	{needs: "work", clause: lazyregexp.New(`^(?:I|We) .*(?:, |\band )work (?:at|for) ` + namePattern), predicate: "works_at", old: true},
	{needs: "live", clause: lazyregexp.New(`^(?:I|We) .*(?:, |\band )live in ` + namePattern), predicate: "lives_in", old: true},
	{needs: "teach|nurse|cook|clean|volunteer", clause: lazyregexp.New(iPattern + `(?:teach|nurse|cook|clean|volunteer)(?: \pL+){0,2} at ` + namePattern), predicate: "works_at", old: true},
	{needs: "job|position|role|post", clause: lazyregexp.New(`(?i:^|\b(?:i|i['’]ve) )` + oftenPattern + `(?i:got|landed|took|accepted|found|started) (?:a |the |my )?(?:new )?(?:job|position|role|post)(?: as an? [\pL ]+?)? (?:at|with) ` + namePattern), predicate: "works_at", now: true},
	{needs: "started|Started", clause: lazyregexp.New(`(?i:^|\b(?:i|i['’]ve) )` + oftenPattern + `(?i:started) (?:work |working )(?:at|with|for) ` + namePattern), predicate: "works_at", now: true},
	{needs: "started|Started", clause: lazyregexp.New(`(?i:^|\b(?:i|i['’]ve) )` + oftenPattern + `(?i:started) (?:at|with) ` + namePattern + `(?: \pL+){0,3} as an? \pL+`), predicate: "works_at", now: true},
	{needs: "sold|traded|scrapped|swapped|got rid|wrote off|Sold|Traded|Scrapped|Swapped", clause: lazyregexp.New(`(?i:^|\b(?:i|we|i['’]ve|we['’]ve) )` + oftenPattern + `(?i:sold|traded(?: in)?|scrapped|swapped|got rid of|wrote off) (?:the|my|our) (?:old )?` + namePattern), predicate: "drives", over: true},
	{needs: "married", clause: lazyregexp.New(`^` + namePattern + ` and (?:I|i) (?:just |finally )*(?:got|are|have got) married`), predicate: "engaged_to", over: true},
	{needs: "married", clause: lazyregexp.New(`^(?i:i|we|i['’]ve) ` + oftenPattern + `married ` + namePattern), predicate: "engaged_to", over: true},
}

// eatsAgain matches what a person eats again or since lately.
var (
	eatsAgain = lazyregexp.New(`(?i)^(?:i|i['’]m|i['’]ve|we|we['’]ve) (?:(?:just|now|also|have|recently) )*(?:(?:started|began|went back to|gone back to|am|back to|been) )?(?:eat|eating|to eat)\b.*\b(meat|fish|chicken|beef|pork|bacon|steak|seafood|eggs?|dairy|cheese|milk|butter)\b`)
	lately    = lazyregexp.New(`(?i)\b(?:again|now|these days|started|began|back to)\b`)
	noMeat    = words(`meat fish chicken beef pork bacon steak seafood`)
	// awhile matches words that say that something is over soon, or was done within a day.
	awhile   = lazyregexp.New(`(?i)\b(?:for (?:an?|the|two|three|four|five|six|ten|\d+|some|a few) (?:nights?|days?|weeks?|weekends?|summer|winter|holidays?|hours?)|early|late|at (?:\d|half|quarter|noon|midnight|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\S*|today|tonight|this (?:morning|afternoon|evening)|every (?:\pL+))\b`)
	impliedI = lazyregexp.New(`(?i)(^|[.;!?] +)((?:(?:finally|just|so|ok|okay|also|and)[, ]+)*(?:left|quit|sold|moved|relocated|emigrated|joined|bought|traded|switched|stopped|gave up|broke up|resigned|retired)\b)`)
)

// withSubject puts "I" before verbs at the start of a sentence, as in "Sold the Corsa."
func withSubject(text string) string {
	if triggersOf(text)&mayImply == 0 {
		return text
	}
	return impliedI.ReplaceAllStringFunc(text, func(m string) string {
		verb := strings.TrimLeft(m, ".;!? ")
		return m[:len(m)-len(verb)] + "I " + strings.ToLower(verb)
	})
}

// hasOne reports whether a text contains one of several words, which are separated by "|".
func hasOne(text, list string) bool {
	for w := range strings.SplitSeq(list, "|") {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// plainFacts returns the plain facts in a statement, and computes them once.
func (s *statement) plainFacts() []fact {
	if !s.passed {
		s.passed, s.plain = true, s.readPlain()
	}
	return s.plain
}

func (s *statement) readPlain() (out []fact) {
	if len(s.text) > maxStated {
		return nil
	}
	me := s.person("i")
	for _, c := range s.parse() {
		if !settled[c.Mode] || c.About == extract.AboutAssistant {
			continue
		}
		text := withSubject(strings.TrimRight(strings.TrimSpace(c.Text), ".!;,"))
		for i := range plainForms {
			f := &plainForms[i]
			if !hasOne(text, f.needs) {
				continue
			}
			m := f.clause.FindStringSubmatch(text)
			if m == nil || strings.HasSuffix(m[len(m)-1], "'s") || strings.HasSuffix(m[len(m)-1], "’s") || awhile.MatchString(text) {
				continue
			}
			object := strings.TrimPrefix(strings.ToLower(m[len(m)-1]), "the ")
			out = append(out, fact{subject: me, predicate: f.predicate, object: object, holds: !f.over, only: true, now: f.now, vague: f.old, passing: true, evidence: c.Text})
		}
		out = append(out, s.couple(text, c.Text)...)
		if !strings.Contains(text, "eat") {
			continue
		}
		if m := eatsAgain.FindStringSubmatch(text); m != nil && lately.MatchString(text) && c.Mode != extract.ModeNegated {
			diets := []string{"vegan"}
			if noMeat[strings.ToLower(m[1])] {
				diets = append(diets, "vegetarian")
			}
			for _, d := range diets {
				for _, p := range []string{"is_a", "diet", "is", "eats"} {
					out = append(out, fact{subject: me, predicate: p, object: d, passing: true, evidence: c.Text})
				}
			}
		}
	}
	return out
}
