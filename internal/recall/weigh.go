package recall

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/item"
)

// Most successions are hints, too weak to order two memories by themselves: of ten that get a chance of .2, four are right. One hint decides nothing, but
// what a question finds first and what hints say of it decide together: a memory gains by what it may have taken the place
// of, and loses by what may have taken its place, as far as the other memory is about the question itself. The weights of the shares are those of a conditional logit
// model (McFadden, 1974) of which memory answers, that of hints was chosen among some on the same conversations; docs/recall.md says which.
const (
	weighOwn   = 8.4            // of the share of the best score
	weighOwn2  = -2.4           // of its square
	weighHint  = 6              // of the root of the best hint's confidence, times the share of the other memory
	sharedHint = .8             // of the share of an answer that counts as that of the message
	wholeTalk  = .5             // how much exchanges count from which hints are of the whole exchange
	answerLess = .75            // by which the answer to a message is worth less than that, over how much exchanges count
	mostNamed  = 16             // memories that hints add to the hits
	oneSitting = 12 * time.Hour // what is told within adds to what was said; hints to the contrary do not count
)

// standing is a hit with what hints say of it.
type standing struct {
	*Hit
	share        float64 // of the best score
	own          bool    // as change.Own
	about        float64 // the share by which hints count: the answer's too
	gains, loses float64
	value        float64
	lifted       bool      // it answers what stands higher
	answer       *standing // to the message; nil: none, or it is not among the hits
}

// weigh orders hits of one scope, the best first, by their scores and by hints, and lets the scores follow this order. It
// adds memories that a hint names and that stand behind the hits. It returns the hits of the scope and all hits.
func (s *succession) weigh(sc *scope, some, hits []*Hit) (_, _ []*Hit, err error) {
	if len(s.hints) == 0 {
		return some, hits, nil
	}
	fresh, err := s.named(sc, some)
	if err != nil {
		return nil, nil, err
	}
	some, hits = append(slices.Clone(some), fresh...), append(hits, fresh...)
	top := 0.0
	for _, h := range some {
		top = max(top, h.Score)
	}
	if top <= 0 {
		return some, hits, nil
	}
	all := make([]standing, len(some))
	of := map[int64][]*standing{}
	for i, h := range some {
		doc, err := s.Docs.Doc(h.Row.Src)
		if err != nil {
			return nil, nil, err
		}
		all[i] = standing{Hit: h, share: max(0, h.Score/top), own: change.Own(doc, &h.Row.Chunk)}
		of[h.Row.Src.Num] = append(of[h.Row.Src.Num], &all[i])
	}
	talk := exchanges(sc, all)
	for i := range s.hints {
		f := &s.hints[i]
		strength, certain := weighHint*math.Sqrt(f.Confidence), f.Confidence >= change.Shown
		for _, a := range of[f.Earlier] {
			if at := ordinalOf(a.Hit); f.EarlierChunk >= 0 && at >= 0 && f.EarlierChunk != at {
				continue
			}
			for _, b := range of[f.Later] {
				if at := ordinalOf(b.Hit); f.LaterChunk >= 0 && at >= 0 && f.LaterChunk != at || s.afterwards(b.Row.Src) || !certain && !(a.own && b.own && item.Told(b.Row.Src).Sub(item.Told(a.Row.Src)) >= oneSitting) {
					continue
				}
				gains, loses := strength*a.about, strength*b.about
				if certain { // it takes the place of the other, and no better one
					gains = min(gains, max(0, worth(a.share)-worth(b.share)))
				}
				b.gains, a.loses = max(b.gains, gains), max(a.loses, loses)
			}
		}
	}
	whole := min(1, talk/wholeTalk)
	for i := range all { // hints are of users' statements: the answer goes with its message
		if m, a := &all[i], all[i].answer; a != nil {
			a.gains, a.loses = max(a.gains, whole*m.gains), max(a.loses, whole*m.loses)
		}
	}
	for i := range all {
		x := &all[i]
		x.value = worth(x.share) + x.gains - x.loses
	}
	answered(all, talk)
	slices.SortStableFunc(all, func(a, b standing) int { return cmp.Or(cmp.Compare(b.value, a.value), compareScores(a.Hit, b.Hit)) })
	for i, score := range inOrder(all) {
		h := all[i].Hit
		h.Parts.Succession += score - h.Score
		h.Score = score
		some[i] = h
	}
	return some, hits, nil
}

// worth is the value of a share of the best score by itself.
func worth(share float64) float64 { return weighOwn*share + weighOwn2*share*share }

// inOrder returns the scores of hits in the order of their values: what was lifted gets the score of the best hit that it now stands before, what fell
// gets no more than the hit that it now stands behind, and the others keep theirs.
func inOrder(all []standing) []float64 {
	scores, best := make([]float64, len(all)), math.Inf(-1)
	for i := len(all) - 1; i >= 0; i-- {
		scores[i], best = all[i].Score, max(best, all[i].Score)
		if all[i].gains > 0 || all[i].lifted {
			scores[i] = best
		}
	}
	for i := 1; i < len(scores); i++ {
		if scores[i] >= scores[i-1] {
			scores[i] = math.Nextafter(scores[i-1], math.Inf(-1))
		}
	}
	return scores
}

// exchanges finds the answers to messages among the hits of a scope, and sets by which share hints count. It returns how much exchanges count.
func exchanges(sc *scope, all []standing) (talk float64) {
	for i := range all {
		all[i].about = all[i].share
	}
	if talk = sc.answer.Talk(); talk == 0 {
		return 0
	}
	by := make(map[int64]*standing, len(all))
	for i := range all {
		by[all[i].Row.Src.Num] = &all[i]
	}
	for i := range all {
		m := &all[i]
		if num := m.scope.answer.Answered(&m.ranked); num != 0 {
			if m.answer = by[num]; m.answer != nil {
				m.about = max(m.share, sharedHint*min(1, talk/wholeTalk)*m.answer.share)
			}
		}
	}
	return talk
}

// answered lets what the assistant answered follow what it answered: it takes that up, or says of it what is asked for.
func answered(all []standing, talk float64) {
	for i := range all {
		if a := all[i].answer; a != nil {
			if v := all[i].value - answerLess/talk; v > a.value {
				a.value, a.lifted = v, true
			}
		}
	}
}

// named returns memories that hints name and that were ranked, but stand behind the hits.
func (s *succession) named(sc *scope, some []*Hit) ([]*Hit, error) {
	if s.res.Thinking && s.Reranker != nil || s.RecencyBias > 0 || s.Apps { // their scores are of another kind
		return nil, nil
	}
	want := map[int64]float64{}
	for _, h := range some {
		for i := range s.hints {
			if f := &s.hints[i]; f.Earlier == h.Row.Src.Num {
				want[f.Later] = max(want[f.Later], f.Confidence*h.Score)
			}
		}
	}
	for _, h := range some {
		delete(want, h.Row.Src.Num)
	}
	if len(want) == 0 {
		return nil, nil
	}
	more := s.behind(sc, want)
	more, err := s.run.read(more[:min(len(more), mostNamed)], nil)
	if err != nil {
		return nil, err
	}
	more = slices.DeleteFunc(more, func(h *Hit) bool { return s.afterwards(h.Row.Src) || math.IsNaN(h.Score) })
	for _, h := range more {
		p := partsOf(sc.answer.Parts(&h.ranked))
		h.Parts = &p
	}
	s.rate(more)
	return more, nil
}

// behind returns hits of the memories in want that were ranked and not read. In chats that are stored message by message they are looked for as far as the ranking
// goes, those that are wanted most first: a message and its answer take two places, and what replaced either stands further behind.
func (s *succession) behind(sc *scope, want map[int64]float64) (more []*Hit) {
	if sc.answer.Talk() == 0 {
		for i := range s.room {
			if h := &s.room[i]; h.Row == nil && h.scope == sc && want[h.ranked.Source] > 0 {
				more = append(more, h)
				delete(want, h.ranked.Source) // the best chunk of each
			}
		}
		return more
	}
	nums := slices.Sorted(maps.Keys(want))
	for _, x := range sc.answer.Of(nums) {
		more = append(more, &Hit{Score: x.Score * sc.Weight, ranked: x, scope: sc})
	}
	slices.SortFunc(more, func(a, b *Hit) int {
		return cmp.Or(cmp.Compare(want[b.ranked.Source], want[a.ranked.Source]), compareScores(a, b))
	})
	return more
}
