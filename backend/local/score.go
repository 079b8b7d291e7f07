package local

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.ChunkScorer = (*index)(nil)

// ScoreChunks implements [backend.ChunkScorer].
func (x *index) ScoreChunks(ctx context.Context, q backend.ScoreQuery) ([]backend.Hit, error) {
	hits := q.Into[:0]
	err := x.read(ctx, inLane(q.Part, q.Lane), facetRows, func(p *partition) error {
		hits = hits[:0] // read may call this function again
		for _, v := range p.vectors {
			if v.live == 0 || v.dim != len(q.Vector) {
				continue
			}
			var err error
			if hits, err = p.score(ctx, v, &q, hits); err != nil {
				return err
			}
		}
		return nil
	})
	return inOrder(hits, q.Chunks), err
}

// score appends a hit for each chunk of q whose vector is in the part v.
func (p *partition) score(ctx context.Context, v *vectorPart, q *backend.ScoreQuery, hits []backend.Hit) ([]backend.Hit, error) {
	var places []uint32
	first := len(hits)
	for _, c := range q.Chunks {
		row, ok := p.row(c)
		if !ok {
			continue
		}
		place, ok := v.places.find(row)
		if !ok {
			continue
		}
		hit, err := p.hit(found{row: row})
		if err != nil {
			return hits, err
		}
		places, hits = append(places, place), append(hits, hit)
	}
	scores, err := v.search.Score(ctx, q.Vector, places, nil)
	if err != nil {
		return hits, err
	}
	for i, s := range scores {
		hits[first+i].Score = s
	}
	return hits, nil
}

// inOrder sorts hits into the order of chunks, and drops hits whose score is not a number. Before it hits
// are grouped by the parts of a partition. chunks has the chunks of all hits.
func inOrder(hits []backend.Hit, chunks []int64) []backend.Hit {
	at := make(map[int64]backend.Hit, len(hits))
	for _, h := range hits {
		at[h.Chunk] = h
	}
	out := hits[:0]
	for _, c := range chunks {
		if h, ok := at[c]; ok && h.Score == h.Score { // false if the score is not a number
			out = append(out, h)
			delete(at, c)
		}
	}
	return out
}
