package recall

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/fault"
)

// Without a judge the relevance of a hit is a logistic function of its own dense score: of how many standard deviations it
// stands above unrelated texts where the embedder is calibrated, else of the score itself. The numbers were fitted on the
// eight best hits of 240 questions to conversations of six people, of which a tenth answers; docs/recall.md has what they
// are worth.
const (
	relevantSlope, relevantHalf = .38, 7.9 // per standard deviation; where it is .5
	plainSlope, plainHalf       = 3.7, 1.0 // of embedders that are not calibrated

	judgedFast     = 3  // hits that the judge is asked about in fast mode
	judgedThinking = 10 // and in thinking mode
	// judgedBehind is how many hits behind one lend it their relevance. The order knows more than the judge, which sees a question and a text: what holds now often
	// shares nothing with the question that what held before answers.
	judgedBehind = 2
	judgeBudget  = 2 * time.Second
	judgedMost   = 50 // and where a least relevance is asked for
)

// relevance returns how likely a hit answers the question, as far as its scores tell.
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

// rate sets the relevance of hits by their scores.
func (r *run) rate(hits []*Hit) {
	for _, h := range hits {
		h.Relevance = r.relevance(h)
	}
}

// judge asks the judge how relevant the best hits are. Those behind them are not more relevant than the least of these.
func (r *run) judge(hits []*Hit) {
	n := judgedFast
	switch {
	case r.Judge == nil || len(hits) == 0:
		return
	case r.MinRelevance > 0:
		n = judgedMost
	case r.res.Thinking:
		n = judgedThinking
	}
	n = min(n, len(hits))
	texts := make([]string, n)
	for i := range texts {
		texts[i] = hits[i].Row.Text
	}
	ctx, cancel := context.WithDeadline(r.ctx, r.Now.Add(max(r.Budget, judgeBudget)))
	defer cancel()
	var probs []float64
	err := fault.Guard(func() (err error) {
		probs, err = r.Judge.Answers(ctx, r.Query, texts)
		return err
	})
	if err == nil && len(probs) != n {
		err = errors.New("another number of probabilities")
	}
	if err != nil {
		if r.ctx.Err() == nil {
			r.Logger.Warn("judging relevance failed", "err", err)
			r.warn("degraded", "MinRelevance", "the judge failed or was late: relevance is told by scores")
		}
		return
	}
	least := 1.0
	for i, p := range probs {
		probs[i] = math.Min(1, math.Max(0, p))
		least = min(least, probs[i])
	}
	for i, h := range hits[:n] {
		h.Relevance = slices.Max(probs[i:min(n, i+1+judgedBehind)])
	}
	for _, h := range hits[n:] {
		h.Relevance = min(h.Relevance, least)
	}
}

// relevant leaves out the hits that are not relevant enough.
func (r *run) relevant(hits []*Hit) []*Hit {
	if r.MinRelevance <= 0 {
		return hits
	}
	return slices.DeleteFunc(hits, func(h *Hit) bool { return h.Relevance < r.MinRelevance })
}
