package sqlite

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

const (
	laneBits = 2  // of a number in lane_vectors
	kindLane = 16 // the kind of an entry is a ChangeKind plus the lane times this
)

// has reports whether a lane of the version is filled.
func (v *head) has(lane backend.Lane) bool { return v.lanes&(1<<lane) != 0 }

// addVector stores the vector of a chunk in a lane above 0.
func (t *tx) addVector(chunk int64, lane backend.Lane, vector []float32) error {
	data := packVector(vector)
	return t.c.do("INSERT INTO lane_vectors (id, crc, data) VALUES (?, ?, ?)", chunk<<laneBits|int64(lane), checksum(data), data)
}

func (s *store) PutVectors(ctx context.Context, lane backend.Lane, items []backend.LaneVectors) (ok []bool, err error) {
	if lane == 0 || lane >= backend.LaneCount {
		return nil, fmt.Errorf("put vectors: lane %d cannot be filled", lane)
	}
	err = s.change(ctx, func(t *tx) error {
		ok = make([]bool, len(items))
		for i := range items {
			if ok[i], err = t.putVectors(lane, &items[i]); err != nil {
				return fmt.Errorf("put vectors of source %d: %w", items[i].Source.Num, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ok, nil
}

func (t *tx) putVectors(lane backend.Lane, in *backend.LaneVectors) (ok bool, err error) {
	v, err := t.version(in.Source.Num)
	if err != nil || !v.is(in.Source) || !v.indexed {
		return false, err
	}
	p, err := t.partName(v.part)
	if err != nil || p.Class == backend.Raw {
		return false, err
	}
	if int64(len(in.Vectors)) != v.chunks {
		return false, fmt.Errorf("%d vectors for %d chunks", len(in.Vectors), v.chunks)
	}
	if err := t.clearLane(v, lane); err != nil {
		return false, err
	}
	nums, err := t.inOrder(v)
	if err != nil {
		return false, err
	}
	for i, vector := range in.Vectors {
		if vector == nil {
			continue
		}
		if err := t.addVector(nums[i], lane, vector); err != nil {
			return false, err
		}
	}
	v.lanes |= 1 << lane
	if err := t.put(v.num, backend.PutVectors+kindLane*backend.ChangeKind(lane), &v.seqLane[lane]); err != nil {
		return false, err
	}
	return true, t.storeLanes(v)
}

// inOrder returns the chunks of a version by ordinal.
func (t *tx) inOrder(v *head) (nums []int64, err error) {
	err = t.c.each(bg, "SELECT num FROM chunks WHERE num BETWEEN ? AND ? ORDER BY ordinal, num", func(r *row) error {
		nums = append(nums, r.int(0))
		return nil
	}, v.first, v.first+v.chunks-1)
	if err == nil && int64(len(nums)) != v.chunks {
		err = fmt.Errorf("%d chunks of %d: %w", len(nums), v.chunks, backend.ErrCorrupt)
	}
	return nums, err
}

// storeLanes stores which lanes of a version are filled, and where the feed has them.
func (t *tx) storeLanes(v *head) error {
	return t.c.do("UPDATE sources SET lanes = ?, seq_lane_1 = ?, seq_lane_2 = ?, seq_lane_3 = ? WHERE num = ?",
		v.lanes, v.seqLane[1], v.seqLane[2], v.seqLane[3], v.num)
}

// clearLane removes the vectors of a version in a lane. The entry of the feed is the caller's.
func (t *tx) clearLane(v *head, lane backend.Lane) error {
	if !v.has(lane) || v.chunks == 0 {
		return nil
	}
	last := v.first + v.chunks - 1
	if lane != 0 {
		for num := v.first; num <= last; num++ {
			if err := t.c.do("DELETE FROM lane_vectors WHERE id = ?", num<<laneBits|int64(lane)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := t.c.do("DELETE FROM vectors WHERE chunk BETWEEN ? AND ?", v.first, last); err != nil {
		return err
	}
	return t.c.do("UPDATE chunks SET vector = NULL, vector_crc = NULL WHERE num BETWEEN ? AND ? AND vector IS NOT NULL", v.first, last)
}

func (s *store) MissingVectors(ctx context.Context, lane backend.Lane, after int64, limit int) (nums []int64, err error) {
	if lane >= backend.LaneCount {
		return nil, fmt.Errorf("missing vectors: there is no lane %d", lane)
	}
	err = s.query(ctx, func(c *conn) error {
		return c.each(ctx, `SELECT s.num FROM sources s CROSS JOIN parts p ON p.id = s.part
			WHERE s.num > ? AND s.indexed = 1 AND s.lanes & ? = 0 AND s.chunks > 0 AND p.class <> 3 ORDER BY s.num LIMIT ?`,
			func(r *row) error {
				nums = append(nums, r.int(0))
				return nil
			}, after, int64(1)<<lane, max(limit, 0))
	})
	if err != nil {
		return nil, err
	}
	return nums, nil
}

func (s *store) HasVectors(ctx context.Context, lane backend.Lane, nums []int64) (has []bool, err error) {
	if lane >= backend.LaneCount {
		return nil, fmt.Errorf("has vectors: there is no lane %d", lane)
	}
	err = s.query(ctx, func(c *conn) error {
		has = make([]bool, len(nums))
		for i, num := range nums {
			if err := c.each(ctx, "SELECT lanes FROM sources WHERE num = ? AND indexed = 1", func(r *row) error {
				has[i] = r.int(0)&(1<<lane) != 0
				return nil
			}, num); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return has, nil
}

func (s *store) DropLane(ctx context.Context, lane backend.Lane, after int64, limit int) (next int64, err error) {
	if lane >= backend.LaneCount || limit <= 0 {
		return 0, fmt.Errorf("drop lane %d, %d at a time: there is none, or no end", lane, limit)
	}
	err = s.change(ctx, func(t *tx) error {
		if after == 0 {
			if err := t.dropVectors(lane); err != nil {
				return err
			}
		}
		var found []*head
		err := t.c.each(bg, "SELECT "+headCols+` FROM sources WHERE num > ? AND indexed = 1 AND lanes & ? <> 0
			AND EXISTS (SELECT 1 FROM parts p WHERE p.id = sources.part AND p.class <> 3) ORDER BY num LIMIT ?`, func(r *row) error {
			found = append(found, readHead(r))
			return nil
		}, after, int64(1)<<lane, limit+1)
		if err != nil {
			return err
		}
		for i, v := range found {
			if i == limit {
				next = found[i-1].num
				break
			}
			if err := t.clearLane(v, lane); err != nil {
				return err
			}
			if err := t.takeBack(&v.seqLane[lane]); err != nil {
				return err
			}
			v.lanes &^= 1 << lane
			if err := t.storeLanes(v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return next, nil
}

// dropVectors adds the tombstone of a lane, in place of an earlier one.
func (t *tx) dropVectors(lane backend.Lane) error {
	err := t.c.do("DELETE FROM changes WHERE sub = '' AND kind = ? AND class = ?", int64(backend.DropVectors), int64(lane))
	if err != nil {
		return err
	}
	seq, err := t.next()
	if err != nil {
		return err
	}
	return t.c.do("INSERT INTO changes (seq, kind, source, class, sub, id) VALUES (?, ?, 0, ?, '', '')",
		seq, int64(backend.DropVectors), int64(lane))
}

// eachVector reads the vectors of n chunks in a lane above 0, nil where a chunk has none, or a damaged one,
// which is noted in lost.
func eachVector(c *conn, first, n int64, lane backend.Lane, lost *losses, f func(chunk int64, ordinal int, vector []float32)) error {
	return c.each(bg, `SELECT c.num, c.ordinal, v.crc, v.data FROM chunks c LEFT JOIN lane_vectors v ON v.id = (c.num << 2 | ?3)
		WHERE c.num BETWEEN ?1 AND ?2 ORDER BY c.num`, func(r *row) error {
		var vector []float32
		if !r.null(2) {
			data := r.checked(2, 3, "vector of chunk", r.int(0))
			if r.err == nil {
				vector, r.err = unpackVector(data)
			}
			if lost.skip(r) {
				vector = nil
			} else if r.err != nil {
				return r.err
			}
		}
		f(r.int(0), int(r.int(1)), vector)
		return nil
	}, first, first+n-1, int64(lane))
}
