package recall

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/language"
)

const (
	rerankMost  = 50  // texts that a reranker is given
	rerankLocal = 20  // texts that one is given that says which languages it reads: such a one computes here
	rerankPart  = 4   // of the best score, for logits that lie logitRange apart
	memoryPart  = .5  // the same in memories, whose embedders have learnt how people tell things; a cross-encoder knows passages
	logitRange  = 22  // of the cross-encoders that were trained on MS MARCO: from -11 to 11
	rerankTime  = 80  // per cent of the budget, after which the others' turn comes
	contextHits = 10  // hits whose scores tell how much context counts
	contextCost = 1.5 // of its share of the score, in what the reranker counts less
	hopsCost    = 1.4 // times as much as that, of the share of what led to a text over others
	leastOdds   = 1e-9
	beforeMost  = 400 // bytes of what was said before a memory that a reranker reads with it
	sureMargin  = .2  // of the best score, by which it must stand out to be sure
)

// Multilingual is a Reranker that reads some languages only, and says so: it is asked about questions and texts in these
// alone, and in mode auto too where the order is not sure.
type Multilingual interface {
	// Languages are ISO 639-1 codes.
	Languages() []string
}

// rerankable returns the hits that the Reranker is asked about, the best first; nil: it is not asked.
func (r *run) rerankable(hits []*Hit) []*Hit {
	m, ok := r.Reranker.(Multilingual)
	if !ok {
		if r.res.Thinking {
			return hits[:min(len(hits), rerankMost)]
		}
		return nil
	}
	if !r.res.Thinking && (r.Mode != Auto || sure(hits)) {
		return nil
	}
	reads := m.Languages()
	if !readable(reads, r.Query) {
		return nil
	}
	var out []*Hit
	for _, h := range hits[:min(len(hits), rerankLocal)] {
		if readable(reads, h.Row.Text) {
			out = append(out, h)
		}
	}
	if alone(out) == 0 {
		return nil
	}
	return out
}

// alone returns the weight of what is said of texts without what stands around them: the less, the more of the best scores is context or came over
// other texts. A turn of a conversation means what the turns around it say, and a passage at the end of two hops answers with the one before it.
func alone(hits []*Hit) float64 {
	share, n := 0.0, min(len(hits), contextHits)
	for _, h := range hits[:n] {
		hops := h.Parts.Bridge + h.Parts.Graph + h.Parts.Expansion
		share += (h.Parts.Context + hopsCost*hops) / math.Max(h.Score, 1e-9) / float64(n)
	}
	return math.Max(0, math.Min(rerankPart, 2*rerankPart*(1-contextCost*share)))
}

// readable reports whether a text is in one of some languages. What has letters of the Latin alphabet alone and tells no language,
// such as a name, can be read by those that have English.
func readable(languages []string, text string) bool {
	if l := language.Guess(text); l != "" {
		return slices.Contains(languages, l)
	}
	return slices.Contains(languages, "en") && language.PlainLatin(text)
}

// sure reports whether the best hit stands out from the one behind it.
func sure(hits []*Hit) bool {
	return len(hits) < 2 || hits[1].Score < (1-sureMargin)*hits[0].Score
}

// rerank asks the Reranker for new scores. One that fails or is late leaves the order as it was; the errors are those of the Store.
func (r *run) rerank(hits []*Hit) error {
	if hits = r.rerankable(hits); len(hits) == 0 {
		return nil
	}
	texts, err := r.told(hits)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithDeadline(r.ctx, r.Now.Add(r.Budget*rerankTime/100))
	defer cancel()
	var scores []float64
	err = fault.Guard(func() (err error) {
		scores, err = r.Reranker.Rerank(ctx, r.Query, texts)
		return err
	})
	if err == nil && len(scores) != len(texts) {
		err = errors.New("another number of scores")
	}
	if err != nil {
		r.Logger.Warn("reranking failed", "err", err)
		r.warn("degraded", "Mode", "the reranker failed or was late: its order was left out")
		return nil
	}
	r.blend(hits, scores)
	return nil
}

// told returns what a Reranker reads of hits: their texts and, where it computes here, before that of a memory the end of what was said before it in its
// session, in the same languages. A reply means what it replies to, and says it rarely.
func (r *run) told(hits []*Hit) ([]string, error) {
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = h.Row.Text
	}
	m, ok := r.Reranker.(Multilingual)
	if !ok {
		return texts, nil
	}
	var nums []int64
	before := make([]int64, len(hits))
	for i, h := range hits {
		if h.scope != nil && h.memory() {
			if before[i] = h.scope.answer.Before(&h.ranked); before[i] != 0 {
				nums = append(nums, before[i])
			}
		}
	}
	if len(nums) == 0 {
		return texts, nil
	}
	slices.Sort(nums)
	rows, err := r.Store.Chunks(r.ctx, slices.Compact(nums), r.Now)
	if err != nil {
		return nil, err
	}
	for i, chunk := range before {
		at, there := slices.BinarySearchFunc(rows, chunk, func(row *backend.Hydrated, chunk int64) int { return cmp.Compare(row.Num, chunk) })
		if there && readable(m.Languages(), rows[at].Text) {
			texts[i] = lastWords(rows[at].Text, beforeMost) + "\n" + texts[i]
		}
	}
	return texts, nil
}

// memory reports whether the hit is one.
func (h *Hit) memory() bool { return h.Row.Src != nil && h.Row.Src.Part.Class == backend.Memory }

// lastWords returns the end of a text, whole words of at most n bytes.
func lastWords(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	if _, rest, cut := strings.Cut(text, " "); cut {
		return rest
	}
	return ""
}

// blend adds what the reranker says to the scores. One that computes here gives probabilities, whose logits mean the same for every
// question: where no text answers, they hardly differ and change little. Of others only the order of their scores is
// known, so they are stretched over the range of the best score.
func (r *run) blend(hits []*Hit, scores []float64) {
	lo, hi := slices.Min(scores), slices.Max(scores)
	if hi == lo || math.IsNaN(hi) || math.IsNaN(lo) || math.IsInf(hi-lo, 0) {
		return
	}
	top := hits[0].Score
	if _, ok := r.Reranker.(Multilingual); !ok || lo < 0 || hi > 1 {
		for i, h := range hits {
			h.Parts.Rerank = top * (scores[i] - lo) / (hi - lo)
			h.Score += h.Parts.Rerank
		}
		return
	}
	mean := 0.0
	for i, p := range scores {
		p = min(max(p, leastOdds), 1-leastOdds)
		scores[i] = math.Log(p / (1 - p))
		mean += scores[i] / float64(len(scores))
	}
	weight := alone(hits)
	for i, h := range hits {
		part := weight
		if h.memory() {
			part = min(weight, memoryPart)
		}
		h.Parts.Rerank = part * top * (scores[i] - mean) / logitRange
		h.Score += h.Parts.Rerank
	}
}
