package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Uncompared(ctx context.Context, generation, after int64, limit int) (nums []int64, err error) {
	err = s.query(ctx, func(c *conn) error {
		return c.each(ctx, `SELECT s.num FROM sources s CROSS JOIN parts p ON p.id = s.part
			WHERE s.num > ? AND s.indexed = 1 AND s.compared <> ? AND s.chunks > 0 AND p.class = 2 ORDER BY s.num LIMIT ?`,
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
	return x.t.c.do(`DELETE FROM successions WHERE num IN (
		SELECT num FROM successions INDEXED BY successions_later WHERE later = ?1 AND compared = ?1 AND undone IS NULL
		UNION ALL SELECT num FROM successions INDEXED BY successions_earlier WHERE earlier = ?1 AND compared = ?1 AND undone IS NULL)`, num)
}

func (x rows) AddSuccession(part, compared int64, s *backend.Succession, replace bool) error {
	conflict := ""
	if replace {
		conflict = `ON CONFLICT (earlier, later) DO UPDATE SET later_chunk = excluded.later_chunk, earlier_chunk = excluded.earlier_chunk,
			compared = excluded.compared, retracts = excluded.retracts, confidence = excluded.confidence, matter = excluded.matter,
			evidence = excluded.evidence, decider = excluded.decider, extra = excluded.extra, created = excluded.created WHERE undone IS NULL AND compared <> 0`
	}
	x.t.succeeded.Store(true)
	return x.t.c.do(`INSERT INTO successions (part, later, earlier, later_chunk, earlier_chunk, compared, retracts, confidence, matter, evidence, decider, extra, created)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) `+conflict,
		part, s.Later, s.Earlier, int64(s.LaterChunk), int64(s.EarlierChunk), compared, s.Retracts, s.Confidence, s.Matter, s.Evidence, s.Decider, s.Extra, storerules.Stamp(s.Created))
}

func (x rows) SetCompared(num, generation int64) error {
	return x.t.c.do("UPDATE sources SET compared = ? WHERE num = ?", generation, num)
}

func (x rows) SuccessionOf(earlier, later int64) (num int64, err error) {
	_, err = x.t.c.one(bg, "SELECT num FROM successions INDEXED BY successions_earlier WHERE earlier = ? AND later = ?", func(r *row) error {
		num = r.int(0)
		return nil
	}, earlier, later)
	return num, err
}

func (x rows) RemoveSuccession(earlier, later int64) error {
	return x.t.c.do("DELETE FROM successions WHERE earlier = ? AND later = ?", earlier, later)
}

func (x rows) RemoveSuccessions(num int64) error {
	if !x.t.succeeded.Load() {
		return nil
	}
	if err := x.t.c.do("DELETE FROM successions WHERE earlier = ?", num); err != nil {
		return err
	}
	return x.t.c.do("DELETE FROM successions WHERE later = ?", num)
}

func (x rows) UndoSuccession(num int64, now time.Time) (found bool, err error) {
	found, err = x.t.c.one(bg, "SELECT 1 FROM successions WHERE num = ?", func(*row) error { return nil }, num)
	if err != nil || !found {
		return found, err
	}
	return true, x.t.c.do("UPDATE successions SET undone = ? WHERE num = ? AND undone IS NULL", storerules.Stamp(now), num)
}

const successionCols = `x.num, x.later, x.earlier, l.id, e.id, x.later_chunk, x.earlier_chunk, x.retracts, x.matter, x.evidence, x.decider,
	x.confidence, x.compared, x.created, x.undone, x.extra`

func (s *store) Successions(ctx context.Context, q backend.SuccessionQuery) (out []backend.Succession, err error) {
	if !s.succeeded.Load() {
		if err := s.Enter(ctx); err != nil {
			return nil, err
		}
		s.Leave()
		return nil, nil
	}
	if v, quiet := s.commits.load(); quiet && len(q.Earlier) > 0 && q.Later == nil && !q.Undone && q.After == 0 && q.Limit == 0 {
		out, err = s.succeeding(ctx, v, q)
		if !partial(err) || err == nil && s.commits.n.Load() == v {
			return out, err
		}
	}
	return s.readSuccessions(ctx, q)
}

// readSuccessions reads successions from the database.
func (s *store) readSuccessions(ctx context.Context, q backend.SuccessionQuery) (out []backend.Succession, err error) {
	limit := int64(q.Limit)
	if limit <= 0 {
		limit = -1
	}
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		part, err := findPart(c, q.Part)
		if err != nil || part == 0 {
			return err
		}
		from, nums := "successions x INDEXED BY successions_part", []int64(nil)
		switch {
		case q.Earlier != nil:
			from, nums = "json_each(?4) j CROSS JOIN successions x INDEXED BY successions_earlier ON x.earlier = j.value", q.Earlier
		case q.Later != nil:
			from, nums = "json_each(?4) j CROSS JOIN successions x INDEXED BY successions_later ON x.later = j.value", q.Later
		}
		args := []any{part, q.After, limit}
		if nums != nil || q.Earlier != nil || q.Later != nil {
			args = append(args, jsonInts(nums))
		}
		undone := " AND x.undone IS NULL"
		if q.Undone {
			undone = ""
		}
		return c.each(ctx, "SELECT "+successionCols+" FROM "+from+` CROSS JOIN sources l ON l.num = x.later CROSS JOIN sources e ON e.num = x.earlier
			WHERE x.part = ?1 AND x.num > ?2`+undone+" ORDER BY x.num LIMIT ?3", func(r *row) error {
			x := backend.Succession{
				Num: r.int(0), Later: r.int(1), Earlier: r.int(2), LaterID: r.str(3), EarlierID: r.str(4), LaterChunk: int(r.int(5)), EarlierChunk: int(r.int(6)),
				Retracts: r.int(7) != 0, Matter: r.str(8), Evidence: r.str(9), Decider: r.str(10), Confidence: r.float(11),
				ByCaller: r.int(12) == 0, Created: r.time(13), Undone: r.time(14), Extra: r.blob(15),
			}
			if r.err != nil {
				r.err = fmt.Errorf("succession %d: %w", x.Num, r.err)
			}
			if !lost.skip(r) {
				out = append(out, x)
			}
			return nil
		}, args...)
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

// anySuccession reports whether there may be a succession.
func anySuccession(c *conn) (bool, error) {
	return c.one(bg, "SELECT 1 FROM successions LIMIT 1", func(*row) error { return nil })
}
