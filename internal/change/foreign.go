package change

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// The rules for facts read languages other than English by phrases and know less of the objects that they find: "Wohnung" in "ich wohne in
// einer Wohnung" is no place. An object found by phrases therefore replaces another one only if it looks like a name.

var (
	// homesElsewhere are nouns for kinds of homes in scripts without capitals.
	homesElsewhere = lazyregexp.New(`公寓|房子|宿舍|家里|家裡|别墅|酒店|附近|マンション|アパート|家$|寮|ホテル|近く`)
	// street matches names of streets, which say where in a town a home is.
	street      = lazyregexp.New(`(?i)^(?:rua|avenida|travessa|calle|plaza|via|viale|piazza|rue|avenue|place|boulevard)\b|stra(?:ße|sse)\b|weg\b`)
	determiners = words(`ein eine einer einem einen der die das dem den un una uno unos unas el la los las une le les du des il lo gli i um uma uns umas o a os as
		mein meine meiner meinem mi mis mon ma mes mio mia meu minha`)
	indefinite = words(`ein eine einer einem einen un una uno unos unas une um uma uns umas mein meine meiner meinem mi mis mon ma mes mio mia meu minha`)
	// ahead matches verbs in the present that mostly tell of a plan: "ich ziehe nach Leipzig".
	ahead = lazyregexp.New(`(?i)\b(?:ziehe|ziehen wir|wir ziehen|me mudo|nos mudamos|mi trasferisco|ci trasferiamo|je déménage|on déménage|mudo-me)\b`)
)

// unnamed reports whether the object of a fact that was read by phrases may be no name.
func unnamed(r *extract.Relation, mentions []extract.Mention) bool {
	at := slices.IndexFunc(mentions, func(m extract.Mention) bool { return m.Key == r.Target })
	if at < 0 || mentions[at].Phrase || ahead.MatchString(r.Context) {
		return true
	}
	name := mentions[at].Name
	if homesElsewhere.MatchString(name) || street.MatchString(name) {
		return true
	}
	before, _, ok := strings.Cut(r.Context, name)
	if !ok {
		return true
	}
	all := strings.Fields(before)
	if len(all) == 0 {
		return false
	}
	if last := all[len(all)-1]; r.Predicate == "works_at" {
		return indefinite[last]
	} else {
		return determiners[last] && last != "a" && last != "o"
	}
}
