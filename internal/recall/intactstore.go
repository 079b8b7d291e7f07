package recall

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// intactStore is a Store whose reads leave out damaged rows and count them instead of returning an error. A recall then returns
// the undamaged rest.
type intactStore struct {
	backend.Store // does not wait for commits in flight, since the indexes were searched before
	settled       backend.Store
	damaged       atomic.Int64 // number of rows left out
}

// dropDamage returns err, or nil if err only says that rows were left out.
func (s *intactStore) dropDamage(err error) error {
	if err == nil {
		return nil
	}
	var d *backend.DamageError
	if !errors.As(err, &d) {
		return err
	}
	s.damaged.Add(int64(d.Rows))
	return nil
}

func (s *intactStore) Sources(ctx context.Context, part backend.Partition, ids []string) ([]*backend.Source, error) {
	out, err := s.Store.Sources(ctx, part, ids)
	return out, s.dropDamage(err)
}

// settledSources is Sources, but waits for commits in flight.
func (s *intactStore) settledSources(ctx context.Context, part backend.Partition, ids []string) ([]*backend.Source, error) {
	out, err := s.settled.Sources(ctx, part, ids)
	return out, s.dropDamage(err)
}

func (s *intactStore) SourcesByNum(ctx context.Context, nums []int64) ([]*backend.Source, error) {
	out, err := s.Store.SourcesByNum(ctx, nums)
	return out, s.dropDamage(err)
}

func (s *intactStore) List(ctx context.Context, q backend.ListQuery) ([]*backend.Source, int, error) {
	out, total, err := s.Store.List(ctx, q)
	return out, total, s.dropDamage(err)
}

func (s *intactStore) Chunks(ctx context.Context, nums []int64, now time.Time) ([]*backend.Hydrated, error) {
	out, err := s.Store.Chunks(ctx, nums, now)
	return out, s.dropDamage(err)
}

func (s *intactStore) SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) ([]backend.Chunk, error) {
	out, err := s.Store.SourceChunks(ctx, source, from, to, vectors)
	return out, s.dropDamage(err)
}

func (s *intactStore) Entities(ctx context.Context, nums []int64) ([]*backend.Entity, error) {
	out, err := s.Store.Entities(ctx, nums)
	return out, s.dropDamage(err)
}

func (s *intactStore) EntitiesByKey(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	out, err := s.Store.EntitiesByKey(ctx, part, keys)
	return out, s.dropDamage(err)
}

func (s *intactStore) OwnEntities(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	out, err := s.Store.OwnEntities(ctx, part, keys)
	return out, s.dropDamage(err)
}

func (s *intactStore) MentionsOf(ctx context.Context, part backend.Partition, keys []string, versions int) ([]backend.KeyMention, error) {
	out, err := s.Store.MentionsOf(ctx, part, keys, versions)
	return out, s.dropDamage(err)
}

func (s *intactStore) Relations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	out, err := s.Store.Relations(ctx, q)
	return out, s.dropDamage(err)
}

func (s *intactStore) SketchRelations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	x, ok := s.Store.(backend.RelationSketcher)
	if !ok {
		return s.Relations(ctx, q)
	}
	out, err := x.SketchRelations(ctx, q)
	return out, s.dropDamage(err)
}

func (s *intactStore) RelationsByNum(ctx context.Context, part backend.Partition, nums []int64) ([]*backend.Relation, error) {
	x, ok := s.Store.(backend.RelationSketcher)
	if !ok {
		return nil, nil // the Store returned no sketches
	}
	out, err := x.RelationsByNum(ctx, part, nums)
	return out, s.dropDamage(err)
}

func (s *intactStore) ChunkTexts(ctx context.Context, nums []int64, now time.Time) ([]backend.ChunkText, error) {
	if x, ok := s.Store.(backend.TextReader); ok {
		out, err := x.ChunkTexts(ctx, nums, now)
		return out, s.dropDamage(err)
	}
	rows, err := s.Chunks(ctx, nums, now)
	out := make([]backend.ChunkText, len(rows))
	for i, r := range rows {
		out[i] = backend.ChunkText{Num: r.Num, Text: r.Text}
	}
	return out, err
}
