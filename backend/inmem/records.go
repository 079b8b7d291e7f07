package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

type recordKey struct{ kind, org, id string }

func (r *registry) WriteRecords(ctx context.Context, writes []backend.RecordWrite) error {
	return r.write(ctx, func(d *registryData) error {
		// Each write sees the writes before it. The records change only after all writes have succeeded.
		staged := make(map[recordKey]*backend.Record, len(writes))
		for _, w := range writes {
			key := recordKey{w.Kind, w.Org, w.ID}
			old, seen := staged[key]
			if !seen {
				if rec, ok := d.records[key]; ok {
					old = &rec
				}
			}
			if err := checkRev(old, w.IfRev); err != nil {
				return fmt.Errorf("write record %q: %w", w.ID, err)
			}
			if w.Delete {
				staged[key] = nil
				continue
			}
			rec := w.Record
			rec.Data, rec.Rev = slices.Clone(w.Data), 1
			if old != nil {
				rec.Rev = old.Rev + 1
			}
			staged[key] = &rec
		}
		for key, rec := range staged {
			if rec == nil {
				delete(d.records, key)
			} else {
				d.records[key] = *rec
			}
		}
		return nil
	})
}

func checkRev(old *backend.Record, want int64) error {
	switch {
	case want == -1:
		return nil
	case want == 0:
		if old != nil {
			return backend.ErrExists
		}
		return nil
	case old == nil:
		return backend.ErrNotFound
	case old.Rev != want:
		return backend.ErrConflict
	}
	return nil
}

func copyRecord(rec backend.Record) backend.Record {
	rec.Data = slices.Clone(rec.Data)
	return rec
}

func (r *registry) Record(ctx context.Context, kind, org, id string) (rec backend.Record, err error) {
	err = r.read(ctx, func(d *registryData) error {
		found, ok := d.records[recordKey{kind, org, id}]
		if !ok {
			return fmt.Errorf("record %q: %w", id, backend.ErrNotFound)
		}
		rec = copyRecord(found)
		return nil
	})
	return rec, err
}

// selectRecords returns at most limit records for which keep returns true, sorted by (org, id).
func (r *registry) selectRecords(ctx context.Context, limit int, keep func(k recordKey) bool) (recs []backend.Record, err error) {
	err = r.read(ctx, func(d *registryData) error {
		for k, rec := range d.records {
			if keep(k) {
				recs = append(recs, copyRecord(rec))
			}
		}
		return nil
	})
	slices.SortFunc(recs, func(a, b backend.Record) int {
		return cmp.Or(cmp.Compare(a.Org, b.Org), cmp.Compare(a.ID, b.ID))
	})
	return firstN(recs, limit), err
}

func (r *registry) Records(ctx context.Context, kind, org, after string, limit int) ([]backend.Record, error) {
	return r.selectRecords(ctx, limit, func(k recordKey) bool {
		return k.kind == kind && k.org == org && k.id > after
	})
}

func (r *registry) AllRecords(ctx context.Context, kind, afterOrg, afterID string, limit int) ([]backend.Record, error) {
	return r.selectRecords(ctx, limit, func(k recordKey) bool {
		return k.kind == kind && (k.org > afterOrg || k.org == afterOrg && k.id > afterID)
	})
}
