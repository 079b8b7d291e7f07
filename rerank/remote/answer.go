package remote

import "encoding/json"

// bytesPerResult bounds one result without its text, in bytes. Servers that return the texts get extra room for them.
const bytesPerResult = 1 << 10

// result is one score, in any dialect.
type result struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// answerLimit returns the maximum size in bytes of an answer for n texts.
func (r *Reranker) answerLimit(n int) int64 {
	return int64(n)*(bytesPerResult+6*int64(max(r.cfg.MaxTextBytes, DefaultMaxBytes))) + 64<<10
}

// decode reads one score for each text into scores. The results may come in any order.
func (r *Reranker) decode(data []byte, scores []float64) (err error) {
	var results []result
	if r.cfg.Dialect == TEI {
		err = json.Unmarshal(data, &results)
	} else {
		var answer struct {
			Results []result `json:"results"`
		}
		err = json.Unmarshal(data, &answer)
		results = answer.Results
	}
	if err != nil {
		return r.http.Malformed(err, len(data))
	}
	if len(results) != len(scores) {
		return r.http.Bad("%d scores for %d texts", len(results), len(scores))
	}
	seen := make([]bool, len(scores))
	for _, x := range results {
		if x.Index == nil || *x.Index < 0 || *x.Index >= len(scores) {
			return r.http.Bad("an index is missing or outside 0 to %d", len(scores)-1)
		}
		if seen[*x.Index] {
			return r.http.Bad("index %d twice", *x.Index)
		}
		seen[*x.Index] = true
		v := x.Relevance
		if r.cfg.Dialect == TEI {
			v = x.Score
		}
		if v == nil { // servers encode NaN as null
			return r.http.Bad("a score is missing or no number")
		}
		scores[*x.Index] = *v
	}
	return nil
}
