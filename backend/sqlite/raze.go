package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// Whoever deletes data must be rid of it, whatever is damaged. Where the row of a version cannot be read, the version is razed: it is
// removed by its number. After that, and after the removal of a version whose other rows are damaged, all rows that belong to nothing are
// swept up.

// removing runs remove in a transaction. If stored data is damaged, it rolls that back and runs raze instead.
func (s *store) removing(ctx context.Context, remove, raze func(t *tx) error) error {
	err := s.change(ctx, remove)
	if errors.Is(err, backend.ErrCorrupt) {
		err = s.change(ctx, func(t *tx) error {
			t.Left = true
			return raze(t)
		})
	}
	return err
}

// razeItems removes all versions of items.
func (t *tx) razeItems(p backend.Partition, ids []string, o backend.DeleteOptions) ([]backend.DeleteResult, error) {
	out := make([]backend.DeleteResult, len(ids))
	part, err := t.partID(p)
	if err != nil || part == 0 {
		return out, err
	}
	for i, id := range ids {
		var nums []int64
		v := backend.Version{}
		err := t.c.each(bg, "SELECT num, state, rev, newest = 1 FROM sources WHERE hash = ? AND part = ? AND id = ?", func(r *row) error {
			nums = append(nums, r.int(0))
			state, _ := r.vals[1].(int64)
			if rev, _ := r.vals[2].(int64); r.int(3) == 1 {
				v = backend.Version{Num: r.int(0), Rev: rev}
				out[i] = backend.DeleteResult{Found: true, Indexing: !backend.State(state).Terminal()}
			}
			return nil
		}, hashOf(0, id), part, id)
		if err == nil && out[i].Found {
			out[i].Conflict, err = t.Conflicts(&o, i, v)
		}
		if err != nil {
			return nil, err
		}
		if !out[i].Found || out[i].Indexing && o.KeepIndexing || out[i].Conflict {
			continue
		}
		for _, num := range nums {
			if err := t.raze(num, p, id); err != nil {
				return nil, fmt.Errorf("delete %q: %w", id, err)
			}
		}
	}
	return out, nil
}

// razeSub removes a sub-tenant with all its items.
func (t *tx) razeSub(sub string) (n int, err error) {
	parts, err := rows{t}.Parts(sub)
	if err != nil {
		return 0, err
	}
	for _, part := range parts {
		_, err = t.c.one(bg, "SELECT count(*) FROM sources WHERE part = ? AND newest = 1", func(r *row) error {
			n += int(r.int(0))
			return nil
		}, part)
		if err != nil {
			return 0, err
		}
		if err := t.c.do("DELETE FROM sources WHERE part = ?", part); err != nil {
			return 0, err
		}
	}
	return n, t.ForgetSub(sub, parts, true)
}

// razeExpired removes up to limit expired versions. Of one whose partition or id is damaged, no other version of its item is found.
func (t *tx) razeExpired(now time.Time, limit int) (n int, next time.Time, err error) {
	type version struct {
		num    int64
		part   backend.Partition
		id     string
		known  bool // part and id are
		newest bool
	}
	var found []version
	err = t.c.each(bg, `SELECT s.num, p.class, p.sub, s.id, s.newest <> 0 FROM sources s LEFT JOIN parts p ON p.id = s.part
		WHERE s.expires IS NOT NULL AND s.expires <= ? ORDER BY s.expires LIMIT ?`, func(r *row) error {
		v := version{num: r.int(0), newest: r.int(4) != 0}
		class, ok1 := r.vals[1].(int64)
		sub, ok2 := r.vals[2].(string)
		id, ok3 := r.vals[3].(string)
		if v.known = ok1 && ok2 && ok3; v.known {
			v.part, v.id = backend.Partition{Class: backend.Class(class), Sub: sub}, id
		}
		found = append(found, v)
		return nil
	}, storerules.Micros(now), limit)
	if err != nil {
		return 0, time.Time{}, err
	}
	for _, v := range found {
		switch {
		case !v.known: // its rows go, and indexes no longer find what these rows say
			err = t.c.do("DELETE FROM sources WHERE num = ?", v.num)
		case v.newest:
			_, err = t.razeItems(v.part, []string{v.id}, backend.DeleteOptions{})
			fallthrough
		default:
			if err == nil {
				err = t.raze(v.num, v.part, v.id)
			}
		}
		if err != nil {
			return 0, time.Time{}, err
		}
		n++
	}
	next, err = rows{t}.NextExpiry()
	return n, next, err
}

// raze removes the row of a version and tells the indexes.
func (t *tx) raze(num int64, p backend.Partition, id string) error {
	removed, err := t.c.exec("DELETE FROM sources WHERE num = ?", num)
	if err != nil || removed == 0 {
		return err
	}
	seq, err := t.Next()
	if err != nil {
		return err
	}
	return rows{t}.AddTombstone(seq, backend.Drop, num, int64(p.Class), p.Sub, id)
}

// strays are queries that remove rows that belong to nothing, in an order in which each finds what the ones before left.
var strays = []string{
	"DELETE FROM chunks WHERE source NOT IN (SELECT num FROM sources)",
	"DELETE FROM vectors WHERE chunk NOT IN (SELECT num FROM chunks)",
	"DELETE FROM lane_vectors WHERE id >> 2 NOT IN (SELECT num FROM chunks)",
	"DELETE FROM blobs WHERE id >> 3 NOT IN (SELECT num FROM sources)",
	"DELETE FROM pieces WHERE id >> 14 NOT IN (SELECT id FROM blobs)",
	"DELETE FROM tags WHERE source NOT IN (SELECT num FROM sources)",
	"DELETE FROM mentions WHERE source NOT IN (SELECT num FROM sources)",
	"DELETE FROM entity_sources WHERE source NOT IN (SELECT num FROM sources)",
	"DELETE FROM stated_aliases WHERE source NOT IN (SELECT num FROM sources)",
	"DELETE FROM relations WHERE source NOT IN (SELECT num FROM sources)",
	"DELETE FROM successions WHERE later NOT IN (SELECT num FROM sources) OR earlier NOT IN (SELECT num FROM sources)",
	"DELETE FROM changes WHERE sub IS NULL AND source NOT IN (SELECT num FROM sources)",
}

// RemoveStrays implements [storerules.Rows].
func (x rows) RemoveStrays() error {
	t := x.t
	if err := t.lag.now.write(t.c, &t.led); err != nil {
		return err
	}
	t.lag.now = lag{total: t.led}
	for _, sql := range strays {
		if err := t.c.do(sql); err != nil {
			return err
		}
	}
	return nil
}

// CountAnew implements [storerules.Rows].
func (x rows) CountAnew() error {
	t := x.t
	if err := t.c.do(`UPDATE counters SET items = (SELECT count(*) FROM sources WHERE part = counters.id AND newest = 1),
		chunks = (SELECT coalesce(sum(chunks), 0) FROM sources WHERE part = counters.id) WHERE id > 0`); err != nil {
		return err
	}
	t.led.states = [backend.Errored + 1]int64{}
	err := t.c.each(bg, "SELECT state, count(*) FROM sources WHERE newest = 1 AND typeof(state) = 'integer' AND state BETWEEN 1 AND 5 GROUP BY state", func(r *row) error {
		t.led.states[r.int(0)] = r.int(1)
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.c.one(bg, "SELECT count(*) FROM relations WHERE flags > 1", func(r *row) error {
		t.led.Retractions = r.int(0)
		return nil
	})
	return err
}
