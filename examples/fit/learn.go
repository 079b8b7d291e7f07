package main

import (
	"fmt"
	"math"
	"slices"
)

// numParts is the number of score parts that have weights. The rest of a score counts unweighted.
const numParts = 6

var partNames = [numParts]string{"semantic", "keyword", "context", "speaker", "time", "entity"}

type weights [numParts]float64

// today has the neutral weights, which leave scores unchanged.
var today = weights{1, 1, 1, 1, 1, 1}

// hit is a source that a recall found.
type hit struct {
	Grade float64           `json:"grade"` // 0: not relevant
	Score float64           `json:"score"`
	Parts [numParts]float64 `json:"parts"`
}

// score returns the score of the hit under the weights w.
func (h *hit) score(w *weights) float64 {
	s := h.Score
	for i, p := range h.Parts {
		s += (w[i] - 1) * p
	}
	return s
}

// question holds the hits found for one question.
type question struct {
	Set    string    `json:"set"`
	Lane   string    `json:"lane"`
	Grades []float64 `json:"grades"` // grades of all relevant sources, found or not
	Hits   []hit     `json:"hits"`
}

// measured holds metrics averaged over questions.
type measured struct {
	r1, r5, ndcg float64
	questions    int
}

// places is the number of ranks that count; hits below it count nothing.
const places = 10

func discount(place int) float64 { return 1 / math.Log2(float64(place)+2) }

// ideal returns the greatest possible sum of discounted grades.
func (q *question) ideal() float64 {
	g := slices.Clone(q.Grades)
	slices.SortFunc(g, func(a, b float64) int { return -compare(a, b) })
	s := 0.0
	for i, x := range g[:min(len(g), places)] {
		s += x * discount(i)
	}
	return s
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// order returns the indexes of the hits by score, best first. Ties keep the order of recall.
func (q *question) order(w *weights) []int {
	at := make([]int, len(q.Hits))
	scores := make([]float64, len(q.Hits))
	for i := range at {
		at[i], scores[i] = i, q.Hits[i].score(w)
	}
	slices.SortStableFunc(at, func(a, b int) int { return compare(scores[b], scores[a]) })
	return at
}

// measure returns the metrics of the order that the weights w give.
func measure(questions []question, w *weights) (m measured) {
	for i := range questions {
		q := &questions[i]
		relevant, sum := float64(len(q.Grades)), 0.0
		for place, at := range q.order(w) {
			g := q.Hits[at].Grade
			if g == 0 || place >= places {
				continue
			}
			sum += g * discount(place)
			if place < 1 {
				m.r1 += 1 / relevant
			}
			if place < 5 {
				m.r5 += 1 / relevant
			}
		}
		m.ndcg += sum / q.ideal()
		m.questions++
	}
	n := float64(max(1, m.questions))
	m.r1, m.r5, m.ndcg = m.r1/n, m.r5/n, m.ndcg/n
	return m
}

// Settings of learn.
const (
	steps    = 200
	rate     = .02
	softness = .1 // score difference that scales the logistic function
)

// learn finds weights by LambdaRank (Burges, 2010) with a linear score. Each pair of a better and a worse hit contributes a gradient
// proportional to the change in nDCG if they were exchanged. Sets count equally, whatever their number of questions. keep is the strength
// of the regularisation towards today. Each step of Adam (Kingma and Ba, 2015) uses all questions, so that the result is deterministic.
func learn(questions []question, keep float64) weights {
	share := map[string]float64{}
	for i := range questions {
		share[questions[i].Set]++
	}
	w := today
	var first, second weights // moments
	for step := 1; step <= steps; step++ {
		var slope weights
		for i := range questions {
			q := &questions[i]
			q.pull(&w, &slope, 1/(share[q.Set]*float64(len(share))))
		}
		for k := range w {
			g := slope[k] + 2*keep*(w[k]-1)
			first[k] = .9*first[k] + .1*g
			second[k] = .999*second[k] + .001*g*g
			a := first[k] / (1 - math.Pow(.9, float64(step)))
			b := second[k] / (1 - math.Pow(.999, float64(step)))
			w[k] = max(0, w[k]-rate*a/(math.Sqrt(b)+1e-8))
		}
	}
	return w
}

// pull adds the gradient of the question to slope.
func (q *question) pull(w, slope *weights, share float64) {
	order := q.order(w)
	scores := make([]float64, len(q.Hits))
	place := make([]int, len(q.Hits))
	for p, at := range order {
		scores[at], place[at] = q.Hits[at].score(w), p
	}
	ideal := q.ideal()
	for i := range q.Hits {
		for j := range q.Hits {
			gain := q.Hits[i].Grade - q.Hits[j].Grade
			if gain <= 0 {
				continue
			}
			change := math.Abs(gain*(worth(place[i])-worth(place[j]))) / ideal
			// The derivative of log(1+exp(-(s_i-s_j)/softness)).
			pull := -change * share / softness / (1 + math.Exp((scores[i]-scores[j])/softness))
			for k := range slope {
				slope[k] += pull * (q.Hits[i].Parts[k] - q.Hits[j].Parts[k])
			}
		}
	}
}

// worth returns the discount of a rank. Ranks after the last that counts keep a little, so that their hits still have a gradient.
func worth(place int) float64 {
	if place < places {
		return discount(place)
	}
	return discount(place) / 2
}

func lanesOf(questions []question) []string {
	var out []string
	for i := range questions {
		if !slices.Contains(out, questions[i].Lane) {
			out = append(out, questions[i].Lane)
		}
	}
	slices.Sort(out)
	return out
}

func inLane(questions []question, lane string) []question {
	return slices.DeleteFunc(slices.Clone(questions), func(q question) bool { return q.Lane != lane })
}

func inSet(questions []question, set string, in bool) []question {
	return slices.DeleteFunc(slices.Clone(questions), func(q question) bool { return (q.Set == set) != in })
}

// left has the metrics of one set under weights learnt on the other sets.
type left struct {
	lane, set     string
	before, after measured
	learnt        weights
}

func (l left) String() string {
	return fmt.Sprintf("%-9s %-20s n=%4d  R@1 %.3f -> %.3f (%+.3f)  R@5 %.3f -> %.3f (%+.3f)  nDCG %.3f -> %.3f (%+.3f)", l.lane, l.set, l.before.questions,
		l.before.r1, l.after.r1, l.after.r1-l.before.r1, l.before.r5, l.after.r5, l.after.r5-l.before.r5, l.before.ndcg, l.after.ndcg, l.after.ndcg-l.before.ndcg)
}

// leaveOneOut evaluates each set of a lane with weights learnt on the other sets.
func leaveOneOut(questions []question, keep float64) (out []left) {
	var sets []string
	for i := range questions {
		if !slices.Contains(sets, questions[i].Set) {
			sets = append(sets, questions[i].Set)
		}
	}
	if len(sets) < 2 {
		return nil
	}
	for _, set := range sets {
		l := left{lane: questions[0].Lane, set: set, learnt: learn(inSet(questions, set, false), keep)}
		judged := inSet(questions, set, true)
		l.before, l.after = measure(judged, &today), measure(judged, &l.learnt)
		out = append(out, l)
	}
	return out
}
