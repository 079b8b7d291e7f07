package rank

import (
	"sort"

	"github.com/contextmem/contextmem/backend"
)

// anyOrder asks a search for hits in any order, written to memory of this search.
func (q *work) anyOrder() backend.Answer { return backend.Answer{AnyOrder: true, Into: q.found} }

// at returns the place of a hit, which becomes a candidate.
func (q *work) at(h backend.Hit) int32 {
	i := q.place(h.Chunk)
	q.cand[i].in = true
	if r := &q.rows[i]; r.Source == 0 {
		r.Source = h.Source
	}
	return i
}

// place returns where a chunk is in rows. It appends an unknown one.
func (q *work) place(chunk int64) int32 {
	if i, ok := q.findRising(chunk); ok {
		return i
	}
	q.indexAll()
	if i, ok := q.index[chunk]; ok {
		return i
	}
	i := int32(len(q.rows))
	q.index[chunk] = i
	q.rows, q.cand = append(q.rows, backend.Surveyed{Chunk: chunk}), append(q.cand, cand{})
	q.indexed++
	q.vague = true
	return i
}

// get returns the place of a candidate; -1: the chunk is none.
func (q *work) get(chunk int64) int32 {
	i, ok := q.findRising(chunk)
	if !ok {
		q.indexAll()
		i, ok = q.index[chunk]
	}
	if ok && q.cand[i].in {
		return i
	}
	return -1
}

// findRising finds a chunk among the rows whose chunks rise, by binary search.
func (q *work) findRising(chunk int64) (int32, bool) {
	i := sort.Search(q.rising, func(i int) bool { return q.rows[i].Chunk >= chunk })
	return int32(i), i < q.rising && q.rows[i].Chunk == chunk
}

// indexAll makes the chunks of a survey findable, which most searches do without.
func (q *work) indexAll() {
	if q.index == nil {
		q.index = make(map[int64]int32)
	}
	for ; q.indexed < len(q.rows); q.indexed++ {
		if chunk := q.rows[q.indexed].Chunk; !q.knows(chunk) {
			q.index[chunk] = int32(q.indexed)
		}
	}
}

func (q *work) knows(chunk int64) bool {
	_, ok := q.index[chunk]
	return ok
}
