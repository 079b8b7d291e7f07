package rank

import (
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// Spread is the mean and the standard deviation of an embedder's scores of unrelated texts.
type Spread struct{ Mean, Std float64 }

// Parameters of fusion for an embedder with calibrated scores. The dense part of a candidate's score is then the number
// of standard deviations above unrelated texts, and not a share of the best score. The parameters were fitted with a
// multilingual transformer on conversations (turns, sessions, chats with an assistant, personas), abstracts and
// encyclopedic passages; docs/recall.md has the ablations.
const (
	calibratedMemory    = .6  // dense weight at DefaultAlpha
	calibratedKnowledge = .55 // the same for knowledge
	fullDeviations      = 3   // standard deviations above unrelated texts for a dense part of 1
	mostDense           = 1.3 // maximum of the dense part
	fullKeyword         = 3   // in memories, the best BM25 score from which on keywords have their whole weight
	fullKnowledge       = 4   // the same in knowledge
	foreignKeyword      = 1.5 // factor for a question in another language than English
	stemKeyword         = 2   // factor if the search also looks for stems
	priorRows           = 10  // number of rows as which the embedder's own spread counts
	listTail            = .5  // rank, as a share of the result list, from which the spread of a large partition is estimated
	softness            = .05
	sureFrom, sureSpan  = .65, .6
	sureMost            = .8 // maximal share of the context that is dropped if the best hits score much more than the next
	sureRank            = 10 // rank with which the best hit is compared
)

// contextWeights are the weights of a memory's context.
type contextWeights struct {
	near1, near2 float64 // neighbours in the session at distance 1 and 2
	reply        float64 // the memory before asks a question
	session      float64 // the session as one document
	sessionMax   float64 // the best memory of the session
	opening      float64 // the memory opens a session, where people tell their news
	first        float64 // it is in the first person, in which people tell about themselves
	second       float64 // it is in the second person; subtracted
	when         float64 // the question asks "when" and the memory names a time
	answer       float64 // factor for the words of an assistant, unless the question asks for these
	talk         float64 // weight of exchanges of short messages, which replace the rest of the context
	short        float64 // additional share of the context that counts if memories are short
}

// plainContext is for embedders that are not calibrated. It was fitted on conversations; see docs/recall.md, "Memories".
var plainContext = contextWeights{near1: .4, near2: .3, reply: .4, session: .5, sessionMax: .4, opening: .12, first: .2, second: .05, when: .3, answer: .6}

// calibratedContext is for calibrated embedders, whose scores need less help from the context.
var calibratedContext = contextWeights{near1: .26, near2: .195, reply: .234, session: .17, sessionMax: .208, opening: .078, first: .117, second: .033, when: .18, answer: .46, talk: 1, short: .2}

// fuseCalibrated adds up the keyword and the calibrated dense scores of the candidates.
func (q *work) fuseCalibrated(keyword float32) {
	at := q.spreadOfRows()
	q.denseFrom, q.perDense = at.Mean, 1/(fullDeviations*at.Std)
	share := 1 - q.w
	if q.w > 0 {
		full := float64(fullKnowledge)
		if q.req.Part.Class == backend.Memory {
			full = fullKeyword
		}
		q.lookup = q.lookupOf(keyword)
		share = (share + (1-share)*q.lookup) * math.Min(1, float64(keyword)/(full*q.asked.keywordScale()))
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

// semantic returns the dense part of a score.
func (q *work) semantic(dense float32) float64 {
	if q.Unrelated == nil {
		return q.perDense * float64(dense)
	}
	if dense <= 0 {
		return 0
	}
	return q.denseShare * math.Min(mostDense, softplus(q.perDense*(float64(dense)-q.denseFrom)))
}

// softplus is close to z for positive z, and close to 0 but positive for negative z (Dugas et al. 2001, at the scale softness). If no
// text scores more than unrelated ones, the order of dense scores therefore still counts.
func softplus(z float64) float64 {
	if z > 20*softness {
		return z
	}
	return softness * math.Log1p(math.Exp(math.Max(z, -30*softness)/softness))
}

// unrelated estimates the mean and the standard deviation of the question's scores of unrelated texts. In a small partition it
// uses the scores of all rows, in a large one two ranks of the result list, as quantiles of a normal distribution. The
// embedder's own spread counts as priorRows further rows.
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

// fromList estimates the spread from the last score of a result list and the one at listTail.
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

// quantile returns x such that a share p of the standard normal distribution lies above x.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*math.Min(p, .999)) }

// sureness returns the share of the context that counts. It is smaller if the best hits score much more than those that follow.
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
