package rank

import (
	"github.com/contextmem/contextmem/backend"
)

// anyOrder lets a search return hits in any order and in the memory of q.found.
func (q *work) anyOrder() backend.Answer { return backend.Answer{AnyOrder: true, Into: q.found} }

// at makes a hit a candidate and returns its row.
func (q *work) at(h backend.Hit) int32 {
	i := q.place(h.Chunk)
	q.cand[i].in = true
	if r := &q.rows[i]; r.Source == 0 {
		r.Source = h.Source
	}
	return i
}

// place returns the row of a chunk, its index in q.rows. It appends a row if the chunk is new.
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

// get returns the row of a chunk, or -1 if the chunk is no candidate.
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

// findRising finds a chunk by binary search among the first q.rising rows, whose chunks are ascending.
func (q *work) findRising(chunk int64) (int32, bool) {
	from, to := 0, q.rising
	for from < to {
		if mid := int(uint(from+to) >> 1); q.rows[mid].Chunk < chunk {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return int32(from), from < q.rising && q.rows[from].Chunk == chunk
}

// indexAll adds the chunks of a survey to q.index. Most searches do not need that.
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
