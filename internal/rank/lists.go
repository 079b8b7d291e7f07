package rank

import (
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// count reads the document frequencies of the question's terms.
func (q *work) count() error {
	var avg float32
	var err error
	q.terms, q.docs, avg, err = q.Keywords.Terms(q.ctx, q.req.Part, q.words())
	q.avg = float64(avg)
	q.lap("terms")
	return err
}

// surveyMost is the number of chunks up to which a partition is ranked as a whole by a survey, if the index has one.
const surveyMost = 2000

// survey ranks a small partition as a whole: chunks that a search finds become candidates, and the others become
// rows. It reports whether the index could do so.
func (q *work) survey(counted bool) (bool, error) {
	x, ok := q.Graph.(backend.Surveyor)
	if !ok || counted && (q.docs == 0 || q.docs > surveyMost) || any(q.Vectors) != any(x) || any(q.Keywords) != any(x) {
		return false, nil
	}
	if err := q.embed(); err != nil {
		return false, err
	}
	if q.failed && q.Fast != nil {
		return true, nil
	}
	ask := backend.SurveyQuery{Part: q.req.Part, Lane: q.Lane, Text: q.words(), Filter: q.req.Filter, Most: surveyMost}
	if q.w > 0 {
		ask.Vector = q.qvec
	}
	s := &q.saw
	s.Rows, s.Terms = q.rows, q.terms
	ok, err := x.Survey(q.ctx, ask, s)
	q.lap("survey")
	if !ok || err != nil {
		return false, err
	}
	q.rows, q.speakers, q.terms, q.docs, q.avg, q.whole = s.Rows, s.Speakers, s.Terms, s.Docs, float64(s.AvgTerms), true
	q.cand = slices.Grow(q.cand[:0], len(q.rows))[:len(q.rows)]
	clear(q.cand)
	last, rising := int64(math.MinInt64), len(q.rows) <= fewRows
	for i := range q.rows {
		r, c := &q.rows[i], &q.cand[i]
		rising, last = rising && r.Chunk > last, r.Chunk
		if r.Dense < 0 {
			r.Dense = 0
			if q.Fast != nil { // not 0: the chunk has a vector
				r.Dense = leastDense
			}
		}
		if q.w == 1 {
			r.Keyword = 0
		}
		c.in, c.known = r.Keyword > 0 || r.Dense > 0, true
		if r.Session != 0 {
			c.session = q.sessionOf(r.Session)
		}
	}
	if rising {
		q.rising = len(q.rows)
	}
	return true, nil
}

// fewRows is the number of rows up to which a binary search for chunks is faster than building q.index.
const fewRows = 256

// lists makes the hits of keyword and vector searches candidates.
func (q *work) lists() error {
	if err := q.embed(); err != nil || q.failed && q.Fast != nil {
		return err
	}
	k := q.depth()
	nearest := q.nearest(k)
	if q.w < 1 {
		some := k
		if q.fewWillDo(k) {
			some = k / 2
		}
		hits, err := q.searchKeywords(some, &q.unlisted)
		if err != nil {
			return err
		}
		last := float32(math.Inf(1))
		for _, h := range hits {
			q.rows[q.at(h)].Keyword, last = h.Score, min(last, h.Score)
		}
		if q.out.Cut = len(hits) >= some; q.out.Cut && some < k {
			q.unlisted = max(q.unlisted, last)
		} else {
			q.unlisted = 0
		}
		q.lap("keyword")
	}
	if q.w > 0 {
		hits, err := nearest()
		if err != nil {
			return err
		}
		q.out.Cut = q.out.Cut || len(hits) >= k
		least := float32(math.Inf(1))
		for _, h := range hits {
			if least = min(least, h.Score); h.Score > 0 {
				q.rows[q.at(h)].Dense = h.Score
			}
		}
		q.lap("vector")
		if len(hits) >= k { // there may be more hits
			defer q.lap("rest")
			return q.scoreRest(least)
		}
	}
	return nil
}

// searchKeywords returns the k best chunks for the words of the question, in any order. It sets unlisted, which may be nil, if another chunk may be better than these.
func (q *work) searchKeywords(k int, unlisted *float32) ([]backend.Hit, error) {
	ask := backend.KeywordQuery{Part: q.req.Part, Text: q.words(), K: k, Filter: q.req.Filter, Answer: q.anyOrder()}
	ask.Answer.Unlisted = unlisted
	hits, err := q.Keywords.SearchKeywords(q.ctx, ask)
	if err == nil {
		q.found = hits[:0]
	}
	return hits, err
}

// fuse adds up the weighted scores of the searches, each as a share of its best score.
func (q *work) fuse() {
	var keyword, dense float32 // best scores
	for i := range q.rows {
		r := &q.rows[i]
		if r.Keyword > keyword {
			keyword = r.Keyword
		}
		if r.Dense > dense {
			dense = r.Dense
		}
	}
	q.near = 1
	if q.Unrelated != nil {
		q.fuseCalibrated(keyword)
		return
	}
	if q.w > 0 && q.w < 1 {
		q.lookup = q.lookupOf(keyword)
		q.w *= 1 - q.lookup
		q.out.Dense = q.w
	}
	if keyword > 0 {
		q.perKeyword = (1 - q.w) / float64(keyword)
	}
	if dense > 0 {
		q.perDense = q.w / float64(dense)
	}
	for i := range q.rows {
		r, c := &q.rows[i], &q.cand[i]
		c.s0 = q.perKeyword*float64(r.Keyword) + q.perDense*float64(r.Dense)
		c.Score = c.s0
	}
}

// late reports whether the deadline for further stages has passed. If so, it adds the stage to Degraded.
func (q *work) late(stage string) bool {
	if q.req.Deadline.IsZero() || time.Now().Before(q.req.Deadline) {
		return false
	}
	q.out.Degraded = append(q.out.Degraded, "the time budget ended before "+stage)
	return true
}
