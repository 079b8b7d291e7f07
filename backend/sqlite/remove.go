package sqlite

import (
	"context"
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
		n, err = t.razeSub(sub)
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

func (x rows) SetMetadata(v *head, m *storerules.Metadata) error {
	if err := x.t.limitStated(v, !slices.Contains(m.Tags, backend.Everybody)); err != nil {
		return err
	}
	return x.t.reseal(v.Num, func() error {
		return x.t.c.do("UPDATE sources SET rev = rev + 1, metadata = ?, additional = ?, doc = coalesce(?, doc), tags = ?, updated = ?, seq_tags = ? WHERE num = ?",
			m.Metadata, m.Additional, shortJSON(m.Doc), storerules.PackTags(m.Tags), storerules.Stamp(m.Now), v.SeqTags, v.Num)
	})
}
