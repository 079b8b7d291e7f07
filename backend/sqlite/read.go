package sqlite

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
	return sources(ctx, s.readSettled, part, ids)
}

func sources(ctx context.Context, read reader, part backend.Partition, ids []string) (out []*backend.Source, err error) {
	var lost losses
	err = read(ctx, func(c *conn) error {
		out = make([]*backend.Source, len(ids))
		id, err := findPart(c, part)
		if err != nil || id == 0 {
			return err
		}
		return forEach(ctx, ids, func(i int, item string) error {
			out[i], err = newest(c, id, item)
			return lost.unless(err)
		})
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

// newest reads the newest version of an id, or returns nil if there is none.
func newest(c *conn, part int64, id string) (src *backend.Source, err error) {
	err = c.each(bg, "SELECT "+sourceCols+" FROM sources s INDEXED BY sources_item JOIN parts p ON p.id = s.part"+
		" WHERE s.hash = ? AND s.part = ? AND s.newest = 1", func(r *row) error {
		if src == nil && r.str(3) == id {
			src = readSource(r, 0)
		}
		return nil
	}, hashOf(0, id), part)
	if err != nil {
		return nil, err
	}
	return src, nil
}

func (s *store) SourcesByNum(ctx context.Context, nums []int64) (out []*backend.Source, err error) {
	return sourcesByNum(ctx, s.readSettled, nums)
}

func sourcesByNum(ctx context.Context, read reader, nums []int64) (out []*backend.Source, err error) {
	var lost losses
	err = read(ctx, func(c *conn) error {
		out = make([]*backend.Source, len(nums))
		return forEach(ctx, nums, func(i int, num int64) error {
			out[i], err = byNum(c, num)
			return lost.unless(err)
		})
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

// byNum reads a version, or returns nil if it is gone.
func byNum(c *conn, num int64) (src *backend.Source, err error) {
	_, err = c.one(bg, "SELECT "+sourceCols+" FROM "+sourceTables+" WHERE s.num = ?", func(r *row) error {
		src = readSource(r, 0)
		return nil
	}, num)
	if err != nil {
		return nil, err
	}
	return src, nil
}

func (s *store) FindSubs(ctx context.Context, class backend.Class, id string) (subs []string, err error) {
	err = s.query(ctx, func(c *conn) error {
		return c.each(ctx, `SELECT p.sub, s.id FROM sources s INDEXED BY sources_item JOIN parts p ON p.id = s.part
			WHERE s.hash = ? AND s.newest = 1 AND p.class = ?`, func(r *row) error {
			if r.str(1) == id {
				subs = append(subs, r.str(0))
			}
			return nil
		}, hashOf(0, id), int64(class))
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(subs)
	return subs, nil
}

func (s *store) Content(ctx context.Context, source int64, kind backend.ContentKind) (data []byte, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		found := false
		var b storedBlob
		if kind <= maxKind {
			found, err = c.one(ctx, "SELECT id, crc, data FROM blobs WHERE id = ?", func(r *row) error {
				b = readStored(r, "content of source", source)
				return nil
			}, blobID(source, kind))
		}
		if err == nil && !found && kind == backend.Original {
			b.data, found, err = sharedOriginal(ctx, c, source)
		}
		if err == nil && !found {
			err = fmt.Errorf("content %d of source %d: %w", kind, source, backend.ErrNotFound)
		}
		if err == nil {
			data, err = b.content(ctx, c, source)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// readChunks reads the visible chunks of nums from the database. With a [backend.DamageError] it returns the undamaged ones.
func (s *store) readChunks(ctx context.Context, nums []int64, now time.Time) (out []*backend.Hydrated, err error) {
	if len(nums) == 0 {
		return nil, s.query(ctx, func(*conn) error { return nil })
	}
	var lost losses
	err = s.query(ctx, func(c *conn) error {
		out = make([]*backend.Hydrated, 0, len(nums))
		return c.each(ctx, "SELECT "+chunkCols+", "+sourceCols+` FROM json_each(?) j CROSS JOIN chunks c ON c.num = j.value
			CROSS JOIN sources s ON s.num = c.source CROSS JOIN parts p ON p.id = s.part
			WHERE s.indexed = 1 AND (s.expires IS NULL OR s.expires > ?)`, func(r *row) error {
			h := new(backend.Hydrated)
			readChunk(r, 0, &h.Chunk)
			h.Src = readSource(r, chunkWidth)
			if !lost.skip(r) {
				out = append(out, h)
			}
			return nil
		}, jsonInts(nums), storerules.Micros(now))
	})
	if err == nil {
		err = lost.Err()
	}
	if !partial(err) || len(out) == 0 {
		return nil, err
	}
	return out, err
}

func (s *store) SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) (out []backend.Chunk, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		var first, n int64
		var lane backend.Lane
		dense := false
		_, err := c.one(bg, "SELECT first_chunk, chunks, dense, lane FROM sources WHERE num = ?", func(r *row) error {
			first, n, dense, lane = r.int(0), r.int(1), r.int(2) != 0, backend.Lane(r.int(3))
			return nil
		}, source)
		lo, hi := int64(max(from, 0)), min(int64(to), n)
		if !dense {
			lo, hi = 0, n // ordinals do not determine numbers
		}
		if err != nil || lo >= hi {
			return err
		}
		return eachChunk(c, first+lo, hi-lo, vectors, lane, &lost, func(ch *backend.Chunk) {
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
	err = s.read(ctx, func(c *conn) error {
		nums = make([]int64, len(keys))
		id, err := findPart(c, part)
		if err != nil || id == 0 {
			return err
		}
		return forEach(ctx, keys, func(i int, key string) error {
			return c.each(bg, `SELECT c.num, c.key, c.ordinal FROM chunks c INDEXED BY chunks_key JOIN sources s ON s.num = c.source
				WHERE c.hash = ? AND s.part = ? AND s.indexed = 1`, func(r *row) error {
				if r.key(1, 2) == key {
					nums[i] = r.int(0)
				}
				return nil
			}, hashOf(id, key), id)
		})
	})
	if err != nil {
		return nil, err
	}
	return nums, nil
}

func (s *store) Subs(ctx context.Context) ([]backend.SubInfo, error) { return subs(ctx, s.readSettled) }

func subs(ctx context.Context, read reader) (subs []backend.SubInfo, err error) {
	err = read(ctx, func(c *conn) error {
		gone, err := expiredItems(ctx, c, time.Now())
		if err != nil {
			return err
		}
		more, err := behind(ctx, c)
		if err != nil {
			return err
		}
		return c.each(ctx, "SELECT p.id, p.class, p.sub, n.items FROM parts p JOIN counters n ON n.id = p.id ORDER BY p.sub, p.class", func(r *row) error {
			class, ok1 := r.vals[1].(int64)
			sub, ok2 := r.vals[2].(string)
			if ok1 && ok2 { // else it cannot be named; Verify reports it
				items, _ := r.vals[3].(int64)
				subs = storerules.AddSub(subs, backend.Class(class), sub, int(items+more[r.int(0)].Items)-gone[r.int(0)].sources)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return subs, nil
}

func (s *store) Stats(ctx context.Context, class backend.Class) (st backend.Stats, err error) {
	err = s.readSettled(ctx, func(c *conn) error {
		gone, err := expiredItems(ctx, c, time.Now())
		if err != nil {
			return err
		}
		more, err := behind(ctx, c)
		if err != nil {
			return err
		}
		return c.each(ctx, "SELECT p.id, n.items, n.chunks FROM parts p JOIN counters n ON n.id = p.id WHERE p.class = ?", func(r *row) error {
			g, m := gone[r.int(0)], more[r.int(0)]
			st.Sources += int(r.int(1)+m.Items) - g.sources
			st.Chunks += int(r.int(2)+m.Chunks) - g.chunks
			return nil
		}, int64(class))
	})
	if err != nil {
		return backend.Stats{}, err
	}
	return st, nil
}

// expiredSum counts expired sources and chunks that are not removed yet.
type expiredSum struct{ sources, chunks int }

// expiredItems returns, for each partition, the expired items that its counters still include.
func expiredItems(ctx context.Context, c *conn, now time.Time) (map[int64]expiredSum, error) {
	gone := make(map[int64]expiredSum)
	err := c.each(ctx, `SELECT part, sum(newest), sum(chunks) FROM sources INDEXED BY sources_expires
		WHERE expires IS NOT NULL AND expires <= ? GROUP BY part`, func(r *row) error {
		gone[r.int(0)] = expiredSum{int(r.int(1)), int(r.int(2))}
		return nil
	}, storerules.Micros(now))
	return gone, err
}
