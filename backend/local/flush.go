package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// maxTailRows is the number of rows of a partition that are kept in memory before
// they are flushed unasked: about 40 MB with 128 dimensions. A multiple of 64, so that
// full tails leave no gap between them; see alignRows.
const maxTailRows = 50_048

// collectVectors is the size, in bytes of a file, of the vectors of one block from which on what their lists left in memory is collected
// before the words are written, which leave as much.
const collectVectors = 4 << 20

// maxTailTerms is the number of terms that counts like a row: more than most rows
// have, so that only tails of long texts are flushed for their terms.
const maxTailTerms = 400

// Flush writes what is in memory alone to a file, so that it need not be replayed
// after a restart. Searches and Apply go on meanwhile. [backend.ErrUnavailable] when the
// file system fails; everything stays in memory then.
func (x *index) Flush(ctx context.Context) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.cache.shrink()
	defer x.leave()
	x.flushing.Lock()
	defer x.flushing.Unlock()
	if retry := x.pending != nil; retry {
		if err := x.writePending(ctx); err != nil {
			return err
		}
	}
	if err := x.sealAll(); err != nil || x.pending == nil {
		return err
	}
	return x.writePending(ctx)
}

// pending is the tails that a flush writes, and the last change that they cover.
type pending struct {
	tails      []*sealed
	applied    uint64
	epoch      uint64 // of that change
	generation int    // of the index when they were sealed
}

// sealAll seals the tail of every partition that has one, so that changes go to new ones. The
// caller holds flushing, and nothing is pending.
func (x *index) sealAll() error {
	x.applying.Lock()
	defer x.applying.Unlock()
	x.wanted.Store(false)
	if err := x.startOver(); err != nil {
		return err
	}
	next := &pending{applied: x.applied.Load(), epoch: x.epoch.Load()}
	x.publishing.Lock()
	flushed := x.flushed
	next.generation = x.generation
	x.publishing.Unlock()
	if next.applied == flushed {
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
	for _, s := range slots {
		next.tails = append(next.tails, s.seal())
	}
	x.pending = next
	return nil
}

// writePending writes what is pending. When that fails it stays so, and in memory. The caller
// holds flushing.
func (x *index) writePending(ctx context.Context) error {
	if err := x.flushTails(ctx, x.pending); err != nil {
		x.retrySooner(x.pending)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("flush indexes: %w: %w", err, backend.ErrUnavailable)
	}
	x.pending = nil
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if x.mergeDue() != nil {
		x.work.start(x.mergeAll)
	}
	return nil
}

// retrySooner lets the partitions whose tails could not be written ask for another flush after a
// quarter of a tail.
func (x *index) retrySooner(failed *pending) {
	x.applying.Lock()
	defer x.applying.Unlock()
	for _, t := range failed.tails {
		t.p.flushAt = min(t.p.flushAt, t.p.pressure()+maxTailRows/4)
	}
}

// flushSoon starts a flush of the tails in the background, because one is full: Apply does not wait for
// it. If it fails everything stays in memory, and another is started after more rows.
// The caller holds applying.
func (x *index) flushSoon() {
	if x.wanted.Swap(true) {
		return
	}
	x.flusher.start(func(ctx context.Context) {
		if !x.wanted.Load() {
			return
		}
		if err := x.Flush(ctx); err != nil && ctx.Err() == nil {
			x.wanted.Store(false)
			x.log().Error("indexes cannot be flushed and stay in memory", "error", err)
		}
	})
}

// flushTails writes tails to a file and puts it in their place. It holds the locks that
// searches and changes wait for only at its end.
func (x *index) flushTails(ctx context.Context, next *pending) error {
	if err := os.MkdirAll(x.dir(), 0o700); err != nil {
		return err
	}
	var f *file
	if len(next.tails) > 0 {
		var err error
		if f, err = x.writeFile(func(w *fileWriter) error { return writeTails(ctx, w, next.tails) }); err != nil {
			return err
		}
	}
	err := x.put(next, f)
	if err != nil && f != nil {
		f.release()
		_ = os.Remove(f.path)
	}
	if errors.Is(err, errForgotten) {
		return nil // there is nothing left to write
	}
	return err
}

// errForgotten says that an index was emptied while a file was written for it.
var errForgotten = errors.New("the indexes were forgotten")

// put makes a file of tails count; nil: there are none.
func (x *index) put(next *pending, f *file) error {
	segments, err := openSegments(f)
	if err != nil {
		return err
	}
	if f != nil && f.size >= syncFrom { // sooner than others have to wait for it
		if err := f.sync(); err != nil {
			return err
		}
	}
	x.counting.Lock()
	defer x.counting.Unlock()
	if f != nil { // once it counts it may be forgotten meanwhile
		f.acquire()
		defer f.release()
		defer f.dropPages(f.data)
	}
	if err := x.putOnDisk(next, f); err != nil {
		return err
	}
	adopted := make([]*adoption, len(segments))
	for i, t := range next.tails {
		if adopted[i], err = t.p.prepareAdoption(segments[i], t.from); err != nil {
			x.damage(err)
			return nil
		}
	}
	x.applying.Lock()
	defer x.applying.Unlock()
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if x.generation != next.generation {
		return nil // it was forgotten with all files
	}
	for i, t := range next.tails {
		if err := x.settle(t, f.blocks[i], adopted[i]); err != nil {
			x.damage(err)
			break
		}
	}
	x.cache.calm.Store(0) // now these can be forgotten
	return nil
}

// putOnDisk makes a file of tails one of those that count. Changes are applied meanwhile.
func (x *index) putOnDisk(next *pending, f *file) error {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if x.generation != next.generation {
		return errForgotten
	}
	files := slices.Clone(x.files)
	if f != nil {
		files = append(files, f)
	}
	return x.publish(files, next.applied, next.epoch)
}

// writeFile makes the next file.
func (x *index) writeFile(write func(w *fileWriter) error) (*file, error) {
	x.publishing.Lock()
	id := x.nextID
	x.nextID++
	x.publishing.Unlock()
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
func (x *index) publish(files []*file, flushed, epoch uint64) error {
	m := &manifest{applied: flushed, epoch: epoch, nextID: x.nextID}
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
	x.files, x.flushed, x.flushedIn = files, flushed, epoch
	x.weighFiles()
	return nil
}

// writeTails writes a block for each tail.
func writeTails(ctx context.Context, w *fileWriter, tails []*sealed) error {
	for _, t := range tails {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.blocks = append(w.blocks, &block{part: t.slot.part, cleared: t.cleared, nextRow: t.nextRow, dropped: t.dropped})
		if err := w.writeContent(t.content, t.alone); err != nil {
			return err
		}
		if !t.rows {
			continue
		}
		before := w.offset
		if err := w.writeAllVectors(ctx, t.vectors); err != nil {
			return err
		}
		if w.offset-before >= collectVectors {
			runtime.GC()
		}
		err := w.section(secWords, func(out io.Writer) error { return lexical.WriteSegment(ctx, out, t.words) })
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

// settle gives a slot the block that was written of its tail. The caller holds applying.
func (x *index) settle(t *sealed, b *block, seg *adoption) error {
	s := t.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = false
	if b.cleared {
		s.blocks = nil
	}
	s.blocks = append(s.blocks, b)
	p := s.p.Load()
	if p != t.p {
		return nil // emptied meanwhile: what stands there now takes the block back
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.settle(seg); err != nil {
		return err
	}
	x.weigh(s, p)
	if p.liveSources == 0 {
		p.giveBack()
		s.p.Store(nil)
		s.blocks = nil // a call that still holds the slot finds nothing
		x.cache.add(-s.bytes.Swap(0))
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.slots, s.part)
	}
	return nil
}
