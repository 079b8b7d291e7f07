// Package vectors stores and searches vectors supplied by callers, in tenants created for them.
package vectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	maxRawVectors = 2000 // per call
	maxRawChunkID = 1024
	flushVectors  = 20_000 // number of vectors stored between two flushes
)

// Scheduler schedules workspaces for background work.
type Scheduler interface {
	Admit(ctx context.Context, uid string, store func() error) error
	Tidy(uid string)
}

// Engine stores and searches supplied vectors. It is safe for concurrent use.
type Engine struct {
	Intake   *intake.Engine // prepares metadata
	Schedule Scheduler
	Wanted   func(org string) bool // whether events of an organisation have a receiver
	Recall   float64               // default share of the nearest vectors that a search finds on average; 0: the index's default
}

// partition returns the partition of a sub-tenant's vectors. It fails if the tenant was not created for vectors.
func partition(ctx context.Context, op string, ref *workspace.Ref, sub string) (backend.Partition, error) {
	if !ref.Record.Data.Embeddings {
		return backend.Partition{}, fault.Fieldf(op, fault.KindInvalid, fault.Embedding, "Tenant", "the tenant is not an embeddings tenant")
	}
	name, err := ref.ResolveSub(ctx, ref.Record.ID, sub)
	if err != nil {
		return backend.Partition{}, fault.Wrap(op, fault.Sub, sub, err)
	}
	return backend.Partition{Class: backend.Raw, Sub: name}, nil
}

// unit returns v scaled to length 1, so that inner products are cosines. For an unusable vector, why states the reason.
func unit(v []float32, dim int) (out []float32, why string) {
	if len(v) != dim {
		return nil, fmt.Sprintf("has %d dimensions, the tenant has %d", len(v), dim)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, "holds numbers that are not finite or too large"
	}
	if sum == 0 {
		return nil, "is the zero vector, which has no direction"
	}
	n := 1 / math.Sqrt(sum)
	out = make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) * n) // n alone may overflow float32
	}
	return out, ""
}

// Insert stores vectors and returns their ids. The vectors are searchable when Insert returns.
func (e *Engine) Insert(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.InsertVectorsRequest) ([]string, error) {
	if len(r.Sources) == 0 {
		return nil, fault.Fieldf(op, fault.KindUnprocessed, fault.Embedding, "Sources", "needs at least one entry")
	}
	if err := fault.CheckText(op, "Sub", sub, intake.MaxSubTenantBytes); err != nil {
		return nil, err
	}
	part, err := partition(ctx, op, ref, sub)
	if err != nil {
		return nil, err
	}
	items, keys, err := e.items(op, ref, part, r)
	if err != nil {
		return nil, err
	}
	err = e.place(ctx, op, ref, items)
	if errors.Is(err, backend.ErrExists) {
		return nil, taken(ctx, op, ref, part, items)
	}
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// items validates the vectors of a call and converts them to sources for the Store.
func (e *Engine) items(op string, ref *workspace.Ref, part backend.Partition, r content.InsertVectorsRequest) (items []backend.Placed, keys []string, err error) {
	b := e.Intake.Raw(op, ref, part, !r.Upsert)
	event := e.Wanted(ref.Record.Org)
	seenSource, seenKey := map[string]bool{}, map[string]bool{}
	for i, src := range r.Sources {
		field := fmt.Sprintf("Sources[%d].", i)
		if src.SourceID == "" {
			return nil, nil, fault.Fieldf(op, fault.KindUnprocessed, fault.Embedding, field+"SourceID", "is required")
		}
		if err := fault.CheckText(op, field+"SourceID", src.SourceID, intake.MaxSourceIDBytes); err != nil {
			return nil, nil, err
		}
		if seenSource[src.SourceID] {
			return nil, nil, fault.Fieldf(op, fault.KindUnprocessed, fault.Embedding, field+"SourceID", "stands twice in the request")
		}
		seenSource[src.SourceID] = true
		if len(src.Vectors) == 0 {
			return nil, nil, fault.Fieldf(op, fault.KindUnprocessed, fault.Embedding, field+"Vectors", "needs at least one vector")
		}
		p := backend.Placed{Incoming: backend.Incoming{Source: backend.Source{ID: src.SourceID}}, Event: event}
		for j, v := range src.Vectors {
			bad := func(name, format string, args ...any) error {
				return fault.Fieldf(op, fault.KindUnprocessed, fault.Embedding, fmt.Sprintf("%sVectors[%d].%s", field, j, name), format, args...)
			}
			if len(keys) >= maxRawVectors {
				return nil, nil, fault.Fieldf(op, fault.KindUnprocessed, fault.Embedding, "Sources", "has over %d vectors", maxRawVectors)
			}
			switch {
			case v.ChunkID == "":
				return nil, nil, bad("ChunkID", "is required")
			case seenKey[v.ChunkID]:
				return nil, nil, bad("ChunkID", "stands twice in the request")
			}
			if err := fault.CheckText(op, fmt.Sprintf("%sVectors[%d].ChunkID", field, j), v.ChunkID, maxRawChunkID); err != nil {
				return nil, nil, err
			}
			seenKey[v.ChunkID] = true
			u, why := unit(v.Vector, ref.Record.Data.Dimension)
			if why != "" {
				return nil, nil, bad("Vector", "%s", why)
			}
			p.Chunks = append(p.Chunks, backend.Chunk{Ordinal: j, Key: v.ChunkID, Vector: u})
			keys = append(keys, v.ChunkID)
		}
		p.SizeBytes = rawSize(p.Chunks)
		if err := b.Prepare(field, &p.Incoming, src.Metadata); err != nil {
			return nil, nil, err
		}
		items = append(items, p)
	}
	return items, keys, nil
}

// rawSize returns the size of vectors in bytes: their ids, and four bytes per number.
func rawSize(chunks []backend.Chunk) (n int64) {
	for i := range chunks {
		n += int64(len(chunks[i].Key) + 4*len(chunks[i].Vector))
	}
	return n
}

// place stores items with their vectors. They are searchable when place returns.
func (e *Engine) place(ctx context.Context, op string, ref *workspace.Ref, items []backend.Placed) error {
	var placed *backend.Placement
	store := func() (err error) {
		placed, err = ref.Store.Place(ctx, items)
		return err
	}
	var err error
	if items[0].Event { // the scheduler also delivers events after a crash
		err = e.Schedule.Admit(ctx, ref.UID, store)
	} else {
		err = store()
	}
	if err != nil {
		return fault.Wrap(op, fault.Embedding, "", err)
	}
	if err := ref.Follower.Advance(ctx, placed); err != nil {
		return fault.Wrap(op, fault.Embedding, "", err)
	}
	n := 0
	for i := range items {
		n += len(items[i].Chunks)
	}
	ref.AddUnflushed(n)
	if ref.Unflushed.Load() >= flushVectors {
		e.Schedule.Tidy(ref.UID)
	}
	return nil
}

// taken returns an error that names an id in use: that of a source that must not be replaced, or that of a vector of another
// source. Chunk ids are unique within a sub-tenant.
func taken(ctx context.Context, op string, ref *workspace.Ref, part backend.Partition, items []backend.Placed) error {
	refuse := func(id, why string) error {
		return &fault.Error{Op: op, Kind: fault.KindExists, Resource: fault.Embedding, ID: fault.ShortID(id), Err: errors.New(why)}
	}
	var ids, keys []string
	owner := map[string]string{}
	for i := range items {
		if items[i].IfAbsent {
			ids = append(ids, items[i].ID)
		}
		for _, c := range items[i].Chunks {
			keys = append(keys, c.Key)
			owner[c.Key] = items[i].ID
		}
	}
	nums, err := ref.Store.ChunkNums(ctx, part, keys)
	if err != nil {
		return fault.Wrap(op, fault.Embedding, "", err)
	}
	rows, err := ref.Store.Chunks(ctx, slices.DeleteFunc(nums, func(n int64) bool { return n == 0 }), time.Now())
	if err != nil {
		return fault.Wrap(op, fault.Embedding, "", err)
	}
	for _, row := range rows {
		if owner[row.Key] != row.Src.ID {
			return refuse(row.Key, "the chunk id belongs to another source")
		}
	}
	have, err := ref.Store.Sources(ctx, part, ids)
	if err != nil {
		return fault.Wrap(op, fault.Embedding, "", err)
	}
	for i, x := range have {
		if x != nil {
			return refuse(ids[i], "a source with this id exists and upsert is false")
		}
	}
	return refuse("", "an id is taken") // but has been released since
}

func hit(row *backend.Hydrated, score float64) (content.VectorHit, error) {
	m, err := metadata.DecodeMap(row.Src.Metadata)
	return content.VectorHit{SourceID: row.Src.ID, ChunkID: row.Key, Score: score, Distance: 1 - score, Metadata: m}, err
}

// LeastRecall is the lowest recall that a caller may request.
const LeastRecall = .9

// recall returns the requested share of the nearest vectors that a search finds on average, or an error for an invalid value.
func (e *Engine) recall(op string, r content.SearchVectorsRequest) (float32, error) {
	switch {
	case r.Recall != 0 && !(r.Recall >= LeastRecall && r.Recall <= 1):
		return 0, fault.Fieldf(op, fault.KindInvalid, fault.Embedding, "Recall", "must be between %g and 1", LeastRecall)
	case r.Exact && r.Recall != 0 && r.Recall != 1:
		return 0, fault.Fieldf(op, fault.KindInvalid, fault.Embedding, "Recall", "contradicts Exact")
	case r.Exact:
		return 1, nil
	}
	return float32(cmp.Or(r.Recall, e.Recall)), nil
}

// Search finds the nearest vectors.
func (e *Engine) Search(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.SearchVectorsRequest) ([]content.VectorHit, error) {
	if r.Limit == 0 {
		r.Limit = 10
	}
	if r.Limit < 1 || r.Limit > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Embedding, "Limit", "must be between 1 and 1000")
	}
	recall, err := e.recall(op, r)
	if err != nil {
		return nil, err
	}
	part, err := partition(ctx, op, ref, sub)
	if err != nil {
		return nil, err
	}
	v, why := unit(r.Vector, ref.Record.Data.Dimension)
	if why != "" {
		return nil, fault.Fieldf(op, fault.KindUnprocessed, fault.Embedding, "Vector", "%s", why)
	}
	var filter backend.Filter
	for _, k := range metadata.SortedKeys(r.Metadata) {
		t, ok := item.TagValue(item.LayerMetadata, k, r.Metadata[k])
		if !ok {
			return nil, fault.Fieldf(op, fault.KindInvalid, fault.Embedding, "Metadata", "only equality with a string, number or boolean is supported")
		}
		filter.All = append(filter.All, []uint64{t})
	}
	if err := ref.Fresh(ctx); err != nil {
		return nil, fault.Wrap(op, fault.Embedding, "", err)
	}
	hits, err := ref.Workspace.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: v, K: r.Limit, Filter: filter, Recall: recall})
	if err != nil {
		return nil, fault.Wrap(op, fault.Embedding, "", err)
	}
	nums := make([]int64, len(hits))
	for i, x := range hits {
		nums[i] = x.Chunk
	}
	rows, err := ref.Store.Chunks(ctx, nums, time.Now())
	var damage *backend.DamageError
	if err != nil && !errors.As(err, &damage) { // damaged rows are left out
		return nil, fault.Wrap(op, fault.Embedding, "", err)
	}
	score := make(map[int64]float64, len(hits))
	for _, x := range hits {
		score[x.Chunk] = float64(x.Score)
	}
	out := make([]content.VectorHit, 0, len(rows))
	for i := range rows {
		x, err := hit(rows[i], score[rows[i].Num])
		if err != nil {
			return nil, fault.Wrap(op, fault.Embedding, "", err)
		}
		if r.WithVectors {
			if x.Vector, err = vectorOf(ctx, ref.Store, &rows[i].Chunk); err != nil {
				return nil, fault.Wrap(op, fault.Embedding, "", err)
			}
		}
		out = append(out, x)
	}
	return out, nil
}

func vectorOf(ctx context.Context, st backend.Store, c *backend.Chunk) ([]float32, error) {
	cs, err := st.SourceChunks(ctx, c.Source, c.Ordinal, c.Ordinal+1, true)
	if err != nil || len(cs) == 0 {
		return nil, err
	}
	return cs[0].Vector, nil
}

func check(op string, r content.VectorSelection) error {
	if (r.SourceID == "") == (len(r.ChunkIDs) == 0) {
		return fault.Fieldf(op, fault.KindInvalid, fault.Embedding, "SourceID", "exactly one of source_id and chunk_ids is required")
	}
	return nil
}

// rows reads the selected vectors.
func rows(ctx context.Context, ref *workspace.Ref, part backend.Partition, r content.VectorSelection, limit int) ([]*backend.Hydrated, error) {
	var nums []int64
	if r.SourceID != "" {
		srcs, err := ref.Store.Sources(ctx, part, []string{r.SourceID})
		if err != nil || srcs[0] == nil {
			return nil, err
		}
		cs, err := ref.Store.SourceChunks(ctx, srcs[0].Num, 0, limit, false)
		if err != nil {
			return nil, err
		}
		for _, c := range cs {
			nums = append(nums, c.Num)
		}
	} else {
		found, err := ref.Store.ChunkNums(ctx, part, r.ChunkIDs)
		if err != nil {
			return nil, err
		}
		for _, n := range found {
			if n != 0 && len(nums) < limit {
				nums = append(nums, n)
			}
		}
	}
	return ref.Store.Chunks(ctx, nums, time.Now())
}

// Filter returns vectors by source or chunk id, at most limit (1 to 10000, default 100).
func (e *Engine) Filter(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.VectorSelection, limit int) ([]content.VectorHit, error) {
	if err := check(op, r); err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = 100
	}
	if limit < 1 || limit > 10000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Embedding, "limit", "must be between 1 and 10000")
	}
	part, err := partition(ctx, op, ref, sub)
	if err != nil {
		return nil, err
	}
	found, err := rows(ctx, ref, part, r, limit)
	if err != nil {
		return nil, fault.Wrap(op, fault.Embedding, "", err)
	}
	out := make([]content.VectorHit, len(found))
	for i := range found {
		if out[i], err = hit(found[i], 1); err != nil {
			return nil, fault.Wrap(op, fault.Embedding, "", err)
		}
		if out[i].Vector, err = vectorOf(ctx, ref.Store, &found[i].Chunk); err != nil {
			return nil, fault.Wrap(op, fault.Embedding, "", err)
		}
	}
	return out, nil
}
