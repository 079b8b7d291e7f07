package change

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// People take a break from something, and later say in other words that they do it again or may: "taking a break from running" and "the physio says
// I can start jogging again". The table endings.txt knows which words name one activity. What is found orders two memories and is not shown.

const (
	advisers = `(?:physio(?:therapist)?|doctor|doc|dr|gp|consultant|surgeon|specialist|dentist|hygienist|orthodontist|dietitian|dietician|nutritionist|nurse|midwife|podiatrist|osteopath|chiropractor|optician|therapist|cardiologist|neurologist|dermatologist|derm|oncologist|hospital|clinic|ent|coach|trainer)(?:s|['’]s)?`
	// mayDoIt are the words by which somebody is allowed something, or able to do it again.
	mayDoIt = `(?:can|could|may|(?:am|['’]m) (?:now )?(?:allowed|able|fit|ok|okay|fine|clear|cleared|safe|good) to|(?:['’]ve|have) been (?:cleared|allowed|passed fit) to)`
	iAm     = `(?:(?:so|and|well|ok|okay|but|yes|now|finally|good news|great news|update)[,: ]+)*`
)

var (
	// pausing match clauses that say what the speaker does not do for a while. A group is the activity.
	pausing = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)\b(?:a|another|my) (?:(?:short|long|little|bit of a|quick|wee) )?(?:break|breather|rest) from (.+)$`),
		lazyregexp.New(`(?i)\btime (?:off|out) (?:from )?(.+)$`),
		lazyregexp.New(`(?i)\b(?:giving|given|gave|give) (.+?) (?:a rest|a break|a miss)\b`),
		lazyregexp.New(`(?i)\b(?:pausing|paused|pause|laying off|laid off|lay off|staying off|keeping off) (.+)$`),
		lazyregexp.New(`(?i)(?:^|, )` + iAm + `no (?:more )?(.+?)(?: for (?:me|us))?(?:,? (?:till|until|while|for (?:a|\d+|\pL+) (?:few )?(?:days?|weeks?|months?|while))\b.*)$`),
		lazyregexp.New(`(?i)\b(?:not (?:allowed|supposed|able|meant) to|can['’]?t|cannot|can not|mustn['’]?t|must not|shouldn['’]?t|should not) (.+)$`),
		lazyregexp.New(`(?i)^(?:(?:i['’]m|i am|we['’]re) )?(?:currently )?not (\pL+ing(?: .+)?)$`),
		lazyregexp.New(`(?i)^(.+?)(?:['’]s| is| are) (?:off limits|out of bounds|off the cards|banned|forbidden)\b`),
		lazyregexp.New(`(?i)^(?:(?:i['’]m|i am|we['’]re) )?off (.+)$`),
		lazyregexp.New(`(?i)^` + iAm + `(?:(?:i|we|i['’]ve|we['’]ve|i have|we have|i['’]d|had to) (?:\pL+ly |just |now )?)?(?:stopped|quit|gave up|given up|packed in) (.+)$`),
	}
	// goesOn match clauses that say that the speaker does something again, or may. A group is the activity.
	goesOn = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)(?:^|, )` + iAm + `i ?` + mayDoIt + ` (?:now )?(?:(?:start|begin|go back to|get back (?:to|in|into|on|at)|return to|take up|resume|try|have|do) )?(.+)$`),
		lazyregexp.New(`(?i)\b(?:cleared|allowed|passed) me (?:fit )?(?:to|for) (.+)$`),
		lazyregexp.New(`(?i)\b(?:gave|given|giving|got|had|has given|have given) (?:me )?(?:the |an? )?(?:all[- ]clear|green light|go[- ]ahead|ok|okay|thumbs up|permission|nod) (?:to|for|on) (.+)$`),
		lazyregexp.New(`(?i)^` + iAm + `(?:(?:i['’]m|i am|we['’]re|i|we|i['’]ve|been|have|went|gone|go|got) )*back (?:to|at|in|on|into|doing|playing) (.+)$`),
		lazyregexp.New(`(?i)\b(?:signed me off|(?:is|['’]s) happy|has signed me off)\b.*\bback (?:to|at|in|on|into) (.+)$`),
		lazyregexp.New(`(?i)^` + iAm + `(?:i(?:['’]ve| have)? )?(?:rejoined|resumed|restarted|returned to) (.+)$`),
		lazyregexp.New(`(?i)^(?:short |light |gentle |easy )?(.+?) (?:is|are) (?:fine|ok|okay|allowed|safe)(?: again| now| for me)+$`),
		lazyregexp.New(`(?i)^` + iAm + `(?:i['’]m|i am|we['’]re|i|we|i['’]ve|we['’]ve|i have|we have) (?:(?:started|begun|taken up|took up|picked up|picking up|taking up) (.+?)|((?:been )?\pL+ing(?: .+?)?)) again\b.*$`),
		lazyregexp.New(`(?i)^` + iAm + `(?:started|begun|taken up|took up|picked up|picking up|back to) (.+?) again\b.*$`),
		lazyregexp.New(`(?i)^` + iAm + `(\pL+ing(?: \pL+){0,3}?) again\b.*$`),
		lazyregexp.New(`(?i)^` + iAm + `(?:my |our |the )?((?:\pL+ ){1,2}(?:lessons|classes|sessions|practice|training|rehearsals)) (?:has|have|is|are) (?:(?:started|starting)(?: up)? again|back(?: on)?)\b.*$`),
	}
	// advised matches what is before the words of somebody whose advice the speaker takes.
	advised = lazyregexp.New(`(?i)\b` + advisers + `(?: at [\pL' ]+?| \p{Lu}\pL+)?(?: now| just)? (?:says?|said|reckons?|thinks?|told me|tells me|confirmed|agrees?|is happy|rang and said)(?: that)?[,:]?\s*$`)
	// noneYet matches words with which nothing goes on.
	noneYet = lazyregexp.New(`(?i)\b(?:never|not|yet|unless|if|hope|hoping|hopefully|wish|want|wants|once|until|till|before|don['’]?t|can['’]?t|shouldn['’]?t|won['’]?t|maybe|might|soon|late|away|out of)\b`)
	// pauseForm are words that say nothing of what an activity is.
	pauseForm = words(`like just one two three four five six once twice days hours weeks months times start started starting begin again back now can able allowed every day week these properly regularly full normally normal normal gently slowly slow easy lightly short long light couple
		play playing do doing go going get getting take taking have having use using my the a an some any to in on at for of with from me up time moment while till until since because cos as after
		old new bit lot again week month year tonight today tomorrow yesterday morning evening weekend monday tuesday wednesday thursday friday saturday sunday next last`)
)

// resumption is what a clause says that the speaker does again, or may.
type resumption struct {
	clause *clause
	acts   map[string]bool // see acts
}

// goings returns what a statement says that goes on, and computes it once.
func (s *statement) goings() []resumption {
	if s.goesRead {
		return s.going
	}
	s.goesRead = true
	if len(s.text) > maxStated || triggersOf(s.text)&mayGoOn == 0 {
		return nil
	}
	all := s.parse()
	for i := range all {
		c := &all[i]
		if c.About == extract.AboutOther || c.About == extract.AboutAssistant && !ownAgain.MatchString(c.Text) || noneYet.MatchString(c.Text) {
			continue
		}
		switch c.Mode {
		case "", extract.ModeAsserted, extract.ModePast:
		case extract.ModeQuote, extract.ModeInstruction:
			if !advised.MatchString(s.text[:c.Start]) {
				continue
			}
		default:
			continue
		}
		text := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
		for _, r := range goesOn {
			if m := r.FindStringSubmatch(text); m != nil {
				if a := acts(strings.Join(m[1:], "")); len(a) > 0 {
					s.going = append(s.going, resumption{c, a})
				}
				break
			}
		}
	}
	return s.going
}

// paused returns what a clause says that the speaker does not do for a while; nil: nothing.
func (c *clause) paused() map[string]bool {
	if c.About == extract.AboutOther || c.About == extract.AboutAssistant {
		return nil
	}
	switch c.Mode {
	case extract.ModeQuestion, extract.ModeHypothetical, extract.ModeQuote, extract.ModeFiction, extract.ModeJoke, extract.ModeWish, extract.ModeInstruction:
		return nil
	}
	text := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
	for _, r := range pausing {
		if m := r.FindStringSubmatch(text); m != nil {
			return acts(m[1])
		}
	}
	return nil
}

// acts returns the activities that a phrase names: index terms, and for each word of the table the name of its activity. What follows a joint is left
// out.
func acts(phrase string) map[string]bool {
	if at := joints.Compiled().FindStringIndex(phrase); at != nil && at[0] > 0 {
		phrase = phrase[:at[0]]
	}
	out := map[string]bool{}
	all := lettersOf.Compiled().FindAllString(strings.ToLower(phrase), -1)
	for i, w := range all[:min(len(all), 6)] {
		if pauseForm[w] {
			continue
		}
		if a := endTable().same[w]; a != "" {
			if i+1 < len(all) && !pauseForm[all[i+1]] && !functionWords[all[i+1]] && !strings.HasSuffix(all[i+1], "ly") && endTable().same[all[i+1]] == "" {
				continue // "beer glasses", "smoke salmon"
			}
			out["="+a] = true
			continue
		}
		for t := range termsOf(w) {
			if !pauseForm[t] && !unspecific[t] && t[0] > '9' {
				out[t] = true
			}
		}
	}
	return out
}

// byPause decides by something that the speaker does again, or may, after a break.
func byPause(later, earlier *statement, v *vocabulary) (verdict, bool) {
	for _, g := range later.goings() {
		es := earlier.parse()
		for i := range es {
			e := &es[i]
			p := e.paused()
			if len(p) == 0 || resumes.MatchString(e.Text) {
				continue
			}
			if slices.ContainsFunc(keysOf(g.acts), func(t string) bool { return p[t] || t[0] != '=' && v.rare(t) && alikeTerm(p, t) }) {
				return verdict{confidence: likely, matter: e.Text, evidence: g.clause.Text, decider: Resumed}, true
			}
		}
	}
	return verdict{}, false
}

func keysOf(set map[string]bool) (out []string) {
	for k := range set {
		out = append(out, k)
	}
	return out
}
