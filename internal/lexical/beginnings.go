package lexical

import "sync"

// Beginnings is a set of pairs of letters with which the words of some terms begin. The zero value is empty.
type Beginnings [26]uint32 // second letters as bits, by first letter

// anyLetter is the set of all letters.
const anyLetter = 1<<26 - 1

// Add adds the beginnings of all words of the letters a to z, in either case, of which [Analyze] makes the given term. A stem keeps the
// first two letters of its word, except those of some forms such as "went" and "dying".
func (b *Beginnings) Add(term string) {
	b.add(term)
	for _, form := range beginsOtherwise()[term] {
		b.add(form)
	}
}

// add adds the first two letters of a word. After a first letter alone it adds all letters.
func (b *Beginnings) add(word string) {
	if word == "" || word[0] < 'a' || word[0] > 'z' {
		return
	}
	second := uint32(anyLetter)
	if len(word) > 1 && 'a' <= word[1] && word[1] <= 'z' {
		second = 1 << (word[1] - 'a')
	}
	b[word[0]-'a'] |= second
}

// has reports whether a word of lower-case letters may be one of a term's.
func (b *Beginnings) has(word []byte) bool {
	set := b[word[0]-'a']
	return len(word) == 1 && set != 0 || len(word) > 1 && set>>(word[1]-'a')&1 != 0
}

// beginsOtherwise returns, by term, the words that begin with other letters than their terms: irregular forms, and words like "dying".
var beginsOtherwise = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	add := func(form string) {
		if term := Stem(form); len(term) < 2 || term[:2] != form[:2] {
			all[term] = append(all[term], form)
		}
	}
	for form := range irregular {
		add(form)
	}
	for c := byte('a'); c <= 'z'; c++ {
		add(string(c) + "ying")
	}
	return all
})

// AnalyzeSome is [Analyze], but leaves out words of the letters a to z that begin otherwise than those of b. This is faster where a text
// is searched for few terms.
func AnalyzeSome(dst []Token, text string, b *Beginnings) []Token {
	a := analyzer{text: text, dst: dst, begin: b}
	a.run()
	return a.dst
}
