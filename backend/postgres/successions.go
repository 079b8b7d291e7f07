package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Uncompared(ctx context.Context, generation, after int64, limit int) (nums []int64, err error) {
	err = s.query(ctx, func(c *conn) error {
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
		ok = make([]bool, len(items))
		for i := range items {
			if ok[i], err = t.compare(generation, &items[i]); err != nil {
				return fmt.Errorf("compare source %d: %w", items[i].Source.Num, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ok, nil
}

func (t *tx) compare(generation int64, in *backend.Compared) (ok bool, err error) {
	for i := range in.Found {
		if f := &in.Found[i]; f.Later == f.Earlier || f.Later != in.Source.Num && f.Earlier != in.Source.Num {
			return false, fmt.Errorf("succession %d of %d", f.Later, f.Earlier)
		}
	}
	v, err := t.version(in.Source.Num)
	if err != nil || !v.is(in.Source) || !v.indexed {
		return false, err
	}
	err = t.c.do(`DELETE FROM successions WHERE ws = $1 AND num IN (
		SELECT num FROM successions WHERE ws = $1 AND later = $2 AND compared = $2 AND undone IS NULL
		UNION ALL SELECT num FROM successions WHERE ws = $1 AND earlier = $2 AND compared = $2 AND undone IS NULL)`, v.num)
	if err != nil {
		return false, err
	}
	for i := range in.Found {
		f := &in.Found[i]
		other, err := t.version(f.Later + f.Earlier - v.num)
		if err != nil {
			return false, err
		}
		if other == nil || other.part != v.part {
			continue
		}
		// What is kept already was undone, stored by a caller, or found by the comparison of the other.
		err = t.addSuccession(v.part, v.num, f, `ON CONFLICT (ws, earlier, later) DO UPDATE SET later_chunk = excluded.later_chunk, earlier_chunk = excluded.earlier_chunk,
			compared = excluded.compared, retracts = excluded.retracts, confidence = excluded.confidence, matter = excluded.matter,
			evidence = excluded.evidence, decider = excluded.decider, extra = excluded.extra, created = excluded.created WHERE successions.undone IS NULL AND successions.compared <> 0`)
		if err != nil {
			return false, err
		}
	}
	return true, t.c.do("UPDATE sources SET compared = $2 WHERE ws = $1 AND num = $3", generation, v.num)
}

// addSuccession stores a succession that the comparison of a version found, 0 for a caller; conflict says what becomes
// of one that the two versions have.
func (t *tx) addSuccession(part, compared int64, f *backend.Succession, conflict string) error {
	t.led.succession++
	return t.c.do(`INSERT INTO successions (ws, num, part, later, earlier, later_chunk, earlier_chunk, compared, retracts, confidence, matter, evidence, decider, extra, created)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) `+conflict,
		t.led.succession, part, f.Later, f.Earlier, int64(f.LaterChunk), int64(f.EarlierChunk), compared, f.Retracts, f.Confidence, f.Matter, f.Evidence, f.Decider, f.Extra, stamp(f.Created))
}

func (s *store) PutSuccession(ctx context.Context, in backend.Succession) (num int64, err error) {
	err = s.change(ctx, func(t *tx) (err error) {
		num, err = t.putSuccession(&in)
		if err != nil {
			return fmt.Errorf("put succession: %w", err)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return num, nil
}

func (t *tx) putSuccession(in *backend.Succession) (num int64, err error) {
	later, err := t.version(in.Later)
	if err != nil {
		return 0, err
	}
	earlier, err := t.version(in.Earlier)
	switch {
	case err != nil:
		return 0, err
	case later == nil || earlier == nil || !later.newest || !earlier.newest:
		return 0, backend.ErrNotFound
	case later.num == earlier.num || later.part != earlier.part:
		return 0, backend.ErrConflict
	}
	if err := t.c.do("DELETE FROM successions WHERE ws = $1 AND earlier = $2 AND later = $3", in.Earlier, in.Later); err != nil {
		return 0, err
	}
	if err := t.addSuccession(later.part, 0, in, ""); err != nil {
		return 0, err
	}
	_, err = t.c.one(bg, "SELECT num FROM successions WHERE ws = $1 AND earlier = $2 AND later = $3", func(r *row) error {
		num = r.int(0)
		return nil
	}, in.Earlier, in.Later)
	return num, err
}

func (s *store) UndoSuccession(ctx context.Context, num int64, now time.Time) error {
	return s.change(ctx, func(t *tx) error {
		found, err := t.c.one(bg, "SELECT 1 FROM successions WHERE ws = $1 AND num = $2", func(*row) error { return nil }, num)
		if err == nil && !found {
			err = backend.ErrNotFound
		}
		if err == nil {
			err = t.c.do("UPDATE successions SET undone = $2 WHERE ws = $1 AND num = $3 AND undone IS NULL", stamp(now), num)
		}
		if err != nil {
			return fmt.Errorf("undo succession %d: %w", num, err)
		}
		return nil
	})
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

// dropSuccessions removes what a version that goes is a side of.
func (t *tx) dropSuccessions(num int64) error {
	if t.led.succession == 0 {
		return nil
	}
	return t.c.do("DELETE FROM successions WHERE ws = $1 AND (earlier = $2 OR later = $2)", num)
}
