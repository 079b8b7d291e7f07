package recall

import (
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// Parameters of thinking on knowledge (recall recipe, step 2b).
const (
	walkSeeds    = 20 // passages that the walk restarts from
	walkDamping  = .6
	walkRounds   = 12
	walkPerNode  = 200 // passages looked at from one entity
	walkPassages = 4000
	bridgeWeight = 5.0
	bridgeFrom   = 8  // first hops
	bridgeMaxDF  = 60 // an entity in more passages says nothing
	bridgeAlways = .3 // of a link alone, whatever the passage says
	bridgeDense  = .2
	bridgeCap    = .9
	bridgeTilt   = .02
	needFull     = .4
	feedbackDocs = 5
	feedbackTerm = 25
	feedbackPart = .6
)

// think adds the graph walk, the second hop and feedback terms.
func (q *work) think(ents []named, gamma float64, info backend.GraphInfo) error {
	if gamma > 0 && !q.late("the graph walk") {
		if err := q.walk(ents, gamma); err != nil {
			return err
		}
		for i := range q.cand {
			c := &q.cand[i]
			c.Score = c.s0 + c.Graph
		}
		if !q.late("the second hop") {
			if err := q.bridge(ents, gamma); err != nil {
				return err
			}
		}
	}
	if gamma < 1 && !q.late("feedback terms") {
		return q.feedback(1 - gamma)
	}
	return nil
}

// walk runs personalised PageRank over passages and entities, as HippoRAG does
// (Gutiérrez et al., 2024): half of the restart lies on the question's entities by
// rarity, half on the best passages by the square of their score.
func (q *work) walk(ents []named, gamma float64) error {
	seeds := q.best(walkSeeds, func(c *cand) float64 { return c.s0 })
	g := newGraph(q)
	var chunks []int64
	for _, i := range seeds {
		chunks = append(chunks, q.cand[i].Chunk)
	}
	nums := make([]int64, len(ents))
	for i, e := range ents {
		nums[i] = e.entity
	}
	// Two steps out from the seeds in both kinds of node are what twelve damped rounds reach with mass that matters.
	if err := g.growEntities(nums); err != nil {
		return err
	}
	for range 2 {
		if err := g.growChunks(chunks); err != nil {
			return err
		}
		chunks = nil
	}
	restartP, restartE := make([]float64, len(g.chunks)), make([]float64, len(g.entities))
	sum := 0.0
	for _, e := range ents {
		sum += e.idf
	}
	for _, e := range ents {
		if at, ok := g.entityAt[e.entity]; ok && sum > 0 {
			restartE[at] = .5 * e.idf / sum
		}
	}
	sum = 0
	for _, i := range seeds {
		sum += q.cand[i].s0 * q.cand[i].s0
	}
	for _, i := range seeds {
		if at, ok := g.chunkAt[q.cand[i].Chunk]; ok && sum > 0 {
			restartP[at] = .5 * q.cand[i].s0 * q.cand[i].s0 / sum
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
	filtered := len(q.req.Filter.All)+len(q.req.Filter.Not) > 0
	for at, v := range rank {
		if v < most*1e-3 {
			continue
		}
		i, ok := q.index.get(g.chunks[at])
		if !ok {
			if filtered {
				continue
			}
			q.admit(g.chunks[at])
			i, _ = q.index.get(g.chunks[at])
		}
		q.cand[i].Graph = gamma * v / most
	}
	for i := range q.cand {
		q.cand[i].Entity = 0 // the walk carries what entities say
	}
	return q.describeSources()
}

// bridge finds second hops: passages that share an entity with a good first hop
// and hold what the question asks and the first hop lacks.
func (q *work) bridge(ents []named, gamma float64) error {
	firsts := q.best(bridgeFrom, func(c *cand) float64 { return c.Score })
	if len(firsts) == 0 {
		return nil
	}
	nums := make([]int64, len(firsts))
	for i, at := range firsts {
		nums[i] = q.cand[at].Chunk
	}
	texts, err := q.texts(nums)
	if err != nil {
		return err
	}
	top := q.cand[firsts[0]].Score
	total := idfOf(q.terms)
	if total == 0 || top == 0 {
		return nil
	}
	inQuestion := map[int64]bool{}
	for _, e := range ents {
		inQuestion[e.entity] = true
	}
	mentions, err := q.Graph.Mentions(q.ctx, q.req.Part, nums)
	if err != nil {
		return err
	}
	var linked []int64
	for _, m := range mentions {
		if m.DF >= 2 && m.DF <= bridgeMaxDF && !inQuestion[m.Entity] && !slices.Contains(linked, m.Entity) {
			linked = append(linked, m.Entity)
		}
	}
	refs, err := q.Graph.MentionedIn(q.ctx, q.req.Part, linked, bridgeMaxDF)
	if err != nil {
		return err
	}
	in := map[int64][]backend.EntityRef{}
	for _, r := range refs {
		in[r.Entity] = append(in[r.Entity], r)
	}
	filtered := len(q.req.Filter.All)+len(q.req.Filter.Not) > 0
	if !filtered {
		for _, r := range refs {
			q.admit(r.Chunk)
		}
	}
	chain := map[int64]float64{}
	need := 1.0
	for n, at := range firsts {
		first := q.cand[at]
		has := texts[first.Chunk]
		var rest []backend.TermInfo
		for _, t := range q.terms {
			if !has[t.Term] {
				rest = append(rest, t)
			}
		}
		left := idfOf(rest)
		if n == 0 {
			need = left / total
		}
		u := math.Min(1, 2*left/total)
		restScore, restDense, err := q.residual(rest)
		if err != nil {
			return err
		}
		for _, m := range mentions {
			if m.Chunk != first.Chunk || inQuestion[m.Entity] {
				continue
			}
			for _, r := range in[m.Entity] {
				if r.Chunk == first.Chunk {
					continue
				}
				link := lexical.IDF(q.docs, m.DF) / math.Log(1+float64(q.docs))
				if r.Weight < titleMentionFrom {
					link *= .6
				}
				v := first.Score / top * link * (bridgeAlways + restScore[r.Chunk]*u + bridgeDense*u*restDense[r.Chunk])
				chain[r.Chunk] = max(chain[r.Chunk], v)
			}
		}
	}
	limit := bridgeCap * top
	for chunk, v := range chain {
		i, ok := q.index.get(chunk)
		if !ok {
			continue
		}
		c := &q.cand[i]
		lift := bridgeWeight * gamma * math.Min(1, need/needFull) * v
		t := c.Score + lift
		// Behind the best first hop: the second hop alone answers nothing.
		if bound := limit + bridgeTilt*t; t > bound {
			t = max(c.Score, bound)
		}
		c.Bridge = t - c.Score
		c.Score = t
	}
	return q.describeSources()
}

// texts returns the terms of chunks.
func (q *work) texts(nums []int64) (map[int64]map[string]bool, error) {
	rows, err := q.Store.Chunks(q.ctx, nums, q.req.Now)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]map[string]bool, len(rows))
	var toks []lexical.Token
	for _, r := range rows {
		has := map[string]bool{}
		for _, s := range []string{r.Heading, r.Src.Title, r.Text} {
			toks = lexical.Analyze(toks[:0], s)
			for _, t := range toks {
				has[t.Term] = true
			}
		}
		out[r.Num] = has
	}
	return out, nil
}

// residual scores passages for the words that a first hop lacks: by keywords, as a
// share of the words' weight, and by meaning, as a share of the best.
func (q *work) residual(rest []backend.TermInfo) (keyword, dense map[int64]float64, err error) {
	keyword, dense = map[int64]float64{}, map[int64]float64{}
	total := idfOf(rest)
	if total == 0 {
		return keyword, dense, nil
	}
	terms := make([]backend.WeightedTerm, len(rest))
	stems := map[string]bool{}
	for i, t := range rest {
		terms[i] = backend.WeightedTerm{Term: t.Term, Weight: 1}
		stems[t.Term] = true
	}
	hits, err := q.Keywords.SearchKeywords(q.ctx, backend.KeywordQuery{Part: q.req.Part, Terms: terms, K: q.depth(), Filter: q.req.Filter})
	if err != nil {
		return nil, nil, err
	}
	for _, h := range hits {
		keyword[h.Chunk] = float64(h.Score) / total
	}
	if q.w == 0 {
		return keyword, dense, nil
	}
	var left []string
	for _, w := range q.asked.words {
		if stems[lexical.Stem(w)] {
			left = append(left, w)
		}
	}
	if len(left) == 0 {
		return keyword, dense, nil
	}
	vec, err := q.Embedder.EmbedQuery(q.ctx, strings.Join(left, " "))
	if err != nil {
		return nil, nil, err
	}
	vhits, err := q.Vectors.SearchVectors(q.ctx, backend.VectorQuery{Part: q.req.Part, Vector: vec, K: min(500, q.depth()), Filter: q.req.Filter})
	if err != nil {
		return nil, nil, err
	}
	for _, h := range vhits {
		if h.Score > 0 && vhits[0].Score > 0 {
			dense[h.Chunk] = float64(h.Score) / float64(vhits[0].Score)
		}
	}
	return keyword, dense, nil
}

// feedback expands the question by the terms of its best passages (RM3; Lavrenko
// and Croft, 2001), which helps questions that name no entity.
func (q *work) feedback(share float64) error {
	top := q.best(feedbackDocs, func(c *cand) float64 { return c.s0 })
	nums := make([]int64, len(top))
	for i, at := range top {
		nums[i] = q.cand[at].Chunk
	}
	rows, err := q.Store.Chunks(q.ctx, nums, q.req.Now)
	if err != nil {
		return err
	}
	weight := map[string]float64{}
	var toks []lexical.Token
	for _, r := range rows {
		toks = lexical.Analyze(toks[:0], r.Text)
		at, _ := q.index.get(r.Num)
		s0 := q.cand[at].s0
		for _, t := range toks {
			weight[t.Term] += s0 / float64(len(toks))
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
		c := q.at(h)
		c.Expansion = feedbackPart * share * float64(h.Score) / float64(hits[0].Score)
		c.Score += c.Expansion
	}
	return nil
}

// idfOf sums the rarity of terms.
func idfOf(ts []backend.TermInfo) float64 {
	sum := 0.0
	for _, t := range ts {
		sum += float64(t.IDF)
	}
	return sum
}
