package contextmem

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

const (
	maxRawVectors = 2000 // of one call
	maxRawChunkID = 1024
	flushVectors  = 20_000 // stored since the last flush, after which another is worth it
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

// unit returns the vector with length 1, so that inner products are cosines, or what
// is wrong with it.
func unit(v []float32, dim int) (out []float32, fault string) {
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
		out[i] = float32(float64(x) * n) // n alone may be beyond float32
	}
	return out, ""
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
	items, keys, err := s.rawItems(op, h, sub, part, r)
	if err != nil {
		return nil, err
	}
	err = s.place(ctx, op, h, items)
	if errors.Is(err, backend.ErrExists) {
		return nil, s.rawTaken(ctx, op, h, part, items)
	}
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// rawItems checks the vectors of a call and makes of them what the Store takes.
func (s *Service) rawItems(op string, h *held, sub Sub, part backend.Partition, r RawInsert) (items []backend.Placed, keys []string, err error) {
	in := &intake{op: op, held: h, sub: sub, part: part, class: backend.Raw, now: time.Now().UTC(), failIfExists: !r.Upsert}
	event := s.hasWebhook(sub.org)
	seenSource, seenKey := map[string]bool{}, map[string]bool{}
	for i, src := range r.Sources {
		field := fmt.Sprintf("embeddings[%d].", i)
		if src.SourceID == "" {
			return nil, nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field+"source_id", "is required")
		}
		if err := checkText(op, field+"source_id", src.SourceID, maxSourceIDBytes); err != nil {
			return nil, nil, err
		}
		if seenSource[src.SourceID] {
			return nil, nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field+"source_id", "stands twice in the request")
		}
		seenSource[src.SourceID] = true
		if len(src.Vectors) == 0 {
			return nil, nil, fieldError(op, KindUnprocessed, ResourceEmbedding, field+"embeddings", "needs at least one vector")
		}
		p := backend.Placed{Incoming: backend.Incoming{Source: backend.Source{ID: src.SourceID}}, Event: event}
		for j, v := range src.Vectors {
			bad := func(name, format string, args ...any) error {
				return fieldError(op, KindUnprocessed, ResourceEmbedding, fmt.Sprintf("%sembeddings[%d].%s", field, j, name), format, args...)
			}
			if len(keys) >= maxRawVectors {
				return nil, nil, fieldError(op, KindUnprocessed, ResourceEmbedding, "embeddings", "has over %d vectors", maxRawVectors)
			}
			switch {
			case v.ChunkID == "":
				return nil, nil, bad("chunk_id", "is required")
			case seenKey[v.ChunkID]:
				return nil, nil, bad("chunk_id", "stands twice in the request")
			}
			if err := checkText(op, fmt.Sprintf("%sembeddings[%d].chunk_id", field, j), v.ChunkID, maxRawChunkID); err != nil {
				return nil, nil, err
			}
			seenKey[v.ChunkID] = true
			u, why := unit(v.Vector, h.rec.data.Dimension)
			if why != "" {
				return nil, nil, bad("embedding", "%s", why)
			}
			p.Chunks = append(p.Chunks, backend.Chunk{Ordinal: j, Key: v.ChunkID, Vector: u})
			keys = append(keys, v.ChunkID)
		}
		p.SizeBytes = rawSize(p.Chunks)
		if err := in.common(field, &p.Incoming, &item.Doc{}, nil, src.Metadata, nil, nil); err != nil {
			return nil, nil, err
		}
		items = append(items, p)
	}
	return items, keys, nil
}

// rawSize is the size of vectors: their ids and four bytes a number.
func rawSize(chunks []backend.Chunk) (n int64) {
	for i := range chunks {
		n += int64(len(chunks[i].Key) + 4*len(chunks[i].Vector))
	}
	return n
}

// place stores items with their vectors; they are searchable when it returns.
func (s *Service) place(ctx context.Context, op string, h *held, items []backend.Placed) error {
	var placed *backend.Placement
	store := func() (err error) {
		placed, err = h.store.Place(ctx, items)
		return err
	}
	var err error
	if items[0].Event { // the scheduler hands events over, after a crash too
		err = s.sched.admit(ctx, h.uid, store)
	} else {
		err = store()
	}
	if err != nil {
		return wrap(op, ResourceEmbedding, "", err)
	}
	if err := h.follower.Advance(ctx, placed); err != nil {
		return wrap(op, ResourceEmbedding, "", err)
	}
	n := 0
	for i := range items {
		n += len(items[i].Chunks)
	}
	if h.unflushed.Add(int64(n)) >= flushVectors {
		s.sched.tidy(h.uid)
	}
	return nil
}

// rawTaken says which id of a call is taken: that of a source that must not be
// replaced, or that of a vector of another source. Chunk ids are unique in a sub-tenant.
func (s *Service) rawTaken(ctx context.Context, op string, h *held, part backend.Partition, items []backend.Placed) error {
	taken := func(id, why string) error {
		return &Error{Op: op, Kind: KindExists, Resource: ResourceEmbedding, ID: shortID(id), Err: errors.New(why)}
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
	nums, err := h.store.ChunkNums(ctx, part, keys)
	if err != nil {
		return wrap(op, ResourceEmbedding, "", err)
	}
	rows, err := h.store.Chunks(ctx, slices.DeleteFunc(nums, func(n int64) bool { return n == 0 }), time.Now())
	if err != nil {
		return wrap(op, ResourceEmbedding, "", err)
	}
	for _, row := range rows {
		if owner[row.Key] != row.Src.ID {
			return taken(row.Key, "the chunk id belongs to another source")
		}
	}
	have, err := h.store.Sources(ctx, part, ids)
	if err != nil {
		return wrap(op, ResourceEmbedding, "", err)
	}
	for i, x := range have {
		if x != nil {
			return taken(ids[i], "a source with this id exists and upsert is false")
		}
	}
	return taken("", "an id is taken") // and was given up since
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
	v, why := unit(r.Vector, h.rec.data.Dimension)
	if why != "" {
		return nil, fieldError(op, KindUnprocessed, ResourceEmbedding, "query_embedding", "%s", why)
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
		x, err := rawHit(rows[i], score[rows[i].Num])
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
func (s *Service) rawRows(ctx context.Context, h *held, part backend.Partition, r RawSelect, limit int) ([]*backend.Hydrated, error) {
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
		if out[i], err = rawHit(rows[i], 1); err != nil {
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
	var whole []string
	var smaller []backend.Placed
	for id, keys := range gone {
		srcs, err := h.store.Sources(ctx, part, []string{id})
		if err != nil {
			return 0, wrap(op, ResourceEmbedding, id, err)
		}
		if srcs[0] == nil {
			continue
		}
		chunks, err := h.store.SourceChunks(ctx, srcs[0].Num, 0, math.MaxInt, true)
		if err != nil {
			return 0, wrap(op, ResourceEmbedding, id, err)
		}
		chunks = slices.DeleteFunc(chunks, func(c backend.Chunk) bool { return keys[c.Key] })
		if len(chunks) == 0 {
			whole = append(whole, id)
			continue
		}
		for i := range chunks {
			chunks[i].Ordinal = i
		}
		p := backend.Placed{Incoming: backend.Incoming{Source: *srcs[0]}, Chunks: chunks, Event: s.hasWebhook(h.rec.rec.Org)}
		p.SizeBytes, p.UpdatedAt = rawSize(chunks), time.Now().UTC()
		smaller = append(smaller, p)
	}
	if len(whole) > 0 {
		if _, err := h.store.Delete(ctx, part, whole, backend.DeleteOptions{}); err != nil {
			return 0, wrap(op, ResourceEmbedding, "", err)
		}
		h.stateChanged()
	}
	if len(smaller) > 0 {
		if err := s.place(ctx, op, h, smaller); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}
