package lexical

import (
	"context"
	"slices"
	"sync"

	"github.com/contextmem/contextmem/internal/bitset"
)

// scratch is the pooled memory of a search. acc is all zero between searches.
type scratch struct {
	acc     []uint32
	touched []uint32
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// maxScratchDocs bounds the accumulators that stay in the pool.
const maxScratchDocs = 1 << 22

func getScratch(docs int) *scratch {
	sc := scratches.Get().(*scratch)
	if len(sc.acc) < docs {
		sc.acc = make([]uint32, docs+docs/4)
	}
	sc.touched = sc.touched[:0]
	return sc
}

func putScratch(sc *scratch) {
	if len(sc.acc) <= maxScratchDocs {
		scratches.Put(sc)
	}
}

// search implements Part. The numbers of terms in ids may be stale, since compact may have run since count.
func (m *Mem) search(ctx context.Context, r *run, ids []uint32, accept *bitset.Set) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.rows) == m.deadDocs {
		return ctx.Err()
	}
	if !r.any {
		keep := func(doc uint32) bool { return m.keeps(doc, accept) }
		return conjunction(ctx, &r.scorer, r.query, m.cursors(&r.scorer), func(doc uint32) uint32 { return m.lens[doc] }, keep,
			func(score, doc uint32) { r.top.push(score, m.rows[doc]) })
	}
	sc := getScratch(len(m.rows))
	defer putScratch(sc)
	return m.searchAny(ctx, r, sc, ids, accept)
}

// keeps reports whether a document is live and its row is in accept (nil: all).
func (m *Mem) keeps(doc uint32, accept *bitset.Set) bool {
	return !m.dead.Has(doc) && (accept == nil || accept.Has(m.rows[doc]))
}

// searchAny scores all documents that have any of the terms.
func (m *Mem) searchAny(ctx context.Context, r *run, sc *scratch, ids []uint32, accept *bitset.Set) error {
	defer func() {
		for _, doc := range sc.touched {
			sc.acc[doc] = 0
		}
	}()
	for i := range r.terms {
		t := &r.terms[i]
		id, ok := m.numbered(t.term, ids[i])
		if !ok || t.weight == 0 || m.terms[id].df == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		m.addUnits(sc, &r.scorer, t, m.cursor(id))
	}
	if !r.top.fills(len(r.top.keys) + len(sc.touched)) {
		m.takeAll(r, sc, accept)
		return nil
	}
	for _, doc := range sc.touched {
		if row := m.rows[doc]; topKey(sc.acc[doc], row) > r.top.min && m.keeps(doc, accept) {
			r.top.push(sc.acc[doc], row)
		}
	}
	return nil
}

// takeAll adds all touched documents to r.scores or to r.top, which has room for them, and empties sc.
func (m *Mem) takeAll(r *run, sc *scratch, accept *bitset.Set) {
	acc, rows, whole := sc.acc, m.rows, m.deadDocs == 0 && (accept == nil || m.rows[len(m.rows)-1] < r.below)
	if r.scores != nil {
		scores, unit := r.scores, r.unit
		for _, doc := range sc.touched {
			if whole || m.keeps(doc, accept) {
				scores[rows[doc]] = float32(acc[doc]) * unit
			}
			acc[doc] = 0
		}
		sc.touched = sc.touched[:0]
		return
	}
	keys := slices.Grow(r.top.keys, len(sc.touched))
	for _, doc := range sc.touched {
		score := acc[doc]
		acc[doc] = 0
		if row := rows[doc]; whole || m.keeps(doc, accept) {
			keys = append(keys, topKey(score, row))
		}
	}
	r.top.keys, sc.touched = keys, sc.touched[:0]
}

// addUnits adds the score of a term to that of each document that has it.
func (m *Mem) addUnits(sc *scratch, s *scorer, t *scoreTerm, c *memCursor) {
	n := len(sc.touched)
	touched := slices.Grow(sc.touched, int(c.left)+1)[:n+int(c.left)+1]
	acc, lens := sc.acc, m.lens
	weight, norm0, norm1 := t.weight, s.norm0, s.norm1
	add := func(doc, units uint32) {
		sum := acc[doc]
		touched[n] = doc
		n += int((sum - 1) >> 31) // adds 1 if sum is 0; a branch would be mispredicted too often
		acc[doc] = sum + units
	}
	var once [64]uint32 // documents with one occurrence, scored apart from decoding so that the divisions overlap
	for {
		for _, doc := range once[:c.singles(once[:])] {
			add(doc, units(weight, 1, lengthPart(norm0, norm1, lens[doc])))
		}
		if !c.next() {
			break
		}
		add(c.doc, units(weight, c.tf, lengthPart(norm0, norm1, lens[c.doc])))
	}
	sc.touched = touched[:n]
}

// numbered returns the number of a term. after is the term's number plus 1 when count ran, 0 if it was unknown then; it saves the look-up
// if it is still right.
func (m *Mem) numbered(term string, after uint32) (uint32, bool) {
	if id := after - 1; after > 0 && int(id) < len(m.terms) && m.terms[id].text == term {
		return id, true
	}
	return m.ids.of(m.terms, term)
}

// cursors returns the cursors of the terms of s, with nil for terms without postings.
func (m *Mem) cursors(s *scorer) []cursor {
	cs := make([]cursor, len(s.terms))
	for i, t := range s.terms {
		if id, ok := m.ids.of(m.terms, t.term); ok && m.terms[id].df > 0 {
			cs[i] = m.cursor(id)
		}
	}
	return cs
}

// count implements Part. It sets ids to the terms' numbers plus 1, or 0 for unknown terms.
func (m *Mem) count(r *run, ids []uint32) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r.stats.Docs += len(m.rows) - m.deadDocs
	r.stats.TotalLen += m.totalLen
	for i := range r.terms {
		if id, ok := m.ids.of(m.terms, r.terms[i].term); ok {
			r.df[i] += int(m.terms[id].df)
			ids[i] = id + 1
		}
	}
	return nil
}

// Forward appends the terms of a row and their frequencies to dst, in no
// particular order. It appends nothing for a row that is not live.
func (m *Mem) Forward(row uint32, dst []TermFreq) ([]TermFreq, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if doc, ok := m.find(row); ok {
		m.eachTerm(doc, func(term, tf uint32) {
			dst = append(dst, TermFreq{m.terms[term].text, tf})
		})
	}
	return dst, nil
}

// Has reports whether a row is live.
func (m *Mem) Has(row uint32) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, ok := m.find(row)
	return ok
}

// Length returns the document length of a live row, or 0 if the row is not live.
func (m *Mem) Length(row uint32) int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if doc, ok := m.find(row); ok {
		return int64(m.lens[doc])
	}
	return 0
}

// Len returns the number of live rows.
func (m *Mem) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.rows) - m.deadDocs
}

// SizeBytes estimates the memory of the index.
func (m *Mem) SizeBytes() int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	const (
		perTerm = 96 // memTerm, its text and its place in ids
		perDoc  = 20
	)
	return m.store.bytes + int64(len(m.terms))*perTerm + int64(len(m.rows))*perDoc
}

// EachPosting implements [Part]. The error is always nil.
func (m *Mem) EachPosting(term string, accept *bitset.Set, f func(rows, tfs []uint32)) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	id, ok := m.ids.of(m.terms, term)
	if !ok || m.terms[id].df == 0 {
		return nil
	}
	var rows, tfs [memBatch]uint32
	n, c := 0, m.cursor(id)
	for c.next() {
		row := m.rows[c.doc]
		if m.dead.Has(c.doc) || accept != nil && !accept.Has(row) {
			continue
		}
		rows[n], tfs[n] = row, c.tf
		if n++; n == memBatch {
			f(rows[:], tfs[:])
			n = 0
		}
	}
	if n > 0 {
		f(rows[:n], tfs[:n])
	}
	return nil
}

// memBatch is the number of rows that EachPosting gives to a call.
const memBatch = 64
