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
	if i, ok := q.index.Get(q.column, chunk); ok {
		return int32(i)
	}
	i := int32(len(q.rows))
	q.rows, q.cand = append(q.rows, backend.Surveyed{Chunk: chunk}), append(q.cand, cand{})
	q.indexAll()
	q.vague = true
	return i
}

// get returns the row of a chunk, or -1 if the chunk is no candidate.
func (q *work) get(chunk int64) int32 {
	i, ok := q.findRising(chunk)
	if !ok {
		q.indexAll()
		var at uint32
		at, ok = q.index.Get(q.column, chunk)
		i = int32(at)
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

// indexAll adds the chunks of rows to q.index. Most searches of small partitions do not need that. Of several rows with one chunk, the
// first is found.
func (q *work) indexAll() {
	for i := len(q.column); i < len(q.rows); i++ {
		chunk := q.rows[i].Chunk
		q.column = append(q.column, chunk)
		if i < q.rising {
			continue
		}
		if _, known := q.index.Get(q.column, chunk); !known {
			q.index.Put(q.column, uint32(i))
		}
	}
}
