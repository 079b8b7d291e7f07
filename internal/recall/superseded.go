package recall

import (
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/rank"
)

// Superseded is what a recall does with memories that another took the place of.
type Superseded uint8

// What a recall does with superseded memories.
const (
	Demote Superseded = iota // they hand their scores to what took their places, and stand behind it
	Mark                     // they stay where they are
	Drop                     // as Demote, and those that are shown as superseded are left out
)

const (
	maxChain   = 8    // steps from a memory to what holds in its place
	maxHeirs   = 4    // memories that one hands its score to
	plainSlack = 0.1  // see slack
	standBelow = 0.02 // share of the score of what took its place by which a memory stands below it, at least
)

// Supersession says what took the place of a hit.
type Supersession struct {
	By         *backend.Source
	Confidence float64
	Retracts   bool
	Matter     string
	Evidence   string
	Decider    string
}

// link is a succession whose later side the caller may see.
type link struct {
	*backend.Succession
	row  *backend.Hydrated // of the later side
	acts bool              // the question is about what no longer holds
}

// succession is what a recall knows of successions.
type succession struct {
	*run
	part  backend.Partition
	links map[int64][]link     // by the earlier version, the most certain first
	hints []backend.Succession // of the hits, whatever their confidence
	known map[int64]bool       // versions whose links were read, once there are any
}

// succeed marks hits that were superseded and lets what took their places stand before them.
func (r *run) succeed(hits []*Hit) (_ []*Hit, err error) {
	for i := range r.scopes { // in an order that does not change
		sc := &r.scopes[i]
		if sc.Part.Class != backend.Memory || slices.ContainsFunc(r.scopes[:i], func(o scope) bool { return o.Part == sc.Part }) {
			continue
		}
		r.nums = r.nums[:0]
		for _, h := range hits {
			if num := h.Row.Src.Num; h.Row.Src.Part == sc.Part && !slices.Contains(r.nums, num) {
				r.nums = append(r.nums, num)
			}
		}
		if len(r.nums) == 0 {
			continue
		}
		s := succession{run: r, part: sc.Part}
		if err := s.read(r.nums); err != nil {
			return nil, err
		}
		if len(s.hints) == 0 {
			continue
		}
		var some []*Hit
		for _, h := range hits {
			if h.Row.Src.Part == sc.Part {
				some = append(some, h)
			}
		}
		s.mark(some)
		if r.Superseded == Mark || asksOfPast(r.Query) {
			continue
		}
		if some, hits, err = s.weigh(sc, some, hits); err != nil {
			return nil, err
		}
		if len(s.links) > 0 {
			hits = s.hand(sc, some, hits)
		}
	}
	if r.Superseded == Drop {
		for _, h := range hits {
			if h.SupersededBy != nil {
				r.reject(h, WhySuperseded)
			}
		}
		hits = slices.DeleteFunc(hits, func(h *Hit) bool { return h.SupersededBy != nil })
	}
	return hits, nil
}

// asOf lets memories that were told by the moment that the request asks for stand before those that were told later, in the
// order that they have among each other.
func (r *run) asOf(hits []*Hit) {
	least, top := math.Inf(1), 0.0
	after := 0
	for _, h := range hits {
		if r.afterwards(h.Row.Src) {
			after++
			top = max(top, h.Score)
		} else {
			least = min(least, h.Score)
		}
	}
	if after == 0 || after == len(hits) || top <= least || least <= 0 {
		return
	}
	for _, h := range hits {
		if r.afterwards(h.Row.Src) {
			to := h.Score / top * least * (1 - standBelow)
			h.Parts.Succession += to - h.Score
			h.Score = to
		}
	}
}

// read reads the successions of the versions of hits, and those of what took their places.
func (s *succession) read(ask []int64) error {
	for step := 0; step < maxChain && len(ask) > 0; step++ {
		found, err := s.Store.Successions(s.ctx, backend.SuccessionQuery{Part: s.part, Earlier: ask})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		if step == 0 { // most memories hold
			s.links, s.known = map[int64][]link{}, map[int64]bool{}
			for _, num := range ask {
				s.known[num] = true
			}
		}
		if step == 0 {
			s.hints = slices.Clone(found)
		}
		if found = slices.DeleteFunc(found, func(f backend.Succession) bool { return f.Confidence <= change.Orders }); len(found) == 0 {
			break
		}
		rows, err := s.rows(found)
		if err != nil {
			return err
		}
		ask = nil
		for i := range found {
			f := &found[i]
			row := rows[f.Later]
			if row == nil {
				continue
			}
			s.links[f.Earlier] = append(s.links[f.Earlier], link{f, row, change.Concerns(f.Extra, s.Model, s.vector(), s.slack())})
			if !s.known[f.Later] {
				s.known[f.Later] = true
				ask = append(ask, f.Later)
			}
		}
	}
	for _, l := range s.links {
		slices.SortStableFunc(l, func(a, b link) int {
			if a.Confidence != b.Confidence {
				if a.Confidence > b.Confidence {
					return -1
				}
				return 1
			}
			return -item.Told(a.row.Src).Compare(item.Told(b.row.Src))
		})
	}
	return nil
}

// rows returns the rows of the later sides that the caller may see, by version.
func (s *succession) rows(found []backend.Succession) (map[int64]*backend.Hydrated, error) {
	out := map[int64]*backend.Hydrated{}
	of := map[int64]int64{}
	var nums []int64
	for i := range found {
		f := &found[i]
		if _, asked := out[f.Later]; asked {
			continue
		}
		out[f.Later] = nil
		at := max(f.LaterChunk, 0)
		chunks, err := s.Store.SourceChunks(s.ctx, f.Later, at, at+1, false)
		if err != nil {
			return nil, err
		}
		if len(chunks) > 0 {
			nums = append(nums, chunks[0].Num)
			of[chunks[0].Num] = f.Later
		}
	}
	rows, err := s.Store.Chunks(s.ctx, nums, s.Now)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Src.Part == s.part && s.allows(row.Src) && !s.afterwards(row.Src) {
			out[of[row.Num]] = row
		}
	}
	return out, nil
}

// ordinalOf returns which chunk of its memory a hit is, -1 for what was inferred: successions name the chunk that it was inferred from, which is not kept with it.
func ordinalOf(h *Hit) int {
	if pipeline.IsInferred(h.Row.Layout) {
		return -1
	}
	return h.Row.Ordinal
}

// of returns the successions of a chunk.
func (s *succession) of(src int64, ordinal int) []link {
	all := s.links[src]
	for i := range all {
		if all[i].EarlierChunk >= 0 && ordinal >= 0 && all[i].EarlierChunk != ordinal {
			return slices.DeleteFunc(slices.Clone(all), func(l link) bool { return l.EarlierChunk >= 0 && l.EarlierChunk != ordinal })
		}
	}
	return all
}

// acts reports whether something holds in place of a chunk, as far as the question goes.
func (s *succession) acts(src int64, ordinal int) bool {
	return slices.ContainsFunc(s.of(src, ordinal), func(l link) bool { return l.acts })
}

// vector returns the vector of the question, nil where there is none.
func (s *succession) vector() []float32 {
	if s.DenseOff || s.question == nil {
		return nil
	}
	v, err := s.question.Vector(s.ctx)
	if err != nil {
		return nil
	}
	return v
}

// slack is by how much the rest of a memory may be nearer to the question than what no longer holds: less would lose what was
// superseded, more what still holds. It is about a standard deviation of the scores of unrelated texts, chosen on
// conversations with labels.
func (s *succession) slack() float64 {
	if at := s.Ranker.Of(backend.Memory).Unrelated; at != nil {
		return at.Std
	}
	return plainSlack
}

// mark says of hits what took their places.
func (s *succession) mark(hits []*Hit) {
	for _, h := range hits {
		if l := s.of(h.Row.Src.Num, ordinalOf(h)); len(l) > 0 && l[0].Confidence >= change.Shown {
			h.SupersededBy = &Supersession{By: l[0].row.Src, Confidence: l[0].Confidence, Retracts: l[0].Retracts, Matter: l[0].Matter,
				Evidence: l[0].Evidence, Decider: l[0].Decider}
		}
	}
}

// heirs returns what holds in place of a chunk now, over any number of steps.
func (s *succession) heirs(src int64, ordinal int) (out []*backend.Hydrated) {
	seen := map[int64]bool{src: true}
	type step struct {
		src     int64
		ordinal int
		depth   int
	}
	for line := []step{{src, ordinal, 0}}; len(line) > 0 && len(out) < maxHeirs; line = line[1:] {
		at := line[0]
		for _, l := range s.of(at.src, at.ordinal) {
			if seen[l.Later] || !l.acts {
				continue
			}
			seen[l.Later] = true
			if at.depth+1 < maxChain && s.acts(l.Later, l.row.Ordinal) {
				line = append(line, step{l.Later, l.row.Ordinal, at.depth + 1})
			} else if len(out) < maxHeirs {
				out = append(out, l.row)
			}
		}
	}
	return out
}

// hand lets what holds now take the scores of hits that it took the place of. some are the hits of a scope, the best first.
func (s *succession) hand(sc *scope, some, hits []*Hit) []*Hit {
	best := map[int64]*Hit{} // by version
	for _, h := range hits {
		if b := best[h.Row.Src.Num]; h.Row.Src.Part == s.part && (b == nil || h.Score > b.Score) {
			best[h.Row.Src.Num] = h
		}
	}
	for _, h := range some {
		heirs := s.heirs(h.Row.Src.Num, ordinalOf(h))
		score := h.Score
		for _, row := range heirs {
			heir := best[row.Src.Num]
			if heir == nil {
				heir = &Hit{Row: row, Parts: &Parts{}, scope: sc, ranked: rank.Scored{Chunk: row.Num, Source: row.Src.Num}}
				best[row.Src.Num] = heir
				hits = append(hits, heir)
				s.mark([]*Hit{heir})
			}
			if heir.Score < score {
				heir.Parts.Succession += score - heir.Score
				heir.Score = score
			}
			heir.Relevance = max(heir.Relevance, h.Relevance) // a judge may know better
			if below := heir.Score * (1 - standBelow); h.Score > below {
				h.Parts.Succession -= h.Score - below
				h.Score = below
			}
		}
	}
	return hits
}
