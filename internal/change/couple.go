package change

import (
	"strings"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// couples are clauses that say that the user is together with somebody, or is no longer. They serve comparison alone, as plain facts do. Where
// nobody is named ("we split up"), whoever the user was together with is meant.

const (
	onePattern = `(?:(?:an? |this )?(?:guy|girl|man|woman|bloke|lad|lass)(?: called| named|,)? )?(\p{Lu}[\pL'’-]+)`
	goodbye    = `(?:split up|broke up|broken up|separated|parted ways|got divorced|are getting divorced|are getting a divorce|called it quits|ended things|ended it|went our separate ways|gone our separate ways` +
		`|are no longer (?:together|a couple|an item)|aren['’]t (?:together|a couple|an item)(?: any ?more)?|are not (?:together|a couple)(?: any ?more)?)`
	sinceWhen = `(?: (?:last|this|in (?:the end|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|\d{4})|a (?:week|month|year|while) ago|\pL+ (?:weeks|months) ago|yesterday|today|for good|again)\b.*)?$`
	already   = `(?: has| have|['’]ve)?(?: just| finally| recently| sadly)?`
	opening   = `(?i:(?:so|well|ok|okay|sadly|and|anyway|but)[, ]+)*`
)

var coupleForms = []struct {
	clause *lazyregexp.Regexp
	over   bool
}{
	{lazyregexp.New(`^` + opening + `(?i:i['’]m|i am|i['’]ve been) (?:now |still )?(?:going out|together|in a relationship|involved|engaged) (?:with|to) ` + onePattern), false},
	{lazyregexp.New(`^` + opening + `(?i:i['’]m|i am|i['’]ve been) (?:now |still )?(?:seeing|dating) ` + onePattern), false},
	{lazyregexp.New(`(?i:\bmy|\bi['’]ve got a|\bi have a) (?:new )?(?:boyfriend|girlfriend|partner|fiancée?)(?: is|['’]s|,)?(?: called| named)? (\p{Lu}[\pL'’-]+)$`), false},
	{lazyregexp.New(`^(?:Ich bin|Bin) (?:jetzt |seit \S+ )?mit (\p{Lu}[\pL-]+) zusammen`), false},
	{lazyregexp.New(`^(?:Je sors avec|Je suis avec|Je suis en couple avec) (\p{Lu}[\pL-]+)`), false},
	{lazyregexp.New(`^(?:Salgo con|Estoy saliendo con|Estoy con) (\p{Lu}[\pL-]+)`), false},
	{lazyregexp.New(`^(?:Esco con|Sto con|Sto insieme a) (\p{Lu}[\pL-]+)`), false},
	{lazyregexp.New(`^(?:Namoro com|Estou com) (?:a |o )?(\p{Lu}[\pL-]+)`), false},

	{lazyregexp.New(`^` + opening + `(?i:we)` + already + ` ` + goodbye + sinceWhen), true},
	{lazyregexp.New(`^` + opening + `(\p{Lu}[\pL'’-]+) (?:and|&) (?:I|i|me)` + already + ` ` + goodbye + sinceWhen), true},
	{lazyregexp.New(`^` + opening + `(?:Me|me|I|i) (?:and|&) (\p{Lu}[\pL'’-]+)` + already + ` ` + goodbye + sinceWhen), true},
	{lazyregexp.New(`^` + opening + `(\p{Lu}[\pL'’-]+)` + already + ` (?:left|dumped|broke up with|broken up with|split up with|finished with|ended it with|ended things with) me` + sinceWhen), true},
	{lazyregexp.New(`^` + opening + `(?:I|i)` + already + ` (?:dumped|broke up with|broken up with|split up with|finished with|ended it with|ended things with) (\p{Lu}[\pL'’-]+)` + sinceWhen), true},
	{lazyregexp.New(`^` + opening + `(?i:it['’]s (?:all )?over (?:with|between me and)) (\p{Lu}[\pL'’-]+)` + sinceWhen), true},
	{lazyregexp.New(`^(?:(\p{Lu}[\pL-]+) und ich|[Ww]ir) (?:haben uns (?:letzte \pL+ |im \pL+ |gestern )?getrennt|sind (?:nicht mehr zusammen|auseinander|kein Paar mehr))$`), true},
	{lazyregexp.New(`^(?:(\p{Lu}[\pL-]+) et moi,? )?(?:(?:[Nn]ous )?nous (?:nous )?sommes (?:séparés|quittés)|(?:[Oo]n )?s['’]est (?:séparés?|quittés?)|c['’]est fini|ne sommes plus ensemble)$`), true},
	{lazyregexp.New(`^(?:(\p{Lu}[\pL-]+) y yo )?(?:[Ll]o hemos dejado|[Hh]emos roto|[Rr]ompimos|[Nn]os hemos separado|[Nn]os separamos|[Yy]a no estamos juntos)$`), true},
	{lazyregexp.New(`^(?:(\p{Lu}[\pL-]+) ed? io )?(?:[Cc]i siamo (?:lasciati|lasciate|separati|separate)|[Nn]on stiamo più insieme)$`), true},
	{lazyregexp.New(`^(?:(?:A |O )?(\p{Lu}[\pL-]+) e eu )?(?:[Nn]os separ[aá]mos|[Ss]epar[aá]mo-nos|[Tt]ermin[aá]mos|[Aa]cab[aá]mos|[Jj]á não estamos juntos)$`), true},
}

// coupleWords are words of which a clause has one if a form may match.
const coupleWords = `going out|together|relationship|involved|engaged|seeing|dating|boyfriend|girlfriend|partner|fianc|split|broke|separated|parted|divorce|quits|ended|separate|through|over|finished|couple|item|left|dumped|zusammen|getrennt|auseinander|Paar|sors|suis|fini|sépar|quitt|ensemble|algo con|stoy|dejado|roto|rompimos|separa|juntos|sco con|to con|insieme|lasciat|amoro|termin|acab`

// couple returns what a clause says of the user and a partner.
func (s *statement) couple(text, clause string) (out []fact) {
	if !hasOne(text, coupleWords) {
		return nil
	}
	for i := range coupleForms {
		form := &coupleForms[i]
		m := form.clause.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name := ""
		if len(m) > 1 {
			name = strings.ToLower(m[1])
		}
		me := s.person("i")
		if !form.over {
			return []fact{{subject: me, predicate: "dates", object: name, holds: true, only: true, vague: true, passing: true, evidence: clause}}
		}
		for _, p := range []string{"dates", "married_to", "engaged_to", "sees", "partner_of", "girlfriend_of", "boyfriend_of"} {
			out = append(out, fact{subject: me, predicate: p, object: name, passing: true, evidence: clause})
		}
		return out
	}
	return nil
}
