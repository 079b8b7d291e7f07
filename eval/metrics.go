package eval

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"text/tabwriter"
	"time"
)

// score computes the metrics of distinct document ids, best first.
func (a *Answer) score(ids []string, rel map[string]float64) {
	found, dcg := 0, 0.0
	for i, id := range ids {
		g, ok := rel[id]
		if ok {
			found++
			if i < 10 {
				dcg += g / math.Log2(float64(i)+2)
				if a.MRR == 0 {
					a.MRR = 1 / float64(i+1)
				}
			}
		}
		for d, depth := range Depths {
			if i < depth {
				a.Recall[d] = float64(found) / float64(len(rel))
			}
		}
	}
	var gains []float64
	for _, g := range rel {
		gains = append(gains, g)
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(gains)))
	ideal := 0.0
	for i, g := range gains[:min(10, len(gains))] {
		ideal += g / math.Log2(float64(i)+2)
	}
	if ideal > 0 {
		a.NDCG = dcg / ideal
	}
}

// share returns which share of the relevant documents is among ids.
func share(ids []string, rel map[string]float64) float64 {
	found := 0
	for id := range rel {
		if slices.Contains(ids, id) {
			found++
		}
	}
	return float64(found) / float64(len(rel))
}

// Metric is a named number of an answer.
type Metric struct {
	Name string
	Of   func(a *Answer) float64
}

// Metrics lists the metrics of a report.
var Metrics = []Metric{
	{"R@1", func(a *Answer) float64 { return a.Recall[0] }},
	{"R@2", func(a *Answer) float64 { return a.Recall[1] }},
	{"R@5", func(a *Answer) float64 { return a.Recall[2] }},
	{"R@10", func(a *Answer) float64 { return a.Recall[3] }},
	{"nDCG@10", func(a *Answer) float64 { return a.NDCG }},
	{"MRR@10", func(a *Answer) float64 { return a.MRR }},
	{"R@10+I", func(a *Answer) float64 { return a.Returned }},
}

// Estimate is a mean with a 95 % confidence interval.
type Estimate struct{ Mean, Low, High float64 }

const resamples = 1000

// Mean estimates a metric over the questions, with a percentile bootstrap (Efron,
// 1979; 1000 resamples, fixed seed).
func (r *Report) Mean(m Metric) Estimate {
	xs := make([]float64, len(r.Answers))
	for i := range r.Answers {
		xs[i] = m.Of(&r.Answers[i])
	}
	return bootstrap(xs)
}

func bootstrap(xs []float64) Estimate {
	if len(xs) == 0 {
		return Estimate{}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	mean := func(pick func(i int) int) float64 {
		s := 0.0
		for i := range xs {
			s += xs[pick(i)]
		}
		return s / float64(len(xs))
	}
	means := make([]float64, resamples)
	for k := range means {
		means[k] = mean(func(int) int { return rng.IntN(len(xs)) })
	}
	slices.Sort(means)
	return Estimate{mean(func(i int) int { return i }), means[resamples*25/1000], means[resamples*975/1000-1]}
}

// Percentile returns the p-quantile of the latency, p in [0,1].
func (r *Report) Percentile(p float64) time.Duration {
	ls := make([]time.Duration, len(r.Answers))
	for i, a := range r.Answers {
		ls[i] = a.Latency
	}
	if len(ls) == 0 {
		return 0
	}
	slices.Sort(ls)
	return ls[min(len(ls)-1, int(p*float64(len(ls))))]
}

// Difference compares a metric of two runs over the same questions.
type Difference struct {
	Metric string
	Estimate
	P float64 // two-sided paired randomisation test (Fisher, 1935), 10000 sign flips, fixed seed
}

// Compare compares b with a, question by question; questions that only one of them has are left out.
func Compare(a, b *Report) []Difference {
	by := map[string]*Answer{}
	for i := range a.Answers {
		by[a.Answers[i].Query] = &a.Answers[i]
	}
	var out []Difference
	for _, m := range Metrics {
		var ds []float64
		for i := range b.Answers {
			if x := by[b.Answers[i].Query]; x != nil {
				ds = append(ds, m.Of(&b.Answers[i])-m.Of(x))
			}
		}
		d := Difference{Metric: m.Name, Estimate: bootstrap(ds), P: 1}
		rng := rand.New(rand.NewPCG(3, 4))
		extreme, flips := 0, 10000
		observed := math.Abs(d.Mean) * float64(len(ds))
		for range flips {
			s := 0.0
			for _, x := range ds {
				if rng.Uint64()&1 == 0 {
					s += x
				} else {
					s -= x
				}
			}
			if math.Abs(s) >= observed-1e-12 {
				extreme++
			}
		}
		d.P = float64(extreme+1) / float64(flips+1)
		out = append(out, d)
	}
	return out
}

// Print writes the report as a table, with a row per category when asked.
func (r *Report) Print(w io.Writer, categories bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tquestions", r.Set)
	for _, m := range Metrics {
		fmt.Fprintf(t, "\t%s", m.Name)
	}
	fmt.Fprintln(t)
	row := func(name string, x *Report) {
		fmt.Fprintf(t, "%s\t%d", name, len(x.Answers))
		for _, m := range Metrics {
			e := x.Mean(m)
			fmt.Fprintf(t, "\t%.3f [%.3f %.3f]", e.Mean, e.Low, e.High)
		}
		fmt.Fprintln(t)
	}
	row("all", r)
	if categories {
		cats := map[string]*Report{}
		var names []string
		for _, a := range r.Answers {
			if cats[a.Category] == nil {
				cats[a.Category] = &Report{}
				names = append(names, a.Category)
			}
			cats[a.Category].Answers = append(cats[a.Category].Answers, a)
		}
		slices.Sort(names)
		for _, n := range names {
			row("  "+n, cats[n])
		}
	}
	chars := 0
	for _, a := range r.Answers {
		chars += a.Chars
	}
	if n := len(r.Answers); n > 0 {
		fmt.Fprintf(t, "latency p50 %v, p99 %v; context %d characters a question; %d documents in %v\n",
			r.Percentile(.5).Round(time.Microsecond), r.Percentile(.99).Round(time.Microsecond), chars/n, r.Docs, r.Fill.Round(time.Millisecond))
	}
	return t.Flush()
}
