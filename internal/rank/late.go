package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/rerank/local"
)

// interact adds late interaction to the scores of the best candidates. It reads a memory
// together with the preceding one of its session, since a reply refers to words that it
// does not repeat. Late interaction counts less in partitions with longer memories, as
// context does, since a long text has a word similar to any word.
func (q *work) interact() error {
	best := q.best(lateCandidates, byScore)
	nums := make([]int64, 0, 2*len(best))
	for _, p := range best {
		nums = append(nums, p.chunk)
		if before := q.before(p.at); before != 0 {
			nums = append(nums, before)
		}
	}
	slices.Sort(nums)
	nums = slices.Compact(nums)
	texts, err := q.textsOf(nums)
	if err != nil {
		return err
	}
	text := func(chunk int64) (string, bool) { // texts are in the order of the request
		i, ok := slices.BinarySearchFunc(texts, chunk, func(x backend.ChunkText, chunk int64) int { return cmp.Compare(x.Num, chunk) })
		if !ok {
			return "", false
		}
		return texts[i].Text, true
	}
	q.scored = q.scorer()
	most := 0.0
	scores := make([]float64, len(best))
	for i, p := range best {
		if said, ok := text(p.chunk); ok {
			before, _ := text(q.before(p.at))
			scores[i] = q.scored.Score(said, before)
			most = max(most, scores[i])
		}
	}
	if most == 0 {
		return nil
	}
	for i, p := range best {
		q.cand[p.at].Late = lateWeight * q.closeness() * scores[i] / most
	}
	return nil
}

// textsOf returns the texts of those chunks that are visible, in the order of nums.
func (q *work) textsOf(nums []int64) ([]backend.ChunkText, error) {
	if x, ok := q.Store.(backend.TextReader); ok {
		return x.ChunkTexts(q.ctx, nums, q.req.Now)
	}
	rows, err := q.Store.Chunks(q.ctx, nums, q.req.Now)
	if err != nil {
		return nil, err
	}
	out := make([]backend.ChunkText, len(rows))
	for i, r := range rows {
		out[i] = backend.ChunkText{Num: r.Num, Text: r.Text}
	}
	return out, nil
}

// before returns the chunk before a candidate in its session, or 0 if there is none or the filter may reject it.
func (q *work) before(at int32) int64 {
	prev := q.rows[at].Prev[0]
	if prev == 0 || q.cand[at].session == 0 || q.filtered() && !q.cand[prev-1].in {
		return 0
	}
	return q.rows[prev-1].Chunk
}

// scorer returns a scorer for the question's words. It leaves out names of speakers, which count
// as Parts.Speaker.
func (q *work) scorer() *local.Scorer {
	idf := make(map[string]float64, len(q.terms))
	for _, t := range q.terms {
		idf[t.Term] = float64(t.IDF)
	}
	heard := map[int32]bool{}
	for i := range q.cand {
		if n := q.rows[i].Speaker; n != 0 && q.cand[i].in && !heard[n] {
			heard[n] = true
			for _, t := range lexical.Analyze(nil, q.speakers[n]) {
				idf[t.Term] = 0
			}
		}
	}
	rarest := math.Log(1 + (float64(q.docs)+.5)/.5)
	return q.Words.Scorer(q.scored, local.Content(q.asked.text, func(stem string) float64 {
		if w, ok := idf[stem]; ok {
			return w
		}
		return rarest
	}))
}
