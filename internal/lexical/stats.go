package lexical

import "math"

// BM25 parameters. They are the best on the development sets, and Lucene's defaults.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// Stats holds the statistics of BM25 that do not depend on a term, over all live rows of all
// parts of a partition.
type Stats struct {
	Docs     int   // live rows
	TotalLen int64 // sum of their lengths
}

// Average returns the mean document length, at least 1.
func (s *Stats) Average() float64 {
	if s.Docs <= 0 || s.TotalLen < int64(s.Docs) {
		return 1
	}
	return float64(s.TotalLen) / float64(s.Docs)
}

// IDF returns ln(1 + (docs-df+0.5)/(df+0.5)), which is positive for 0 <= df <= docs.
func IDF(docs, df int) float64 {
	df = max(df, 0)
	docs = max(docs, df)
	return math.Log(1 + (float64(docs-df)+0.5)/(float64(df)+0.5))
}
