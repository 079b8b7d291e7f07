// Package lexical is the keyword engine: an analyzer that turns text of any
// script into terms, a mutable in-memory index ([Mem]), an immutable mapped one
// ([Segment]), and BM25 search over both.
//
// A partition is searched as a list of parts, usually some segments and one Mem.
// Statistics are taken over all parts, so scores of different parts are comparable, and
// the k-th best score so far is a threshold for the next part. Scores are integers in units of a
// power of two that depends only on the query and the statistics. Therefore the order of
// additions does not matter, equal documents have equal scores, and a pruned search ranks
// like an exhaustive one.
//
// A document is one weighted bag of terms. The frequency tf of a term is the sum of the
// weights of its occurrences' fields. The length of a document is the sum of all tf except
// those of stop words and stems. The score is BM25 as given by Robertson and Zaragoza
// (2009), without the constant factor k1+1:
//
//	score = sum over terms of idf * tf/(tf + k1*(1-b+b*length/average))
//	idf   = ln(1 + (N-df+0.5)/(df+0.5)),  k1 = 1.2, b = 0.75
package lexical
