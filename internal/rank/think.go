package rank

import (
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// Parameters of the graph walk and of feedback terms; docs/recall.md, "Knowledge", has the ablations.
const (
	walkSeeds    = 20   // number of passages at which the walk restarts
	walkDamping  = .6   // probability of following an edge instead of restarting
	walkRounds   = 12   // power iterations
	walkPerNode  = 200  // maximal number of passages read of one entity
	walkPassages = 4000 // number of passages from which on the graph does not grow
	feedbackDocs = 5    // number of best passages whose terms are used
	feedbackTerm = 25   // number of terms
	feedbackPart = .6   // score of the best match of the terms, as a share of the best score
	feedbackPeak = 3    // a passage's terms are weighted by this power of its score
)

// think adds the scores of the graph walk, of second hops and of feedback terms.
func (q *work) think(ents []named, gamma float64, info backend.GraphInfo) error {
	if gamma > 0 && !q.late("the graph walk") {
		if err := q.walk(ents, gamma); err != nil {
			return err
		}
		q.lap("walk")
		for i := range q.cand {
			c := &q.cand[i]
			c.Score = c.s0 + c.Graph
		}
		if !q.late("the second hop") {
			if err := q.bridge(ents, gamma); err != nil {
				return err
			}
			q.lap("bridge")
		}
	}
	if gamma < 1 && !q.late("feedback terms") {
		defer q.lap("feedback")
		return q.feedback((1 - gamma) * (1 - q.lookup))
	}
	return nil
}

// walk runs personalised PageRank over passages and entities, as HippoRAG does
// (Gutiérrez et al., 2024). Half of the restart probability is on the question's
// entities by rarity, half on the best passages by the square of their scores.
func (q *work) walk(ents []named, gamma float64) error {
	seeds := q.best(walkSeeds, bySearch)
	g := newGraph(q)
	defer g.release()
	var chunks []int64
	for _, p := range seeds {
		chunks = append(chunks, p.chunk)
	}
	nums := make([]int64, len(ents))
	for i, e := range ents {
		nums[i] = e.entity
	}
	// Two steps from the seeds over both kinds of node are enough: the probability beyond is negligible.
	if err := g.growEntities(nums); err != nil {
		return err
	}
	for range 2 {
		if err := g.growChunks(chunks); err != nil {
			return err
		}
		chunks = nil
	}
	restartP, restartE := make([]float64, len(g.chunks.nums)), make([]float64, len(g.entities.nums))
	sum := 0.0
	for _, e := range ents {
		sum += e.idf
	}
	for _, e := range ents {
		if at, ok := g.entities.find(e.entity); ok && sum > 0 {
			restartE[at] = .5 * e.idf / sum
		}
	}
	sum = 0
	for _, p := range seeds {
		sum += p.v * p.v
	}
	for _, p := range seeds {
		if at, ok := g.chunks.find(p.chunk); ok && sum > 0 {
			restartP[at] = .5 * p.v * p.v / sum
		}
	}
	rank := g.pagerank(restartP, restartE)
	most := 0.0
	for _, v := range rank {
		most = max(most, v)
	}
	if most == 0 {
		return nil
	}
	for at, v := range rank {
		if v < most*1e-3 {
			continue
		}
		if i := q.admit(g.chunks.nums[at]); i >= 0 {
			q.cand[i].Graph = gamma * v / most
		}
	}
	for i := range q.cand {
		q.cand[i].Entity = 0 // the walk includes the entities of the question
	}
	return q.describe()
}

// feedback expands the question by terms of the best passages (RM3; Lavrenko and
// Croft, 2001). That helps for questions that name no entity.
func (q *work) feedback(share float64) error {
	top := q.best(feedbackDocs, bySearch)
	nums := make([]int64, len(top))
	for i, p := range top {
		nums[i] = p.chunk
	}
	rows, err := q.Store.Chunks(q.ctx, nums, q.req.Now)
	if err != nil {
		return err
	}
	weight := map[string]float64{}
	var toks []lexical.Token
	for _, r := range rows {
		toks = lexical.Analyze(toks[:0], r.Text)
		sure := math.Pow(q.cand[q.get(r.Num)].s0, feedbackPeak)
		for _, t := range toks {
			weight[t.Term] += sure / float64(len(toks))
		}
	}
	names := make([]string, 0, len(weight))
	for t := range weight {
		names = append(names, t)
	}
	slices.Sort(names)
	infos, _, _, err := q.Keywords.Terms(q.ctx, q.req.Part, `"`+strings.Join(names, `" "`)+`"`)
	if err != nil {
		return err
	}
	var terms []backend.WeightedTerm
	for _, t := range infos {
		if w, ok := weight[t.Term]; ok && t.DF > 0 {
			terms = append(terms, backend.WeightedTerm{Term: t.Term, Weight: float32(w * float64(t.IDF))})
		}
	}
	slices.SortFunc(terms, func(a, b backend.WeightedTerm) int {
		if a.Weight != b.Weight {
			if a.Weight > b.Weight {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Term, b.Term)
	})
	terms = terms[:min(len(terms), feedbackTerm)]
	if len(terms) == 0 {
		return nil
	}
	most := terms[0].Weight
	for i := range terms {
		terms[i].Weight /= most
	}
	hits, err := q.Keywords.SearchKeywords(q.ctx, backend.KeywordQuery{Part: q.req.Part, Terms: terms, K: q.depth(), Filter: q.req.Filter})
	if err != nil || len(hits) == 0 {
		return err
	}
	for _, h := range hits {
		c := &q.cand[q.at(h)]
		c.Expansion = feedbackPart * share * float64(h.Score) / float64(hits[0].Score)
		c.Score += c.Expansion
	}
	return nil
}
