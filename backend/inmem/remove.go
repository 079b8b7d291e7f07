package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

var _ backend.JointDeleter = (*store)(nil)

func (s *store) Delete(ctx context.Context, part backend.Partition, ids []string, o backend.DeleteOptions) ([]backend.DeleteResult, error) {
	out, err := s.DeleteJointly(ctx, []backend.Deletion{{Part: part, IDs: ids, DeleteOptions: o}})
	if err != nil {
		return nil, err
	}
	return out[0].Items, nil
}

// DeleteJointly implements [backend.JointDeleter].
func (s *store) DeleteJointly(ctx context.Context, all []backend.Deletion) (out []backend.Deleted, err error) {
	err = s.write(ctx, func(d *storeData) error {
		out = make([]backend.Deleted, len(all))
		for i := range all {
			out[i].Items = d.removeItems(&all[i])
			if all[i].Events {
				out[i].Events = d.eraseEvents(all[i].Part.Sub, all[i].IDs)
			}
		}
		d.feed.tidy()
		return nil
	})
	return out, err
}

func (d *storeData) removeItems(q *backend.Deletion) []backend.DeleteResult {
	out := make([]backend.DeleteResult, len(q.IDs))
	for i, id := range q.IDs {
		it := d.item(q.Part, id)
		if it == nil {
			continue
		}
		src := &it.newest.src
		conflict := q.Conflicts(i, src.Version()) && (q.Still == nil || !q.Still.Meets(src))
		out[i] = backend.DeleteResult{Found: true, Indexing: !src.State.Terminal(), Conflict: conflict}
		if (!out[i].Indexing || !q.KeepIndexing) && !out[i].Conflict {
			d.removeItem(it)
		}
	}
	return out
}

func (s *store) DeleteSub(ctx context.Context, sub string, limit int) (n int, err error) {
	err = s.write(ctx, func(d *storeData) error {
		var items []*item
		for name, p := range d.parts {
			if name.Sub == sub {
				for _, it := range p.items {
					items = append(items, it)
				}
			}
		}
		slices.SortFunc(items, func(a, b *item) int { return cmp.Compare(a.newest.src.Num, b.newest.src.Num) })
		for _, it := range firstN(items, limit) {
			d.removeItem(it)
			n++
		}
		if n == len(items) {
			d.forgetSub(sub, n > 0)
		}
		d.feed.tidy()
		return nil
	})
	return n, err
}

// forgetSub deletes the remaining data of an empty sub-tenant. changed reports whether indexes may still contain the sub-tenant.
func (d *storeData) forgetSub(sub string, changed bool) {
	if changed {
		d.feed.dropSub(sub)
	}
	d.merges = slices.DeleteFunc(d.merges, func(m *merge) bool { return m.Part.Sub == sub })
	for name := range d.parts {
		if name.Sub == sub {
			delete(d.parts, name)
		}
	}
}

func (s *store) Expire(ctx context.Context, now time.Time, limit int) (n int, next time.Time, err error) {
	err = s.write(ctx, func(d *storeData) error {
		for n < limit && len(d.expiring) > 0 && expired(d.expiring[0].src.ExpiresAt, now) {
			v := d.expiring[0]
			it := d.item(v.src.Part, v.src.ID)
			if it.newest == v {
				d.removeItem(it)
			} else {
				d.removeVersion(v)
				it.older, it.newest.src.Older = nil, 0
			}
			n++
		}
		if len(d.expiring) > 0 {
			next = d.expiring[0].src.ExpiresAt
		}
		d.feed.tidy()
		return nil
	})
	return n, next, err
}

func (s *store) UpdateMetadata(ctx context.Context, part backend.Partition, id string, expect backend.Version, metadata, additional, doc []byte, tags []uint64, now time.Time) (chunks int, err error) {
	err = s.write(ctx, func(d *storeData) error {
		it := d.item(part, id)
		if it == nil {
			return fmt.Errorf("update metadata of %q: %w", id, backend.ErrNotFound)
		}
		v := it.newest
		if v.src.Version() != expect {
			return fmt.Errorf("update metadata of %q: it was changed since it was read: %w", id, backend.ErrConflict)
		}
		v.src.Rev++
		v.src.Metadata, v.src.Additional = slices.Clone(metadata), slices.Clone(additional)
		if doc != nil {
			v.src.Doc = slices.Clone(doc)
		}
		v.src.Tags, v.src.UpdatedAt = slices.Clone(tags), storerules.Stamped(now)
		if v.indexed {
			chunks = len(v.chunks)
			d.feed.put(v, backend.PutTags)
			d.feed.tidy()
		}
		return nil
	})
	return chunks, err
}
