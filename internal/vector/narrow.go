package vector

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/contextmem/contextmem/internal/simd"
)

// narrow is what a filter that leaves few rows of a segment comes to. The last one that was met
// twice in a row is kept, as searches with one filter mostly come together. It takes a quarter
// of a byte for each row of the segment at most.
type narrow struct {
	full      []uint64 // as search.fullWords
	last      uint64   // the word behind them
	positions []uint32 // rising, so that neighbours in memory are read one after the other
}

// known returns what is kept of the filter of a search; nil when that is another one.
func (s *Segment) known(sr *search) *narrow {
	kept := s.ivf.narrow.Load()
	if kept == nil || sr.accept == nil {
		return nil
	}
	full := sr.fullWords(s.h.n)
	if sr.word(len(full)*64, s.h.n) != kept.last || !bytes.Equal(bytesOf(full), bytesOf(kept.full)) {
		return nil
	}
	return kept
}

// keepNarrow keeps the positions of a filter that leaves count rows, if it is that of the search
// before as far as a few of its words tell.
func (s *Segment) keepNarrow(sr *search, positions []uint32, count int) {
	if len(positions) != count {
		return // the segment is damaged
	}
	full := sr.fullWords(s.h.n)
	sign := uint64(count)
	for i := 0; i < len(full); i += 1 + len(full)/16 {
		sign = bits.RotateLeft64(sign, 7)*0x9e3779b97f4a7c15 ^ full[i]
	}
	if s.ivf.filter.Swap(sign) != sign {
		return
	}
	kept := &narrow{slices.Clone(full), sr.word(len(full)*64, s.h.n), slices.Clone(positions)}
	slices.Sort(kept.positions)
	s.ivf.narrow.Store(kept)
}

// gather scores the accepted rows, few of many, each on its own.
func (s *Segment) gather(ctx context.Context, sr *search, kept *narrow, count int) error {
	if err := s.collect(ctx, sr, kept, count); err != nil {
		return err
	}
	if s.h.kind == kindIVF1 {
		s.gatherBits(sr)
		return nil
	}
	found := sr.probe.found
	for i, position := range found {
		if i+ahead < len(found) {
			s.ask(found[i+ahead], len(sr.q8))
		}
		s.scoreAt(sr, int(position))
	}
	return nil
}

// gatherBits looks at positions by their 1-bit codes, and scores those that may beat the
// candidates.
func (s *Segment) gatherBits(sr *search) {
	p, stride, meta := &sr.probe, recordStride(s.h.dim), codeBytes(s.h.dim)
	found := p.found
	p.most = slices.Grow(p.most[:0], len(found))[:len(found)]
	for at := 0; at < len(found); at += blockRows {
		positions := found[at:min(at+blockRows, len(found))]
		most := p.most[at : at+len(positions)]
		simd.PickBits(most, s.ivf.records, positions, &p.bits)
		for i, position := range positions {
			list := binary.LittleEndian.Uint32(s.ivf.records[int(position)*stride+meta+8:])
			if int(list) < len(p.base) {
				most[i] += p.base[list]
			} else {
				most[i] = negInf
			}
		}
	}
	s.settle(sr)
}

// collect finds the positions of the rows of the filter, count of them.
func (s *Segment) collect(ctx context.Context, sr *search, kept *narrow, count int) error {
	if kept != nil {
		sr.probe.found = append(sr.probe.found[:0], kept.positions...)
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
