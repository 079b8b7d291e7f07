package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// Parameters of second hops. They were fitted on multi-hop questions over encyclopedic passages; docs/recall.md, "Knowledge", has
// what each is worth. Scores are those of a first hop.
const (
	bridgeWeight = 5.0 // weight of a second hop's value in the score of its passage
	bridgeFrom   = 8   // first hops
	bridgeMaxDF  = 60  // entities in more passages are ignored
	bridgeAlways = .3  // part of the value that a link has regardless of the passage's text
	bridgeDense  = .2  // weight of the dense similarity to the words that the first hop lacks
	bridgeCap    = .9  // cap of the score that a second hop gives a passage, as a share of the best first hop's
	bridgeTilt   = .02 // share of the uncapped score that is added to the cap, to preserve the order
	bridgeAgain  = .85 // factor for each better passage through the same entity
	needFull     = .25 // second hops count in full if the best passage lacks at least this share of the question
)

// hop is a second hop: its value, and the entity through which it was found.
type hop struct {
	chunk, via int64
	value      float64
}

// bridge finds second hops: passages that share an entity with a good first hop, and
// contain words of the question that the first hop lacks.
func (q *work) bridge(ents []named, gamma float64) error {
	firsts := q.best(bridgeFrom, byScore)
	if len(firsts) == 0 {
		return nil
	}
	nums := make([]int64, len(firsts))
	for i, p := range firsts {
		nums[i] = p.chunk
	}
	texts, err := q.texts(nums)
	if err != nil {
		return err
	}
	top := firsts[0].v
	total := idfOf(q.terms)
	if total == 0 || top == 0 {
		return nil
	}
	mentions, in, err := q.links(nums, ents, texts)
	if err != nil {
		return err
	}
	chain := map[int64]hop{}
	need := 1.0
	missing := make(map[string]lacked, len(firsts)) // by the words that are missing
	for n, first := range firsts {
		has := texts[first.chunk]
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
		if !slices.ContainsFunc(mentions, func(m backend.EntityRef) bool { return m.Chunk == first.chunk && len(in[m.Entity]) > 0 }) {
			continue // it leads nowhere
		}
		u := math.Min(1, 2*left/total)
		key := termKey(rest)
		found, ok := missing[key]
		if !ok {
			if found, err = q.residual(rest); err != nil {
				return err
			}
			missing[key] = found
		}
		for _, m := range mentions {
			if m.Chunk != first.chunk {
				continue
			}
			for _, r := range in[m.Entity] {
				if r.Chunk == first.chunk {
					continue
				}
				link := lexical.IDF(q.docs, m.DF) / math.Log(1+float64(q.docs))
				if r.Weight < titleMentionFrom {
					link *= .6
				}
				v := first.v / top * link * (bridgeAlways + found.keyword[r.Chunk]*u + bridgeDense*u*found.dense[r.Chunk])
				if v > chain[r.Chunk].value {
					chain[r.Chunk] = hop{r.Chunk, m.Entity, v}
				}
			}
		}
	}
	limit := bridgeCap * top
	for _, h := range thin(chain) {
		i := q.get(h.chunk)
		if i < 0 {
			continue
		}
		c := &q.cand[i]
		lift := bridgeWeight * gamma * math.Min(1, need/needFull) * h.value
		t := c.Score + lift
		// A second hop must score less than the best first hop, since it is no answer on its own.
		if bound := limit + bridgeTilt*t; t > bound {
			t = max(c.Score, bound)
		}
		c.Bridge = t - c.Score
		c.Score = t
	}
	return q.describe()
}

// links returns the entities that first hops mention, and the passages that mention them too,
// which become candidates. It leaves out entities of the question, since they led to the first
// hops, and years, since passages of one year need not have anything in common.
func (q *work) links(firsts []int64, ents []named, texts map[int64]map[string]bool) ([]backend.EntityRef, map[int64][]backend.EntityRef, error) {
	out := map[int64]bool{}
	for _, e := range ents {
		out[e.entity] = true
	}
	var keys []string
	for _, has := range texts {
		for t := range has {
			if isYear(t) {
				keys = append(keys, t)
			}
		}
	}
	if len(keys) > 0 {
		years, err := q.Graph.MatchEntities(q.ctx, q.req.Part, keys)
		if err != nil {
			return nil, nil, err
		}
		for _, y := range years {
			out[y.Entity] = true
		}
	}
	mentions, err := q.Graph.Mentions(q.ctx, q.req.Part, firsts)
	if err != nil {
		return nil, nil, err
	}
	var linked []int64
	for _, m := range mentions {
		if m.DF >= 2 && m.DF <= bridgeMaxDF && !out[m.Entity] {
			out[m.Entity] = true
			linked = append(linked, m.Entity)
		}
	}
	refs, err := q.Graph.MentionedIn(q.ctx, q.req.Part, linked, bridgeMaxDF)
	if err != nil {
		return nil, nil, err
	}
	in := map[int64][]backend.EntityRef{}
	for _, r := range refs {
		in[r.Entity] = append(in[r.Entity], r)
		q.admit(r.Chunk)
	}
	return mentions, in, nil
}

// isYear reports whether a term is a year from 1000 to 2099.
func isYear(term string) bool {
	if len(term) != 4 || term[0] != '1' && (term[0] != '2' || term[1] != '0') {
		return false
	}
	for _, c := range []byte(term) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// thin lowers the value of a second hop for each better one through the same entity. No
// entity then crowds out the others.
func thin(chain map[int64]hop) []hop {
	hops := make([]hop, 0, len(chain))
	for _, h := range chain {
		hops = append(hops, h)
	}
	slices.SortFunc(hops, func(a, b hop) int {
		return cmp.Or(cmp.Compare(a.via, b.via), cmp.Compare(b.value, a.value), cmp.Compare(a.chunk, b.chunk))
	})
	share := 1.0
	for i := range hops {
		if i > 0 && hops[i].via == hops[i-1].via {
			share *= bridgeAgain
		} else {
			share = 1
		}
		hops[i].value *= share
	}
	return hops
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

// lacked has the scores of passages for the words that a first hop lacks. keyword is a share of the words' weight, dense a share of the
// best dense score.
type lacked struct{ keyword, dense map[int64]float64 }

// termKey returns a key for a list of terms.
func termKey(terms []backend.TermInfo) string {
	var b strings.Builder
	for _, t := range terms {
		b.WriteString(t.Term)
		b.WriteByte(0)
	}
	return b.String()
}

// residual scores passages for the words that a first hop lacks.
func (q *work) residual(rest []backend.TermInfo) (lacked, error) {
	out := lacked{map[int64]float64{}, map[int64]float64{}}
	total := idfOf(rest)
	if total == 0 {
		return out, nil
	}
	terms := make([]backend.WeightedTerm, len(rest))
	stems := map[string]bool{}
	for i, t := range rest {
		terms[i] = backend.WeightedTerm{Term: t.Term, Weight: 1}
		stems[t.Term] = true
	}
	hits, err := q.Keywords.SearchKeywords(q.ctx, backend.KeywordQuery{Part: q.req.Part, Terms: terms, K: q.depth(), Filter: q.req.Filter})
	if err != nil {
		return lacked{}, err
	}
	for _, h := range hits {
		out.keyword[h.Chunk] = float64(h.Score) / total
	}
	if q.w == 0 {
		return out, nil
	}
	var left []string
	for _, w := range q.asked.words() {
		if stems[lexical.Stem(w)] {
			left = append(left, w)
		}
	}
	if len(left) == 0 {
		return out, nil
	}
	vec, err := q.Embedder.EmbedQuery(q.ctx, strings.Join(left, " "))
	if err != nil {
		return lacked{}, err
	}
	vhits, err := q.Vectors.SearchVectors(q.ctx, backend.VectorQuery{Part: q.req.Part, Lane: q.Lane, Vector: vec, K: min(500, q.depth()), Filter: q.req.Filter})
	if err != nil {
		return lacked{}, err
	}
	for _, h := range vhits {
		if h.Score > 0 && vhits[0].Score > 0 {
			out.dense[h.Chunk] = float64(h.Score) / float64(vhits[0].Score)
		}
	}
	return out, nil
}

// idfOf returns the sum of the terms' inverse document frequencies.
func idfOf(ts []backend.TermInfo) float64 {
	sum := 0.0
	for _, t := range ts {
		sum += float64(t.IDF)
	}
	return sum
}
