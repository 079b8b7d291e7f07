package recall

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/rank"
)

// Superseded says what a recall does with superseded memories.
type Superseded uint8

// Ways to treat superseded memories.
const (
	Demote Superseded = iota // superseding memories take over their scores and come before them
	Mark                     // they keep their scores
	Drop                     // like Demote, and memories of which no part holds are left out
)

const (
	maxChain      = 8    // maximal number of steps from a memory to the current one
	maxSuccessors = 4    // maximal number of memories that take over the score of one
	plainSlack    = 0.1  // slack of embedders that are not calibrated
	standBelow    = 0.02 // least distance of a memory's score below that of the superseding one, as a share of the latter
)

// Supersession describes the memory that supersedes a hit.
type Supersession struct {
	By         *backend.Source
	Confidence float64
	Retracts   bool
	Matter     string
	Evidence   string
	Decider    string
	Partly     bool // see facts.Supersession
}

// Shown returns what a result says of the memory: what superseded it and, unless that is only about a part, until when it held and whether it was taken back.
func (s *Supersession) Shown() (by *facts.Supersession, until time.Time, retracted bool) {
	if s == nil {
		return nil, time.Time{}, false
	}
	at := item.StatedAt(s.By)
	by = &facts.Supersession{ID: s.By.ID, Time: at, Confidence: s.Confidence, Matter: s.Matter, Evidence: s.Evidence, Decider: s.Decider, Partly: s.Partly}
	if s.Partly {
		return by, time.Time{}, false
	}
	return by, at, s.Retracts
}

// link is a succession whose later memory the caller may see.
type link struct {
	*backend.Succession
	row  *backend.Hydrated // chunk of the later memory
	acts bool              // the question is about the part of the earlier memory that no longer holds
}

// succession holds the successions that concern the hits of a partition.
type succession struct {
	*run
	part     backend.Partition
	links    map[int64][]link     // by earlier version, in descending order of confidence
	hints    []backend.Succession // successions of the hits of any confidence
	pieces   []backend.Succession // successions of the hits that ended a part of them, whatever the question is about
	known    map[int64]bool       // versions whose links were read; nil if there are no successions
	asked    *change.Asked        // what the question asks about; nil: not read yet
	happened bool                 // the question asks what happened: see asksWhatHappened
	hits     []*Hit
	texts    map[int64]string // texts of the hits by version; nil: not read yet
}

// succeed marks superseded hits, and puts the superseding memories before them.
func (r *run) succeed(hits []*Hit) (_ []*Hit, err error) {
	past := asksOfPast(r.Query)
	for i := range r.scopes { // in a fixed order
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
		s := succession{run: r, part: sc.Part, hits: hits}
		if err := s.read(r.nums); err != nil {
			return nil, err
		}
		if (past || !r.askedOf.IsZero()) && r.Superseded != Mark {
			if hits, err = s.handBack(sc, r.nums, hits); err != nil {
				return nil, err
			}
		}
		if !r.askedOf.IsZero() {
			if err := s.readBack(r.nums); err != nil {
				return nil, err
			}
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
		if err := s.mark(some); err != nil {
			return nil, err
		}
		if r.Superseded == Mark || past || asksOfStart(r.Query) {
			continue
		}
		s.happened = r.heldAt().IsZero() && asksWhatHappened(r.Query) && readable([]string{"en"}, r.Query)
		if some, hits, err = s.weigh(sc, some, hits); err != nil {
			return nil, err
		}
		if len(s.links) > 0 {
			if hits, err = s.transferScores(sc, some, hits); err != nil {
				return nil, err
			}
		}
	}
	if r.Superseded == Drop {
		hits = r.drop(hits)
	}
	return hits, nil
}

// asOf puts memories told by AsOf before those told later. It does not change the order within the two groups.
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

// toldLater marks the memories that were told after AsOf. It warns if none of the memories was told by then: the best hit of such a result may be
// about a state that began later.
func (r *run) toldLater(hits []*Hit) {
	if r.AsOf.IsZero() {
		return
	}
	memories, later := 0, 0
	for _, h := range hits {
		if h.scope.Part.Class == backend.Memory {
			memories++
		}
		if h.ToldLater = r.afterwards(h.Row.Src); h.ToldLater {
			later++
		}
	}
	if later > 0 && later == memories {
		r.warn("told_later", "AsOf", "no memory that was told by %s matches: those in the result were told later, and what they say may not have been true then", r.AsOf.UTC().Format(time.RFC3339))
	}
}

// read reads the successions of the versions in ask, and of the memories that supersede them, up to maxChain steps.
func (s *succession) read(ask []int64) error {
	for step := 0; step < maxChain && len(ask) > 0; step++ {
		found, err := s.Store.Successions(s.ctx, backend.SuccessionQuery{Part: s.part, Earlier: ask})
		if err != nil {
			return err
		}
		for _, f := range found {
			if step == 0 && isPiece(f) {
				s.pieces = append(s.pieces, f)
			}
		}
		if found = s.concerned(found); len(found) == 0 {
			break
		}
		if step == 0 { // allocated only now, since most memories have no succession
			s.links, s.known = map[int64][]link{}, map[int64]bool{}
			for _, num := range ask {
				s.known[num] = true
			}
		}
		if step == 0 {
			s.hints = slices.Clone(found)
		}
		if found = slices.DeleteFunc(found, s.tooWeak); len(found) == 0 {
			break
		}
		ends := make([]end, len(found))
		for i, f := range found {
			ends[i] = end{f.Later, f.LaterChunk}
		}
		rows, err := s.rows(ends)
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
			return -item.StatedAt(a.row.Src).Compare(item.StatedAt(b.row.Src))
		})
	}
	return nil
}

// concerned returns the successions that are not about other matters than the question alone: those that name other matters, and those of rules
// about memories in which the question names what stands beside the part that no longer holds.
func (s *succession) concerned(found []backend.Succession) []backend.Succession {
	if len(found) > 0 && s.asked == nil {
		asked := change.Ask(s.Slots, s.Query)
		s.asked, s.texts = &asked, make(map[int64]string, len(s.hits))
		for _, h := range s.hits {
			if num := h.Row.Src.Num; s.texts[num] == "" {
				s.texts[num] = h.Row.Text
			}
		}
	}
	return slices.DeleteFunc(found, func(f backend.Succession) bool {
		return s.asked.Elsewhere(f.Extra) || strings.HasPrefix(f.Decider, "rules: ") && s.asked.Beside(s.texts[f.Earlier], f.Matter)
	})
}

// tooWeak reports whether a succession does not order its two memories by itself. One of notes does if its confidence and the scores together say so.
func (s *succession) tooWeak(f backend.Succession) bool {
	if !change.OrdersByScores(&f) {
		return f.Confidence <= change.Orders
	}
	var earlier, later float64
	for _, h := range s.hits {
		switch h.Row.Src.Num {
		case f.Earlier:
			earlier = max(earlier, h.Score)
		case f.Later:
			later = max(later, h.Score)
		}
	}
	share := 0.0
	if earlier > 0 {
		share = later / earlier
	}
	return !change.Before(&f, share)
}

// end is a memory on one side of a succession, with the ordinal of the chunk that the succession is about; -1: the whole memory.
type end struct {
	src     int64
	ordinal int
}

// rows returns, by version, the rows of those ends that the caller may see. Of several ends of one version the first counts.
func (s *succession) rows(ends []end) (map[int64]*backend.Hydrated, error) {
	out := map[int64]*backend.Hydrated{}
	of := map[int64]int64{}
	var nums []int64
	for _, e := range ends {
		if _, asked := out[e.src]; asked {
			continue
		}
		out[e.src] = nil
		at := max(e.ordinal, 0)
		chunks, err := s.Store.SourceChunks(s.ctx, e.src, at, at+1, false)
		if err != nil {
			return nil, err
		}
		if len(chunks) > 0 {
			nums = append(nums, chunks[0].Num)
			of[chunks[0].Num] = e.src
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

// ordinalOf returns the ordinal of a hit's chunk in its memory. For an inferred statement it returns -1: successions name the chunk from which a statement
// was inferred, and the statement does not record that chunk.
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

// acts reports whether a chunk has a link that concerns the question.
func (s *succession) acts(src int64, ordinal int) bool {
	return slices.ContainsFunc(s.of(src, ordinal), func(l link) bool { return l.acts })
}

// vector returns the vector of the question, or nil if there is none.
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

// slack bounds the similarity of the question to the rest of a memory minus its similarity to the part that no longer
// holds. A link acts if the difference is at most slack. A smaller value would miss superseded parts, a greater one would
// demote parts that still hold. It is a standard deviation of the scores of unrelated texts, chosen on labelled conversations.
func (s *succession) slack() float64 {
	if at := s.Ranker.Of(backend.Memory).Unrelated; at != nil {
		return at.Std
	}
	return plainSlack
}

// successors returns the current memories that supersede a chunk, over up to maxChain steps.
func (s *succession) successors(src int64, ordinal int) (out []*backend.Hydrated) {
	seen := map[int64]bool{src: true}
	type step struct {
		src     int64
		ordinal int
		depth   int
	}
	for line := []step{{src, ordinal, 0}}; len(line) > 0 && len(out) < maxSuccessors; line = line[1:] {
		at := line[0]
		for _, l := range s.of(at.src, at.ordinal) {
			if seen[l.Later] || !l.acts {
				continue
			}
			seen[l.Later] = true
			if at.depth+1 < maxChain && s.acts(l.Later, l.row.Ordinal) {
				line = append(line, step{l.Later, l.row.Ordinal, at.depth + 1})
			} else if len(out) < maxSuccessors {
				out = append(out, l.row)
			}
		}
	}
	return out
}

// transferScores gives superseding memories at least the scores of the hits that they supersede, and puts these just below. some are
// the hits of a scope, best first.
func (s *succession) transferScores(sc *scope, some, hits []*Hit) ([]*Hit, error) {
	best := s.bestOf(hits)
	for _, h := range some {
		successors := s.successors(h.Row.Src.Num, ordinalOf(h))
		score := h.Score
		for _, row := range successors {
			successor := best[row.Src.Num]
			if successor == nil {
				successor = &Hit{Row: row, Parts: &Parts{}, scope: sc, ranked: rank.Scored{Chunk: row.Num, Source: row.Src.Num}}
				best[row.Src.Num] = successor
				hits = append(hits, successor)
				if err := s.mark([]*Hit{successor}); err != nil {
					return nil, err
				}
			}
			successor.raise(score)
			successor.Relevance = max(successor.Relevance, h.Relevance) // a judge may change it later
			h.lower(successor.Score * (1 - standBelow))
		}
	}
	return hits, nil
}

// bestOf returns the best hit of each version of the scope.
func (s *succession) bestOf(hits []*Hit) map[int64]*Hit {
	best := map[int64]*Hit{}
	for _, h := range hits {
		if b := best[h.Row.Src.Num]; h.Row.Src.Part == s.part && (b == nil || h.Score > b.Score) {
			best[h.Row.Src.Num] = h
		}
	}
	return best
}

// raise makes to the least score of h.
func (h *Hit) raise(to float64) { h.shift(max(0, to-h.Score)) }

// lower makes to the greatest score of h.
func (h *Hit) lower(to float64) { h.shift(min(0, to-h.Score)) }

// shift adds to the score of h what successions give or take.
func (h *Hit) shift(by float64) {
	h.Parts.Succession += by
	h.Score += by
}
