// Package intact reads what is undamaged of a store.
package intact

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

// Store is a Store whose reads leave out damaged rows and count them instead of returning an error. A recall or a list then returns
// the undamaged rest, with [Store.Warnings]. It is for one call, and safe for concurrent use.
type Store struct {
	backend.Store
	// Notice is told what each read has left out; nil: nobody is.
	Notice Noticer

	mu   sync.Mutex
	rows map[string]bool // errors of the rows left out; several reads may meet the same row
	most int             // most rows that one read left out
}

// Noticer is told of damaged rows.
type Noticer interface{ Damaged(*backend.DamageError) }

// Whole returns the Store whose reads return an error where rows are damaged.
func (s *Store) Whole() backend.Store { return s.Store }

// LeaveOut returns nil if err only says that a read left out damaged rows, which it counts, and err otherwise.
func (s *Store) LeaveOut(err error) error {
	_, err = s.LeftOut(err)
	return err
}

// LeftOut is LeaveOut that returns the number of rows that were left out, too.
func (s *Store) LeftOut(err error) (rows int, _ error) {
	var d *backend.DamageError
	if err == nil || !errors.As(err, &d) {
		return 0, err
	}
	s.note(d)
	return d.Rows, nil
}

// Skips reports whether err means that a single row that was read is damaged, which it counts.
func (s *Store) Skips(err error) bool {
	if !errors.Is(err, backend.ErrCorrupt) {
		return false
	}
	s.note(&backend.DamageError{Rows: 1, First: err})
	return true
}

func (s *Store) note(d *backend.DamageError) {
	s.mu.Lock()
	if s.rows == nil {
		s.rows = map[string]bool{}
	}
	for e := range d.All() {
		s.rows[e.Error()] = true
	}
	s.most = max(s.most, d.Rows)
	s.mu.Unlock()
	if s.Notice != nil {
		s.Notice.Damaged(d)
	}
}

// filled reads rows up to a limit. If damaged rows are among them it reads further, so that fewer rows than the limit are the last ones. It may
// return more.
func filled[T any](s *Store, limit *int, read func() ([]T, error)) ([]T, error) {
	for want := *limit; ; {
		out, err := read()
		left, err := s.LeftOut(err)
		if err != nil || left == 0 || len(out) >= want || len(out)+left < *limit {
			return out, err
		}
		*limit += left
	}
}

// Damaged returns the number of damaged rows that were left out.
func (s *Store) Damaged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(len(s.rows), s.most)
}

// Warnings returns a warning if damaged rows were left out, and nil otherwise.
func (s *Store) Warnings() []fault.Warning {
	n := s.Damaged()
	if n == 0 {
		return nil
	}
	return []fault.Warning{{Code: "damaged", Message: fmt.Sprintf("%d stored rows are damaged and were left out: verify the deployment", n)}}
}

// Sources implements [backend.Store].
func (s *Store) Sources(ctx context.Context, part backend.Partition, ids []string) ([]*backend.Source, error) {
	out, err := s.Store.Sources(ctx, part, ids)
	return out, s.LeaveOut(err)
}

// SourcesByNum implements [backend.Store].
func (s *Store) SourcesByNum(ctx context.Context, nums []int64) ([]*backend.Source, error) {
	out, err := s.Store.SourcesByNum(ctx, nums)
	return out, s.LeaveOut(err)
}

// List implements [backend.Store].
func (s *Store) List(ctx context.Context, q backend.ListQuery) ([]*backend.Source, int, error) {
	total := 0
	read := func() (out []*backend.Source, err error) {
		out, total, err = s.Store.List(ctx, q)
		return out, err
	}
	if q.After == nil && q.Before == nil { // the next page begins at a number of rows
		out, err := read()
		return out, total, s.LeaveOut(err)
	}
	want := q.Limit
	out, err := filled(s, &q.Limit, read)
	if over := len(out) - want; over > 0 && q.Before != nil {
		out = out[over:]
	}
	return out[:min(len(out), want)], total, err
}

// Chunks implements [backend.Store].
func (s *Store) Chunks(ctx context.Context, nums []int64, now time.Time) ([]*backend.Hydrated, error) {
	out, err := s.Store.Chunks(ctx, nums, now)
	return out, s.LeaveOut(err)
}

// SourceChunks implements [backend.Store].
func (s *Store) SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) ([]backend.Chunk, error) {
	out, err := s.Store.SourceChunks(ctx, source, from, to, vectors)
	return out, s.LeaveOut(err)
}

// Entities implements [backend.Store].
func (s *Store) Entities(ctx context.Context, nums []int64) ([]*backend.Entity, error) {
	out, err := s.Store.Entities(ctx, nums)
	return out, s.LeaveOut(err)
}

// EntitiesByKey implements [backend.Store].
func (s *Store) EntitiesByKey(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	out, err := s.Store.EntitiesByKey(ctx, part, keys)
	return out, s.LeaveOut(err)
}

// OwnEntities implements [backend.Store].
func (s *Store) OwnEntities(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	out, err := s.Store.OwnEntities(ctx, part, keys)
	return out, s.LeaveOut(err)
}

// MentionsOf implements [backend.Store].
func (s *Store) MentionsOf(ctx context.Context, part backend.Partition, keys []string, versions int) ([]backend.KeyMention, error) {
	out, err := s.Store.MentionsOf(ctx, part, keys, versions)
	return out, s.LeaveOut(err)
}

// Relations implements [backend.Store].
func (s *Store) Relations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	want := q.Limit
	out, err := filled(s, &q.Limit, func() ([]*backend.Relation, error) { return s.Store.Relations(ctx, q) })
	return out[:min(len(out), want)], err
}

// SketchRelations implements [backend.Store].
func (s *Store) SketchRelations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	x, ok := s.Store.(backend.RelationSketcher)
	if !ok {
		return s.Relations(ctx, q)
	}
	out, err := x.SketchRelations(ctx, q)
	return out, s.LeaveOut(err)
}

// RelationsByNum implements [backend.Store].
func (s *Store) RelationsByNum(ctx context.Context, part backend.Partition, nums []int64) ([]*backend.Relation, error) {
	x, ok := s.Store.(backend.RelationSketcher)
	if !ok {
		return nil, nil // the Store returned no sketches
	}
	out, err := x.RelationsByNum(ctx, part, nums)
	return out, s.LeaveOut(err)
}

// ChunkTexts implements [backend.Store].
func (s *Store) ChunkTexts(ctx context.Context, nums []int64, now time.Time) ([]backend.ChunkText, error) {
	if x, ok := s.Store.(backend.TextReader); ok {
		out, err := x.ChunkTexts(ctx, nums, now)
		return out, s.LeaveOut(err)
	}
	rows, err := s.Chunks(ctx, nums, now)
	out := make([]backend.ChunkText, len(rows))
	for i, r := range rows {
		out[i] = backend.ChunkText{Num: r.Num, Text: r.Text}
	}
	return out, err
}

// Get implements [backend.Store].
func (s *Store) Get(ctx context.Context, name string) ([]byte, error) {
	value, err := s.Store.Get(ctx, name)
	if s.Skips(err) {
		return nil, nil
	}
	return value, err
}

// SessionSources implements [backend.Store].
func (s *Store) SessionSources(ctx context.Context, q backend.SessionQuery) ([]*backend.Source, error) {
	want := q.Limit
	out, err := filled(s, &q.Limit, func() ([]*backend.Source, error) { return s.Store.SessionSources(ctx, q) })
	return out[:min(len(out), want)], err
}

// ListEntities implements [backend.Store].
func (s *Store) ListEntities(ctx context.Context, q backend.EntityQuery) ([]*backend.Entity, error) {
	want := q.Limit
	out, err := filled(s, &q.Limit, func() ([]*backend.Entity, error) { return s.Store.ListEntities(ctx, q) })
	return out[:min(len(out), want)], err
}

// Mentioned implements [backend.Store].
func (s *Store) Mentioned(ctx context.Context, q backend.MentionQuery) ([]backend.Mentioned, error) {
	out, err := s.Store.Mentioned(ctx, q)
	return out, s.LeaveOut(err)
}

// Sessions implements [backend.Store].
func (s *Store) Sessions(ctx context.Context, q backend.SessionsQuery) ([]backend.SessionInfo, error) {
	want := q.Limit
	out, err := filled(s, &q.Limit, func() ([]backend.SessionInfo, error) { return s.Store.Sessions(ctx, q) })
	return out[:min(len(out), want)], err
}

// Merges implements [backend.Store].
func (s *Store) Merges(ctx context.Context, part backend.Partition, after int64, limit int) ([]backend.Merge, error) {
	want := limit
	out, err := filled(s, &limit, func() ([]backend.Merge, error) { return s.Store.Merges(ctx, part, after, limit) })
	return out[:min(len(out), want)], err
}

// Successions implements [backend.Store].
func (s *Store) Successions(ctx context.Context, q backend.SuccessionQuery) ([]backend.Succession, error) {
	if q.Limit <= 0 {
		out, err := s.Store.Successions(ctx, q)
		return out, s.LeaveOut(err)
	}
	want := q.Limit
	out, err := filled(s, &q.Limit, func() ([]backend.Succession, error) { return s.Store.Successions(ctx, q) })
	return out[:min(len(out), want)], err
}
