package contextmem

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
)

const (
	maxRawVectors = 2000 // of one call
	maxRawChunkID = 1024
)

// openRaw admits a call on an embeddings tenant.
func (s *Service) openRaw(ctx context.Context, op string, sub Sub) (*held, backend.Partition, error) {
	h, err := s.open(ctx, op, sub.org, sub.tenant)
	if err != nil {
		return nil, backend.Partition{}, err
	}
	if !h.rec.data.Embeddings {
		h.release()
		return nil, backend.Partition{}, fieldError(op, KindInvalid, ResourceEmbedding, "tenant_id", "the tenant is not an embeddings tenant")
	}
	name, err := sub.resolve(ctx, h)
	if err != nil {
		h.release()
		return nil, backend.Partition{}, wrap(op, ResourceSub, sub.sub, err)
	}
	return h, backend.Partition{Class: backend.Raw, Sub: name}, nil
}

// unit returns the vector with length 1, so that inner products are cosines.
func unit(op, field string, v []float32, dim int) ([]float32, error) {
	if len(v) != dim {
		return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field, "has %d dimensions, the tenant has %d", len(v), dim)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field, "holds numbers that are not finite or too large")
	}
	if sum == 0 {
		return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field, "is the zero vector, which has no direction")
	}
	n := 1 / math.Sqrt(sum)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) * n) // n alone may be beyond float32
	}
	return out, nil
}

func (s *Service) insertVectors(ctx context.Context, sub Sub, r RawInsert) ([]string, error) {
	const op = "insert vectors"
	if len(r.Sources) == 0 {
		return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, "embeddings", "needs at least one entry")
	}
	if err := checkText(op, "sub_tenant_id", sub.sub, maxSubTenantBytes); err != nil {
		return nil, err
	}
	h, part, err := s.openRaw(ctx, op, sub)
	if err != nil {
		return nil, err
	}
	defer h.release()
	in := &intake{op: op, held: h, sub: sub, part: part, class: backend.Raw, now: time.Now().UTC(), failIfExists: !r.Upsert}
	var keys, ids []string
	seenSource, seenKey, total := map[string]bool{}, map[string]string{}, 0
	for i, src := range r.Sources {
		field := fmt.Sprintf("embeddings[%d].", i)
		if src.SourceID == "" {
			return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field+"source_id", "is required")
		}
		if err := checkText(op, field+"source_id", src.SourceID, maxSourceIDBytes); err != nil {
			return nil, err
		}
		if seenSource[src.SourceID] {
			return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field+"source_id", "stands twice in the request")
		}
		seenSource[src.SourceID] = true
		if len(src.Vectors) == 0 {
			return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field+"embeddings", "needs at least one vector")
		}
		var vs []pipeline.RawVector
		for j, v := range src.Vectors {
			f := fmt.Sprintf("%sembeddings[%d].", field, j)
			if total++; total > maxRawVectors {
				return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, "embeddings", "has over %d vectors", maxRawVectors)
			}
			if v.ChunkID == "" {
				return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, f+"chunk_id", "is required")
			}
			if err := checkText(op, f+"chunk_id", v.ChunkID, maxRawChunkID); err != nil {
				return nil, err
			}
			if _, dup := seenKey[v.ChunkID]; dup {
				return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, f+"chunk_id", "stands twice in the request")
			}
			seenKey[v.ChunkID] = src.SourceID
			u, err := unit(op, f+"embedding", v.Vector, h.rec.data.Dimension)
			if err != nil {
				return nil, err
			}
			vs = append(vs, pipeline.RawVector{Key: v.ChunkID, Vector: u})
			keys = append(keys, v.ChunkID)
		}
		b := pipeline.EncodeRaw(vs)
		inc := backend.Incoming{Source: backend.Source{ID: src.SourceID, SizeBytes: int64(len(b))}, Blobs: []backend.Blob{{Kind: backend.Original, Data: b}}}
		if err := in.common(field, &inc, &item.Doc{}, nil, src.Metadata, nil, nil); err != nil {
			return nil, err
		}
		in.add(inc, IngestItem{ID: src.SourceID}, nil)
		ids = append(ids, src.SourceID)
	}
	if err := s.rawConflicts(ctx, op, h, part, keys, seenKey); err != nil {
		return nil, err
	}
	if !r.Upsert { // all or nothing: the call reports one number
		have, err := h.store.Sources(ctx, part, ids)
		if err != nil {
			return nil, wrap(op, ResourceEmbedding, "", err)
		}
		for i, x := range have {
			if x != nil {
				return nil, &Error{Op: op, Kind: KindExists, Resource: ResourceEmbedding, ID: shortID(ids[i]), Err: errors.New("a source with this id exists and upsert is false")}
			}
		}
	}
	if _, err := in.accept(ctx); err != nil {
		return nil, err
	}
	return keys, s.settled(ctx, op, h, part, ids)
}

// rawConflicts refuses chunk ids that belong to another source: they are unique in a sub-tenant.
func (s *Service) rawConflicts(ctx context.Context, op string, h *held, part backend.Partition, keys []string, owner map[string]string) error {
	nums, err := h.store.ChunkNums(ctx, part, keys)
	if err != nil {
		return wrap(op, ResourceEmbedding, "", err)
	}
	var live []int64
	for _, n := range nums {
		if n != 0 {
			live = append(live, n)
		}
	}
	rows, err := h.store.Chunks(ctx, live, time.Now())
	if err != nil {
		return wrap(op, ResourceEmbedding, "", err)
	}
	for _, row := range rows {
		if owner[row.Key] != row.Src.ID {
			return &Error{Op: op, Kind: KindExists, Resource: ResourceEmbedding, ID: shortID(row.Key), Err: errors.New("the chunk id belongs to another source")}
		}
	}
	return nil
}

// settled waits until the sources are searchable.
func (s *Service) settled(ctx context.Context, op string, h *held, part backend.Partition, ids []string) error {
	for {
		changed := h.changes()
		srcs, err := h.store.Sources(ctx, part, ids)
		if err != nil {
			return wrap(op, ResourceEmbedding, "", err)
		}
		open := false
		for _, x := range srcs {
			if x == nil {
				continue // deleted meanwhile
			}
			if x.State == backend.Errored {
				return &Error{Op: op, Kind: KindInternal, Resource: ResourceEmbedding, ID: shortID(x.ID), Err: errors.New("the vectors could not be indexed: " + x.ErrorCode)}
			}
			open = open || x.State != backend.Completed
		}
		if !open {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.life.Done():
			return &Error{Op: op, Kind: KindClosed, Err: ErrClosed}
		}
	}
}

func rawHit(row *backend.Hydrated, score float64) (RawHit, error) {
	m, err := decodeMap(row.Src.Metadata)
	return RawHit{SourceID: row.Src.ID, ChunkID: row.Key, Score: score, Distance: 1 - score, Metadata: m}, err
}

func (s *Service) searchVectors(ctx context.Context, sub Sub, r RawSearch) ([]RawHit, error) {
	const op = "search vectors"
	if r.Limit == 0 {
		r.Limit = 10
	}
	if r.Limit < 1 || r.Limit > 1000 {
		return nil, fieldError(op, KindInvalid, ResourceEmbedding, "limit", "must be between 1 and 1000")
	}
	h, part, err := s.openRaw(ctx, op, sub)
	if err != nil {
		return nil, err
	}
	defer h.release()
	v, err := unit(op, "query_embedding", r.Vector, h.rec.data.Dimension)
	if err != nil {
		return nil, err
	}
	var filter backend.Filter
	for _, k := range sortedKeys(r.Metadata) {
		t, ok := item.TagValue(item.LayerMetadata, k, r.Metadata[k])
		if !ok {
			return nil, fieldError(op, KindInvalid, ResourceEmbedding, "filter_expr", "only equality with a string, number or boolean is supported")
		}
		filter.All = append(filter.All, []uint64{t})
	}
	if err := h.fresh(ctx); err != nil {
		return nil, wrap(op, ResourceEmbedding, "", err)
	}
	hits, err := h.ws.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: part, Vector: v, K: r.Limit, Filter: filter})
	if err != nil {
		return nil, wrap(op, ResourceEmbedding, "", err)
	}
	nums := make([]int64, len(hits))
	for i, x := range hits {
		nums[i] = x.Chunk
	}
	rows, err := h.store.Chunks(ctx, nums, time.Now())
	if err != nil {
		return nil, wrap(op, ResourceEmbedding, "", err)
	}
	score := make(map[int64]float64, len(hits))
	for _, x := range hits {
		score[x.Chunk] = float64(x.Score)
	}
	out := make([]RawHit, 0, len(rows))
	for i := range rows {
		x, err := rawHit(&rows[i], score[rows[i].Num])
		if err != nil {
			return nil, wrap(op, ResourceEmbedding, "", err)
		}
		if r.WithVectors {
			if x.Vector, err = rawVector(ctx, h.store, &rows[i].Chunk); err != nil {
				return nil, wrap(op, ResourceEmbedding, "", err)
			}
		}
		out = append(out, x)
	}
	return out, nil
}

func rawVector(ctx context.Context, st backend.Store, c *backend.Chunk) ([]float32, error) {
	cs, err := st.SourceChunks(ctx, c.Source, c.Ordinal, c.Ordinal+1, true)
	if err != nil || len(cs) == 0 {
		return nil, err
	}
	return cs[0].Vector, nil
}

func (r RawSelect) check(op string) error {
	if (r.SourceID == "") == (len(r.ChunkIDs) == 0) {
		return fieldError(op, KindInvalid, ResourceEmbedding, "source_id", "exactly one of source_id and chunk_ids is required")
	}
	return nil
}

// rawRows reads the vectors that a selection names.
func (s *Service) rawRows(ctx context.Context, h *held, part backend.Partition, r RawSelect, limit int) ([]backend.Hydrated, error) {
	var nums []int64
	if r.SourceID != "" {
		srcs, err := h.store.Sources(ctx, part, []string{r.SourceID})
		if err != nil || srcs[0] == nil {
			return nil, err
		}
		cs, err := h.store.SourceChunks(ctx, srcs[0].Num, 0, limit, false)
		if err != nil {
			return nil, err
		}
		for _, c := range cs {
			nums = append(nums, c.Num)
		}
	} else {
		found, err := h.store.ChunkNums(ctx, part, r.ChunkIDs)
		if err != nil {
			return nil, err
		}
		for _, n := range found {
			if n != 0 && len(nums) < limit {
				nums = append(nums, n)
			}
		}
	}
	return h.store.Chunks(ctx, nums, time.Now())
}

func (s *Service) filterVectors(ctx context.Context, sub Sub, r RawSelect, limit int) ([]RawHit, error) {
	const op = "filter vectors"
	if err := r.check(op); err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = 100
	}
	if limit < 1 || limit > 10000 {
		return nil, fieldError(op, KindInvalid, ResourceEmbedding, "limit", "must be between 1 and 10000")
	}
	h, part, err := s.openRaw(ctx, op, sub)
	if err != nil {
		return nil, err
	}
	defer h.release()
	rows, err := s.rawRows(ctx, h, part, r, limit)
	if err != nil {
		return nil, wrap(op, ResourceEmbedding, "", err)
	}
	out := make([]RawHit, len(rows))
	for i := range rows {
		if out[i], err = rawHit(&rows[i], 1); err != nil {
			return nil, wrap(op, ResourceEmbedding, "", err)
		}
		if out[i].Vector, err = rawVector(ctx, h.store, &rows[i].Chunk); err != nil {
			return nil, wrap(op, ResourceEmbedding, "", err)
		}
	}
	return out, nil
}

func (s *Service) deleteVectors(ctx context.Context, sub Sub, r RawSelect) (int, error) {
	const op = "delete vectors"
	if err := r.check(op); err != nil {
		return 0, err
	}
	h, part, err := s.openRaw(ctx, op, sub)
	if err != nil {
		return 0, err
	}
	defer h.release()
	h.edits.Lock() // a source that loses some vectors is read and written again
	defer h.edits.Unlock()
	rows, err := s.rawRows(ctx, h, part, r, 1<<30)
	if err != nil || len(rows) == 0 {
		return 0, wrap(op, ResourceEmbedding, "", err)
	}
	gone := map[string]map[string]bool{}
	for _, row := range rows {
		if gone[row.Src.ID] == nil {
			gone[row.Src.ID] = map[string]bool{}
		}
		gone[row.Src.ID][row.Key] = true
	}
	var whole, kept []string
	var items []backend.Incoming
	for id, keys := range gone {
		srcs, err := h.store.Sources(ctx, part, []string{id})
		if err != nil {
			return 0, wrap(op, ResourceEmbedding, id, err)
		}
		if srcs[0] == nil {
			continue
		}
		b, err := h.store.Content(ctx, srcs[0].Num, backend.Original)
		if err != nil {
			return 0, wrap(op, ResourceEmbedding, id, err)
		}
		vs, ok := pipeline.DecodeRaw(b)
		if !ok {
			return 0, wrap(op, ResourceEmbedding, id, backend.ErrCorrupt)
		}
		rest := vs[:0:0]
		for _, v := range vs {
			if !keys[v.Key] {
				rest = append(rest, v)
			}
		}
		if len(rest) == 0 {
			whole = append(whole, id)
			continue
		}
		nb := pipeline.EncodeRaw(rest)
		inc := backend.Incoming{Source: *srcs[0], Blobs: []backend.Blob{{Kind: backend.Original, Data: nb}}}
		inc.SizeBytes, inc.UpdatedAt = int64(len(nb)), time.Now().UTC()
		items, kept = append(items, inc), append(kept, id)
	}
	if len(whole) > 0 {
		if _, err := h.store.Delete(ctx, part, whole, backend.DeleteOptions{}); err != nil {
			return 0, wrap(op, ResourceEmbedding, "", err)
		}
		h.stateChanged()
	}
	if len(items) > 0 {
		err := s.sched.admit(ctx, h.uid, func() error {
			_, err := h.store.Accept(ctx, items)
			return err
		})
		if err != nil {
			return 0, wrap(op, ResourceEmbedding, "", err)
		}
		if err := s.settled(ctx, op, h, part, kept); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}
