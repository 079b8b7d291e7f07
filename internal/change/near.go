package change

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
)

// Bounds of one comparison.
const (
	maxChunks   = 8   // chunks read of a memory
	maxNear     = 12  // neighbours that a statement is compared with
	searchDeep  = 32  // hits of the keyword index
	vectorsDeep = 128 // hits of the vector index: enough to say how near most other statements are
	embedAtOnce = 64  // texts in one call of the embedder
	maxShort    = 300 // bytes of a statement kept as evidence
	rankOffset  = 10  // offset of reciprocal rank fusion: the first ranks count most
)

// neighbours returns the nearest statements of the same person, by meaning and by words.
func (r *run) neighbours(s *statement) ([]*statement, error) {
	scores := map[int64]float64{}
	add := func(hits []backend.Hit) {
		for i, h := range hits {
			scores[h.Chunk] += 1 / float64(rankOffset+i)
		}
	}
	var like map[int64]float64 // inner products by chunk
	least, known := 0.0, 0
	if r.Yield != nil {
		r.Yield()
	}
	if s.vector != nil {
		hits, err := r.Vectors.SearchVectors(r.ctx, backend.VectorQuery{Part: s.src.Part, Lane: r.Lane, Vector: s.vector, K: vectorsDeep})
		if err != nil {
			return nil, err
		}
		like = make(map[int64]float64, len(hits))
		for _, h := range hits {
			like[h.Chunk] = float64(h.Score)
		}
		if len(hits) > 0 {
			least = float64(hits[len(hits)-1].Score)
		}
		add(hits[:min(len(hits), searchDeep)])
		known = len(hits)
	}
	if r.Yield != nil {
		r.Yield()
	}
	hits, err := r.Keywords.SearchKeywords(r.ctx, backend.KeywordQuery{Part: s.src.Part, Text: s.asNote().text, K: searchDeep})
	if err != nil {
		return nil, err
	}
	add(hits)
	delete(scores, s.chunk)
	nums := make([]int64, 0, len(scores))
	for n := range scores {
		nums = append(nums, n)
	}
	slices.SortFunc(nums, func(a, b int64) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	rows, err := r.Store.Chunks(r.ctx, nums, r.now)
	if err != nil {
		return nil, err
	}
	var out []*statement
	full := 0 // compared by all deciders
	for _, row := range rows {
		if full == maxNear {
			break
		}
		n, err := r.candidate(s, row)
		if err != nil {
			return nil, err
		}
		if n != nil && (!n.aside || len(out) < maxNear) {
			if near, ok := like[row.Num]; ok {
				n.like = near
			} else {
				n.like = least
			}
			if !n.aside {
				full++
			}
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, asides)
	r.known = known
	standOut(told(out), crowd(known))
	if r.Judge == nil || len(out) == 0 {
		return out, nil
	}
	return out, r.context(append(slices.Clone(out), s))
}

// candidate returns the statement in a chunk, nil if s must not be compared with it: the chunk belongs to the same memory or to another
// person, or says nothing of the user. Memories that are both told and stored after s are left out, because their own comparison will reach s.
func (r *run) candidate(s *statement, row *backend.Hydrated) (*statement, error) {
	if row.Src.Num == s.src.Num || row.Src.Part != s.src.Part || row.Src.ID == s.src.ID {
		return nil, nil
	}
	doc, err := r.doc(row.Src)
	if err != nil {
		return nil, err
	}
	n := read(doc, row.Src, &row.Chunk)
	if n == nil || n.user != "" && s.user != "" && !strings.EqualFold(n.user, s.user) {
		return nil, nil
	}
	if n.after(s) && n.src.Num > s.src.Num {
		return nil, nil
	}
	n.aside = n.speaker != "" && s.speaker != "" && !strings.EqualFold(n.speaker, s.speaker)
	noted := s.asNote().note()
	if noted {
		if err := r.topic(n); err != nil {
			return nil, err
		}
	}
	if n.aside && !(noted && n.asNote().note()) {
		return nil, nil
	}
	return n, nil
}

// speaks returns the speaker of a chunk, empty if unknown.
func speaks(c *backend.Chunk) string {
	var x backend.RowExtra
	if len(c.Extra) == 0 || json.Unmarshal(c.Extra, &x) != nil {
		return ""
	}
	return x.Speaker
}

// context sets the text directly before each statement.
func (r *run) context(all []*statement) error {
	nums := make([]int64, len(all))
	for i, s := range all {
		nums[i] = s.chunk
	}
	stand, err := r.Graph.Neighbours(r.ctx, all[0].src.Part, nums)
	if err != nil {
		return err
	}
	var prev []int64
	of := map[int64][]*statement{}
	for i, n := range stand {
		if p := n.Prev[0]; n.Chunk != 0 && p != 0 {
			if of[p] == nil {
				prev = append(prev, p)
			}
			of[p] = append(of[p], all[i])
		}
	}
	rows, err := r.Store.Chunks(r.ctx, prev, r.now)
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, s := range of[row.Num] {
			s.before = short(row.Text)
		}
	}
	return nil
}

// short cuts a text to the length that is kept as evidence.
func short(s string) string {
	if len(s) > maxShort {
		s = strings.ToValidUTF8(s[:maxShort], "")
	}
	return s
}

// evenSpread is added to the standard deviation of inner products of unit vectors, so that no statement stands out among a few similar
// ones.
const evenSpread = 0.02

// crowded is the number of known statements from which on the twelve nearest are similar to each other.
const crowded = 48

// crowd returns the weight, 0 to 1, of a statement standing out among its neighbours. Among few known statements the neighbours are all
// that there is, and one always stands out. Among many the neighbours are similar to each other, so that standing out means something.
func crowd(known int) float64 {
	if known <= maxNear {
		return 0
	}
	return min(1, math.Log(float64(known)/maxNear)/math.Log(float64(crowded)/maxNear))
}

// standOut sets for each statement by how many standard deviations it is nearer than the others, times weight.
func standOut(near []*statement, weight float64) {
	n, mean, square := float64(len(near)), 0.0, 0.0
	for _, x := range near {
		mean += x.like / n
	}
	for _, x := range near {
		square += (x.like - mean) * (x.like - mean) / n
	}
	for _, x := range near {
		x.out = weight * (x.like - mean) / (math.Sqrt(square) + evenSpread)
	}
}
