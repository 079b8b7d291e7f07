package storerules

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// The feed numbers its entries from 1. Numbers.FeedStart is the last tombstone that was compacted away. Sequence numbers for indexes are
// computed from both. Entry n has the number n<<32 if it is after FeedStart. Earlier entries, which only an index that starts from zero
// may still read, have numbers between (FeedStart-1)<<32 and FeedStart<<32. This distinguishes an index that is starting again from
// one that missed a tombstone, although both have applied the same entries.
const SeqShift = 32

// MaxEntries is the maximal number of entries of a feed in its lifetime.
const MaxEntries = 1<<32 - 1

// KindLane is the factor of the lane in the kind of an entry.
const KindLane = 16

// SeqOf returns the sequence number of an entry in a feed whose last compacted tombstone is start.
func SeqOf(entry, start int64) uint64 {
	if entry > start {
		return uint64(entry) << SeqShift
	}
	return uint64(start-1)<<SeqShift | uint64(entry)
}

// EntryOf returns the last entry that an index with a sequence number has applied. ok is false if the index missed a tombstone.
func EntryOf(seq uint64, start int64) (entry int64, ok bool) {
	n, sub := int64(seq>>SeqShift), int64(seq&MaxEntries)
	switch {
	case seq == 0:
		return 0, true
	case sub == 0:
		return n, n >= start
	}
	return sub, n == start-1
}

// ReachedEntry is EntryOf for an index that may have missed a tombstone.
func ReachedEntry(seq uint64) int64 {
	if sub := int64(seq & MaxEntries); sub > 0 { // the index is starting again
		return sub
	}
	return int64(seq >> SeqShift)
}

// EntriesBehind returns the number of entries after the sequence number after, up to last.
func EntriesBehind(after, last uint64) uint64 {
	entries := last >> SeqShift
	return entries - min(uint64(ReachedEntry(after)), entries)
}

// Next returns the number of a new entry.
func (t *Tx) Next() (int64, error) {
	if t.Numbers.Seq >= MaxEntries {
		return 0, fmt.Errorf("the change feed is full after %d changes: %w", t.Numbers.Seq, backend.ErrUnavailable)
	}
	t.Numbers.Seq++
	return t.Numbers.Seq, nil
}

// Put adds a change of a version to the feed, removes the earlier change of the kind, whose entry is *seq, and sets *seq.
func (t *Tx) Put(source int64, kind backend.ChangeKind, seq *int64) error {
	if err := t.takeBack(seq); err != nil {
		return err
	}
	var err error
	if *seq, err = t.Next(); err != nil {
		return err
	}
	return t.Rows.AddChange(*seq, kind, source)
}

func (t *Tx) takeBack(seq *int64) error {
	if *seq == 0 {
		return nil
	}
	err := t.Rows.RemoveChange(*seq)
	*seq = 0
	return err
}

// drop adds the tombstone of a version.
func (t *Tx) drop(v *Head) error {
	p, err := t.Rows.PartName(v.Part)
	if err != nil {
		return err
	}
	seq, err := t.Next()
	if err != nil {
		return err
	}
	t.Dropped = append(t.Dropped, backend.Change{Seq: uint64(seq) << SeqShift, Kind: backend.Drop, Part: p, Source: v.Num, SourceID: v.ID})
	return t.Rows.AddTombstone(seq, backend.Drop, v.Num, int64(p.Class), p.Sub, v.ID)
}

// dropSub adds the tombstone of a sub-tenant, which replaces those of its versions.
func (t *Tx) dropSub(sub string) error {
	if err := t.Rows.RemoveTombstones(sub); err != nil {
		return err
	}
	seq, err := t.Next()
	if err != nil {
		return err
	}
	return t.Rows.AddTombstone(seq, backend.DropSub, 0, 0, sub, "")
}

// dropVectors adds the tombstone of a lane, which replaces an earlier one.
func (t *Tx) dropVectors(lane backend.Lane) error {
	if err := t.Rows.RemoveLaneTombstone(lane); err != nil {
		return err
	}
	seq, err := t.Next()
	if err != nil {
		return err
	}
	return t.Rows.AddTombstone(seq, backend.DropVectors, 0, int64(lane), "", "")
}

// CompactFeed removes up to limit tombstones up to seq, which all indexes have applied, and returns their number.
func (t *Tx) CompactFeed(seq uint64, limit int) (int, error) {
	old, err := t.Rows.Tombstones(min(int64(seq>>SeqShift), t.Numbers.Seq), max(limit, 0))
	if err != nil || len(old) == 0 {
		return 0, err
	}
	t.Numbers.FeedStart = old[len(old)-1]
	return len(old), t.Rows.RemoveChanges(old)
}

// FeedEntry is a row of the feed. The content of a put is read from its version, which has Chunks chunks from First on.
type FeedEntry struct {
	backend.Change
	First, Chunks int64
}

// NewEntry returns an entry with a number, a kind that includes the lane, and a version, in a feed whose last compacted tombstone is start.
func NewEntry(entry, kind, source, start int64) FeedEntry {
	return FeedEntry{Change: backend.Change{
		Seq: SeqOf(entry, start), Kind: backend.ChangeKind(kind % KindLane), Source: source, Lane: backend.Lane(kind / KindLane),
	}}
}

// SetVersion sets the chunks, the lane and the tags of an entry's version.
func (e *FeedEntry) SetVersion(first, chunks int64, lane backend.Lane, tags []uint64) {
	e.First, e.Chunks = first, chunks
	if e.Kind == backend.PutChunks {
		e.Lane = lane
	}
	if e.Kind != backend.PutGraph {
		e.Tags = tags
	}
}

// Damaged makes an entry whose version cannot be read one that takes the version out of indexes, so that these can go on. Where the partition is not
// known either, the entry does nothing.
func (e *FeedEntry) Damaged(part backend.Partition, known bool) {
	source := e.Source
	e.Change = backend.Change{Seq: e.Seq, Kind: backend.Mark}
	if known {
		e.Kind, e.Part, e.Source = backend.Drop, part, source
	}
	e.First, e.Chunks = 0, 0
}

// Size returns the number of rows by which an entry counts for the limit of a read, without its mentions, whose number is not known.
func (e *FeedEntry) Size() int64 {
	if e.Kind == backend.PutChunks || e.Kind == backend.PutVectors {
		return 1 + e.Chunks
	}
	return 1
}

// FeedRows reads the content of feed entries. It leaves out damaged rows.
type FeedRows interface {
	Chunks(ctx context.Context, e *FeedEntry, f func(*backend.Chunk)) error
	Vectors(ctx context.Context, e *FeedEntry, f func(chunk int64, ordinal int, vector []float32)) error
	Mentions(ctx context.Context, e *FeedEntry, f func(m Mention, root int64)) error
}

// ReadFeed returns the changes of entries: about limit rows, and at least one entry.
func ReadFeed(ctx context.Context, rows FeedRows, entries []FeedEntry, limit int) (out []backend.Change, err error) {
	size := 0
	for i := range entries {
		e := &entries[i]
		if len(out) > 0 && size >= limit {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := e.read(ctx, rows); err != nil {
			return nil, err
		}
		size += 1 + len(e.Rows) + len(e.Mentions)
		out = append(out, e.Change)
	}
	return out, nil
}

func (e *FeedEntry) read(ctx context.Context, rows FeedRows) error {
	switch e.Kind {
	case backend.PutChunks:
		return rows.Chunks(ctx, e, func(ch *backend.Chunk) { e.Rows = append(e.Rows, RowOf(ch.Num, ch)) })
	case backend.PutVectors:
		return rows.Vectors(ctx, e, func(chunk int64, ordinal int, vector []float32) {
			e.Rows = append(e.Rows, backend.Row{Chunk: chunk, Ordinal: ordinal, Vector: vector})
		})
	case backend.PutGraph:
		return rows.Mentions(ctx, e, func(m Mention, root int64) {
			e.Mentions = append(e.Mentions, backend.MentionRef{Chunk: e.First + m.Chunk, Entity: root, Key: m.Key, Weight: m.Weight})
		})
	}
	return nil
}

// RowOf returns a chunk in the form for indexes.
func RowOf(num int64, ch *backend.Chunk) backend.Row {
	return backend.Row{Chunk: num, Ordinal: ch.Ordinal, Key: ch.Key, Text: ch.Text, Heading: ch.Heading, Vector: ch.Vector, Extra: ch.Extra}
}

// RowsOf returns chunks in the form for indexes. The first chunk has the number first.
func RowsOf(first int64, chunks []backend.Chunk) []backend.Row {
	if len(chunks) == 0 {
		return nil
	}
	rows := make([]backend.Row, len(chunks))
	for i := range chunks {
		rows[i] = RowOf(first+int64(i), &chunks[i])
	}
	return rows
}
