// Package lexical is the keyword engine: an analyzer that turns text of any
// script into terms, a mutable in-memory index ([Mem]), an immutable mapped one
// ([Segment]), and BM25 search over both.
//
// A partition is searched as a list of parts, usually some segments and one Mem.
// Statistics are global over the parts, so that scores of different parts compare,
// and what one part found is the threshold for the next. Scores are computed in whole units of a
// power of two that depends on the query and the statistics alone; the order of
// the additions does not matter, equal documents score equally, and the ranking of
// a pruned search is the ranking of an exhaustive one.
//
// A document is one weighted bag of terms. Its term frequency tf is the sum of the
// weights of the fields a term occurs in, its length the sum of all tf but those of
// stop words. BM25 is
// that of Robertson and Zaragoza (2009) without the constant factor k1+1:
//
//	score = sum over terms of idf * tf/(tf + k1*(1-b+b*length/average))
//	idf   = ln(1 + (N-df+0.5)/(df+0.5)),  k1 = 1.2, b = 0.75
package lexical
