package local

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/contextmem/contextmem/backend"
)

// openIndex checks the index files of a workspace and returns its index, still asleep. If
// files are damaged, it logs that and removes all files.
func (x *Indexers) openIndex(uid string) (*index, error) {
	ix := &index{owner: x, uid: uid, cache: x.cache}
	err := ix.look()
	if isDamage(err) {
		if errors.Is(err, errWorn) {
			ix.log().Info("index files are worn; the indexes are built again from the store")
		} else {
			ix.log().Error("index files are damaged; the indexes are built again from the store", "error", err)
		}
		err = removeAll(ix.dir())
	}
	if err != nil {
		return nil, fmt.Errorf("open indexes: %w: %w", err, backend.ErrUnavailable)
	}
	return ix, nil
}

// look checks the manifest and the files that it lists, sets the fields that the index has
// while asleep, and removes files that a crash left behind. If it returns an error of
// damage, it has not changed the index.
func (x *index) look() error {
	m, err := readManifest(x.dir())
	if err != nil {
		return err
	}
	var files []*file
	if m != nil {
		if files, err = m.check(x.dir(), x.owner.cipher); err != nil {
			return err
		}
		if worn(slotsOf(files)) {
			return errWorn
		}
		x.flushed, x.flushedIn, x.nextID = m.applied, m.epoch, m.nextID
		x.epoch.Store(m.epoch)
		x.applied.Store(m.applied)
	}
	return sweep(x.dir(), files)
}

// dir returns the folder of the workspace's index files.
func (x *index) dir() string { return x.owner.path(x.uid) }

func (x *index) log() *slog.Logger { return x.owner.log.With("workspace", x.uid) }

// wake opens the files of an index that is asleep. That is at the first call after opening
// or after sleep. Files that have changed since count as damage, which wake records
// instead of returning it. The caller holds life.
func (x *index) wake() error {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if x.awake.Load() {
		return nil
	}
	m, err := readManifest(x.dir())
	if err == nil && m == nil && x.flushed > 0 {
		err = fmt.Errorf("%w: the manifest is missing", errFormat)
	}
	if err == nil && m != nil {
		if m.applied != x.flushed || m.nextID > x.nextID {
			err = fmt.Errorf("%w: another manifest", errFormat)
		} else {
			x.files, err = m.open(x.dir(), x.owner.limits)
		}
	}
	if isDamage(err) {
		x.damage(err)
		err = nil
	}
	if err != nil {
		return fmt.Errorf("open indexes: %w: %w", err, backend.ErrUnavailable)
	}
	x.mu.Lock()
	x.slots = slotsOf(x.files)
	x.mu.Unlock()
	x.weighFiles()
	x.cache.register(x)
	x.awake.Store(true)
	if x.mergeDue() != nil { // a merge was interrupted
		x.work.start(x.mergeAll)
	}
	return nil
}

// sleep releases everything that wake opened. It does nothing if a partition is in memory, or if a
// call or background work is running.
func (x *index) sleep() {
	if !x.awake.Load() || !x.life.TryLock() {
		return
	}
	defer x.life.Unlock()
	if x.closed || x.damaged.Load() || x.work.busy() || x.flusher.busy() {
		return
	}
	for _, s := range x.slots {
		if s.p.Load() != nil {
			return
		}
	}
	x.cache.unregister(x)
	x.drop()
	x.awake.Store(false)
}

// drop removes all slots and releases all files. No slot may hold a partition. The caller
// holds life for writing.
func (x *index) drop() {
	x.mu.Lock()
	x.slots = nil
	x.mu.Unlock()
	x.publishing.Lock()
	defer x.publishing.Unlock()
	for _, f := range x.files {
		f.release()
	}
	x.files = nil
	x.weighFiles()
}

// weighFiles updates the heap size of the open files in the cache. The caller holds publishing.
func (x *index) weighFiles() {
	n := int64(0)
	for _, f := range x.files {
		n += f.heapBytes()
	}
	x.cache.add(n - x.fileBytes)
	x.fileBytes = n
}

// slotsOf returns the slots of the partitions in files, with their blocks. files are oldest first.
func slotsOf(files []*file) map[backend.Partition]*slot {
	slots := make(map[backend.Partition]*slot)
	for _, f := range files {
		for _, b := range f.blocks {
			s := slots[b.part]
			if s == nil {
				s = &slot{part: b.part}
				slots[b.part] = s
			}
			if b.cleared {
				s.blocks = nil
			}
			s.blocks = append(s.blocks, b)
		}
	}
	return slots
}
