package local

import (
	"math/bits"
	"slices"

	"github.com/contextmem/contextmem/internal/bitset"
)

// adoption is a segment of a new file that is brought up to date with what was deleted since its rows were read. Most of that is done
// beside searches and changes.
type adoption struct {
	*segment
	p    *partition // that the segment was prepared for; nil: none
	from uint32     // its first row
	live *bitset.Set
}

// prepareAdoption deletes from a segment what is not live now; nil stays nil. from is its first row, or one before it. Searches and
// changes go on meanwhile: adopt does the rest.
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

// adopt deletes what was deleted since the segment was prepared, and takes a reference to its file. Its rows are among those of the
// partition. The caller holds mu.
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
