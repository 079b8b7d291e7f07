package local

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// maxTailRows is the number of rows of a partition that are kept in memory before
// they are flushed unasked: about 40 MB with 128 dimensions. A multiple of 64, so that
// full tails leave no gap between them; see alignRows.
const maxTailRows = 50_048

// maxTailTerms is the number of terms that counts like a row: more than most rows
// have, so that only tails of long texts are flushed for their terms.
const maxTailTerms = 400

// Flush writes what is in memory alone to a file, so that it need not be replayed
// after a restart. Searches go on meanwhile. [backend.ErrUnavailable] when the file
// system fails; everything stays in memory then.
func (x *index) Flush(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.cache.shrink()
	defer x.leave()
	x.applying.Lock()
	defer x.applying.Unlock()
	if err := x.startOver(); err != nil {
		return err
	}
	return x.flush(ctx)
}

// flush does the work of Flush. The caller holds applying.
func (x *index) flush(ctx context.Context) error {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if x.applied.Load() == x.flushed {
		return nil
	}
	var slots []*slot
	x.mu.RLock()
	for _, s := range x.slots {
		if p := s.p.Load(); p != nil && p.dirty() {
			slots = append(slots, s)
		}
	}
	x.mu.RUnlock()
	// In a fixed order, so that equal contents give equal files.
	slices.SortFunc(slots, func(a, b *slot) int {
		return cmp.Or(cmp.Compare(a.part.Class, b.part.Class), cmp.Compare(a.part.Sub, b.part.Sub))
	})
	if err := x.flushSlots(ctx, slots); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("flush indexes: %w: %w", err, backend.ErrUnavailable)
	}
	if x.mergeDue() != nil {
		x.work.start(x.mergeAll)
	}
	return nil
}

// relieve flushes because a tail is full. When that fails everything stays in memory,
// and another try follows after more rows. The caller holds applying.
func (x *index) relieve(ctx context.Context) error {
	err := x.flush(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	x.log().Error("indexes cannot be flushed and stay in memory", "error", err)
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.slots {
		if p := s.p.Load(); p != nil && p.full() {
			p.postpone()
		}
	}
	return nil
}

func (x *index) flushSlots(ctx context.Context, slots []*slot) error {
	if err := os.MkdirAll(x.dir(), 0o700); err != nil {
		return err
	}
	next := append([]*file(nil), x.files...)
	var f *file
	if len(slots) > 0 {
		var err error
		if f, err = x.writeFile(func(w *fileWriter) error { return writeTails(ctx, w, slots) }); err != nil {
			return err
		}
		next = append(next, f)
	}
	segments, err := openSegments(f)
	if err == nil {
		err = x.publish(next, x.applied.Load())
	}
	if err != nil {
		if f != nil {
			f.release()
			_ = os.Remove(f.path)
		}
		return err
	}
	for i, s := range slots {
		x.settle(s, f.blocks[i], segments[i])
	}
	x.cache.calm.Store(0) // now these can be forgotten
	return nil
}

// writeFile makes the next file. The caller holds publishing or is the only one to
// give ids.
func (x *index) writeFile(write func(w *fileWriter) error) (*file, error) {
	id := x.nextID
	x.nextID++
	w, err := newFileWriter(x.dir(), id, x.owner.limits)
	if err != nil {
		return nil, err
	}
	defer w.abandon()
	if err := write(w); err != nil {
		return nil, err
	}
	return w.finish()
}

// publish makes files the ones that count. The caller holds publishing.
func (x *index) publish(files []*file, flushed uint64) error {
	m := &manifest{applied: flushed, nextID: x.nextID}
	for _, f := range files {
		m.files = append(m.files, manifestFile{f.id, f.size, f.sum})
	}
	if m.durable() {
		for _, f := range files {
			if err := f.sync(); err != nil {
				return err
			}
		}
	}
	if err := m.publish(x.dir()); err != nil {
		return err
	}
	x.files, x.flushed = files, flushed
	x.weighFiles()
	return nil
}

// writeTails writes a block for each slot.
func writeTails(ctx context.Context, w *fileWriter, slots []*slot) error {
	for _, s := range slots {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := s.p.Load()
		if n := len(p.chunk); p.tailRows() >= alignRows && n%64 != 0 {
			p.mu.Lock()
			p.skipTo(uint32(n + 64 - n%64))
			p.mu.Unlock()
		}
		w.blocks = append(w.blocks, &block{
			part: s.part, cleared: p.cleared, nextRow: uint32(len(p.chunk)), dropped: uint32(p.droppedRows),
		})
		if err := w.writeContent(p.tail(), p.cleared || p.tailFrom == 0); err != nil {
			return err
		}
		if p.words.Len() == 0 {
			continue
		}
		var parts []*vectorPart
		for _, v := range p.vectors {
			if v.mem != nil {
				parts = append(parts, v)
			}
		}
		if err := w.writeAllVectors(ctx, collect(parts, p.live.Has), true); err != nil {
			return err
		}
		err := w.section(secWords, func(out io.Writer) error { return lexical.WriteSegment(ctx, out, p.words) })
		if err != nil {
			return err
		}
	}
	return nil
}

// openSegments opens the vectors and postings of a new file, nil for blocks without.
func openSegments(f *file) ([]*segment, error) {
	if f == nil {
		return nil, nil
	}
	out := make([]*segment, len(f.blocks))
	for i, b := range f.blocks {
		if _, words := b.find(secWords); words == nil {
			continue
		}
		seg, err := b.open(false)
		if err != nil {
			return nil, err
		}
		out[i] = seg
	}
	return out, nil
}

// settle gives a slot the block that was written of its tail.
func (x *index) settle(s *slot, b *block, seg *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.p.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(seg)
	if b.cleared {
		s.blocks = nil
	}
	s.blocks = append(s.blocks, b)
	x.weigh(s, p)
	if p.liveSources == 0 {
		p.giveBack()
		s.p.Store(nil)
		s.blocks = nil // whoever still holds the slot finds nothing
		x.cache.add(-s.bytes.Swap(0))
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.slots, s.part)
	}
}
