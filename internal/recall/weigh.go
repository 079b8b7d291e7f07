package recall

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/item"
)

// Most successions are hints: they are too uncertain to order two memories by themselves. Four of ten with a confidence of .2 are right. Hints
// therefore count together with scores. A memory gains if it may supersede another, and loses if another may supersede it. Either counts more
// if the other memory fits the question better. The weights of scores are those of a conditional logit model (McFadden, 1974) of which
// memory answers. The weight of hints was selected on the same conversations; docs/recall.md names them.
const (
	weighOwn   = 8.4            // weight of a score as a share of the best score
	weighOwn2  = -2.4           // weight of the share's square
	weighHint  = 6              // weight of the root of the best hint's confidence, times the share of the other memory
	sharedHint = .8             // factor by which the share of an answer counts for its message
	wholeTalk  = .5             // value of rank.Answer.Talk from which on hints about a message apply to its answer in full
	answerLess = .75            // what logRepeats is on average, negated; an answer with a lower one loses value
	mostNamed  = 16             // memories that hints add to the hits
	oneSitting = 12 * time.Hour // uncertain hints between memories told within this time do not count: the later one mostly adds to the earlier
)

// weighed is a hit with the gains and losses by hints.
type weighed struct {
	*Hit
	share        float64 // score as a share of the best score
	own          bool    // see change.Own
	about        float64 // share that counts for hints: the greater of share and a part of the answer's
	gains, loses float64
	value        float64
	before       float64  // value before the reranker
	lifted       bool     // its value was raised because it answers a message with a higher value
	repeats      float64  // of an answer: see logRepeats; 0: it is no answer to a hit
	answer       *weighed // the answer to this message; nil: there is none among the hits
}

// weigh sorts the hits of one scope by their scores and hints, and adjusts the scores to the new order. It adds memories
// that a hint names and that were ranked behind the hits. It returns the hits of the scope and all hits.
func (s *succession) weigh(sc *scope, some, hits []*Hit) (_, _ []*Hit, err error) {
	if len(s.hints) == 0 {
		return some, hits, nil
	}
	fresh, err := s.named(sc, some)
	if err != nil {
		return nil, nil, err
	}
	some, hits = append(slices.Clone(some), fresh...), append(hits, fresh...)
	all := make([]weighed, len(some))
	of := map[int64][]*weighed{}
	reranked := false
	for i, h := range some {
		doc, err := s.Docs.Doc(h.Row.Src)
		if err != nil {
			return nil, nil, err
		}
		all[i] = weighed{Hit: h, own: change.Own(doc, &h.Row.Chunk)}
		of[h.Row.Src.Num] = append(of[h.Row.Src.Num], &all[i])
		reranked = reranked || h.Parts.Rerank != 0
	}
	talk := exchanges(sc, all)
	if s.happened {
		sc.hinted = s.hinted(of, all, talk)
	}
	if reranked {
		s.value(of, all, talk, func(h *Hit) float64 { return h.Score - h.Parts.Rerank })
		for i := range all {
			all[i].before, all[i].gains, all[i].loses, all[i].lifted = all[i].value, 0, 0, false
		}
	}
	if !s.value(of, all, talk, func(h *Hit) float64 { return h.Score }) {
		return some, hits, nil
	}
	if reranked {
		s.keepBehind(of, talk)
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Or(cmp.Compare(b.value, a.value), compareScores(a.Hit, b.Hit)) })
	for i, score := range inOrder(all) {
		h := all[i].Hit
		h.Parts.Succession += score - h.Score
		h.Score = score
		some[i] = h
	}
	return some, hits, nil
}

// value sets the values of the hits of a scope from their scores and hints. It reports whether there is a positive score.
func (s *succession) value(of map[int64][]*weighed, all []weighed, talk float64, score func(*Hit) float64) bool {
	top := 0.0
	for i := range all {
		top = max(top, score(all[i].Hit))
	}
	if top <= 0 {
		return false
	}
	for i := range all {
		all[i].share = max(0, score(all[i].Hit)/top)
	}
	for i := range all {
		x := &all[i]
		if x.about = x.share; x.answer != nil {
			x.about = max(x.share, sharedHint*min(1, talk/wholeTalk)*x.answer.share)
		}
	}
	for i := range s.hints {
		f := &s.hints[i]
		strength, certain := weighHint*math.Sqrt(f.Confidence), f.Confidence >= change.Shown
		for _, a := range of[f.Earlier] {
			for _, b := range of[f.Later] {
				if !s.counts(f, a, b) {
					continue
				}
				holds, other := s.holding(a, b)
				gains, loses := strength*other.about, strength*holds.about
				if certain { // it rises at most to the rank of the other memory
					gains = min(gains, max(0, valueOf(other.share)-valueOf(holds.share)))
				}
				holds.gains, other.loses = max(holds.gains, gains), max(other.loses, loses)
			}
		}
	}
	whole := min(1, talk/wholeTalk)
	for i := range all { // hints are about users' statements; an answer follows its message
		if m, a := &all[i], all[i].answer; a != nil {
			a.gains, a.loses = max(a.gains, whole*m.gains), max(a.loses, whole*m.loses)
		}
	}
	for i := range all {
		x := &all[i]
		x.value = valueOf(x.share) + x.gains - x.loses + talk*min(0, x.repeats+answerLess)
	}
	raiseAnswers(all, talk)
	return true
}

// counts reports whether a hint is about two hits and counts. An uncertain one does not where the question asks what happened. What the decider about notes
// found orders by itself or not at all; see tooWeak.
func (s *succession) counts(f *backend.Succession, a, b *weighed) bool {
	if change.OrdersByScores(f) {
		return false
	}
	if at := ordinalOf(a.Hit); f.EarlierChunk >= 0 && at >= 0 && f.EarlierChunk != at {
		return false
	}
	if at := ordinalOf(b.Hit); f.LaterChunk >= 0 && at >= 0 && f.LaterChunk != at {
		return false
	}
	if s.afterwards(b.Row.Src) && (s.askedOf.IsZero() || s.afterwards(a.Row.Src)) {
		return false
	}
	return f.Confidence >= change.Shown || !s.happened && a.own && b.own && item.StatedAt(b.Row.Src).Sub(item.StatedAt(a.Row.Src)) >= oneSitting
}

// holding returns which of two memories, of which b may supersede a, holds at the time that is asked for, and the other one.
func (s *succession) holding(a, b *weighed) (holds, other *weighed) {
	if s.afterwards(b.Row.Src) {
		return a, b
	}
	return b, a
}

// keepBehind keeps a memory, and the answer to it, behind a memory that may have superseded it if they were in this order before the reranker. A reranker reads
// each text on its own, so it rates what a memory is about, and not whether the memory still holds.
func (s *succession) keepBehind(of map[int64][]*weighed, talk float64) {
	for step, moved := 0, true; step < maxChain && moved; step++ { // a chain may be read in any order
		moved = false
		for i := range s.hints {
			f := &s.hints[i]
			for _, a := range of[f.Earlier] {
				for _, b := range of[f.Later] {
					if !s.counts(f, a, b) {
						continue
					}
					holds, other := s.holding(a, b)
					moved = other.stay(holds) || moved
					if other.answer != nil && talk >= wholeTalk {
						moved = other.answer.stay(holds) || moved
					}
				}
			}
		}
	}
}

// stay keeps x behind a memory that had the greater value before the reranker. It reports whether that moved x.
func (x *weighed) stay(behind *weighed) bool {
	if behind.before <= x.before || behind.value > x.value {
		return false
	}
	x.value = math.Nextafter(behind.value, math.Inf(-1))
	return true
}

// valueOf returns the value of a share of the best score, without hints.
func valueOf(share float64) float64 { return weighOwn*share + weighOwn2*share*share }

// inOrder returns descending scores for hits sorted by value. A hit that rose gets the score of the best hit that is now behind it. A hit that fell gets
// less than the hit that is now before it. Other hits keep their scores.
func inOrder(all []weighed) []float64 {
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

// exchanges sets the answer of each hit of a scope. It returns rank.Answer.Talk, the weight of exchanges.
func exchanges(sc *scope, all []weighed) (talk float64) {
	if talk = sc.answer.Talk(); talk == 0 {
		return 0
	}
	by := make(map[int64]*weighed, len(all))
	for i := range all {
		by[all[i].Row.Src.Num] = &all[i]
	}
	for i := range all {
		m := &all[i]
		if num := m.scope.answer.Answered(&m.ranked); num != 0 {
			if m.answer = by[num]; m.answer != nil {
				m.answer.repeats = logRepeats(m.Row.Text, m.answer.Row.Text)
			}
		}
	}
	return talk
}

// raiseAnswers raises the value of an answer to near the value of its message: values are logarithms of odds, and the answer repeats what the message tells, or
// adds to it, with the probability of logRepeats.
func raiseAnswers(all []weighed, talk float64) {
	for i := range all {
		if a := all[i].answer; a != nil {
			if v := all[i].value + a.repeats/talk; v > a.value {
				a.value, a.lifted = v, true
			}
		}
	}
}

// named returns hits of memories that hints name and that were ranked behind the hits.
func (s *succession) named(sc *scope, some []*Hit) ([]*Hit, error) {
	if s.res.Thinking && s.Reranker != nil || s.RecencyBias > 0 || s.Apps { // scores of hits and of ranked chunks are not comparable
		return nil, nil
	}
	want := map[int64]float64{}
	for _, h := range some {
		for i := range s.hints {
			switch f := &s.hints[i]; h.Row.Src.Num {
			case f.Earlier:
				want[f.Later] = max(want[f.Later], f.Confidence*h.Score)
			case f.Later:
				if s.afterwards(h.Row.Src) {
					want[f.Earlier] = max(want[f.Earlier], f.Confidence*h.Score)
				}
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

// behind returns hits of those memories in want that were ranked but not read. In chats that are stored message by message, it searches the whole ranking, since a
// message and its answer take two ranks, and orders the hits by how much they are wanted.
func (s *succession) behind(sc *scope, want map[int64]float64) (more []*Hit) {
	if sc.answer.Talk() == 0 {
		for i := range s.room {
			if h := &s.room[i]; h.Row == nil && h.scope == sc && want[h.ranked.Source] > 0 {
				more = append(more, h)
				delete(want, h.ranked.Source) // only the best chunk of each
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
