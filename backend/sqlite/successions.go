package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
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
	err = t.c.do(`DELETE FROM successions WHERE num IN (
		SELECT num FROM successions INDEXED BY successions_later WHERE later = ?1 AND compared = ?1 AND undone IS NULL
		UNION ALL SELECT num FROM successions INDEXED BY successions_earlier WHERE earlier = ?1 AND compared = ?1 AND undone IS NULL)`, v.num)
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
		err = t.addSuccession(v.part, v.num, f, `ON CONFLICT (earlier, later) DO UPDATE SET later_chunk = excluded.later_chunk, earlier_chunk = excluded.earlier_chunk,
			compared = excluded.compared, retracts = excluded.retracts, confidence = excluded.confidence, matter = excluded.matter,
			evidence = excluded.evidence, decider = excluded.decider, extra = excluded.extra, created = excluded.created WHERE undone IS NULL AND compared <> 0`)
		if err != nil {
			return false, err
		}
	}
	return true, t.c.do("UPDATE sources SET compared = ? WHERE num = ?", generation, v.num)
}

// addSuccession stores a succession that the comparison of a version found, 0 for a caller; conflict says what becomes
// of one that the two versions have.
func (t *tx) addSuccession(part, compared int64, f *backend.Succession, conflict string) error {
	t.succeeded.Store(true)
	return t.c.do(`INSERT INTO successions (part, later, earlier, later_chunk, earlier_chunk, compared, retracts, confidence, matter, evidence, decider, extra, created)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) `+conflict,
		part, f.Later, f.Earlier, int64(f.LaterChunk), int64(f.EarlierChunk), compared, f.Retracts, f.Confidence, f.Matter, f.Evidence, f.Decider, f.Extra, stamp(f.Created))
}

func (s *store) PutSuccession(ctx context.Context, in backend.Succession) (num int64, err error) {
	err = s.change(ctx, func(t *tx) error {
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
	if err := t.c.do("DELETE FROM successions WHERE earlier = ? AND later = ?", in.Earlier, in.Later); err != nil {
		return 0, err
	}
	if err := t.addSuccession(later.part, 0, in, ""); err != nil {
		return 0, err
	}
	_, err = t.c.one(bg, "SELECT num FROM successions INDEXED BY successions_earlier WHERE earlier = ? AND later = ?", func(r *row) error {
		num = r.int(0)
		return nil
	}, in.Earlier, in.Later)
	return num, err
}

func (s *store) UndoSuccession(ctx context.Context, num int64, now time.Time) error {
	return s.change(ctx, func(t *tx) error {
		found, err := t.c.one(bg, "SELECT 1 FROM successions WHERE num = ?", func(*row) error { return nil }, num)
		if err == nil && !found {
			err = backend.ErrNotFound
		}
		if err == nil {
			err = t.c.do("UPDATE successions SET undone = ? WHERE num = ? AND undone IS NULL", stamp(now), num)
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
	if !s.succeeded.Load() {
		if err := s.enter(ctx); err != nil {
			return nil, err
		}
		s.leave()
		return nil, nil
	}
	if v, quiet := s.commits.load(); quiet && len(q.Earlier) > 0 && q.Later == nil && !q.Undone && q.After == 0 && q.Limit == 0 {
		if out, err = s.succeeding(ctx, v, q); err != nil || s.commits.n.Load() == v {
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
			out = append(out, backend.Succession{
				Num: r.int(0), Later: r.int(1), Earlier: r.int(2), LaterID: r.str(3), EarlierID: r.str(4), LaterChunk: int(r.int(5)), EarlierChunk: int(r.int(6)),
				Retracts: r.int(7) != 0, Matter: r.str(8), Evidence: r.str(9), Decider: r.str(10), Confidence: r.float(11),
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
	if !t.succeeded.Load() {
		return nil
	}
	if err := t.c.do("DELETE FROM successions WHERE earlier = ?", num); err != nil {
		return err
	}
	return t.c.do("DELETE FROM successions WHERE later = ?", num)
}

// anySuccession reports whether there may be a succession.
func anySuccession(c *conn) (bool, error) {
	return c.one(bg, "SELECT 1 FROM successions LIMIT 1", func(*row) error { return nil })
}
