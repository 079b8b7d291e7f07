package rules

import (
	"strings"
	"sync"
)

// wordLists holds the lists of tables/lists.txt by name.
var wordLists = sync.OnceValue(func() map[string]map[string]bool {
	lists := make(map[string]map[string]bool)
	for name, words := range readTable("lists") {
		m := make(map[string]bool)
		for w := range strings.FieldsSeq(words) {
			m[w] = true
		}
		lists[name] = m
	}
	return lists
})

// nounPredicates holds the sections of tables/nouns.txt: predicates by noun.
var nounPredicates = sync.OnceValue(func() map[string]map[string]string {
	sections := make(map[string]map[string]string)
	for name, lines := range readTable("nouns") {
		m := make(map[string]string)
		for line := range strings.SplitSeq(lines, "\n") {
			predicate, nouns, _ := strings.Cut(line, ":")
			for noun := range strings.FieldsSeq(nouns) {
				m[noun] = predicate
			}
		}
		sections[name] = m
	}
	return sections
})

// kinPredicate returns the predicate for "Y's NOUN X"; it is empty if the noun is no word for family, friends or pets.
func kinPredicate(noun string) string { return nounPredicates()["kin"][noun] }

// rolePredicate returns the predicate for "X is the NOUN of Y".
func rolePredicate(noun string) string { return nounPredicates()["roles"][noun] }

// complement is the meaning of a word after "I'm" or before the colon of a note.
type complement struct {
	preps      string // prepositions, one of which precedes the object; empty for none
	predicate  string
	kind       string
	object     string // the object if nothing follows; "" means the word itself
	functional bool
}

// complements holds the sections of tables/states.txt by word.
var complements = sync.OnceValue(func() map[string]map[string]complement {
	sections := make(map[string]map[string]complement)
	for name, lines := range readTable("states") {
		m := make(map[string]complement)
		for line := range strings.SplitSeq(lines, "\n") {
			var col [6]string
			i := 0
			for c := range strings.SplitSeq(line, "|") {
				col[i] = strings.TrimSpace(c)
				i++
			}
			m[col[0]] = complement{preps: col[1], predicate: col[2], kind: col[3], object: col[4], functional: col[5] != ""}
		}
		sections[name] = m
	}
	return sections
})

// beComplement returns the meaning of a word after "I'm".
func beComplement(w string) (complement, bool) {
	c, ok := complements()["be"][w]
	return c, ok
}
