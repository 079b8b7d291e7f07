package postgres

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

// razed holds what raze needs of a version: columns of fixed width, which can be read whatever the others say.
type razed struct {
	num, older, first, chunks int64
	newest, indexed           bool
}

const razedCols = "s.num, s.older, s.first_chunk, s.chunks, s.newest, s.indexed"

const razedWidth = 6 // number of columns in razedCols

func readRazed(r *row) razed {
	return razed{r.int(0), r.int(1), r.int(2), r.int(3), r.bool(4), r.bool(5)}
}

// razeItems removes the newest version of items and the one before.
func (t *tx) razeItems(p backend.Partition, ids []string, o backend.DeleteOptions) ([]backend.DeleteResult, error) {
	out := make([]backend.DeleteResult, len(ids))
	part, err := t.partID(p)
	if err != nil || part == 0 {
		return out, err
	}
	for i, id := range ids {
		var v razed
		var at backend.Version
		_, err := t.c.one(bg, "SELECT "+razedCols+", s.state, s.rev FROM sources s WHERE s.ws = $1 AND s.part = $2 AND s.id_hash = $3 AND s.newest FOR UPDATE", func(r *row) error {
			v = readRazed(r)
			at = backend.Version{Num: v.num, Rev: r.int(razedWidth + 1)}
			out[i] = backend.DeleteResult{Found: true, Indexing: !backend.State(r.int(razedWidth)).Terminal()}
			return nil
		}, part, hashOf(id))
		if err == nil && out[i].Found {
			out[i].Conflict, err = t.Conflicts(&o, i, at)
		}
		if err != nil {
			return nil, err
		}
		if !out[i].Found || out[i].Indexing && o.KeepIndexing || out[i].Conflict {
			continue
		}
		if err := t.razeItem(&v, p, id, true); err != nil {
			return nil, fmt.Errorf("delete %q: %w", id, err)
		}
	}
	return out, nil
}

// razeItem removes a version and the one before it.
func (t *tx) razeItem(v *razed, p backend.Partition, id string, known bool) error {
	if v.older != 0 {
		var older *razed
		_, err := t.c.one(bg, "SELECT "+razedCols+" FROM sources s WHERE s.ws = $1 AND s.num = $2 AND NOT s.newest FOR UPDATE", func(r *row) error {
			x := readRazed(r)
			older = &x
			return nil
		}, v.older)
		if err == nil && older != nil {
			err = t.raze(older, p, id, known)
		}
		if err != nil {
			return err
		}
	}
	return t.raze(v, p, id, known)
}

// raze removes a version with the rows that name it, and tells the indexes if its partition and id are known. Otherwise indexes no longer find what its
// rows say.
func (t *tx) raze(v *razed, p backend.Partition, id string, known bool) error {
	removed, err := t.c.exec(bg, "DELETE FROM sources WHERE ws = $1 AND num = $2", v.num)
	if err != nil || removed == 0 {
		return err
	}
	for _, table := range []string{"blobs", "blob_parts", "mentions", "entity_sources", "stated_aliases", "relations"} {
		if err := t.c.do("DELETE FROM "+table+" WHERE ws = $1 AND source = $2", v.num); err != nil {
			return err
		}
	}
	const own = "SELECT num FROM chunks WHERE ws = $1 AND source = $2 AND num BETWEEN $3 AND $4"
	for _, sql := range []string{
		"DELETE FROM vectors WHERE ws = $1 AND chunk IN (" + own + ")",
		"DELETE FROM chunks WHERE ws = $1 AND num IN (" + own + ")",
	} {
		if err := t.c.do(sql, v.num, v.first, v.first+v.chunks-1); err != nil {
			return err
		}
	}
	if err := (rows{t}).RemoveSuccessions(v.num); err != nil || !known || !v.indexed {
		return err
	}
	seq, err := t.Next()
	if err != nil {
		return err
	}
	return rows{t}.AddTombstone(seq, backend.Drop, v.num, int64(p.Class), p.Sub, id)
}

// razeSub removes up to limit items of a sub-tenant, and the sub-tenant if none is left.
func (t *tx) razeSub(sub string, limit int) (n int, err error) {
	parts, err := rows{t}.Parts(sub)
	if err != nil {
		return 0, err
	}
	left := false
	for _, part := range parts {
		var found []razed
		err := t.c.each(bg, "SELECT "+razedCols+" FROM sources s WHERE s.ws = $1 AND s.part = $2 AND s.newest ORDER BY s.num LIMIT $3 FOR UPDATE", func(r *row) error {
			found = append(found, readRazed(r))
			return nil
		}, part, max(limit-n, 0)+1)
		if err != nil {
			return 0, err
		}
		for i := range found {
			if n >= limit {
				left = true
				break
			}
			// The tombstone of the sub-tenant tells the indexes.
			if err := t.razeItem(&found[i], backend.Partition{}, "", false); err != nil {
				return 0, err
			}
			n++
		}
	}
	if left {
		return n, nil
	}
	return n, t.ForgetSub(sub, parts, true)
}

// razeExpired removes up to limit expired versions.
func (t *tx) razeExpired(now time.Time, limit int) (n int, next time.Time, err error) {
	type version struct {
		razed
		part  backend.Partition
		id    string
		known bool // part is
	}
	var found []version
	err = t.c.each(bg, "SELECT "+razedCols+`, p.class, p.sub, s.id FROM sources s LEFT JOIN parts p ON p.ws = s.ws AND p.id = s.part
		WHERE s.ws = $1 AND s.expires IS NOT NULL AND s.expires <= $2 ORDER BY s.expires LIMIT $3`, func(r *row) error {
		v := version{razed: readRazed(r), id: r.str(razedWidth + 2)}
		if v.known = !r.null(razedWidth); v.known {
			v.part = backend.Partition{Class: backend.Class(r.int(razedWidth)), Sub: r.str(razedWidth + 1)}
		}
		found = append(found, v)
		return nil
	}, storerules.Micros(now), max(limit, 0))
	if err != nil {
		return 0, time.Time{}, err
	}
	for i := range found {
		v := &found[i]
		if v.newest {
			err = t.razeItem(&v.razed, v.part, v.id, v.known)
		} else {
			err = t.raze(&v.razed, v.part, v.id, v.known)
		}
		if err != nil {
			return 0, time.Time{}, err
		}
		n++
	}
	next, err = rows{t}.NextExpiry()
	return n, next, err
}
