package backendtest

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// faultyStore wraps the store of a workspace.
type faultyStore struct {
	real backend.Store
	plan *Plan
}

// Guard implements [backend.Guarder]. It returns f unchanged if the real store does not implement it.
func (f *faultyStore) Guard(name string, value []byte) backend.Store {
	if g, ok := f.real.(backend.Guarder); ok {
		return &faultyStore{g.Guard(name, value), f.plan}
	}
	return f
}

func (f *faultyStore) LastSeq() uint64 { return f.real.LastSeq() }

func (f *faultyStore) Accept(ctx context.Context, items []backend.Incoming) ([]backend.Accepted, error) {
	return get(ctx, f.plan, "Store.Accept", func() ([]backend.Accepted, error) { return f.real.Accept(ctx, items) })
}

func (f *faultyStore) Place(ctx context.Context, items []backend.Placed) (*backend.Placement, error) {
	return get(ctx, f.plan, "Store.Place", func() (*backend.Placement, error) { return f.real.Place(ctx, items) })
}

func (f *faultyStore) Claim(ctx context.Context, token string, now, leaseUntil time.Time, limit int, maxBytes int64) ([]backend.Claim, error) {
	return get(ctx, f.plan, "Store.Claim", func() ([]backend.Claim, error) { return f.real.Claim(ctx, token, now, leaseUntil, limit, maxBytes) })
}

func (f *faultyStore) Renew(ctx context.Context, token string, nums []int64, leaseUntil time.Time) error {
	return f.plan.do(ctx, []string{"Store.Renew"}, func() error { return f.real.Renew(ctx, token, nums, leaseUntil) })
}

func (f *faultyStore) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	return get(ctx, f.plan, "Store.Index", func() ([]bool, error) { return f.real.Index(ctx, items) })
}

func (f *faultyStore) Finish(ctx context.Context, items []backend.Finished) ([]bool, error) {
	return get(ctx, f.plan, "Store.Finish", func() ([]bool, error) { return f.real.Finish(ctx, items) })
}

func (f *faultyStore) Defer(ctx context.Context, items []backend.Deferred) error {
	return f.plan.do(ctx, []string{"Store.Defer"}, func() error { return f.real.Defer(ctx, items) })
}

// Claimants implements [backend.ClaimEnder]. There are none if the real store does not implement it.
func (f *faultyStore) Claimants(ctx context.Context) ([]string, error) {
	return get(ctx, f.plan, "Store.Claimants", func() ([]string, error) {
		if e, ok := f.real.(backend.ClaimEnder); ok {
			return e.Claimants(ctx)
		}
		return nil, nil
	})
}

func (f *faultyStore) EndClaims(ctx context.Context, tokens []string, attempts int) (int, error) {
	return get(ctx, f.plan, "Store.EndClaims", func() (int, error) {
		if e, ok := f.real.(backend.ClaimEnder); ok {
			return e.EndClaims(ctx, tokens, attempts)
		}
		return 0, nil
	})
}

func (f *faultyStore) Backlog(ctx context.Context) (counts map[backend.State]int, next time.Time, err error) {
	err = f.plan.do(ctx, []string{"Store.Backlog"}, func() (err error) {
		counts, next, err = f.real.Backlog(ctx)
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return counts, next, nil
}

func (f *faultyStore) Requeue(ctx context.Context, part backend.Partition, id string) error {
	return f.plan.do(ctx, []string{"Store.Requeue"}, func() error { return f.real.Requeue(ctx, part, id) })
}

func (f *faultyStore) Delete(ctx context.Context, part backend.Partition, ids []string, o backend.DeleteOptions) ([]backend.DeleteResult, error) {
	return get(ctx, f.plan, "Store.Delete", func() ([]backend.DeleteResult, error) { return f.real.Delete(ctx, part, ids, o) })
}

// DeleteJointly implements [backend.JointDeleter]. It counts as one call of Store.Delete. It is not joint if the real store does
// not implement it.
func (f *faultyStore) DeleteJointly(ctx context.Context, all []backend.Deletion) ([]backend.Deleted, error) {
	return get(ctx, f.plan, "Store.Delete", func() ([]backend.Deleted, error) { return backend.DeleteJointly(ctx, f.real, all) })
}

func (f *faultyStore) DeleteSub(ctx context.Context, sub string, limit int) (int, error) {
	return get(ctx, f.plan, "Store.DeleteSub", func() (int, error) { return f.real.DeleteSub(ctx, sub, limit) })
}

func (f *faultyStore) Expire(ctx context.Context, now time.Time, limit int) (n int, next time.Time, err error) {
	err = f.plan.do(ctx, []string{"Store.Expire"}, func() (err error) {
		n, next, err = f.real.Expire(ctx, now, limit)
		return err
	})
	if err != nil {
		return 0, time.Time{}, err
	}
	return n, next, nil
}

func (f *faultyStore) UpdateMetadata(ctx context.Context, part backend.Partition, id string, expect backend.Version, metadata, additional, doc []byte, tags []uint64, now time.Time) (int, error) {
	return get(ctx, f.plan, "Store.UpdateMetadata", func() (int, error) {
		return f.real.UpdateMetadata(ctx, part, id, expect, metadata, additional, doc, tags, now)
	})
}

func (f *faultyStore) Sources(ctx context.Context, part backend.Partition, ids []string) ([]*backend.Source, error) {
	return get(ctx, f.plan, "Store.Sources", func() ([]*backend.Source, error) { return f.real.Sources(ctx, part, ids) })
}

func (f *faultyStore) SourcesByNum(ctx context.Context, nums []int64) ([]*backend.Source, error) {
	return get(ctx, f.plan, "Store.SourcesByNum", func() ([]*backend.Source, error) { return f.real.SourcesByNum(ctx, nums) })
}

func (f *faultyStore) FindSubs(ctx context.Context, class backend.Class, id string) ([]string, error) {
	return get(ctx, f.plan, "Store.FindSubs", func() ([]string, error) { return f.real.FindSubs(ctx, class, id) })
}

func (f *faultyStore) Content(ctx context.Context, source int64, kind backend.ContentKind) ([]byte, error) {
	return get(ctx, f.plan, "Store.Content", func() ([]byte, error) { return f.real.Content(ctx, source, kind) })
}

func (f *faultyStore) List(ctx context.Context, q backend.ListQuery) (page []*backend.Source, total int, err error) {
	err = f.plan.do(ctx, []string{"Store.List"}, func() (err error) {
		page, total, err = f.real.List(ctx, q)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return page, total, nil
}

func (f *faultyStore) Chunks(ctx context.Context, nums []int64, now time.Time) ([]*backend.Hydrated, error) {
	return get(ctx, f.plan, "Store.Chunks", func() ([]*backend.Hydrated, error) { return f.real.Chunks(ctx, nums, now) })
}

func (f *faultyStore) SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) ([]backend.Chunk, error) {
	return get(ctx, f.plan, "Store.SourceChunks", func() ([]backend.Chunk, error) { return f.real.SourceChunks(ctx, source, from, to, vectors) })
}

func (f *faultyStore) ChunkNums(ctx context.Context, part backend.Partition, keys []string) ([]int64, error) {
	return get(ctx, f.plan, "Store.ChunkNums", func() ([]int64, error) { return f.real.ChunkNums(ctx, part, keys) })
}

func (f *faultyStore) Subs(ctx context.Context) ([]backend.SubInfo, error) {
	return get(ctx, f.plan, "Store.Subs", func() ([]backend.SubInfo, error) { return f.real.Subs(ctx) })
}

func (f *faultyStore) Stats(ctx context.Context, class backend.Class) (backend.Stats, error) {
	return get(ctx, f.plan, "Store.Stats", func() (backend.Stats, error) { return f.real.Stats(ctx, class) })
}

func (f *faultyStore) Entities(ctx context.Context, nums []int64) ([]*backend.Entity, error) {
	return get(ctx, f.plan, "Store.Entities", func() ([]*backend.Entity, error) { return f.real.Entities(ctx, nums) })
}

func (f *faultyStore) EntitiesByKey(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	return get(ctx, f.plan, "Store.EntitiesByKey", func() ([]*backend.Entity, error) { return f.real.EntitiesByKey(ctx, part, keys) })
}

func (f *faultyStore) Relations(ctx context.Context, q backend.RelationQuery) ([]*backend.Relation, error) {
	return get(ctx, f.plan, "Store.Relations", func() ([]*backend.Relation, error) { return f.real.Relations(ctx, q) })
}

func (f *faultyStore) OwnEntities(ctx context.Context, part backend.Partition, keys []string) ([]*backend.Entity, error) {
	return get(ctx, f.plan, "Store.OwnEntities", func() ([]*backend.Entity, error) { return f.real.OwnEntities(ctx, part, keys) })
}

func (f *faultyStore) MentionsOf(ctx context.Context, part backend.Partition, keys []string, versions int) ([]backend.KeyMention, error) {
	return get(ctx, f.plan, "Store.MentionsOf", func() ([]backend.KeyMention, error) { return f.real.MentionsOf(ctx, part, keys, versions) })
}

func (f *faultyStore) Stated(ctx context.Context, q backend.StatedQuery) ([]backend.Stated, error) {
	return get(ctx, f.plan, "Store.Stated", func() ([]backend.Stated, error) { return f.real.Stated(ctx, q) })
}

func (f *faultyStore) MergeEntities(ctx context.Context, part backend.Partition, from, into, reason string, now time.Time) (int64, error) {
	return get(ctx, f.plan, "Store.MergeEntities", func() (int64, error) { return f.real.MergeEntities(ctx, part, from, into, reason, now) })
}

func (f *faultyStore) UndoMerge(ctx context.Context, num int64) error {
	return f.plan.do(ctx, []string{"Store.UndoMerge"}, func() error { return f.real.UndoMerge(ctx, num) })
}

func (f *faultyStore) ListEntities(ctx context.Context, q backend.EntityQuery) ([]*backend.Entity, error) {
	return get(ctx, f.plan, "Store.ListEntities", func() ([]*backend.Entity, error) { return f.real.ListEntities(ctx, q) })
}

func (f *faultyStore) Mentioned(ctx context.Context, q backend.MentionQuery) ([]backend.Mentioned, error) {
	return get(ctx, f.plan, "Store.Mentioned", func() ([]backend.Mentioned, error) { return f.real.Mentioned(ctx, q) })
}

func (f *faultyStore) Sessions(ctx context.Context, q backend.SessionsQuery) ([]backend.SessionInfo, error) {
	return get(ctx, f.plan, "Store.Sessions", func() ([]backend.SessionInfo, error) { return f.real.Sessions(ctx, q) })
}

func (f *faultyStore) LastNum(ctx context.Context) (int64, error) {
	return get(ctx, f.plan, "Store.LastNum", func() (int64, error) { return f.real.LastNum(ctx) })
}

func (f *faultyStore) SessionSources(ctx context.Context, q backend.SessionQuery) ([]*backend.Source, error) {
	return get(ctx, f.plan, "Store.SessionSources", func() ([]*backend.Source, error) { return f.real.SessionSources(ctx, q) })
}

func (f *faultyStore) Merges(ctx context.Context, part backend.Partition, after int64, limit int) ([]backend.Merge, error) {
	return get(ctx, f.plan, "Store.Merges", func() ([]backend.Merge, error) { return f.real.Merges(ctx, part, after, limit) })
}

func (f *faultyStore) Events(ctx context.Context, limit int) ([]backend.Event, error) {
	return get(ctx, f.plan, "Store.Events", func() ([]backend.Event, error) { return f.real.Events(ctx, limit) })
}

func (f *faultyStore) Acknowledge(ctx context.Context, seq int64) error {
	return f.plan.do(ctx, []string{"Store.Acknowledge"}, func() error { return f.real.Acknowledge(ctx, seq) })
}

func (f *faultyStore) PutVectors(ctx context.Context, lane backend.Lane, items []backend.LaneVectors) ([]bool, error) {
	return get(ctx, f.plan, "Store.PutVectors", func() ([]bool, error) { return f.real.PutVectors(ctx, lane, items) })
}

func (f *faultyStore) MissingVectors(ctx context.Context, lane backend.Lane, after int64, limit int) ([]int64, error) {
	return get(ctx, f.plan, "Store.MissingVectors", func() ([]int64, error) { return f.real.MissingVectors(ctx, lane, after, limit) })
}

func (f *faultyStore) HasVectors(ctx context.Context, lane backend.Lane, nums []int64) ([]bool, error) {
	return get(ctx, f.plan, "Store.HasVectors", func() ([]bool, error) { return f.real.HasVectors(ctx, lane, nums) })
}

func (f *faultyStore) DropLane(ctx context.Context, lane backend.Lane, after int64, limit int) (int64, error) {
	return get(ctx, f.plan, "Store.DropLane", func() (int64, error) { return f.real.DropLane(ctx, lane, after, limit) })
}

func (f *faultyStore) Changes(ctx context.Context, after uint64, limit int) ([]backend.Change, error) {
	return get(ctx, f.plan, "Store.Changes", func() ([]backend.Change, error) { return f.real.Changes(ctx, after, limit) })
}

func (f *faultyStore) CompactFeed(ctx context.Context, seq uint64, limit int) (int, error) {
	return get(ctx, f.plan, "Store.CompactFeed", func() (int, error) { return f.real.CompactFeed(ctx, seq, limit) })
}

func (f *faultyStore) Get(ctx context.Context, name string) ([]byte, error) {
	return get(ctx, f.plan, "Store.Get", func() ([]byte, error) { return f.real.Get(ctx, name) })
}

func (f *faultyStore) Set(ctx context.Context, name string, old, value []byte) error {
	return f.plan.do(ctx, []string{"Store.Set"}, func() error { return f.real.Set(ctx, name, old, value) })
}

func (f *faultyStore) Close() error {
	return f.plan.do(context.Background(), []string{"Store.Close"}, func() error { return f.real.Close() })
}

func (f *faultyStore) Uncompared(ctx context.Context, generation, after int64, limit int) ([]int64, error) {
	return get(ctx, f.plan, "Store.Uncompared", func() ([]int64, error) { return f.real.Uncompared(ctx, generation, after, limit) })
}

func (f *faultyStore) Compare(ctx context.Context, generation int64, items []backend.Compared) ([]bool, error) {
	return get(ctx, f.plan, "Store.Compare", func() ([]bool, error) { return f.real.Compare(ctx, generation, items) })
}

func (f *faultyStore) PutSuccession(ctx context.Context, s backend.Succession) (int64, error) {
	return get(ctx, f.plan, "Store.PutSuccession", func() (int64, error) { return f.real.PutSuccession(ctx, s) })
}

func (f *faultyStore) UndoSuccession(ctx context.Context, num int64, now time.Time) error {
	return f.plan.do(ctx, []string{"Store.UndoSuccession"}, func() error { return f.real.UndoSuccession(ctx, num, now) })
}

func (f *faultyStore) Successions(ctx context.Context, q backend.SuccessionQuery) ([]backend.Succession, error) {
	return get(ctx, f.plan, "Store.Successions", func() ([]backend.Succession, error) { return f.real.Successions(ctx, q) })
}
