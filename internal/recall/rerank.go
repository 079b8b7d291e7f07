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
	rerankMost  = 50  // texts passed to a Reranker
	rerankLocal = 20  // texts passed to a Multilingual Reranker, which runs on this machine
	rerankPart  = 4   // score difference for logits that differ by logitRange, as a multiple of the best score
	memoryPart  = .5  // the same for memories: a cross-encoder is trained on passages, the embedder on what people say
	logitRange  = 22  // cross-encoders trained on MS MARCO give logits from -11 to 11
	rerankTime  = 80  // per cent of the budget that a Reranker may take
	contextHits = 10  // best hits from whose scores the share of context is computed
	contextCost = 1.5 // decrease of the reranker's weight per share of context in the scores
	hopsCost    = 1.4 // factor by which shares of second hops, graph and expansion decrease it more
	leastOdds   = 1e-9
	beforeMost  = 400 // bytes of the preceding memory that a reranker reads with a memory
	sureMargin  = .2  // the best hit is sure if the second scores less by this share
)

// Multilingual is a Reranker that runs on this machine and reads only some languages. It gets only questions and texts in
// these languages. In mode auto it is also used in a fast recall if the order is not sure.
type Multilingual interface {
	// Languages returns the ISO 639-1 codes of the languages that the Reranker reads.
	Languages() []string
}

// rerankable returns the hits to pass to the Reranker, best first, or nil if it is not to be called.
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
	if rerankWeight(out) == 0 {
		return nil
	}
	return out
}

// rerankWeight returns the weight of a reranker, which scores each text on its own. The weight is smaller if more of the best scores comes from
// context or from hops over other texts. A turn of a conversation depends on the turns around it, and a passage after two hops answers
// only together with the passage before it.
func rerankWeight(hits []*Hit) float64 {
	share, n := 0.0, min(len(hits), contextHits)
	for _, h := range hits[:n] {
		hops := h.Parts.Bridge + h.Parts.Graph + h.Parts.Expansion
		share += (h.Parts.Context + hopsCost*hops) / math.Max(h.Score, 1e-9) / float64(n)
	}
	return math.Max(0, math.Min(rerankPart, 2*rerankPart*(1-contextCost*share)))
}

// readable reports whether a text is in one of the languages. A text whose language is not recognised, such as a name, is readable if
// it is in plain Latin letters and the languages include English.
func readable(languages []string, text string) bool {
	if l := language.Guess(text); l != "" {
		return slices.Contains(languages, l)
	}
	return slices.Contains(languages, "en") && language.PlainLatin(text)
}

// sure reports whether the best hit scores clearly more than the second.
func sure(hits []*Hit) bool {
	return len(hits) < 2 || hits[1].Score < (1-sureMargin)*hits[0].Score
}

// rerank adds the Reranker's scores to those of hits. If the Reranker fails or is late, rerank adds a warning and keeps the order. Its errors
// are those of the Store.
func (r *run) rerank(hits []*Hit) error {
	if hits = r.rerankable(hits); len(hits) == 0 {
		return nil
	}
	texts, err := r.rerankTexts(hits)
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

// rerankTexts returns the texts of hits for a Reranker. For a Multilingual one, it puts the end of the preceding memory of the session before the
// text of a memory, since a reply rarely repeats what it refers to.
func (r *run) rerankTexts(hits []*Hit) ([]string, error) {
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

// memory reports whether the hit is a chunk of a memory.
func (h *Hit) memory() bool { return h.Row.Src != nil && h.Row.Src.Part.Class == backend.Memory }

// lastWords returns the last words of a text that take at most n bytes.
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

// blend adds the Reranker's scores to those of hits. A Multilingual Reranker returns probabilities, whose logits are comparable between
// questions: if no text is an answer, they hardly differ and change little. For others only the order of scores is meaningful, so
// blend scales them to the range 0 to the best score.
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
	weight := rerankWeight(hits)
	for i, h := range hits {
		part := weight
		if h.memory() {
			part = min(weight, memoryPart)
		}
		h.Parts.Rerank = part * top * (scores[i] - mean) / logitRange
		h.Score += h.Parts.Rerank
	}
}
