package local

import (
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/vector"
)

// Row numbers are never used again. The numbers of deleted rows take memory while a
// partition is loaded. Files are worn when they use more than wornShare numbers for each
// row, and wornRows more. Replaying the change feed then costs less than the wasted memory.
const (
	wornShare = 8
	wornRows  = 4 << 20
)

// errWorn is a kind of damage: most row numbers in the files belong to deleted rows.
var errWorn = fmt.Errorf("%w: most row numbers are used up", errFormat)

func worn(slots map[backend.Partition]*slot) bool {
	numbers, rows := 0, 0
	for _, s := range slots {
		for _, b := range s.blocks {
			rows += int(b.rows) - int(b.dropped)
		}
		numbers += int(s.blocks[len(s.blocks)-1].nextRow)
	}
	return numbers > wornShare*rows+wornRows
}

// damage records that the index files cannot be trusted. The next Apply or Flush drops them.
func (x *index) damage(err error) {
	if !x.damaged.Swap(true) {
		x.log().Error("index files are damaged; the indexes are built again from the store", "error", err)
	}
}

// startOver drops everything if damage was found. The caller holds applying.
func (x *index) startOver() error {
	if !x.damaged.Load() {
		return nil
	}
	was := x.applied.Load()
	if err := x.forget(); err != nil {
		return err
	}
	x.stale = was
	return nil
}

// forget drops the index in memory and its files. The caller holds applying.
func (x *index) forget() error {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	// removeAll removes the manifest first. Files without a manifest are ignored, even if a later step fails.
	if err := removeAll(x.dir()); err != nil {
		return fmt.Errorf("reset indexes: %w: %w", err, backend.ErrUnavailable)
	}
	x.mu.Lock()
	slots := x.slots
	x.slots = make(map[backend.Partition]*slot)
	x.mu.Unlock()
	for _, s := range slots {
		s.mu.Lock()
		x.unload(s)
		s.blocks = nil
		s.mu.Unlock()
	}
	for _, f := range x.files {
		f.release()
	}
	x.files, x.flushed, x.flushedIn = nil, 0, 0
	x.epoch.Store(0)
	x.weighFiles()
	x.generation++
	x.applied.Store(0)
	x.damaged.Store(false)
	return nil
}

// isDamage reports whether an error says that bytes in index files are not as written.
func isDamage(err error) bool {
	return errors.Is(err, errFormat) || errors.Is(err, lexical.ErrCorrupt) || errors.Is(err, vector.ErrFormat)
}
