package change

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// Whoever does something again had given it up: "I'm smoking again" ends "I gave up smoking". The clause may name nothing that the earlier one
// does not: "I drink tea again" says nothing of coffee.

var (
	// resumes matches words that say that the speaker does again what had stopped.
	resumes = lazyregexp.New(`(?i)\bagain\b|\bback (?:on|to|in|at)\b|\b(?:resumed|restarted)\b|\bwieder\b|\b(?:de nouveau|à nouveau|recommencé|repris)|\b(?:vuelto|volví|vuelvo) a\b|\botra vez\b|\bde nuevo\b|\bdi nuovo\b|\b(?:ricominciato|ripreso) a\b|\bvoltei a\b|\bde novo\b|\boutra vez\b`)
	// abstains matches words of a clause that says that the speaker does not do something, or no longer.
	abstains = lazyregexp.New(`(?i)\b(?:gave up|given up|quit|stopped|stop|no longer|don['’]?t|do not|can['’]?t|cannot|can not|never|not|cut out|avoid(?:ing)?|off|without|no)\b|\bnicht\b|\bkeine?n?\b|\baufgehört\b|\bn['’]|\bne\b|\barrêté\b|\bno\b|\bdej[ée] de\b|\bdejado de\b|\bnon\b|\bsmesso\b|\bnão\b|\bparei de\b|\bdeixei de\b`)
	ownAgain = lazyregexp.New(`(?i)^(?:(?:so|and|well|ok|okay|but|yes|now|finally)[, ]+)*(?:(?:i|i['’]m|i['’]ve|i['’]d|we|we['’]re|we['’]ve|ich|wir|je|j['’]ai|nous|eu|voltei|vuelvo|volví|fumo|bevo)\b|(?:ho|he) \pL+(?:to|ato|eso) a\b)`)
	// resumeForm are words that a resumption may have beside those of what was given up.
	resumeForm = words(`start started starting begin began begun took taken take up back can able allowed every day week these now properly regularly full resum restart habit
		ich wir wieder habe hab angefangen je j ai de nouveau à nouveau recommencé repris he vuelto volví vuelvo a otra vez de nuevo ho di nuovo ricominciato ripreso voltei de novo outra vez eu`)
)

// Resumed is the decider of successions of what was given up by what is done again.
const Resumed = "rules: resumed"

// plenty maps foods to diets that exclude them, by words of these diets.
var plenty = []struct {
	diet, foods *lazyregexp.Regexp
}{
	{lazyregexp.New(`(?i)\b(?:gluten|wheat|coeliac|celiac)|\bcarbs?\b|glutenfrei|sans gluten|sin gluten|senza glutine|sem glúten`), lazyregexp.New(`(?i)\b(?:bread|pasta|pizza|toast|cake|bagels?|croissants?|wheat|gluten|Brot|Nudeln|pain|pâtes|pan|pane|pão)\b`)},
	{lazyregexp.New(`(?i)\b(?:dairy|lactose|milk)`), lazyregexp.New(`(?i)\b(?:milk|cheese|yoghurt|yogurt|butter|cream|dairy|ice cream)\b`)},
	{lazyregexp.New(`(?i)\b(?:teetotal(?:ler)?|sober|alcohol|booze)\b`), lazyregexp.New(`(?i)\b(?:wine|beer|alcohol|cocktails?|whisky|gin)\b|\bdrink(?:ing)?(?: again)?$`)},
	{lazyregexp.New(`(?i)\bsugar\b`), lazyregexp.New(`(?i)\b(?:sugar|sweets|chocolate|cake|biscuits)\b`)},
}

var (
	consumes = lazyregexp.New(`(?i)\b(?:eat|eating|have|having|drink|drinking|esse|mange|como|mangio)\b`)
	freeOf   = lazyregexp.New(`(?i)-?free\b|frei\b|\bteetotal|\bsober\b|\bintoleran|\bco?eliac\b|\bsans\b|\bsin\b|\bsenza\b|\bsem\b`)
	apiece   = lazyregexp.New(`(?i)\bat\b|\boutside\b|draußen|\bfor\b|\bwith\b`)
)

// byResumption decides by something that the speaker does again, and did not do by the earlier statement.
func byResumption(later, earlier *statement, v *vocabulary) (verdict, bool) {
	for _, l := range later.resumptions() {
		es := earlier.parse()
		for j := range es {
			e := &es[j]
			if e.About == extract.AboutOther || e.About == extract.AboutAssistant {
				continue
			}
			eaten, named := eatenAgain(l.Text, e.Text), v.resumed(l, e)
			if !eaten && !named || resumes.MatchString(e.Text) {
				continue
			}
			if given := e.Mode == extract.ModeEnded || e.Mode == extract.ModeNegated || abstains.MatchString(e.Text); given || eaten && freeOf.MatchString(e.Text) {
				return verdict{confidence: ruleConfidence, matter: e.Text, evidence: l.Text, decider: Resumed}, true
			}
		}
	}
	return verdict{}, false
}

// resumptions returns the clauses that say what the speaker does again, and computes them once.
func (s *statement) resumptions() []*clause {
	if s.sought {
		return s.resumed
	}
	s.sought = true
	if len(s.text) > maxStated || triggersOf(s.text)&mayResume == 0 || !resumes.MatchString(s.text) {
		return nil
	}
	all := s.parse()
	for i := range all {
		c := &all[i]
		if (c.Mode == extract.ModeAsserted || c.Mode == extract.ModePast || c.Mode == "") && resumes.MatchString(c.Text) && ownAgain.MatchString(c.Text) {
			s.resumed = append(s.resumed, c)
		}
	}
	return s.resumed
}

// resumed reports whether all that l names, of which there must be a rare term, is named in e. What e ends need not be rare: in a store of a few
// notes about drinking, all of them have the word.
func (v *vocabulary) resumed(l, e *clause) bool {
	n := 0
	for t := range l.terms() {
		if resumeForm[t] || t[0] <= '9' {
			continue
		}
		if !alikeTerm(e.terms(), t) || !v.rare(t) && (e.Mode != extract.ModeEnded || unspecific[t]) {
			return false
		}
		n++
	}
	return n > 0
}

// alikeTerm reports whether terms has t, or a long term that differs from it in its last two letters alone: "fumo", "fumar".
func alikeTerm(terms map[string]bool, t string) bool {
	if terms[t] {
		return true
	}
	for o := range terms {
		n := 0
		for n < min(len(o), len(t)) && o[n] == t[n] {
			n++
		}
		if n >= 3 && max(len(o), len(t))-n <= 2 {
			return true
		}
	}
	return false
}

// eatenAgain reports whether a clause says that somebody eats what the diet of another excludes.
func eatenAgain(l, e string) bool {
	l = strings.TrimRight(strings.TrimSpace(l), ".!;,")
	for _, p := range plenty {
		if p.foods.MatchString(l) {
			if p.diet.MatchString(e) && consumes.MatchString(l) && !apiece.MatchString(l) {
				return true
			}
		}
	}
	return false
}
