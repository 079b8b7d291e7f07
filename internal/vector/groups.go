package vector

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// groupFrom is the number of lists from which on the lists are grouped.
	groupFrom = 512
	// groupsLooked is the number of groups whose lists are compared with a row. With 2,000 lists in
	// 44 groups that is a quarter of the lists, and finds the nearest list for 97 of 100 texts.
	groupsLooked = 8
)

// groups is a two-level codebook: it groups neighbouring centroids, and has about as many groups as
// a group has centroids. To find the list of a row, it searches only the nearest groups.
type groups struct {
	book   *codebook
	coarse *codebook // centres of the groups; nil: there is only one group
	starts []int     // first list of each group, and the number of lists at the end
}

// newGroups groups the centroids of a codebook, and changes their order for that.
func newGroups(book *codebook, workers int, r *rand.Rand, check func() error) (*groups, error) {
	lists := len(book.scales)
	if lists < groupFrom {
		return &groups{book: book}, nil
	}
	centroids, v := newSample(book.dim, lists), make([]float32, book.dim)
	for i := range lists {
		book.get(i, v)
		centroids.set(i, v)
	}
	coarse, err := train(centroids, int(math.Sqrt(float64(lists))), workers, r, check)
	if err != nil {
		return nil, err
	}
	owner := make([]int, lists)
	if err := (&groups{book: coarse}).own(centroids, owner, workers, check); err != nil {
		return nil, err
	}
	g := &groups{book: newCodebook(book.dim, lists), coarse: coarse, starts: make([]int, len(coarse.scales)+1)}
	for _, group := range owner {
		g.starts[group+1]++
	}
	for i := range coarse.scales {
		g.starts[i+1] += g.starts[i]
	}
	next := slices.Clone(g.starts)
	for i, group := range owner {
		g.book.copyFrom(next[group], book, i)
		next[group]++
	}
	return g, nil
}

// nearest returns a list whose centroid c is among the nearest to v, and mostly the nearest. score is
// <v,c> - |c|²/2.
func (g *groups) nearest(p *prober, v []float32) (list int, score float32) {
	scale, bias := quantiseQuery(p.q8, v)
	return g.search(p, scale, bias)
}

// search is nearest for the vector quantised in p.q8 with scale and bias.
func (g *groups) search(p *prober, scale float32, bias int32) (list int, score float32) {
	if g.coarse == nil {
		return g.book.search(p, scale, bias)
	}
	p.near.reset(groupsLooked)
	g.coarse.rank(p, scale, bias)
	score = negInf
	for _, h := range p.near.hits {
		list, score = g.book.searchIn(p, scale, bias, g.starts[h.Row], g.starts[h.Row+1], list, score)
	}
	return list, score
}

// own sets owner to the list that nearest returns for each row of the sample.
func (g *groups) own(sample *sample, owner []int, workers int, check func() error) error {
	for at := 0; at < len(owner); at += batchRows {
		if err := check(); err != nil {
			return err
		}
		parallel(min(batchRows, len(owner)-at), workers, func(from, to int) {
			p := newProber(g.book.dim)
			for i := at + from; i < at+to; i++ {
				owner[i], _ = g.search(p, sample.scales[i], sample.query(i, p.q8))
			}
		})
	}
	return nil
}
