package recall

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/judge"
)

// Without a judge the relevance of a hit is a logistic function of its dense score. If the embedder is calibrated, the
// argument is the number of standard deviations above unrelated texts, otherwise the score itself. The parameters were
// fitted on the eight best hits of 240 questions about conversations of six people. A tenth of these hits were answers.
// docs/recall.md has an evaluation.
const (
	relevantSlope, relevantHalf = .38, 7.9 // calibrated: slope per standard deviation, and where relevance is .5
	plainSlope, plainHalf       = 3.7, 1.0 // not calibrated: slope, and where relevance is .5

	judgedFast     = 3  // hits that the judge rates in fast mode
	judgedThinking = 10 // hits that it rates in thinking mode
	// judgedBehind is the number of following hits that count for the relevance of a hit. The judge sees only the question and one text, and the order
	// reflects more. For example, the current state often has no word of a question that the former state matches. behindShare is the share of their odds
	// that is added to the odds of the hit. If the hit took over the greatest of the three instead, one hit that the judge is wrong about would decide.
	// docs/recall.md compares the two.
	judgedBehind = 2
	behindShare  = .4
	judgeBudget  = 2 * time.Second
	hintedMost   = 6  // hits of which doubt rates judgedFast, or as many exchanges of two
	judgedMost   = 50 // hits that it rates if MinRelevance is set
)

// relevance estimates from the scores of a hit the probability that it answers the question.
func (r *run) relevance(h *Hit) float64 {
	p := h.Parts
	if p.RawDense == 0 {
		return 0
	}
	at := r.Ranker.Of(h.Row.Src.Part.Class).Unrelated
	if at == nil || r.Ranker.Fast != nil && !p.Refined {
		return logistic(plainSlope * (p.RawDense - plainHalf))
	}
	return logistic(relevantSlope * ((p.RawDense-at.Mean)/at.Std - relevantHalf))
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// rate sets the relevance of hits from their scores.
func (r *run) rate(hits []*Hit) {
	for _, h := range hits {
		h.Relevance = r.relevance(h)
	}
}

// judge lets the judge rate the best hits, in chats of short messages the best exchanges. It limits the relevance of the other hits to the least of these
// ratings. Its errors are those of the Store.
func (r *run) judge(hits []*Hit) error {
	n := judgedFast
	switch {
	case r.Judge == nil || len(hits) == 0:
		return nil
	case r.MinRelevance > 0:
		n = judgedMost
	case r.res.Thinking:
		n = judgedThinking
	}
	g, rated, err := r.rated(hits, n)
	if err != nil || rated == nil {
		return err
	}
	for i, k := range g.of {
		hits[i].Relevance = pooled(rated[k:min(len(rated), k+1+judgedBehind)], g.behind)
	}
	least := probability(slices.Min(rated))
	for _, h := range hits[len(g.of):] {
		h.Relevance = min(h.Relevance, least)
	}
	return r.doubt(hits)
}

// rated returns what the judge rates of the first hits, and the odds that it gives. odds is nil if the judge failed. The error is one of the Store.
func (r *run) rated(hits []*Hit, n int) (g *judged, odds []float64, err error) {
	if g, err = r.together(hits, n); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithDeadline(r.ctx, r.Now.Add(max(r.Budget, judgeBudget)))
	defer cancel()
	var probs []float64
	err = fault.Guard(func() (err error) {
		probs, err = judge.Rate(ctx, r.Judge, r.Query, g.texts)
		return err
	})
	if err == nil && len(probs) != len(g.texts) {
		err = errors.New("another number of probabilities")
	}
	if err != nil {
		if r.ctx.Err() == nil {
			r.Logger.Warn("judging relevance failed", "err", err)
			r.warn("degraded", "MinRelevance", "the judge failed or was late: relevance is told by scores")
		}
		return nil, nil, nil
	}
	return g, g.odds(probs), nil
}

// pooled returns the probability that a hit answers the question, from the odds that the judge gives it and the hits behind it. behind is the share of the
// odds of those.
func pooled(rated []float64, behind float64) float64 {
	sum := rated[0]
	for _, o := range rated[1:] {
		sum += behind * o
	}
	return probability(sum)
}

// odds returns the odds of a probability, +Inf for 1.
func odds(p float64) float64 {
	p = min(1, max(0, p))
	return p / (1 - p)
}

// probability returns the probability of odds.
func probability(odds float64) float64 {
	if math.IsInf(odds, 1) {
		return 1
	}
	return odds / (1 + odds)
}

// relevant removes the hits whose relevance is below MinRelevance.
func (r *run) relevant(hits []*Hit) []*Hit {
	if r.MinRelevance <= 0 {
		return hits
	}
	return slices.DeleteFunc(hits, func(h *Hit) bool { return h.Relevance < r.MinRelevance })
}
