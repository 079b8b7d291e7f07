package lexical

import "math"

// BM25 parameters, measured on the development sets; Lucene's defaults as well.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// Stats are the numbers that scores depend on, over all live rows of all parts of
// a partition. The zero value is empty; see Collect.
type Stats struct {
	Docs     int            // live documents
	TotalLen int64          // sum of their lengths
	DF       map[string]int // live documents with the term, for the terms of the query, with those of phrases that must match
}

// Average returns the mean document length, at least 1.
func (s *Stats) Average() float64 {
	if s.Docs <= 0 || s.TotalLen < int64(s.Docs) {
		return 1
	}
	return float64(s.TotalLen) / float64(s.Docs)
}

// IDF returns the inverse document frequency of a term that was collected.
func (s *Stats) IDF(term string) float64 { return IDF(s.Docs, s.DF[term]) }

// IDF returns ln(1 + (docs-df+0.5)/(df+0.5)), which is positive for 0 <= df <= docs.
func IDF(docs, df int) float64 {
	df = max(df, 0)
	docs = max(docs, df)
	return math.Log(1 + (float64(docs-df)+0.5)/(float64(df)+0.5))
}
