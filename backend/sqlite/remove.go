package sqlite

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
	if err := t.removeBlobs(v.num); err != nil {
		return err
	}
	return t.c.do("DELETE FROM sources WHERE num = ?", v.num)
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
		var parts []int64
		err := t.c.each(bg, "SELECT id FROM parts WHERE sub = ?", func(r *row) error {
			parts = append(parts, r.int(0))
			return nil
		}, sub)
		if err != nil {
			return err
		}
		left := false
		for _, part := range parts {
			var found []*head
			err := t.c.each(bg, "SELECT "+headCols+" FROM sources INDEXED BY sources_list WHERE part = ? AND newest = 1 LIMIT ?",
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
			"DELETE FROM merges WHERE part = ?",
			"DELETE FROM aliases WHERE part = ?",
			"DELETE FROM entities WHERE part = ?",
			"DELETE FROM counters WHERE id = ?",
			"DELETE FROM parts WHERE id = ?",
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
		var nums []int64
		err := t.c.each(bg, `SELECT num FROM sources INDEXED BY sources_expires
			WHERE expires IS NOT NULL AND expires <= ? ORDER BY expires LIMIT ?`, func(r *row) error {
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
		_, err = t.c.one(bg, `SELECT expires FROM sources INDEXED BY sources_expires
			WHERE expires IS NOT NULL ORDER BY expires LIMIT 1`, func(r *row) error {
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
			chunks, err = t.updateMetadata(v, metadata, additional, doc, packTags(tags), now)
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

func (t *tx) updateMetadata(v *head, metadata, additional, doc, tags []byte, now time.Time) (chunks int, err error) {
	if err := t.dropTags(v); err != nil {
		return 0, err
	}
	if err := t.addTags(v.part, v.num, v.id, tags); err != nil {
		return 0, err
	}
	if err := t.limitStated(v, !everybody(tags)); err != nil {
		return 0, err
	}
	if v.indexed {
		chunks = int(v.chunks)
		if err := t.put(v.num, backend.PutTags, &v.seqTags); err != nil {
			return 0, err
		}
	}
	return chunks, t.reseal(v.num, func() error {
		return t.c.do("UPDATE sources SET rev = rev + 1, metadata = ?, additional = ?, doc = coalesce(?, doc), tags = ?, updated = ?, seq_tags = ? WHERE num = ?",
			metadata, additional, doc, tags, stamp(now), v.seqTags, v.num)
	})
}
