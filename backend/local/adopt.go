package local

import (
	"math/bits"
	"slices"

	"github.com/contextmem/contextmem/internal/bitset"
)

// adoption is the segment of a newly written file that is about to be added to a partition.
// Rows that were deleted after the file's rows were read must be deleted from the segment too.
// prepareAdoption does most of that without blocking searches and changes; adopt does the rest.
type adoption struct {
	*segment
	p    *partition // the partition that prepareAdoption has prepared the segment for; nil: none
	from uint32     // at most the first row of the segment
	live *bitset.Set
}

// prepareAdoption deletes the rows that are not live now from seg, which no search uses yet. A nil seg gives nil.
// from is at most the first row of seg. Searches and changes go on meanwhile; adopt handles what they delete.
func (p *partition) prepareAdoption(seg *segment, from uint32) (*adoption, error) {
	if seg == nil {
		return nil, nil
	}
	p.mu.RLock()
	live := bitset.FromWords(slices.Clone(p.live.Words()), p.live.Len())
	p.mu.RUnlock()
	return &adoption{segment: seg, p: p, from: from, live: live}, seg.keepLive(live, from)
}

// keepLive deletes all rows but the live ones from a segment that no search uses yet.
func (seg *segment) keepLive(live *bitset.Set, from uint32) error {
	for _, v := range seg.parts {
		v.live = 0
		for place := range uint32(v.search.Len()) {
			if live.Has(v.row(place)) {
				v.live++
			}
		}
	}
	if seg.words == nil {
		return nil
	}
	for row := from; row < seg.block.nextRow; row++ {
		if live.Has(row) {
			continue
		}
		if _, err := seg.words.Delete(row); err != nil {
			return err
		}
	}
	return nil
}

// adopt deletes from the segment the rows that were deleted since it was prepared, and acquires a reference to the segment's file.
// The rows of the segment are rows of the partition. The caller holds mu.
func (p *partition) adopt(a *adoption) error {
	if a.p != p {
		if err := a.keepLive(p.live, a.from); err != nil {
			return err
		}
		a.block.file.acquire()
		return nil
	}
	now := p.live.Words()
	for i, was := range a.live.Words() {
		for gone := was &^ now[i]; gone != 0; gone &= gone - 1 {
			row := uint32(64*i + bits.TrailingZeros64(gone))
			if row >= a.block.nextRow {
				break
			}
			for _, v := range a.parts {
				v.forget(row, 1)
			}
			if a.words == nil || row < a.from {
				continue
			}
			if _, err := a.words.Delete(row); err != nil {
				return err
			}
		}
	}
	a.block.file.acquire()
	return nil
}
