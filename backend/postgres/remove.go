package postgres

import (
	"context"
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
	err = s.removing(ctx, func(t *tx) (err error) {
		out, err = storerules.Delete(all, t.Delete, t.eraseEvents)
		return err
	}, func(t *tx) (err error) {
		out, err = storerules.Delete(all, t.razeItems, t.eraseEvents)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *store) DeleteSub(ctx context.Context, sub string, limit int) (n int, err error) {
	err = s.removing(ctx, func(t *tx) (err error) {
		n, err = t.DeleteSub(sub, limit)
		return err
	}, func(t *tx) (err error) {
		n, err = t.razeSub(sub, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (s *store) Expire(ctx context.Context, now time.Time, limit int) (n int, next time.Time, err error) {
	err = s.removing(ctx, func(t *tx) (err error) {
		n, next, err = t.Expire(now, limit)
		return err
	}, func(t *tx) (err error) {
		n, next, err = t.razeExpired(now, limit)
		return err
	})
	if err != nil {
		return 0, time.Time{}, err
	}
	return n, next, nil
}

func (s *store) UpdateMetadata(ctx context.Context, part backend.Partition, id string, expect backend.Version, metadata, additional, doc []byte, tags []uint64, now time.Time) (chunks int, err error) {
	err = s.change(ctx, func(t *tx) error {
		chunks, err = t.UpdateMetadata(part, id, expect, &storerules.Metadata{Metadata: metadata, Additional: additional, Doc: doc, Tags: tags, Now: now})
		return err
	})
	if err != nil {
		return 0, err
	}
	return chunks, nil
}

func (x rows) RemoveBlobs(num int64) error {
	for _, table := range []string{"blobs", "blob_parts"} {
		if err := x.t.c.do("DELETE FROM "+table+" WHERE ws = $1 AND source = $2", num); err != nil {
			return err
		}
	}
	return nil
}

func (x rows) SetMetadata(v *head, m *storerules.Metadata) error {
	return x.t.c.do("UPDATE sources SET rev = rev + 1, metadata = $2, additional = $3, doc = coalesce($4, doc), tags = $5, updated = $6, seq_tags = $7 WHERE ws = $1 AND num = $8",
		m.Metadata, m.Additional, m.Doc, signed(m.Tags), storerules.Stamp(m.Now), v.SeqTags, v.Num)
}

func (s *store) LastNum(ctx context.Context) (num int64, err error) {
	err = s.change(ctx, func(t *tx) error {
		num = t.Numbers.Source
		return nil
	})
	return num, err
}
