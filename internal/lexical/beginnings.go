package lexical

import "sync"

// Beginnings is a set of letters with which the words of some terms begin. The zero value is empty.
type Beginnings uint32

// Add adds the first letters of all words of the letters a to z, in either case, of which [Analyze] makes the given term. A stem begins
// like its word, except those of irregular forms such as "went".
func (b *Beginnings) Add(term string) {
	if term != "" {
		*b |= beginning(term[0]) | irregularBeginnings()[term]
	}
}

// beginning returns the set of one letter, which is empty for other characters than a to z.
func beginning(c byte) Beginnings {
	if c -= 'a'; c < 26 {
		return 1 << c
	}
	return 0
}

// irregularBeginnings returns the first letters of irregular forms by their terms.
var irregularBeginnings = sync.OnceValue(func() map[string]Beginnings {
	all := map[string]Beginnings{}
	for form := range irregular {
		if term := Stem(form); term[0] != form[0] {
			all[term] |= beginning(form[0])
		}
	}
	return all
})

// AnalyzeSome is [Analyze], but leaves out words of the letters a to z that begin with other letters than those of b. This is faster
// where a text is searched for few terms.
func AnalyzeSome(dst []Token, text string, b Beginnings) []Token {
	a := analyzer{text: text, dst: dst, some: true, begin: b}
	a.run()
	return a.dst
}
