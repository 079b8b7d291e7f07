package postgres

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Uncompared(ctx context.Context, generation, after int64, limit int) (nums []int64, err error) {
	err = s.query(ctx, func(c *conn) error {
		nums = nil
		return c.each(ctx, `SELECT s.num FROM sources s JOIN parts p ON p.ws = s.ws AND p.id = s.part
			WHERE s.ws = $1 AND s.num > $2 AND s.indexed AND s.compared <> $3 AND s.chunks > 0 AND p.class = 2 ORDER BY s.num LIMIT $4`,
			func(r *row) error {
				nums = append(nums, r.int(0))
				return nil
			}, after, generation, max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return nums, nil
}

func (s *store) Compare(ctx context.Context, generation int64, items []backend.Compared) (ok []bool, err error) {
	err = s.change(ctx, func(t *tx) error {
		ok, err = t.Compare(generation, items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ok, nil
}

func (s *store) PutSuccession(ctx context.Context, in backend.Succession) (num int64, err error) {
	err = s.change(ctx, func(t *tx) error {
		num, err = t.PutSuccession(&in)
		return err
	})
	if err != nil {
		return 0, err
	}
	return num, nil
}

func (s *store) UndoSuccession(ctx context.Context, num int64, now time.Time) error {
	return s.change(ctx, func(t *tx) error { return t.UndoSuccession(num, now) })
}

func (x rows) RemoveFound(num int64) error {
	return x.t.c.do(`DELETE FROM successions WHERE ws = $1 AND num IN (
		SELECT num FROM successions WHERE ws = $1 AND later = $2 AND compared = $2 AND undone IS NULL
		UNION ALL SELECT num FROM successions WHERE ws = $1 AND earlier = $2 AND compared = $2 AND undone IS NULL)`, num)
}

func (x rows) AddSuccession(part, compared int64, s *backend.Succession, replace bool) error {
	conflict := ""
	if replace {
		conflict = `ON CONFLICT (ws, earlier, later) DO UPDATE SET later_chunk = excluded.later_chunk, earlier_chunk = excluded.earlier_chunk,
			compared = excluded.compared, retracts = excluded.retracts, confidence = excluded.confidence, matter = excluded.matter,
			evidence = excluded.evidence, decider = excluded.decider, extra = excluded.extra, created = excluded.created WHERE successions.undone IS NULL AND successions.compared <> 0`
	}
	x.t.led.succession++
	return x.t.c.do(`INSERT INTO successions (ws, num, part, later, earlier, later_chunk, earlier_chunk, compared, retracts, confidence, matter, evidence, decider, extra, created)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) `+conflict,
		x.t.led.succession, part, s.Later, s.Earlier, int64(s.LaterChunk), int64(s.EarlierChunk), compared, s.Retracts, s.Confidence, s.Matter, s.Evidence, s.Decider, s.Extra, storerules.Stamp(s.Created))
}

func (x rows) SetCompared(num, generation int64) error {
	return x.t.c.do("UPDATE sources SET compared = $2 WHERE ws = $1 AND num = $3", generation, num)
}

func (x rows) SuccessionOf(earlier, later int64) (num int64, err error) {
	_, err = x.t.c.one(bg, "SELECT num FROM successions WHERE ws = $1 AND earlier = $2 AND later = $3", func(r *row) error {
		num = r.int(0)
		return nil
	}, earlier, later)
	return num, err
}

func (x rows) RemoveSuccession(earlier, later int64) error {
	return x.t.c.do("DELETE FROM successions WHERE ws = $1 AND earlier = $2 AND later = $3", earlier, later)
}

func (x rows) RemoveSuccessions(num int64) error {
	if x.t.led.succession == 0 {
		return nil
	}
	return x.t.c.do("DELETE FROM successions WHERE ws = $1 AND (earlier = $2 OR later = $2)", num)
}

func (x rows) UndoSuccession(num int64, now time.Time) (found bool, err error) {
	found, err = x.t.c.one(bg, "SELECT 1 FROM successions WHERE ws = $1 AND num = $2", func(*row) error { return nil }, num)
	if err != nil || !found {
		return found, err
	}
	return true, x.t.c.do("UPDATE successions SET undone = $2 WHERE ws = $1 AND num = $3 AND undone IS NULL", storerules.Stamp(now), num)
}

const successionCols = `x.num, x.later, x.earlier, l.id, e.id, x.later_chunk, x.earlier_chunk, x.retracts, x.matter, x.evidence, x.decider,
	x.confidence, x.compared, x.created, x.undone, x.extra`

func (s *store) Successions(ctx context.Context, q backend.SuccessionQuery) (out []backend.Succession, err error) {
	limit := any(nil)
	if q.Limit > 0 {
		limit = int64(q.Limit)
	}
	where := ""
	args := []any{int64(q.Part.Class), hashOf(q.Part.Sub), q.After, limit}
	switch {
	case q.Earlier != nil:
		where, args = " AND x.earlier = ANY($6)", append(args, q.Earlier)
	case q.Later != nil:
		where, args = " AND x.later = ANY($6)", append(args, q.Later)
	}
	if !q.Undone {
		where += " AND x.undone IS NULL"
	}
	err = s.query(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, "SELECT "+successionCols+` FROM parts p JOIN successions x ON x.ws = p.ws AND x.part = p.id
			JOIN sources l ON l.ws = x.ws AND l.num = x.later JOIN sources e ON e.ws = x.ws AND e.num = x.earlier
			WHERE p.ws = $1 AND p.class = $2 AND p.sub_hash = $3 AND x.num > $4`+where+" ORDER BY x.num LIMIT $5", func(r *row) error {
			out = append(out, backend.Succession{
				Num: r.int(0), Later: r.int(1), Earlier: r.int(2), LaterID: r.str(3), EarlierID: r.str(4), LaterChunk: int(r.int(5)), EarlierChunk: int(r.int(6)),
				Retracts: r.bool(7), Matter: r.str(8), Evidence: r.str(9), Decider: r.str(10), Confidence: r.float(11),
				ByCaller: r.int(12) == 0, Created: r.time(13), Undone: r.time(14), Extra: r.blob(15),
			})
			return nil
		}, args...)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
