package postgres

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Finish(ctx context.Context, items []backend.Finished) ([]bool, error) {
	return changeHeld(ctx, s, nil, "finish", items, func(x *backend.Finished) (int64, string, []backend.Blob) { return x.Num, x.Token, x.Blobs },
		func(t *tx, v *head, f *backend.Finished) error { return t.Finish(v, f) })
}

func (s *store) Events(ctx context.Context, limit int) (out []backend.Event, err error) {
	err = s.query(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, `SELECT seq, class, sub, item, source, status, error_code, error_message, at, epoch
			FROM events WHERE ws = $1 ORDER BY seq LIMIT $2`, func(r *row) error {
			out = append(out, backend.Event{
				Seq: r.int(0), Part: backend.Partition{Class: backend.Class(r.int(1)), Sub: r.str(2)}, ItemID: r.str(3),
				Source: r.int(4), Status: backend.State(r.int(5)), ErrorCode: r.str(6), ErrorMessage: r.str(7), At: r.time(8),
				Epoch: uint64(r.int(9)),
			})
			return nil
		}, max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *store) Acknowledge(ctx context.Context, seq int64) error {
	return s.change(ctx, func(t *tx) error { return t.c.do("DELETE FROM events WHERE ws = $1 AND seq <= $2", seq) })
}
