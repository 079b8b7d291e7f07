package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Finish(ctx context.Context, items []backend.Finished) ([]bool, error) {
	return changeHeld(ctx, s, nil, "finish", items, func(x *backend.Finished) (int64, string, []backend.Blob) { return x.Num, x.Token, x.Blobs }, (*tx).finish)
}

func (t *tx) finish(v *head, f *backend.Finished) error {
	if !f.State.Terminal() {
		return fmt.Errorf("state %d is not final", f.State)
	}
	for i := range f.Mentions {
		if m := &f.Mentions[i]; m.Chunk < 0 || int64(m.Chunk) >= v.chunks {
			return fmt.Errorf("mention in chunk %d of %d", m.Chunk, v.chunks)
		}
	}
	for i := range f.Relations {
		if r := &f.Relations[i]; r.Chunk < 0 || r.Chunk >= v.chunks {
			return fmt.Errorf("relation in chunk %d of %d", r.Chunk, v.chunks)
		}
	}
	had := v.seqGph != 0
	if err := t.clearGraph(v); err != nil {
		return err
	}
	if err := t.addMentions(v, f.Mentions); err != nil {
		return err
	}
	for i := range f.Relations {
		if err := t.addRelation(v, &f.Relations[i]); err != nil {
			return err
		}
	}
	if err := t.addStated(v, f.Aliases, f.Mentions); err != nil {
		return err
	}
	v.graph = len(f.Mentions)+len(f.Relations) > 0
	if had || len(f.Mentions) > 0 {
		if err := t.put(v.num, backend.PutGraph, &v.seqGph); err != nil {
			return err
		}
	}
	if err := t.storeBlobs(v.num, f.Blobs, true); err != nil {
		return err
	}
	return t.end(v, f.State, f.ErrorCode, f.ErrorMessage, f.Event)
}

// end sets a version's final state and puts an event out when asked.
func (t *tx) end(v *head, state backend.State, code, message string, event bool) error {
	t.move(v, state)
	err := t.c.do(`UPDATE sources SET state = $2, error_code = $3, error_message = $4, token = '', lease = NULL,
		not_before = NULL, due = 0, graph = $5, seq_graph = $6 WHERE ws = $1 AND num = $7`,
		int64(state), code, message, v.graph, v.seqGph, v.num)
	if err != nil || !event {
		return err
	}
	return t.addEvent(v, state, code, message)
}

// addEvent puts the final state of a version into the outbox.
func (t *tx) addEvent(v *head, state backend.State, code, message string) error {
	p, err := t.partName(v.part)
	if err != nil {
		return err
	}
	t.led.event++
	t.waits = true
	return t.c.do(`INSERT INTO events (ws, seq, class, sub, item, source, status, error_code, error_message, at, epoch)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, t.led.event, int64(p.Class), p.Sub, v.id, v.num,
		int64(state), code, message, stamp(time.Now()), int64(t.epochs.now))
}

func (s *store) Events(ctx context.Context, limit int) (out []backend.Event, err error) {
	err = s.query(ctx, func(c *conn) error {
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
