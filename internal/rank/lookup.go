package rank

import "math"

// Parameters of lookups; docs/recall.md, "Rare words", has the measurements.
const (
	lookupWords, lookupWordsSpan = .65, .25 // share of the question's words that are search terms
	lookupRare, lookupRareSpan   = 4, 1     // idf of the rarest term that some chunk has
	lookupLead, lookupLeadSpan   = .3, .1   // its share of the idf of all terms
	lookupGap, lookupGapSpan     = .25, .3  // how far the best keyword score lies above that of lookupRank, as a share of it
	lookupRank                   = 10
	lookupMost                   = .9 // maximal share of the dense weight that keywords get
)

// lookupOf returns how surely the question looks up a rare word, in [0,1], as "kiln zorbailmz" does. It is a list of words and no
// sentence, one of the words weighs much and stands in few chunks, and few chunks match nearly as well as the best one. An embedder knows little of
// such a word: the text around it, or the other words, decide its scores. keyword is the best keyword score.
func (q *work) lookupOf(keyword float32) float64 {
	if !(keyword > 0) {
		return 0
	}
	sure := ramp(float64(len(q.terms))/float64(countWords(q.asked.text)), lookupWords, lookupWordsSpan)
	if sure == 0 {
		return 0
	}
	total, rarest := 0.0, 0.0
	for i := range q.terms {
		t := &q.terms[i]
		total += float64(t.IDF)
		if t.DF > 0 {
			rarest = math.Max(rarest, float64(t.IDF))
		}
	}
	sure *= ramp(rarest, lookupRare, lookupRareSpan) * ramp(rarest/total, lookupLead, lookupLeadSpan)
	if sure == 0 {
		return 0
	}
	var top [lookupRank + 1]float32 // highest first
	for i := range q.rows {
		v := q.rows[i].Keyword
		if v <= top[lookupRank] {
			continue
		}
		k := lookupRank
		for ; k > 0 && top[k-1] < v; k-- {
			top[k] = top[k-1]
		}
		top[k] = v
	}
	return lookupMost * sure * ramp(1-float64(top[lookupRank]/keyword), lookupGap, lookupGapSpan)
}

// ramp rises from 0 at from to 1 at from+span.
func ramp(x, from, span float64) float64 { return math.Max(0, math.Min(1, (x-from)/span)) }

// countWords returns the number of words of a text that white space separates, at least 1.
func countWords(text string) int {
	n, inside := 0, false
	for i := range len(text) {
		space := text[i] <= ' '
		if !space && !inside {
			n++
		}
		inside = !space
	}
	return max(n, 1)
}
