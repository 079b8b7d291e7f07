package lexical

import "strings"

// stopWords are the 33 English stop words of Lucene's StandardAnalyzer. Documents are
// indexed under them, since And and Phrase queries may need them. They do not count in the
// length of a document, and Or queries leave them out.
var stopWords = wordSet(`a an and are as at be but by for if in into is it no not of on or
such that the their then there these they this to was will with`)

// questionWords make a sentence a question and say nothing of its subject. Removing them
// from queries, but not from documents, raised nDCG on every development set.
var questionWords = wordSet(`a an the and or of to in on at for with by from is are was were be
been being am do does did doing have has had having i you he she it we they me him her us them my
your his its our their this that these those what which who whom whose when where why how not no
as if than then so too very can could will would shall should may might must about into over after
before between out up down s t ll re ve d m don didn doesn isn wasn aren won there here also just
any some such name named`)

// stopMark is the first byte of the terms of stop words. It distinguishes them from other
// words: "I.T." has the term "it".
const stopMark = "\x00"

// stopTerm returns the term of a stop word.
func stopTerm(word string) string { return stopMark + word }

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// IsStopWord reports whether word, in lower case, is one of the 33 English stop
// words, which [Analyze] drops.
func IsStopWord(word string) bool { return stopWords[word] }

// IsQuestionWord reports whether word, in lower case and without its apostrophe
// suffix, is one of the words that [ParseQuery] removes from OR queries.
func IsQuestionWord(word string) bool { return questionWords[word] }
