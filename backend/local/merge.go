package local

import (
	"context"
	"maps"
	"os"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

const (
	// mergeFiles is the least number of files in a merge. A file takes part if it is at most
	// mergeShare times as large as all newer files of the merge together. So file sizes grow
	// geometrically and a row is rewritten a logarithmic number of times.
	mergeFiles = 4
	mergeShare = 2
	// dropShare: all files are merged when more than 1/dropShare of their rows are dropped.
	dropShare = 4
	// idleFiles and idleShare replace mergeFiles, and mergeShare and dropShare, while the workspace is idle. Searches then read fewer files,
	// and deleted rows leave the disk sooner. A file is rewritten only when the newer files of the merge have at least an eighth of its size.
	idleFiles, idleShare = 2, 8
	// filesMax is the number of files from which all files are merged, whatever their sizes.
	filesMax = 24
)

// mergeDue returns the files to merge next, or nil. They are adjacent in x.files.
// The caller holds publishing.
func (x *index) mergeDue() []*file { return x.due(mergeFiles, mergeShare, dropShare) }

// tidyDue is mergeDue with the limits of an idle workspace.
func (x *index) tidyDue() []*file { return x.due(idleFiles, idleShare, idleShare) }

func (x *index) due(least int, share int64, dropShare int) []*file {
	n := len(x.files)
	rows, dropped := 0, 0
	for _, f := range x.files {
		r, d := f.weight()
		rows, dropped = rows+r, dropped+d
	}
	if n == 0 {
		return nil
	}
	if n >= filesMax || n > 1 && dropShare*dropped > rows {
		return slices.Clone(x.files)
	}
	for end := n; end >= least; end-- { // a small newest file may not keep those before it from being merged
		first, sum := end-1, max(x.files[end-1].size, 1)
		for first > 0 && x.files[first-1].size <= share*sum {
			first--
			sum += x.files[first].size
		}
		if end-first >= least {
			return slices.Clone(x.files[first:end])
		}
	}
	for i, f := range x.files {
		if f.flat() {
			return slices.Clone(x.files[i : i+1])
		}
	}
	return nil
}

// mergeAll merges files until mergeDue returns none.
func (x *index) mergeAll(ctx context.Context) { x.mergeWhile(ctx, x.mergeDue) }

// Maintain implements [backend.Maintainer]. It starts a background merge of files that mergeDue would leave until there are more of them.
// It does nothing in a workspace that is asleep.
func (x *index) Maintain(ctx context.Context) (more bool, err error) {
	if !x.awake.Load() {
		return false, nil
	}
	if err := x.enter(ctx); err != nil {
		return false, err
	}
	defer x.leave()
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if x.tidyDue() != nil {
		x.work.start(func(ctx context.Context) { x.mergeWhile(ctx, x.tidyDue) })
	}
	return false, nil
}

// mergeWhile merges as long as due returns files.
func (x *index) mergeWhile(ctx context.Context, due func() []*file) {
	for ctx.Err() == nil {
		x.publishing.Lock()
		run, generation, whole := due(), x.generation, false
		id := x.nextID
		if run != nil {
			x.nextID++
			whole = run[0] == x.files[0]
		}
		for _, f := range run {
			f.acquire()
		}
		x.publishing.Unlock()
		if run == nil {
			return
		}
		err := x.merge(ctx, run, id, whole, generation)
		for _, f := range run {
			f.release()
		}
		switch {
		case ctx.Err() != nil:
			return
		case isDamage(err):
			x.damage(err)
			return
		case err != nil:
			// The existing files stay valid, and the next flush tries again.
			x.log().Warn("index files cannot be merged", "error", err)
			return
		}
	}
}

// merge writes one file that replaces a run of files. whole is true if the run begins with
// the oldest file: the merged file then needs no deletions of older rows.
func (x *index) merge(ctx context.Context, run []*file, id uint64, whole bool, generation int) error {
	w, err := newFileWriter(x.dir(), id, x.owner.limits)
	if err != nil {
		return err
	}
	defer w.abandon()
	for _, blocks := range blocksByPart(run) {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := fold(blocks)
		if err != nil {
			return err
		}
		if err := m.write(ctx, w, whole); err != nil {
			return err
		}
	}
	f, err := w.finish()
	if err != nil {
		return err
	}
	if err := x.replace(run, f, generation); err != nil {
		f.release()
		_ = os.Remove(f.path)
		return err
	}
	return nil
}

// blocksByPart returns the blocks of files by partition, in a fixed order.
func blocksByPart(run []*file) [][]*block {
	at := make(map[backend.Partition]int)
	var out [][]*block
	for _, f := range run {
		for _, b := range f.blocks {
			i, ok := at[b.part]
			if !ok {
				i = len(out)
				at[b.part] = i
				out = append(out, nil)
			}
			out[i] = append(out[i], b)
		}
	}
	return out
}

// replace replaces a run of files by the merged file, in the manifest and in the loaded partitions.
func (x *index) replace(run []*file, f *file, generation int) error {
	segments, err := openSegments(f)
	if err != nil {
		return err
	}
	if f.size >= syncFrom { // sync before taking the locks, so that nobody waits for it
		if err := f.sync(); err != nil {
			return err
		}
	}
	x.counting.Lock()
	defer x.counting.Unlock()
	f.acquire() // after publishing, the index may release f at any time
	defer f.release()
	defer f.dropPages(f.data)
	if err := x.replaceOnDisk(run, f, generation); err != nil {
		return err
	}
	defer func() {
		for _, r := range run {
			_ = os.Remove(r.path) // if it fails, the next opening removes the file
			r.release()
		}
	}()
	adopted := make(map[backend.Partition]*adoption, len(f.blocks))
	blocks := make(map[backend.Partition]*block, len(f.blocks))
	for i, b := range f.blocks {
		blocks[b.part] = b
		if segments[i] == nil {
			continue
		}
		a := &adoption{segment: segments[i]}
		if s := x.find(b.part); s != nil {
			if p := s.p.Load(); p != nil && p.has(facetColumns) {
				if a, err = p.prepareAdoption(segments[i], 0); err != nil {
					x.damage(err)
					return nil
				}
			}
		}
		adopted[b.part] = a
	}
	x.applying.Lock()
	defer x.applying.Unlock()
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if x.generation != generation {
		return nil // a reset has dropped all files, the merged one included
	}
	old := make(map[*file]bool, len(run))
	for _, r := range run {
		old[r] = true
	}
	x.mu.RLock()
	slots := slices.Collect(maps.Values(x.slots))
	x.mu.RUnlock()
	for _, s := range slots {
		if err := x.replaceBlocks(s, old, blocks[s.part], adopted[s.part]); err != nil {
			x.damage(err)
			break
		}
	}
	return nil
}

// replaceOnDisk publishes a manifest with the merged file in place of its run. Changes can be applied meanwhile.
func (x *index) replaceOnDisk(run []*file, f *file, generation int) error {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if x.generation != generation {
		return context.Canceled // a reset has dropped all files meanwhile
	}
	at := slices.Index(x.files, run[0])
	next := slices.Clone(x.files[:at])
	next = append(append(next, f), x.files[at+len(run):]...)
	return x.publish(next, x.flushed, x.flushedIn)
}

// replaceBlocks replaces a slot's blocks of old files by the merged block b, which is nil
// when no rows are left. A partition that has only runs and no columns is unloaded, and
// loaded again at its next use. The caller holds applying.
func (x *index) replaceBlocks(s *slot, old map[*file]bool, b *block, seg *adoption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.blocks, func(b *block) bool { return old[b.file] }) {
		return nil
	}
	var next []*block
	for _, o := range s.blocks {
		if !old[o.file] {
			next = append(next, o)
		} else if b != nil {
			next = append(next, b)
			b = nil
		}
	}
	s.blocks = next
	p := s.p.Load()
	switch {
	case p == nil:
		return nil
	case !p.has(facetColumns):
		x.unload(s)
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cleared && (p.sealed == nil || !p.sealed.cleared) {
		p.blocks = next
	}
	return p.replace(old, seg)
}

// replace replaces the segments of old files by the merged segment; seg is nil when there is none. The caller holds mu.
func (p *partition) replace(old map[*file]bool, seg *adoption) error {
	var segments []*segment
	var vectors []*vectorPart
	var gone []*file
	placed := false
	for _, o := range p.segments {
		if !old[o.block.file] {
			segments = append(segments, o)
			vectors = append(vectors, o.parts...)
			continue
		}
		gone = append(gone, o.block.file)
		if seg != nil && !placed {
			placed = true
			segments = append(segments, seg.segment)
			vectors = append(vectors, seg.parts...)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	p.own()
	if placed {
		if err := p.adopt(seg); err != nil {
			return err
		}
	}
	for _, v := range p.vectors {
		if v.mem != nil {
			vectors = append(vectors, v)
		}
	}
	p.segments, p.vectors = segments, vectors
	for _, f := range gone {
		f.release()
	}
	return nil
}
