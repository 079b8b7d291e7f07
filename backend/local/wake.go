package local

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/contextmem/contextmem/backend"
)

// openIndex looks at what is kept of a workspace, and leaves it asleep. Damage is logged
// and forgotten.
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

// look reads what a workspace remembers while it sleeps, and removes what a crash left
// behind. After an error that is damage the index is as before.
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

// dir is where the files of the workspace lie.
func (x *index) dir() string { return x.owner.path(x.uid) }

func (x *index) log() *slog.Logger { return x.owner.log.With("workspace", x.uid) }

// wake opens the files of a workspace that sleeps: at the first call after its
// opening, or after sleep. Files that are not what they were are damage, which is noted.
// The caller holds life.
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
	if x.mergeDue() != nil { // one was cut off
		x.work.start(x.mergeAll)
	}
	return nil
}

// sleep gives back all that wake took, unless a partition is in memory, or a call or work
// in the background goes on.
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

// drop forgets slots, none of which holds a partition, and files. The caller holds
// life for writing.
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

// weighFiles sets the bytes of the open files in the cache. The caller holds publishing.
func (x *index) weighFiles() {
	n := int64(0)
	for _, f := range x.files {
		n += f.heapBytes()
	}
	x.cache.add(n - x.fileBytes)
	x.fileBytes = n
}

// slotsOf returns the slots of what files hold, from the oldest to the newest.
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
