package neural

import (
	"context"
	"encoding/json"
	"errors"
	"math"
)

// Pair is a query and a document that answers it, for [Calibrate].
type Pair struct {
	Query, Document string
	// Group is the set that the pair is compared within, for instance its language. The documents of the other pairs of the group are the
	// unrelated ones. All groups have equal weight.
	Group string
	// Topic is the subject of the pair: documents of the same topic do not count as unrelated.
	Topic string
}

// minPairs is the least number of pairs in a group.
const minPairs = 8

// Calibrate measures the calibration of e on pairs. Every group needs at least eight pairs and two topics. A few hundred pairs that
// resemble the stored texts and the questions are enough.
func Calibrate(ctx context.Context, e *Embedder, pairs []Pair) (*Calibration, error) {
	groups, err := e.measure(ctx, pairs)
	if err != nil {
		return nil, err
	}
	c := &Calibration{QueryMean: make([]float32, e.Dim()), DocumentMean: make([]float32, e.Dim())}
	for _, g := range groups {
		addMean(c.QueryMean, g.queries, len(groups))
		addMean(c.DocumentMean, g.documents, len(groups))
	}
	var related, unrelated spread
	for _, g := range groups {
		center(g.queries, c.QueryMean)
		center(g.documents, c.DocumentMean)
		r, u := g.scores()
		related.join(r, len(groups))
		unrelated.join(u, len(groups))
	}
	c.RelatedMean, c.RelatedStd = related.moments()
	c.UnrelatedMean, c.UnrelatedStd = unrelated.moments()
	if !(c.RelatedStd > 0 && c.UnrelatedStd > 0 && c.RelatedMean > c.UnrelatedMean) {
		return nil, errors.New("neural: the pairs score no higher than others: the model or the pairs are of no use")
	}
	return c, nil
}

// EncodeCalibration writes c as the contents of a [CalibrationFile].
func EncodeCalibration(c *Calibration) ([]byte, error) {
	return json.Marshal(calibrationFile{
		QueryMean: c.QueryMean, DocumentMean: c.DocumentMean,
		UnrelatedMean: c.UnrelatedMean, UnrelatedStd: c.UnrelatedStd, RelatedMean: c.RelatedMean, RelatedStd: c.RelatedStd,
	})
}

// group holds the vectors of one group's pairs.
type group struct {
	queries, documents [][]float32
	topics             []string
}

// measure embeds pairs and returns the groups in the order of their first pairs.
func (e *Embedder) measure(ctx context.Context, pairs []Pair) ([]*group, error) {
	var groups []*group
	byName := map[string]*group{}
	for _, p := range pairs {
		g := byName[p.Group]
		if g == nil {
			g = &group{}
			byName[p.Group], groups = g, append(groups, g)
		}
		q, err := e.embed(ctx, e.set.queryPrefix, []string{p.Query})
		if err != nil {
			return nil, err
		}
		d, err := e.embed(ctx, e.set.documentPrefix, []string{p.Document})
		if err != nil {
			return nil, err
		}
		g.queries, g.documents, g.topics = append(g.queries, q[0]), append(g.documents, d[0]), append(g.topics, p.Topic)
	}
	for _, g := range groups {
		others := false
		for _, t := range g.topics {
			others = others || t != g.topics[0]
		}
		if len(g.topics) < minPairs || !others {
			return nil, errors.New("neural: every group needs eight pairs in two topics")
		}
	}
	if len(groups) == 0 {
		return nil, errors.New("neural: no pairs")
	}
	return groups, nil
}

// addMean adds the mean of vs, divided by parts, to mean.
func addMean(mean []float32, vs [][]float32, parts int) {
	for _, v := range vs {
		for i, x := range v {
			mean[i] += x / float32(len(vs)*parts)
		}
	}
}

// center subtracts mean from every vector and gives it unit length.
func center(vs [][]float32, mean []float32) {
	for _, v := range vs {
		for i := range v {
			v[i] -= mean[i]
		}
		normalise(v)
	}
}

// scores returns the distribution of the scores of related pairs, and that of every query with the documents of other topics.
func (g *group) scores() (related, unrelated spread) {
	for i, q := range g.queries {
		for k, d := range g.documents {
			switch {
			case i == k:
				related.add(inner(q, d), 1)
			case g.topics[i] != g.topics[k]:
				unrelated.add(inner(q, d), 1)
			}
		}
	}
	return related, unrelated
}

func inner(a, b []float32) float64 {
	var s float64
	for i, x := range a {
		s += float64(x) * float64(b[i])
	}
	return s
}

// spread holds weighted sums of numbers and of their squares.
type spread struct{ weight, sum, squares float64 }

func (s *spread) add(x, weight float64) {
	s.weight += weight
	s.sum += weight * x
	s.squares += weight * x * x
}

// join adds the numbers of o to s; together they weigh 1/parts.
func (s *spread) join(o spread, parts int) {
	f := 1 / (o.weight * float64(parts))
	s.weight += o.weight * f
	s.sum += o.sum * f
	s.squares += o.squares * f
}

// moments returns mean and standard deviation.
func (s *spread) moments() (mean, std float32) {
	m := s.sum / s.weight
	return float32(m), float32(math.Sqrt(max(0, s.squares/s.weight-m*m)))
}
