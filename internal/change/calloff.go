package change

import (
	"slices"
	"strings"
	"unicode"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// Cancellations in other languages, and by "no" in English, name the event by words of the plan: "das Konzert fällt aus", "no jumble sale this
// year". The words are compared as those of events are.

const abroadThing = `((?:\pL[\pL\d'’-]*)(?: [\pL\d][\pL\d'’-]*){0,4}?)`

var callsOff = []*lazyregexp.Regexp{
	lazyregexp.New(`^(?i:(?:so|and|sorry|sadly|ok|well)[, ]+)?(?i:(?:there(?:['’]s| is| will be) )?no) ` + abroadThing + ` (?:this|next) (?:year|spring|summer|autumn|winter|week|month|term|\pL+day)(?:$|,| (?:because|since|as|after)\b)`),
	lazyregexp.New(`^(?i:der|die|das|unsere?|meine?) ` + abroadThing + ` (?:fällt (?:\pL+ )?aus|(?:wurde|ist|wird) (?:leider )?(?:abgesagt|gestrichen)|findet (?:doch |leider )?nicht statt)(?:$|,| )`),
	lazyregexp.New(`^(?i:le |la |l['’]|les |notre |nos |mon |ma |mes )` + abroadThing + ` (?:(?:est|sont|a été|ont été) (?:annulée?s?|supprimée?s?)|n['’](?:aura|auront|a) pas lieu|tombe à l['’]eau)(?:$|,| )`),
	lazyregexp.New(`^(?i:el|la|los|las|nuestr[oa]s?|mi|mis) ` + abroadThing + ` (?:se (?:ha|han) (?:cancelado|suspendido|anulado)|se (?:cancela|suspende)n?|(?:está|fue|queda|ha sido) (?:cancelad|suspendid|anulad)[oa])(?:$|,| )`),
	lazyregexp.New(`^(?i:il |la |lo |l['’]|i |gli |le |nostr[oa] )` + abroadThing + ` (?:(?:è|è stat[oa]|sono stat[ie]) (?:annullat|cancellat|saltat)[oaie]|salta|non si fa più)(?:$|,| )`),
	lazyregexp.New(`^(?i:o|a|os|as|nossa?|meu|minha) ` + abroadThing + ` (?:(?:foi|está|foram) (?:cancelad|desmarcad|anulad)[oa]s?|não se realiza)(?:$|,| )`),
	lazyregexp.New(`^(?:我们的|我的)?([\p{Han}\d]{1,8}?)(?:被)?(?:取消)了?$`),
	lazyregexp.New(`^([\p{Han}\p{Hiragana}\p{Katakana}ー\d]{1,12}?)(?:は|が)(?:中止|キャンセル|なし)(?:になりました|になった|です)?$`),
}

// offs returns the events that a statement says do not take place, and computes them once.
func (s *statement) offs() []event {
	if s.called {
		return s.off
	}
	s.called = true
	if len(s.text) > maxStated || triggersOf(s.text)&mayCallOff == 0 {
		return nil
	}
	for _, c := range s.parse() {
		switch c.Mode {
		case extract.ModeQuestion, extract.ModeHypothetical, extract.ModeQuote, extract.ModeFiction, extract.ModeJoke, extract.ModeWish:
			continue
		}
		text := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,。！")
		for _, r := range callsOff {
			if m := r.FindStringSubmatch(text); m != nil {
				if e := (event{about: aboutOf(m[1]), clause: c.Text}); len(e.about) > 0 {
					s.off = append(s.off, e)
				}
				break
			}
		}
	}
	return s.off
}

// aboutOf returns the words by which a phrase names an event.
func aboutOf(phrase string) map[string]bool {
	about := map[string]bool{}
	for _, w := range lettersOf.Compiled().FindAllString(apart.Replace(strings.ToLower(phrase)), -1) {
		w = strings.TrimPrefix(strings.TrimPrefix(w, "l'"), "l’")
		if !eventForm[w] && !unicode.IsDigit(rune(w[0])) {
			if w = eventWord(w); w != "" {
				about[w] = true
			}
		}
	}
	return about
}

// byCallOff decides by an event of the earlier statement that does not take place.
func byCallOff(later, earlier *statement) (x verdict, ok bool) {
	for _, l := range later.offs() {
		for _, e := range earlier.events() {
			if same, alike := l.same(&e); alike && slices.ContainsFunc([]string{"date", "weekday", "time"}, func(k string) bool { return e.values[k] != "" }) {
				return verdict{confidence: ruleConfidence, retracts: true, matter: e.clause, evidence: l.clause, decider: "rules: cancelled", loose: !same}, true
			}
		}
	}
	return verdict{}, false
}
