package rank

import (
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// Spread is the location and the spread of the scores that an embedder gives to texts that have nothing to do with each other.
type Spread struct{ Mean, Std float64 }

// Fusion of an embedder whose scores are calibrated: the dense part of a candidate is how many standard deviations it
// stands above unrelated texts, not its share of the best. The numbers were fitted on conversations (turns, sessions,
// chats with an assistant, personas) and on abstracts and encyclopedic passages with a multilingual transformer;
// docs/recall.md has what each is worth.
const (
	calibratedMemory    = .6  // dense weight at DefaultAlpha
	calibratedKnowledge = .55 // the same
	fullDeviations      = 3   // standard deviations above unrelated texts that count in full
	mostDense           = 1.3 // of a full score, for what stands far out
	fullKeyword         = 3   // the best BM25 score from which keywords get their whole weight, of memories
	fullKnowledge       = 4   // the same of knowledge
	foreignKeyword      = 1.5 // times as much of a question in another language than English
	stemKeyword         = 2   // times as much where stems are looked for beside the words
	priorRows           = 10  // rows that the embedder's own spread counts as
	listTail            = .5  // the place in a list of the best from which the spread of a large partition is estimated
	softness            = .05
	sureFrom, sureSpan  = .65, .6
	sureMost            = .8 // of the context falls away when the best hits stand out
	sureRank            = 10 // the place that the best is compared with
)

// contextWeights weigh what stands around a memory.
type contextWeights struct {
	near1, near2 float64 // the nearest neighbours in the session, and those after them
	reply        float64 // the memory before asks a question
	session      float64 // the session as one document
	sessionMax   float64 // the best memory of the session
	opening      float64 // the memory opens a session: people begin with their news
	first        float64 // it speaks in the first person: people tell of themselves
	second       float64 // it speaks to the other; subtracted
	when         float64 // the question asks "when" and the memory names a time
	answer       float64 // factor of what an assistant said, unless the question asks for it
	talk         float64 // how much exchanges of short messages count instead of the rest of the context
	short        float64 // how much more of the context counts where memories are short
}

// plainContext goes with embedders whose scores only order texts. It was fitted on conversations; see docs/recall.md, "Memories".
var plainContext = contextWeights{near1: .4, near2: .3, reply: .4, session: .5, sessionMax: .4, opening: .12, first: .2, second: .05, when: .3, answer: .6}

// calibratedContext goes with calibrated embedders, whose own score says more.
var calibratedContext = contextWeights{near1: .26, near2: .195, reply: .234, session: .17, sessionMax: .208, opening: .078, first: .117, second: .033, when: .18, answer: .46, talk: 1, short: .2}

// fuseCalibrated sums up the scores of the searches by what they mean.
func (q *work) fuseCalibrated(keyword float32) {
	at := q.spreadOfRows()
	q.denseFrom, q.perDense = at.Mean, 1/(fullDeviations*at.Std)
	share := 1 - q.w
	if q.w > 0 {
		full := float64(fullKnowledge)
		if q.req.Part.Class == backend.Memory {
			full = fullKeyword
		}
		share *= math.Min(1, float64(keyword)/(full*q.asked.keywordScale()))
	}
	if keyword > 0 {
		q.perKeyword = share / float64(keyword)
	}
	q.denseShare = 1 - share
	if q.w == 0 {
		q.denseShare = 0
	}
	for i := range q.rows {
		r, c := &q.rows[i], &q.cand[i]
		c.s0 = q.perKeyword*float64(r.Keyword) + q.semantic(r.Dense)
		c.Score = c.s0
	}
	q.near = q.sureness()
}

// semantic is the dense part of a score.
func (q *work) semantic(dense float32) float64 {
	if q.Unrelated == nil {
		return q.perDense * float64(dense)
	}
	if dense <= 0 {
		return 0
	}
	return q.denseShare * math.Min(mostDense, softplus(q.perDense*(float64(dense)-q.denseFrom)))
}

// softplus is about z for what is above unrelated texts and close to nothing below, but never nothing: where no text is near, the
// nearest ones are still found in their order (Dugas et al. 2001, at the scale softness).
func softplus(z float64) float64 {
	if z > 20*softness {
		return z
	}
	return softness * math.Log1p(math.Exp(math.Max(z, -30*softness)/softness))
}

// unrelated estimates the distribution of the question's scores for texts that have nothing to do with it: from all rows of a
// small partition, from two places in the list of the best of a large one, as quantiles of a normal distribution. The
// spread that the embedder states counts as a few rows more.
func (q *work) unrelated() Spread {
	prior := *q.Unrelated
	scores := make([]float64, 0, len(q.rows))
	for i := range q.rows {
		if d := q.rows[i].Dense; d > 0 {
			scores = append(scores, float64(d))
		}
	}
	n := float64(len(scores))
	if n == 0 {
		return prior
	}
	if !q.whole && q.docs > surveyMost {
		return q.fromList(scores)
	}
	mean, square := 0.0, 0.0
	for _, s := range scores {
		mean += s / n
	}
	for _, s := range scores {
		square += (s - mean) * (s - mean) / n
	}
	shift := mean - prior.Mean
	m := (n*mean + priorRows*prior.Mean) / (n + priorRows)
	v := (n*square + priorRows*prior.Std*prior.Std + n*priorRows/(n+priorRows)*shift*shift*priorRows/(n+priorRows)) / (n + priorRows)
	return Spread{m, math.Max(math.Sqrt(v), prior.Std/3)}
}

// fromList estimates the spread from the last place of a list of the best and the one halfway to it.
func (q *work) fromList(scores []float64) Spread {
	slices.Sort(scores)
	n, docs := len(scores), float64(q.docs)
	far, near := quantile(float64(n)/docs), quantile(listTail*float64(n)/docs)
	low, high := scores[0], scores[n-max(1, int(listTail*float64(n)))]
	std := q.Unrelated.Std
	if near > far && high > low {
		std = math.Max(q.Unrelated.Std/2, math.Min(2*q.Unrelated.Std, (high-low)/(near-far)))
	}
	return Spread{low - far*std, std}
}

// quantile is how many standard deviations above the mean the share p of a normal distribution lies.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*math.Min(p, .999)) }

// sureness is the share of the context that counts: less, the further the best hits stand out from those that follow.
func (q *work) sureness() float64 {
	var top [sureRank + 1]float64 // highest first
	for i := range q.rows {
		z := q.perDense * (float64(q.rows[i].Dense) - q.denseFrom)
		for k := range top {
			if z > top[k] {
				z, top[k] = top[k], z
			}
		}
	}
	gap := top[0] - top[sureRank]
	return 1 - sureMost*math.Min(1, math.Max(0, (gap-sureFrom)/sureSpan))
}
