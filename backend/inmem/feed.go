package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// feed is the ordered list of changes. The content of a put is read from its version when the feed is read.
// A version has at most one put of each kind, at the position of its latest change.
//
// Entries are numbered from 1. The sequence number that an index sees is the entry number shifted left by replayBits.
// Entries up to start are only sent to an index that began at zero. Their sequence numbers lie between those of entries start-1 and start.
// An index that is rebuilding in steps can therefore be distinguished from an index that missed a tombstone.
type feed struct {
	last    uint64
	start   uint64 // tombstones up to this entry may be missing
	entries []entry
	dead    int // number of entries with kind 0
}

const replayBits = 32

type entry struct {
	num  uint64
	kind backend.ChangeKind // 0: the entry was withdrawn
	v    *version           // nil for DropSub and DropVectors
	lane backend.Lane       // of PutVectors and DropVectors
	sub  string             // of DropSub
}

func (f *feed) append(e entry) {
	f.last++
	e.num = f.last
	f.entries = append(f.entries, e)
}

// put appends a change of a version and withdraws the earlier change of the same kind.
func (f *feed) put(v *version, kind backend.ChangeKind) {
	f.takeBack(v.puts[kind])
	f.append(entry{kind: kind, v: v})
	v.puts[kind] = f.last
}

// putVectors appends a change of a version's vectors in a lane and withdraws the earlier one.
func (f *feed) putVectors(v *version, lane backend.Lane) {
	f.takeBack(v.lanePuts[lane])
	f.append(entry{kind: backend.PutVectors, v: v, lane: lane})
	v.lanePuts[lane] = f.last
}

// dropVectors appends the tombstone of a lane.
func (f *feed) dropVectors(lane backend.Lane) {
	for _, e := range f.entries {
		if e.kind == backend.DropVectors && e.lane == lane {
			f.takeBack(e.num)
		}
	}
	f.append(entry{kind: backend.DropVectors, lane: lane})
}

// drop appends the tombstone of a version.
func (f *feed) drop(v *version) { f.append(entry{kind: backend.Drop, v: v}) }

// dropSub appends the tombstone of a sub-tenant, which replaces the tombstones of all its versions.
func (f *feed) dropSub(sub string) {
	for _, e := range f.entries {
		if e.kind == backend.DropSub && e.sub == sub || e.kind == backend.Drop && e.v.src.Part.Sub == sub {
			f.takeBack(e.num)
		}
	}
	f.append(entry{kind: backend.DropSub, sub: sub})
}

// forget withdraws the puts of a version.
func (f *feed) forget(v *version) {
	for kind, num := range v.puts {
		f.takeBack(num)
		v.puts[kind] = 0
	}
	for lane, num := range v.lanePuts {
		f.takeBack(num)
		v.lanePuts[lane] = 0
	}
}

func (f *feed) takeBack(num uint64) {
	i := f.after(num) - 1
	if num == 0 || i < 0 || f.entries[i].num != num {
		return
	}
	f.entries[i] = entry{num: num}
	f.dead++
}

// after returns the index of the first entry whose number is larger than the given one.
func (f *feed) after(num uint64) int {
	i, found := slices.BinarySearchFunc(f.entries, num, func(e entry, num uint64) int { return cmp.Compare(e.num, num) })
	if found {
		i++
	}
	return i
}

// seq returns the sequence number of an entry.
func (f *feed) seq(num uint64) uint64 {
	if num > f.start {
		return num << replayBits
	}
	return (f.start-1)<<replayBits | num
}

// position returns the last entry that an index has applied. ok is false if the index missed a tombstone.
func (f *feed) position(seq uint64) (num uint64, ok bool) {
	whole, replayed := seq>>replayBits, seq&(1<<replayBits-1)
	if replayed != 0 {
		return replayed, whole == f.start-1
	}
	return whole, whole == 0 || whole >= f.start
}

// tidy removes withdrawn entries once they are the majority.
func (f *feed) tidy() {
	if f.dead < 64 || 2*f.dead < len(f.entries) {
		return
	}
	f.entries = slices.DeleteFunc(f.entries, func(e entry) bool { return e.kind == 0 })
	f.dead = 0
}

func (s *store) LastSeq() uint64 {
	s.d.mu.RLock()
	defer s.d.mu.RUnlock()
	return s.d.feed.last << replayBits
}

func (s *store) Changes(ctx context.Context, after uint64, limit int) (out []backend.Change, err error) {
	err = s.read(ctx, func(d *storeData) error {
		if after >= d.feed.last<<replayBits {
			return nil
		}
		from, ok := d.feed.position(after)
		if !ok {
			return fmt.Errorf("changes after %d: tombstones up to %d were dropped: %w", after, d.feed.start<<replayBits, backend.ErrFeedGone)
		}
		size := 0
		for _, e := range d.feed.entries[d.feed.after(from):] {
			if e.kind == 0 {
				continue
			}
			if len(out) > 0 && size >= limit {
				break
			}
			c := d.change(e)
			size += 1 + len(c.Rows) + len(c.Mentions)
			out = append(out, c)
		}
		return nil
	})
	return out, err
}

func (d *storeData) change(e entry) backend.Change {
	if e.kind == backend.DropSub {
		return backend.Change{Seq: d.feed.seq(e.num), Kind: e.kind, Part: backend.Partition{Sub: e.sub}}
	}
	if e.kind == backend.DropVectors {
		return backend.Change{Seq: d.feed.seq(e.num), Kind: e.kind, Lane: e.lane}
	}
	v := e.v
	c := backend.Change{
		Seq: d.feed.seq(e.num), Kind: e.kind, Part: v.src.Part, Source: v.src.Num, SourceID: v.src.ID,
		Title: v.src.Title, Time: v.src.Time, Session: v.src.Session,
	}
	switch e.kind {
	case backend.PutChunks:
		c.Tags, c.Lane = slices.Clone(v.src.Tags), v.lane
		for _, ch := range v.chunks {
			c.Rows = append(c.Rows, backend.Row{
				Chunk: ch.Num, Ordinal: ch.Ordinal, Key: ch.Key, Text: ch.Text, Heading: ch.Heading,
				Vector: slices.Clone(ch.Vector), Extra: slices.Clone(ch.Extra),
			})
		}
	case backend.PutVectors:
		c.Tags, c.Lane = slices.Clone(v.src.Tags), e.lane
		for i, ch := range v.chunks {
			c.Rows = append(c.Rows, backend.Row{Chunk: ch.Num, Ordinal: ch.Ordinal, Vector: slices.Clone(v.vector(i, e.lane))})
		}
	case backend.PutTags:
		c.Tags = slices.Clone(v.src.Tags)
	case backend.PutGraph:
		for _, m := range v.mentions {
			c.Mentions = append(c.Mentions, backend.MentionRef{
				Chunk: m.chunk.Num, Entity: v.part.graph.find(m.key).num, Key: m.key, Weight: m.weight,
			})
		}
	}
	return c
}

// ChangesAfter implements [backend.FeedCounter].
func (s *store) ChangesAfter(after uint64) uint64 {
	entry, last := after>>replayBits, s.LastSeq()>>replayBits
	if sub := after & (1<<replayBits - 1); sub > 0 { // the index is rebuilding
		entry = sub
	}
	return last - min(entry, last)
}

func (s *store) CompactFeed(ctx context.Context, seq uint64, limit int) (n int, err error) {
	err = s.write(ctx, func(d *storeData) error {
		for _, e := range d.feed.entries[:d.feed.after(seq>>replayBits)] {
			if n >= limit {
				break
			}
			if e.kind == backend.Drop || e.kind == backend.DropSub || e.kind == backend.DropVectors {
				d.feed.takeBack(e.num)
				d.feed.start = e.num
				n++
			}
		}
		d.feed.tidy()
		return nil
	})
	return n, err
}
