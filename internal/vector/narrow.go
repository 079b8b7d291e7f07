package vector

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/internal/simd"
)

const (
	// keptBytes bounds the cache of narrow filters, in bytes per row of the segment. For 250,000 rows it is
	// 4 MB, about the size of the float32 rows of 1 % of them at 384 dimensions.
	keptBytes = 16
	// keptFilters is the maximal number of cached filters, and of remembered signatures. If more filters than that
	// are used in turn, none is cached, since each would be evicted before its next use.
	keptFilters = 4
	// rowHeader is the size of a slice header in bytes.
	rowHeader = 24
)

// filterCache caches the rows of narrow filters that were used twice within a short time. Searches with one
// filter often follow each other, and searches of a few users alternate.
type filterCache struct {
	kept [keptFilters]atomic.Pointer[narrowFilter]
	mu   sync.Mutex          // guards the fields below, and is held while a filter is added to kept
	next int                 // index of the oldest in kept
	seen [keptFilters]uint64 // signatures of filters that were used once and not kept
	last int                 // index of the oldest in seen
}

// narrowFilter is a cached filter that accepts few rows of a segment.
type narrowFilter struct {
	full      []uint64 // words of the filter, see search.fullWords
	last      uint64   // the word after full
	positions []uint32 // positions of the accepted rows, ascending
	records   []byte   // records of the positions; nil: too many to cache
	rows      []row    // float32 rows of the positions, cached when they are read; nil: too many to cache, or rows are used in place
	bytes     atomic.Int64
}

// row is a cached float32 row; nil before it was read.
type row = atomic.Pointer[[]float32]

// cachedFilter returns the cached filter that equals the filter of a search, or nil.
func (s *Segment) cachedFilter(sr *search) *narrowFilter {
	if sr.accept == nil {
		return nil
	}
	full := sr.fullWords(s.h.n)
	for i := range s.ivf.filters.kept {
		k := s.ivf.filters.kept[i].Load()
		if k != nil && sr.word(len(full)*64, s.h.n) == k.last && bytes.Equal(bytesOf(full), bytesOf(k.full)) {
			return k
		}
	}
	return nil
}

// keepNarrow caches the positions of a filter that accepts count rows, if a filter with the same signature was used
// shortly before. The signature is a hash of some of the filter's words.
func (s *Segment) keepNarrow(sr *search, positions []uint32, count int) {
	if len(positions) != count {
		return // the segment is damaged
	}
	full := sr.fullWords(s.h.n)
	sign := uint64(count)
	for i := 0; i < len(full); i += 1 + len(full)/16 {
		sign = bits.RotateLeft64(sign, 7)*0x9e3779b97f4a7c15 ^ full[i]
	}
	n := &s.ivf.filters
	if !n.mu.TryLock() {
		return // another search is adding a filter; a later search can add this one
	}
	defer n.mu.Unlock()
	if !slices.Contains(n.seen[:], sign) {
		n.seen[n.last] = sign
		n.last = (n.last + 1) % keptFilters
		return
	}
	if s.cachedFilter(sr) != nil {
		return // another search has cached it meanwhile
	}
	k := s.newNarrow(full, sr.word(len(full)*64, s.h.n), positions)
	n.kept[n.next].Store(k)
	n.next = (n.next + 1) % keptFilters
	for i := n.next; s.KeptBytes() > s.mayKeep() && n.kept[i].Load() != k; i = (i + 1) % keptFilters {
		n.kept[i].Store(nil)
	}
}

// mayKeep returns the bound of KeptBytes.
func (s *Segment) mayKeep() int64 { return keptBytes * int64(s.h.n) }

// newNarrow returns the cache entry of a filter that accepts some positions, without float32 rows.
func (s *Segment) newNarrow(full []uint64, last uint64, positions []uint32) *narrowFilter {
	k := &narrowFilter{full: slices.Clone(full), last: last, positions: slices.Clone(positions)}
	slices.Sort(k.positions)
	size, stride := int64(8*len(full)+4*len(positions)), recordStride(s.h.dim)
	few := s.h.few(len(positions)) // records of more positions would leave no room for rows
	if s.h.kind == kindIVF1 && few && size+int64(stride*len(positions)) <= s.mayKeep() {
		size += int64(stride * len(positions))
		k.records = alignedBytes(stride * len(positions))
		for i, position := range k.positions {
			copy(k.records[i*stride:(i+1)*stride], s.ivf.records[int(position)*stride:])
		}
	}
	if s.lean() && few {
		size += int64(8 * len(positions))
		k.rows = make([]row, len(positions))
	}
	k.bytes.Store(size)
	return k
}

// KeptBytes estimates the size of the cache of narrow filters. It is at most about 16 bytes per row of
// the segment, and searches change it.
func (s *Segment) KeptBytes() (n int64) {
	for i := range s.ivf.filters.kept {
		if k := s.ivf.filters.kept[i].Load(); k != nil {
			n += k.bytes.Load()
		}
	}
	return n
}

// readRow returns the float32 row of a position like floatRow. If the search has a cached filter, readRow
// caches the row there.
func (s *Segment) readRow(sr *search, position int, of uint32) []float32 {
	if sr.kept == nil || sr.kept.rows == nil {
		return s.floatRow(of, &sr.buf)
	}
	k := sr.kept
	i, found := slices.BinarySearch(k.positions, uint32(position))
	if !found {
		return s.floatRow(of, &sr.buf)
	}
	if v := k.rows[i].Load(); v != nil {
		return *v
	}
	v := s.floatRow(of, &sr.buf)
	if size := int64(4*len(v) + rowHeader); v != nil && s.KeptBytes()+size <= s.mayKeep() {
		own := slices.Clone(v)
		if k.rows[i].CompareAndSwap(nil, &own) {
			k.bytes.Add(size)
		}
	}
	return v
}

// gather scores each accepted row on its own, instead of scanning lists.
func (s *Segment) gather(ctx context.Context, sr *search, count int) error {
	if err := s.collect(ctx, sr, count); err != nil {
		return err
	}
	if s.h.kind == kindIVF1 {
		s.gatherBits(sr)
		return nil
	}
	found := sr.probe.found
	for i, position := range found {
		if i+ahead < len(found) {
			s.prefetch(found[i+ahead], len(sr.q8))
		}
		s.scoreAt(sr, int(position))
	}
	return nil
}

// gatherBits estimates the scores of the found positions by their 1-bit codes, and scores those whose bound
// exceeds the floor.
func (s *Segment) gatherBits(sr *search) {
	p, stride, meta := &sr.probe, recordStride(s.h.dim), codeBytes(s.h.dim)
	found := p.found
	p.most = slices.Grow(p.most[:0], len(found))[:len(found)]
	for at := 0; at < len(found); at += blockRows {
		positions := found[at:min(at+blockRows, len(found))]
		most := p.most[at : at+len(positions)]
		if sr.kept != nil && sr.kept.records != nil {
			records := sr.kept.records[at*stride:]
			simd.EstimateBits(most, records, &p.bits)
			for i := range most {
				most[i] += p.baseOf(records[i*stride+meta+8:])
			}
			continue
		}
		simd.PickBits(most, s.ivf.records, positions, &p.bits)
		for i, position := range positions {
			most[i] += p.baseOf(s.ivf.records[int(position)*stride+meta+8:])
		}
	}
	s.settle(sr)
}

// baseOf returns the base of the list whose number is in the first bytes of b.
func (p *probe) baseOf(b []byte) float32 {
	if list := binary.LittleEndian.Uint32(b); int(list) < len(p.base) {
		return p.base[list]
	}
	return negInf
}

// collect finds the positions of the count rows that the filter accepts.
func (s *Segment) collect(ctx context.Context, sr *search, count int) error {
	if sr.kept != nil {
		sr.probe.found = append(sr.probe.found[:0], sr.kept.positions...)
		return ctx.Err()
	}
	found, err := sr.pick(ctx, sr.probe.found[:0], s.h.n, count)
	positions, n, valid := s.ivf.positions, s.h.n, 0
	for _, row := range found {
		position := positions[row]
		found[valid] = position
		if int(position) < n {
			valid++
		}
	}
	sr.probe.found = found[:valid]
	if err == nil {
		s.keepNarrow(sr, sr.probe.found, count)
	}
	return err
}
