package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// removeVersion removes a version with everything of it. The counter of items is the
// caller's.
func (t *tx) removeVersion(v *head) error {
	if v.newest {
		if err := t.dropTags(v); err != nil {
			return err
		}
		t.led.move(v.state, 0)
	}
	if err := t.clearContent(v); err != nil {
		return err
	}
	if err := t.dropSuccessions(v.num); err != nil {
		return err
	}
	if v.indexed {
		if err := t.drop(v); err != nil {
			return err
		}
	}
	for _, table := range []string{"blobs", "blob_parts"} {
		if err := t.c.do("DELETE FROM "+table+" WHERE ws = $1 AND source = $2", v.num); err != nil {
			return err
		}
	}
	return t.c.do("DELETE FROM sources WHERE ws = $1 AND num = $2", v.num)
}

// removeOlder removes the indexed version behind a newest one, if there still is one.
func (t *tx) removeOlder(v *head) error {
	if v.older == 0 {
		return nil
	}
	older, err := t.version(v.older)
	v.older = 0
	if err != nil || older == nil {
		return err
	}
	return t.removeVersion(older)
}

// removeItem removes all versions of the item whose newest is v.
func (t *tx) removeItem(v *head) error {
	if err := t.removeOlder(v); err != nil {
		return err
	}
	t.count(v.part, -1, 0)
	return t.removeVersion(v)
}

func (s *store) Delete(ctx context.Context, part backend.Partition, ids []string, o backend.DeleteOptions) (out []backend.DeleteResult, err error) {
	err = s.change(ctx, func(t *tx) error {
		out = make([]backend.DeleteResult, len(ids))
		id, err := t.partID(part)
		if err != nil {
			return err
		}
		for i := range ids {
			v, err := t.item(id, ids[i])
			if err != nil {
				return err
			}
			if v == nil {
				continue
			}
			out[i] = backend.DeleteResult{Found: true, Indexing: !v.state.Terminal(), Conflict: o.Conflicts(i, backend.Version{Num: v.num, Rev: v.rev})}
			if out[i].Indexing && o.KeepIndexing || out[i].Conflict {
				continue
			}
			if err := t.removeItem(v); err != nil {
				return fmt.Errorf("delete %q: %w", ids[i], err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *store) DeleteSub(ctx context.Context, sub string, limit int) (n int, err error) {
	err = s.change(ctx, func(t *tx) error {
		n = 0
		var parts []int64
		err := t.c.each(bg, "SELECT id FROM parts WHERE ws = $1 AND sub_hash = $2", func(r *row) error {
			parts = append(parts, r.int(0))
			return nil
		}, hashOf(sub))
		if err != nil {
			return err
		}
		left := false
		for _, part := range parts {
			var found []*head
			err := t.c.each(bg, "SELECT "+headCols+" FROM sources WHERE ws = $1 AND part = $2 AND newest ORDER BY num LIMIT $3 FOR UPDATE",
				func(r *row) error {
					found = append(found, readHead(r))
					return nil
				}, part, max(limit-n, 0)+1)
			if err != nil {
				return err
			}
			for _, v := range found {
				if n >= limit {
					left = true
					break
				}
				if err := t.removeItem(v); err != nil {
					return fmt.Errorf("delete %q: %w", v.id, err)
				}
				n++
			}
		}
		if left {
			return nil
		}
		return t.forgetSub(sub, parts, n > 0)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// forgetSub removes what an empty sub-tenant leaves behind; changed reports whether
// indexes may still know it.
func (t *tx) forgetSub(sub string, parts []int64, changed bool) error {
	// What the removals of this call left in memory belongs to rows that go now.
	if err := t.settle(); err != nil {
		return err
	}
	t.forget()
	for _, part := range parts {
		for _, sql := range []string{
			"DELETE FROM merges WHERE ws = $1 AND part = $2",
			"DELETE FROM aliases WHERE ws = $1 AND part = $2",
			"DELETE FROM entities WHERE ws = $1 AND part = $2",
			"DELETE FROM parts WHERE ws = $1 AND id = $2",
		} {
			if err := t.c.do(sql, part); err != nil {
				return err
			}
		}
	}
	if !changed {
		return nil
	}
	return t.dropSub(sub)
}

func (s *store) Expire(ctx context.Context, now time.Time, limit int) (n int, next time.Time, err error) {
	err = s.change(ctx, func(t *tx) error {
		n, next = 0, time.Time{}
		var nums []int64
		err := t.c.each(bg, `SELECT num FROM sources
			WHERE ws = $1 AND expires IS NOT NULL AND expires <= $2 ORDER BY expires LIMIT $3`, func(r *row) error {
			nums = append(nums, r.int(0))
			return nil
		}, micros(now), max(limit, 0))
		if err != nil {
			return err
		}
		for _, num := range nums {
			v, err := t.version(num)
			if err != nil {
				return err
			}
			switch {
			case v == nil: // went with a newer version
				continue
			case v.newest:
				err = t.removeItem(v)
			default:
				err = t.removeVersion(v)
			}
			if err != nil {
				return fmt.Errorf("expire %q: %w", v.id, err)
			}
			n++
		}
		_, err = t.c.one(bg, `SELECT expires FROM sources
			WHERE ws = $1 AND expires IS NOT NULL ORDER BY expires LIMIT 1`, func(r *row) error {
			next = r.time(0)
			return nil
		})
		return err
	})
	if err != nil {
		return 0, time.Time{}, err
	}
	return n, next, nil
}

func (s *store) UpdateMetadata(ctx context.Context, part backend.Partition, id string, expect backend.Version, metadata, additional, doc []byte, tags []uint64, now time.Time) (chunks int, err error) {
	err = s.change(ctx, func(t *tx) error {
		v, err := t.find(part, id)
		if err == nil && !v.is(expect) {
			err = fmt.Errorf("it was changed since it was read: %w", backend.ErrConflict)
		}
		if err == nil {
			chunks, err = t.updateMetadata(v, metadata, additional, doc, tags, now)
		}
		if err != nil {
			return fmt.Errorf("update metadata of %q: %w", id, err)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return chunks, nil
}

func (t *tx) updateMetadata(v *head, metadata, additional, doc []byte, tags []uint64, now time.Time) (chunks int, err error) {
	if err := t.dropTags(v); err != nil {
		return 0, err
	}
	if err := t.addTags(v.part, v.num, v.id, tags); err != nil {
		return 0, err
	}
	if v.indexed {
		chunks = int(v.chunks)
		if err := t.put(v.num, backend.PutTags, &v.seqTags); err != nil {
			return 0, err
		}
	}
	return chunks, t.c.do("UPDATE sources SET rev = rev + 1, metadata = $2, additional = $3, doc = coalesce($4, doc), tags = $5, updated = $6, seq_tags = $7 WHERE ws = $1 AND num = $8",
		metadata, additional, doc, signed(tags), stamp(now), v.seqTags, v.num)
}
