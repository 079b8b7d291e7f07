package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Sources(ctx context.Context, part backend.Partition, ids []string) (out []*backend.Source, err error) {
	var lost losses
	err = s.queryKeys(ctx, func(c *conn) error {
		lost = losses{}
		out = make([]*backend.Source, len(ids))
		found := make(map[string]*backend.Source, len(ids))
		// The order by id_hash excludes the indexes that find all items of the partition, which the server may prefer until it has analysed the table.
		err := c.each(ctx, "SELECT "+sourceCols+` FROM parts p CROSS JOIN unnest($4::bytea[]) k (id_hash)
			CROSS JOIN LATERAL (SELECT * FROM sources s WHERE s.ws = $1 AND s.part = p.id AND s.id_hash BETWEEN k.id_hash AND k.id_hash AND s.newest ORDER BY s.id_hash OFFSET 0) s
			WHERE p.ws = $1 AND p.class = $2 AND p.sub_hash = $3`, func(r *row) error {
			if src := readSource(r, 0); !lost.skip(r) {
				found[src.ID] = src
			}
			return nil
		}, int64(part.Class), hashOf(part.Sub), hashesOf(ids))
		share(out, found, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

// share copies the found sources to out. If a key occurs several times, each further occurrence gets a copy.
func share[K comparable](out []*backend.Source, found map[K]*backend.Source, keys []K) {
	given := make(map[K]bool, len(keys))
	for i, k := range keys {
		src := found[k]
		if src != nil && given[k] {
			src = clone(src)
		}
		given[k] = true
		out[i] = src
	}
}

func clone(src *backend.Source) *backend.Source {
	c := *src
	c.Metadata, c.Additional, c.Doc, c.Tags = slices.Clone(c.Metadata), slices.Clone(c.Additional), slices.Clone(c.Doc), slices.Clone(c.Tags)
	return &c
}

func (s *store) SourcesByNum(ctx context.Context, nums []int64) (out []*backend.Source, err error) {
	var lost losses
	err = s.queryKeys(ctx, func(c *conn) error {
		lost = losses{}
		out = make([]*backend.Source, len(nums))
		found := make(map[int64]*backend.Source, len(nums))
		err := c.each(ctx, "SELECT "+sourceCols+" FROM unnest($2::bigint[]) k (num) "+sourceOfKey+" "+partOfSource, func(r *row) error {
			if src := readSource(r, 0); !lost.skip(r) {
				found[src.Num] = src
			}
			return nil
		}, nums)
		share(out, found, nums)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

func (s *store) FindSubs(ctx context.Context, class backend.Class, id string) (subs []string, err error) {
	err = s.query(ctx, func(c *conn) error {
		subs = nil
		return c.each(ctx, "SELECT p.sub FROM "+sourceTables+" WHERE s.ws = $1 AND s.id_hash = $2 AND s.newest AND p.class = $3 ORDER BY p.sub", func(r *row) error {
			subs = append(subs, r.str(0))
			return nil
		}, hashOf(id), int64(class))
	})
	if err != nil {
		return nil, err
	}
	return subs, nil
}

func (s *store) Content(ctx context.Context, source int64, kind backend.ContentKind) (data []byte, err error) {
	err = s.read(ctx, func(c *conn) error {
		found, wrong := false, error(nil)
		if kind >= backend.Original && kind <= backend.Past {
			err := readBlobs(ctx, c, []int64{source}, kind, func(_ int64, b backend.Blob, err error) { data, wrong, found = b.Data, err, true })
			if err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("content %d of source %d: %w", kind, source, backend.ErrNotFound)
		}
		return wrong
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (s *store) Chunks(ctx context.Context, nums []int64, now time.Time) (out []*backend.Hydrated, err error) {
	var lost losses
	err = s.queryKeys(ctx, func(c *conn) error {
		if len(nums) == 0 {
			return nil
		}
		found := make(map[int64]*backend.Hydrated, len(nums))
		sources := make(map[int64]*backend.Source)
		lost = losses{}
		err := c.each(ctx, "SELECT "+chunkCols+", "+sourceCols+` FROM unnest($2::bigint[]) k (num)
			CROSS JOIN LATERAL (SELECT * FROM chunks c WHERE c.ws = $1 AND c.num = k.num OFFSET 0) c
			CROSS JOIN LATERAL (SELECT * FROM sources s WHERE s.ws = $1 AND s.num = c.source OFFSET 0) s `+partOfSource+`
			WHERE s.indexed AND (s.expires IS NULL OR s.expires > $3)`, func(r *row) error {
			h := new(backend.Hydrated)
			readChunk(r, &h.Chunk)
			if lost.skip(r) {
				return nil
			}
			if h.Src = sources[h.Source]; h.Src == nil {
				if h.Src = readSource(r, chunkWidth); lost.skip(r) {
					return nil
				}
				sources[h.Source] = h.Src
			}
			found[h.Num] = h
			return nil
		}, nums, storerules.Micros(now))
		out = nil
		for _, num := range nums {
			if h := found[num]; h != nil {
				out = append(out, h)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

func (s *store) SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) (out []backend.Chunk, err error) {
	var lost losses
	err = s.readKeys(ctx, func(c *conn) error {
		out, lost = nil, losses{}
		var first, n int64
		var lane backend.Lane
		dense := false
		_, err := c.one(ctx, "SELECT first_chunk, chunks, dense, lane FROM sources WHERE ws = $1 AND num = $2", func(r *row) error {
			first, n, dense, lane = r.int(0), r.int(1), r.bool(2), backend.Lane(r.int(3))
			return nil
		}, source)
		lo, hi := int64(max(from, 0)), min(int64(to), n)
		if !dense {
			lo, hi = 0, n // ordinals do not limit the chunk numbers
		}
		if err != nil || lo >= hi {
			return err
		}
		return eachChunk(ctx, c, first+lo, hi-lo, vectors, lane, &lost, func(ch *backend.Chunk) {
			if ch.Ordinal >= from && ch.Ordinal < to {
				out = append(out, *ch)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b backend.Chunk) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return out, lost.Err()
}

func (s *store) ChunkNums(ctx context.Context, part backend.Partition, keys []string) (nums []int64, err error) {
	err = s.readKeys(ctx, func(c *conn) error {
		nums = make([]int64, len(keys))
		id, err := findPart(ctx, c, part)
		if err != nil || id == 0 {
			return err
		}
		hashes, found := make([][]byte, len(keys)), make(map[[16]byte]int64, len(keys))
		for i, key := range keys {
			hashes[i] = keyHash(id, key)
		}
		err = c.each(ctx, `SELECT c.key_hash, c.num FROM unnest($2::bytea[]) k (key_hash)
			CROSS JOIN LATERAL (SELECT * FROM chunks c WHERE c.ws = $1 AND c.key_hash = k.key_hash OFFSET 0) c
			CROSS JOIN LATERAL (SELECT * FROM sources s WHERE s.ws = $1 AND s.num = c.source OFFSET 0) s WHERE s.indexed`, func(r *row) error {
			found[unhash(r.blob(0))] = r.int(1)
			return nil
		}, hashes)
		for i := range keys {
			nums[i] = found[unhash(hashes[i])]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return nums, nil
}

// goneSQL returns, for each partition, the expired items that its counters still include.
const goneSQL = `SELECT s.part, count(*) FILTER (WHERE s.newest) AS sources, sum(s.chunks)::bigint AS chunks FROM sources s
	WHERE s.ws = $1 AND s.expires IS NOT NULL AND s.expires <= $2 GROUP BY s.part`

func (s *store) Subs(ctx context.Context) (subs []backend.SubInfo, err error) {
	err = s.query(ctx, func(c *conn) error {
		subs = nil
		return c.each(ctx, "SELECT p.class, p.sub, p.items - coalesce(g.sources, 0) FROM parts p LEFT JOIN ("+goneSQL+`) g ON g.part = p.id
			WHERE p.ws = $1 ORDER BY p.sub, p.class`, func(r *row) error {
			subs = storerules.AddSub(subs, backend.Class(r.int(0)), r.str(1), int(r.int(2)))
			return nil
		}, storerules.Micros(time.Now()))
	})
	if err != nil {
		return nil, err
	}
	return subs, nil
}

func (s *store) Stats(ctx context.Context, class backend.Class) (st backend.Stats, err error) {
	err = s.query(ctx, func(c *conn) error {
		st = backend.Stats{}
		return c.each(ctx, "SELECT p.items - coalesce(g.sources, 0), p.chunks - coalesce(g.chunks, 0) FROM parts p LEFT JOIN ("+goneSQL+`) g ON g.part = p.id
			WHERE p.ws = $1 AND p.class = $3`, func(r *row) error {
			st.Sources += int(r.int(0))
			st.Chunks += int(r.int(1))
			return nil
		}, storerules.Micros(time.Now()), int64(class))
	})
	if err != nil {
		return backend.Stats{}, err
	}
	return st, nil
}

var _ backend.Walker = (*store)(nil)

// Walk implements [backend.Walker].
func (s *store) Walk(ctx context.Context, after int64, limit int) (page []*backend.Source, err error) {
	err = s.query(ctx, func(c *conn) error {
		page = nil
		return c.each(ctx, "SELECT "+sourceCols+" FROM "+sourceTables+" WHERE s.ws = $1 AND s.num > $2 AND s.newest ORDER BY s.num LIMIT $3", func(r *row) error {
			page = append(page, readSource(r, 0))
			return nil
		}, after, max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}
