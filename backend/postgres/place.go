package postgres

import (
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Place(ctx context.Context, items []backend.Placed) (out *backend.Placement, err error) {
	if err := storerules.CheckPlaced(items); err != nil {
		return nil, err
	}
	expects := slices.ContainsFunc(items, func(in backend.Placed) bool { return expects(&in.Incoming) })
	err = s.change(ctx, func(t *tx) error {
		t.expects = expects
		out, err = t.Place(items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (x rows) NumberPlaced(v *head) error {
	x.t.led.Source++
	v.Num = x.t.led.Source
	x.t.led.Chunk += v.Chunks
	x.t.led.move(0, backend.Completed)
	x.t.Count(v.Part, 1, v.Chunks)
	return x.t.Put(v.Num, backend.PutChunks, &v.SeqChunks)
}

func (x rows) AddPlaced(v *head, in *backend.Source, dense bool) error {
	return x.t.c.do(`INSERT INTO sources (ws, num, part, id_hash, id, state, indexed, dense, first_chunk, chunks, seq_chunks,
		created, updated, time, expires, size, infer, title, kind, filename, media, session, tags, metadata, additional, doc, lane, lanes)
		VALUES ($1, $2, $3, $4, $5, 4, true, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`,
		v.Num, v.Part, hashOf(in.ID), in.ID, dense, v.First, v.Chunks, v.SeqChunks,
		v.Created, storerules.Stamp(in.UpdatedAt), storerules.Stamp(in.Time), storerules.Stamp(in.ExpiresAt), in.SizeBytes, in.Infer,
		in.Title, in.Kind, in.Filename, in.MediaType, in.Session, signed(in.Tags), in.Metadata, in.Additional, in.Doc, int64(v.Lane), v.Lanes)
}
