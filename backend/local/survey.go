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

// maxSurveyWaste bounds the rows of a partition that a survey goes through, for each chunk
// that is asked for at most: those of dropped sources wait for a merge.
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
	if err = x.read(ctx, q.Part, 0, look); lacks && err == nil { // what large partitions lack is not built to find out that they are large
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
	s.Speakers = p.names
	err := p.surveyRows(rows, s, g)
	if err != nil {
		return err
	}
	count := lexical.Counts{DF: g.df[:0]}
	g.views = p.views(g.views, rows)
	if g.words, err = lexical.AppendCounted(ctx, g.words[:0], parsed, g.views, &count); err != nil {
		return err
	}
	g.df = count.DF
	for _, h := range g.words {
		s.Rows[g.at[h.Row]-1].Keyword = h.Score
	}
	s.Terms, s.Docs, s.AvgTerms = termInfos(s.Terms[:0], parsed, &count), count.Docs, average(&count)
	if q.Vector != nil && q.Lane == 0 {
		return p.surveyVectors(ctx, q.Vector, rows, s.Rows, g)
	}
	return nil
}

// surveyRows lists the rows of a set, without scores, and leaves in g.at where they stand,
// counted from 1; 0 is a row that is not in the set.
func (p *partition) surveyRows(rows *bitset.Set, s *backend.Survey, g *gathered) error {
	n := p.live.Len()
	g.at = slices.Grow(g.at[:0], n)[:n]
	clear(g.at)
	here, place, columns, memory := slices.Grow(s.Rows[:0], p.liveN)[:p.liveN], int32(0), p.has(facetColumns), p.class == backend.Memory
	g.beside = g.beside[:0]
	for i, w := range rows.Words() {
		for ; w != 0; w &= w - 1 {
			row := uint32(i*64 + bits.TrailingZeros64(w))
			r := &here[place]
			place++
			g.at[row] = place
			if !columns {
				hit, err := p.hit(found{row: row})
				if err != nil {
					return err
				}
				*r = backend.Surveyed{Chunk: hit.Chunk, Source: hit.Source}
				continue
			}
			from := p.of[row]
			*r = backend.Surveyed{Chunk: p.chunk[row], Source: p.sourceNum[from]}
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
				g.beside = append(g.beside, row)
			}
		}
	}
	s.Rows = here[:place]
	for _, row := range g.beside {
		p.beside(row, g.at, &here[g.at[row]-1].Beside)
	}
	return nil
}

// beside sets what is before and behind a row; at has the places of rows, counted from 1.
func (p *partition) beside(row uint32, at []int32, b *backend.Beside) {
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

// surveyVectors sets the scores of rows by a vector.
func (p *partition) surveyVectors(ctx context.Context, v []float32, rows *bitset.Set, here []backend.Surveyed, g *gathered) error {
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
			at := g.at[first:]
			for _, h := range g.near {
				here[at[h.Row]-1].Dense = h.Score
			}
			continue
		}
		for _, h := range g.near {
			here[g.at[part.row(h.Row)]-1].Dense = h.Score
		}
	}
	return nil
}
