package postgres

import (
	"context"
	"fmt"
	"slices"

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
		before, err := t.beforeIncoming(len(items), func(i int) *backend.Source { return &items[i].Source })
		if err != nil {
			return err
		}
		for i := range items {
			c, err := t.place(&items[i], before)
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
func (t *tx) place(in *backend.Placed, before incoming) (put backend.Change, err error) {
	part, err := t.makePart(in.Part)
	if err != nil {
		return put, err
	}
	old, err := before.take(t, part, in.ID)
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
	t.led.source++
	v := &head{num: t.led.source, part: part, id: in.ID, lane: in.Lane}
	dense, err := t.addChunks(v, in.Chunks)
	if err != nil {
		return put, err
	}
	if err := t.put(v.num, backend.PutChunks, &v.seqChunks); err != nil {
		return put, err
	}
	t.led.move(0, backend.Completed)
	t.count(part, 1, 0)
	put = backend.Change{
		Seq: uint64(v.seqChunks) << seqShift, Kind: backend.PutChunks, Part: in.Part, Source: v.num, SourceID: in.ID, Title: in.Title, Time: stamped(in.Time),
		Session: in.Session, Tags: in.Tags, Lane: in.Lane, Rows: slices.Grow([]backend.Row(nil), len(in.Chunks)),
	}
	for i := range in.Chunks {
		ch := &in.Chunks[i]
		put.Rows = append(put.Rows, backend.Row{
			Chunk: v.first + int64(i), Ordinal: ch.Ordinal, Key: ch.Key, Text: ch.Text, Heading: ch.Heading, Vector: ch.Vector, Extra: ch.Extra,
		})
	}
	err = t.c.do(`INSERT INTO sources (ws, num, part, id_hash, id, state, indexed, dense, first_chunk, chunks, seq_chunks,
		created, updated, time, expires, size, infer, title, kind, filename, media, session, tags, metadata, additional, doc, lane, lanes)
		VALUES ($1, $2, $3, $4, $5, 4, true, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`,
		v.num, part, hashOf(in.ID), in.ID, dense, v.first, v.chunks, v.seqChunks,
		created, stamp(in.UpdatedAt), stamp(in.Time), stamp(in.ExpiresAt), in.SizeBytes, in.Infer,
		in.Title, in.Kind, in.Filename, in.MediaType, in.Session, signed(in.Tags), in.Metadata, in.Additional, in.Doc, int64(in.Lane), int64(1)<<in.Lane)
	if err == nil {
		err = t.addTags(part, v.num, in.ID, in.Tags)
	}
	if err == nil {
		err = t.storeBlobs(v.num, in.Blobs, false)
	}
	if err == nil && in.Event {
		err = t.addEvent(v, backend.Completed, "", "")
	}
	return put, err
}
