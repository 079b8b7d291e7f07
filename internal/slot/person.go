package slot

import (
	"strings"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// What embedders learnt of questions, and most phrases, are about the person who asks. A question about somebody else is therefore asked once
// more as if that person asked it: "Where does Alice live?" becomes "Where do I live?", and "my sister's job" becomes "my job".

const somebody = `((?:Dr\.? |Mrs?\.? |Ms\.? )?\p{Lu}[\pL-]+(?: \p{Lu}[\pL-]+)?|my \pL+)`

var (
	asksOfOne = lazyregexp.New(`\b([Dd]oes|[Dd]id|[Hh]as|[Ii]s|[Ww]as) ` + somebody + `(?: |\?|$)`)
	ofOne     = lazyregexp.New(somebody + `['’]s (\pL+(?:['’]s)?)`)
	asker     = lazyregexp.New(`(?i)\b(?:i|me|we|us|our|my)\b`)
	ownVerbs  = map[string]string{"does": "do", "did": "did", "has": "have", "is": "am", "was": "was"}
)

// asOwn returns the question that a person would ask about themselves for a question about them. It returns false if the question is not about one
// person whom it names.
func (t *Taxonomy) asOwn(question string) (string, bool) {
	if at := ofOne.Compiled().FindStringSubmatchIndex(question); at != nil {
		thing := question[at[4]:at[5]]
		if strings.HasSuffix(thing, "'s") || strings.HasSuffix(thing, "’s") || !t.somebody(question[at[2]:at[3]]) {
			return "", false // "Alice's dog's vet" is about the vet
		}
		return alone(question[:at[0]], "my ", question[at[4]:])
	}
	at := asksOfOne.Compiled().FindStringSubmatchIndex(question)
	if at == nil || !t.somebody(question[at[4]:at[5]]) {
		return "", false
	}
	return alone(question[:at[2]], ownVerbs[strings.ToLower(question[at[2]:at[3]])]+" I", question[at[5]:])
}

// alone joins the parts of a question, of which own is about the one who asks. It returns false if the others are too: "Did Helga like my dog?"
func alone(before, own, after string) (string, bool) {
	if asker.MatchString(before) || asker.MatchString(after) {
		return "", false
	}
	return before + own + after, true
}

// somebody reports whether words name a person or a pet: a name, or a relative.
func (t *Taxonomy) somebody(words string) bool {
	of, relative := strings.CutPrefix(words, "my ")
	if !relative {
		return true
	}
	i, ok := t.inverse[of+"_of"]
	if !ok {
		if i, ok = t.objects[of]; !ok {
			return false
		}
	}
	switch t.slots[i].Name {
	case "partner", "family", "friends", "pet":
		return true
	}
	return false
}
