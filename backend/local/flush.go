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

// maxTailRows is the number of unflushed rows of a partition (its tail) from which on Apply
// starts a flush: about 40 MB with 128 dimensions. It is a multiple of 64, so that
// full tails leave no gap between their row numbers; see alignRows.
const maxTailRows = 50_048

// collectVectors is the size, in bytes of the file, of a block's vectors from which on writeTails runs the garbage collector
// before it writes the postings. Writing postings leaves as much garbage as writing vectors: both would be in memory together.
const collectVectors = 4 << 20

// maxTailTerms is the number of terms of a tail that counts like one row. Most rows have
// fewer terms, so that only tails of long texts are flushed because of their terms.
const maxTailTerms = 400

// Flush writes changes that are only in memory to a file, so that they need not be replayed
// after a restart. Searches and Apply go on meanwhile. Flush returns [backend.ErrUnavailable]
// when the file system fails; everything stays in memory then.
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

// pending holds the tails that a flush writes, and the last change that they cover.
type pending struct {
	tails      []*sealed
	applied    uint64
	epoch      uint64 // epoch of the change applied
	generation int    // generation of the index when the tails were sealed
}

// sealAll seals the tail of every partition that has something to flush, so that later changes go to new tails.
// The caller holds flushing, and nothing is pending.
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
	// The fixed order makes equal contents give equal files.
	slices.SortFunc(slots, func(a, b *slot) int {
		return cmp.Or(cmp.Compare(a.part.Class, b.part.Class), cmp.Compare(a.part.Sub, b.part.Sub))
	})
	for _, s := range slots {
		next.tails = append(next.tails, s.seal())
	}
	x.pending = next
	return nil
}

// writePending writes the pending tails. After an error they stay pending and in memory. The caller
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

// retrySooner makes the partitions whose tails could not be written ask for another flush after
// a quarter of maxTailRows.
func (x *index) retrySooner(failed *pending) {
	x.applying.Lock()
	defer x.applying.Unlock()
	for _, t := range failed.tails {
		t.p.flushAt = min(t.p.flushAt, t.p.pressure()+maxTailRows/4)
	}
}

// flushSoon starts a flush in the background because a tail is full. Apply does not wait for the flush.
// If the flush fails, everything stays in memory, and Apply starts another one after more rows.
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

// flushTails writes tails to a file and uses the file in place of the tails. Only at its end does it hold
// the locks that searches and changes wait for.
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
		return nil // the tails were dropped with the index
	}
	return err
}

// errForgotten says that the index was emptied while a file was being written for it.
var errForgotten = errors.New("the indexes were forgotten")

// put takes the file of the flushed tails into use, on disk and then in memory. f is nil if there are no tails.
func (x *index) put(next *pending, f *file) error {
	segments, err := openSegments(f)
	if err != nil {
		return err
	}
	if f != nil && f.size >= syncFrom { // publish would do this under locks that others wait for
		if err := f.sync(); err != nil {
			return err
		}
	}
	x.counting.Lock()
	defer x.counting.Unlock()
	if f != nil { // once f is published, forget may release it at any time
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
		return nil // forget has dropped f with all files
	}
	for i, t := range next.tails {
		if err := x.settle(t, f.blocks[i], adopted[i]); err != nil {
			x.damage(err)
			break
		}
	}
	x.cache.calm.Store(0) // the flushed partitions can be evicted now
	return nil
}

// putOnDisk publishes a manifest that includes the file of the tails, if there is one. Apply goes on meanwhile.
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

// writeFile creates the next index file; write adds its blocks.
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

// publish writes a manifest that names files, and takes them into use. The caller holds publishing.
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

// openSegments opens the vectors and postings of each block of a new file. A block without postings gives nil.
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

// settle replaces the sealed tail of a slot by the block that was written from it. The caller holds applying.
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
		return nil // the slot was emptied meanwhile: the next flush of its new partition clears the block
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
		s.blocks = nil // a call that still holds the slot must not load them
		x.cache.add(-s.bytes.Swap(0))
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.slots, s.part)
	}
	return nil
}
