package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Place(ctx context.Context, items []backend.Placed) (out *backend.Placement, err error) {
	if err := storerules.CheckPlaced(items); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(t *tx) error {
		out, err = t.Place(items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// NumberPlaced assigns the version the number of the feed entry that puts its chunks. The entry therefore needs no row.
func (x rows) NumberPlaced(v *head) (err error) {
	t := x.t
	before := t.led
	t.led.Seq = max(t.led.Seq, t.led.Source)
	if v.Num, err = t.Next(); err != nil {
		return err
	}
	t.led.place(v.Num, t.led.Chunk+v.Chunks)
	v.SeqChunks = v.Num
	t.led.move(0, backend.Completed)
	if !t.lag.now.note(&before, &t.led, v) {
		t.Count(v.Part, 1, v.Chunks)
	}
	return nil
}

func (x rows) AddPlaced(v *head, in *backend.Source, dense bool) error {
	tags := storerules.PackTags(in.Tags)
	var sum uint32
	sum, x.t.buf = sourceSum(x.t.buf, in, v.Created, tags)
	return x.t.c.do(`INSERT INTO sources (num, part, hash, id, state, indexed, dense, first_chunk, chunks, seq_chunks,
		created, updated, time, expires, size, infer, title, kind, filename, media, session, tags, metadata, additional, doc, lane, lanes, crc)
		VALUES (?, ?, ?, ?, 4, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.Num, v.Part, hashOf(0, in.ID), in.ID, dense, v.First, v.Chunks, v.SeqChunks,
		v.Created, storerules.Stamp(in.UpdatedAt), storerules.Stamp(in.Time), storerules.Stamp(in.ExpiresAt), in.SizeBytes, in.Infer,
		in.Title, in.Kind, in.Filename, shortWord(in.MediaType), in.Session, tags, in.Metadata, in.Additional, shortJSON(in.Doc), int64(v.Lane), v.Lanes, sum)
}
