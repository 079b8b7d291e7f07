package sqlite

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Place(ctx context.Context, items []backend.Placed) (out *backend.Placement, err error) {
	for i := range items {
		if err := checkBlobs(items[i].Blobs); err != nil {
			return nil, fmt.Errorf("place %q: %w", items[i].ID, err)
		}
		if err := items[i].Lane.Check(items[i].Part.Class); err != nil {
			return nil, fmt.Errorf("place %q: %w", items[i].ID, err)
		}
	}
	err = s.change(ctx, func(t *tx) error {
		out = &backend.Placement{Nums: make([]int64, len(items)), After: uint64(t.led.seq) << seqShift}
		for i := range items {
			c, err := t.place(&items[i])
			if err != nil {
				return fmt.Errorf("place %q: %w", items[i].ID, err)
			}
			out.Nums[i] = c.Source
			out.Changes = append(append(out.Changes, t.dropped...), c)
			t.dropped = t.dropped[:0]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// place stores one item and returns the entry of the feed that puts its chunks.
func (t *tx) place(in *backend.Placed) (put backend.Change, err error) {
	part, err := t.makePart(in.Part)
	if err != nil {
		return put, err
	}
	old, err := t.item(part, in.ID)
	if err != nil {
		return put, err
	}
	if in.IfAbsent && old != nil {
		return put, fmt.Errorf("the id is taken: %w", backend.ErrExists)
	}
	if (in.Expect != backend.Version{}) && !old.is(in.Expect) {
		return put, fmt.Errorf("it was changed or deleted since it was read: %w", backend.ErrConflict)
	}
	created := stamp(in.CreatedAt)
	if old != nil {
		created = old.created
		if err := t.removeItem(old); err != nil {
			return put, err
		}
	}
	before := t.led
	v := &head{part: part, id: in.ID, lane: in.Lane, first: t.led.chunk + 1, chunks: int64(len(in.Chunks))}
	if v.num, err = t.nextPlaced(v.chunks); err != nil {
		return put, err
	}
	v.seqChunks = v.num
	t.led.move(0, backend.Completed)
	if !t.lag.now.note(&before, &t.led, v) {
		t.count(part, 1, v.chunks)
	}
	put = backend.Change{
		Seq: uint64(v.num) << seqShift, Kind: backend.PutChunks, Part: in.Part, Source: v.num, SourceID: in.ID, Title: in.Title, Time: stamped(in.Time),
		Session: in.Session, Tags: in.Tags, Lane: in.Lane, Rows: rowsOf(v.first, in.Chunks),
	}
	dense := true
	for i := range in.Chunks {
		ch, num := &in.Chunks[i], v.first+int64(i)
		dense = dense && ch.Ordinal == i
		if err := t.addChunk(v, num, ch); err != nil {
			return put, fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	tags := packTags(in.Tags)
	var sum uint32
	sum, t.buf = sourceSum(t.buf, &in.Source, created, tags)
	err = t.c.do(`INSERT INTO sources (num, part, hash, id, state, indexed, dense, first_chunk, chunks, seq_chunks,
		created, updated, time, expires, size, infer, title, kind, filename, media, session, tags, metadata, additional, doc, lane, lanes, crc)
		VALUES (?, ?, ?, ?, 4, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.num, part, hashOf(0, in.ID), in.ID, dense, v.first, v.chunks, v.seqChunks,
		created, stamp(in.UpdatedAt), stamp(in.Time), stamp(in.ExpiresAt), in.SizeBytes, in.Infer,
		in.Title, in.Kind, in.Filename, in.MediaType, in.Session, tags, in.Metadata, in.Additional, in.Doc, int64(in.Lane), int64(1)<<in.Lane, sum)
	if err == nil {
		err = t.addTags(part, v.num, in.ID, tags)
	}
	if err == nil {
		err = t.storeBlobs(v.num, in.Blobs, false)
	}
	if err == nil && in.Event {
		err = t.addEvent(v, backend.Completed, "", "")
	}
	return put, err
}
