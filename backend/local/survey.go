package local

import (
	"context"
	"math/bits"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/vector"
)

var _ backend.Surveyor = (*index)(nil)

// maxSurveyWaste times q.Most is the greatest number of rows that a survey reads. Rows of
// dropped sources count until a merge removes them.
const maxSurveyWaste = 8

// Survey describes a small partition; see [backend.Surveyor].
func (x *index) Survey(ctx context.Context, q backend.SurveyQuery, s *backend.Survey) (ok bool, err error) {
	need := needOf(q.Filter)
	if q.Part.Class == backend.Memory {
		need |= facetRows | facetSessions
	}
	lacks := false
	look := func(p *partition) error {
		if p.liveN > q.Most || p.live.Len() > maxSurveyWaste*q.Most {
			return nil
		}
		if lacks = !p.has(need); lacks {
			return nil
		}
		ok = true
		return p.survey(ctx, &q, x.parseOr(lexical.Parser{FirstPerson: q.Part.Class == backend.Memory}, q.Text), s)
	}
	if err = x.read(ctx, q.Part, 0, look); lacks && err == nil { // the first read builds no facets, so that none are built for a partition that is too large
		err = x.read(ctx, q.Part, need, look)
	}
	if ok && err == nil && q.Vector != nil && q.Lane != 0 {
		err = x.surveyLane(ctx, &q, s)
	}
	return ok && err == nil, err
}

func (p *partition) survey(ctx context.Context, q *backend.SurveyQuery, parsed *lexical.Query, s *backend.Survey) error {
	rows, sc := p.accept(q.Filter)
	defer sc.release()
	g := gatherings.Get().(*gathered)
	defer g.release()
	count := lexical.Counts{DF: g.df[:0]}
	g.views = p.views(g.views, rows)
	g.keyword = zeroed(g.keyword, p.live.Len())
	err := lexical.Score(ctx, g.keyword, parsed, g.views, &count)
	if err != nil {
		return err
	}
	g.df = count.DF
	g.dense = zeroed(g.dense, p.live.Len())
	if q.Vector != nil && q.Lane == 0 {
		if err := p.scoreVectors(ctx, q.Vector, rows, g); err != nil {
			return err
		}
	}
	s.Speakers, s.Terms, s.Docs, s.AvgTerms = p.names, termInfos(s.Terms[:0], parsed, &count), count.Docs, average(&count)
	return p.surveyRows(rows, s, g)
}

// zeroed returns n zeros, in the memory of s if its capacity is enough.
func zeroed(s []float32, n int) []float32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// surveyRows lists the rows of a set with their scores.
func (p *partition) surveyRows(rows *bitset.Set, s *backend.Survey, g *gathered) error {
	here, place, columns, memory := slices.Grow(s.Rows[:0], p.liveN)[:p.liveN], int32(0), p.has(facetColumns), p.class == backend.Memory
	clear(here)
	keyword, dense := g.keyword, g.dense[:len(g.keyword)]
	g.beside = g.beside[:0]
	for i, w := range rows.Words() {
		for ; w != 0; w &= w - 1 {
			row := uint32(i*64 + bits.TrailingZeros64(w))
			r := &here[place]
			place++
			if !columns {
				hit, err := p.hit(found{row: row})
				if err != nil {
					return err
				}
				*r = backend.Surveyed{Chunk: hit.Chunk, Source: hit.Source, Keyword: keyword[row], Dense: dense[row]}
				continue
			}
			from := p.of[row]
			r.Chunk, r.Source, r.Keyword, r.Dense = p.chunk[row], p.sourceNum[from], keyword[row], dense[row]
			if !memory {
				continue
			}
			in := &p.sources[from]
			r.Time, r.Speaker, r.Marks = backend.Micros(in.time), int32(p.speaker[row]), backend.Marks(p.flags[row])
			session := p.link(from).session
			if session != none {
				r.Session = p.number(session)
			}
			if session != none || in.rows > 1 {
				g.beside = append(g.beside, besideRow{row, place})
			}
		}
	}
	s.Rows = here[:place]
	if len(g.beside) == 0 {
		return nil
	}
	at := g.places(rows)
	for _, x := range g.beside {
		p.beside(x.row, at, &here[x.place-1].NeighbourPlaces)
	}
	return nil
}

// besideRow is a row and its place in a survey, counted from 1.
type besideRow struct {
	row   uint32
	place int32
}

// places returns for each row its place in a survey of the set, counted from 1, or 0 when the row is not in the set.
func (g *gathered) places(rows *bitset.Set) []int32 {
	n := rows.Len()
	g.at = slices.Grow(g.at[:0], n)[:n]
	clear(g.at)
	place := int32(0)
	for i, w := range rows.Words() {
		for ; w != 0; w &= w - 1 {
			place++
			g.at[i*64+bits.TrailingZeros64(w)] = place
		}
	}
	return g.at
}

// beside sets the neighbours of a row in b; at has the places of rows in the survey, counted from 1.
func (p *partition) beside(row uint32, at []int32, b *backend.NeighbourPlaces) {
	prev, next := p.neighbours(row)
	if prev[0] == none && next[0] != none {
		b.Marks |= backend.MarkOpens
	}
	for i := range 2 {
		if prev[i] != none {
			b.Prev[i] = at[prev[i]]
		}
		if next[i] != none {
			b.Next[i] = at[next[i]]
		}
	}
}

// scoreVectors sets g.dense to the scores of rows for the vector v.
func (p *partition) scoreVectors(ctx context.Context, v []float32, rows *bitset.Set, g *gathered) error {
	var err error
	if g.parts, err = p.partsFor(g.parts, v); err != nil {
		return err
	}
	for i, part := range g.parts {
		g.query = vector.Query{Vector: v, K: part.search.Len(), Accept: part.accept(p, rows, g.set(i)), AnyOrder: true}
		if g.near, err = part.search.Search(ctx, &g.query, g.near[:0]); err != nil {
			return err
		}
		if first, ok := part.places.straight(); ok {
			dense := g.dense[first:]
			for _, h := range g.near {
				dense[h.Row] = h.Score
			}
			continue
		}
		for _, h := range g.near {
			g.dense[part.row(h.Row)] = h.Score
		}
	}
	return nil
}
