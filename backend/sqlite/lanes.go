package sqlite

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

const laneBits = 2 // low bits of a number in lane_vectors that are the lane

func (s *store) PutVectors(ctx context.Context, lane backend.Lane, items []backend.LaneVectors) (ok []bool, err error) {
	if err := storerules.CheckFill(lane); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(t *tx) error {
		ok, err = t.PutVectors(lane, items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ok, nil
}

func (s *store) DropLane(ctx context.Context, lane backend.Lane, after int64, limit int) (next int64, err error) {
	if err := storerules.CheckDrop(lane, limit); err != nil {
		return 0, err
	}
	err = s.change(ctx, func(t *tx) error {
		next, err = t.DropLane(lane, after, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return next, nil
}

func (x rows) AddVector(chunk int64, lane backend.Lane, vector []float32) error {
	data := storerules.PackVector(vector)
	return x.t.c.do("INSERT INTO lane_vectors (id, crc, data) VALUES (?, ?, ?)", chunk<<laneBits|int64(lane), storerules.Checksum(data), data)
}

func (x rows) ChunksInOrder(v *head) (nums []int64, err error) {
	err = x.t.c.each(bg, "SELECT num FROM chunks WHERE num BETWEEN ? AND ? ORDER BY ordinal, num", func(r *row) error {
		nums = append(nums, r.int(0))
		return nil
	}, v.First, v.First+v.Chunks-1)
	return nums, err
}

func (x rows) SetLanes(v *head) error {
	return x.t.c.do("UPDATE sources SET lanes = ?, seq_lane_1 = ?, seq_lane_2 = ?, seq_lane_3 = ? WHERE num = ?",
		v.Lanes, v.SeqLane[1], v.SeqLane[2], v.SeqLane[3], v.Num)
}

func (x rows) RemoveVectors(v *head, lane backend.Lane) error {
	last := v.First + v.Chunks - 1
	if lane != 0 {
		for num := v.First; num <= last; num++ {
			if err := x.t.c.do("DELETE FROM lane_vectors WHERE id = ?", num<<laneBits|int64(lane)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := x.t.c.do("DELETE FROM vectors WHERE chunk BETWEEN ? AND ?", v.First, last); err != nil {
		return err
	}
	return x.t.c.do("UPDATE chunks SET vector = NULL, vector_crc = NULL WHERE num BETWEEN ? AND ? AND vector IS NOT NULL", v.First, last)
}

func (x rows) Filled(lane backend.Lane, after int64, limit int) ([]*head, error) {
	return x.heads(`WHERE num > ? AND indexed = 1 AND lanes & ? <> 0
		AND EXISTS (SELECT 1 FROM parts p WHERE p.id = sources.part AND p.class <> 3) ORDER BY num LIMIT ?`, after, int64(1)<<lane, limit)
}

func (s *store) MissingVectors(ctx context.Context, lane backend.Lane, after int64, limit int) (nums []int64, err error) {
	if err := storerules.CheckLane("missing vectors", lane); err != nil {
		return nil, err
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
	if err := storerules.CheckLane("has vectors", lane); err != nil {
		return nil, err
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

// eachVector reads the vectors of n chunks in a lane above 0, with nil for missing and damaged ones. It adds
// damaged ones to lost.
func eachVector(c *conn, first, n int64, lane backend.Lane, lost *losses, f func(chunk int64, ordinal int, vector []float32)) error {
	return c.each(bg, `SELECT c.num, c.ordinal, v.crc, v.data FROM chunks c LEFT JOIN lane_vectors v ON v.id = (c.num << 2 | ?3)
		WHERE c.num BETWEEN ?1 AND ?2 ORDER BY c.num`, func(r *row) error {
		var vector []float32
		if !r.null(2) {
			data := r.checked(2, 3, "vector of chunk", r.int(0))
			if r.err == nil {
				vector, r.err = storerules.UnpackVector(data)
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
