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
func (x *index) Survey(ctx context.Context, q backend.SurveyQuery, dst []backend.Surveyed) (out []backend.Surveyed, speakers []string, ok bool, err error) {
	need := needOf(q.Filter)
	if q.Part.Class == backend.Memory {
		need |= facetRows | facetSessions
	}
	out = dst
	err = x.read(ctx, q.Part, need, func(p *partition) error {
		if p.liveN > q.Most || p.live.Len() > maxSurveyWaste*q.Most {
			return nil
		}
		ok, speakers = true, p.names
		rows, sc := p.accept(q.Filter)
		defer sc.release()
		g := gatherings.Get().(*gathered)
		defer g.release()
		if out, err = p.surveyRows(dst, rows, g); err != nil {
			return err
		}
		here := out[len(dst):]
		if q.Text != "" {
			parsed := x.parseOr(lexical.Parser{FirstPerson: q.Part.Class == backend.Memory}, q.Text)
			if g.words, err = lexical.Append(ctx, g.words[:0], parsed, len(here), p.views(rows)); err != nil {
				return err
			}
			for _, h := range g.words {
				here[g.at[h.Row]-1].Keyword = h.Score
			}
		}
		if q.Vector != nil {
			return p.surveyVectors(ctx, q.Vector, rows, here, g)
		}
		return nil
	})
	if err != nil {
		return dst, nil, false, err
	}
	return out, speakers, ok, nil
}

// surveyRows appends the rows of a set, without scores, and leaves in g.at where they stand,
// counted from 1; 0 is a row that is not in the set.
func (p *partition) surveyRows(dst []backend.Surveyed, rows *bitset.Set, g *gathered) ([]backend.Surveyed, error) {
	n := p.live.Len()
	g.at = slices.Grow(g.at[:0], n)[:n]
	clear(g.at)
	out := slices.Grow(dst, p.liveN)[:len(dst)+p.liveN]
	here, place, columns := out[len(dst):], int32(0), p.has(facetColumns)
	clear(here)
	for i, w := range rows.Words() {
		for ; w != 0; w &= w - 1 {
			row := uint32(i*64 + bits.TrailingZeros64(w))
			s := &here[place]
			place++
			g.at[row] = place
			if columns {
				s.Chunk, s.Source = p.chunk[row], p.sourceNum[p.of[row]]
				continue
			}
			hit, err := p.hit(found{row: row})
			if err != nil {
				return dst, err
			}
			s.Chunk, s.Source = hit.Chunk, hit.Source
		}
	}
	if p.class == backend.Memory {
		for row, at := range g.at {
			if at != 0 {
				p.beside(uint32(row), g.at, &here[at-1].Beside)
			}
		}
	}
	return out[:len(dst)+int(place)], nil
}

// beside describes a row; at tells the places of rows.
func (p *partition) beside(row uint32, at []int32, b *backend.Beside) {
	from := p.of[row]
	b.Time, b.Speaker, b.Marks = backend.Micros(p.sources[from].time), int32(p.speaker[row]), backend.Marks(p.flags[row])
	if k := p.link(from).session; k != none {
		b.Session = p.number(k)
	}
	back, ahead := p.before(row), p.after(row)
	if back == none && ahead != none {
		b.Marks |= backend.MarkOpens
	}
	if back != none {
		b.Prev[0] = at[back]
		if back = p.before(back); back != none {
			b.Prev[1] = at[back]
		}
	}
	if ahead != none {
		b.Next[0] = at[ahead]
		if ahead = p.after(ahead); ahead != none {
			b.Next[1] = at[ahead]
		}
	}
}

// surveyVectors sets the scores of rows by a vector.
func (p *partition) surveyVectors(ctx context.Context, v []float32, rows *bitset.Set, here []backend.Surveyed, g *gathered) error {
	parts, err := p.partsFor(v)
	if err != nil {
		return err
	}
	for i, part := range parts {
		query := vector.Query{Vector: v, K: part.search.Len(), Accept: part.accept(p, rows, g.set(i)), AnyOrder: true}
		if g.near, err = part.search.Search(ctx, &query, g.near[:0]); err != nil {
			return err
		}
		for _, h := range g.near {
			here[g.at[part.row(h.Row)]-1].Dense = h.Score
		}
	}
	return nil
}
