package postgres

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) PutVectors(ctx context.Context, lane backend.Lane, items []backend.LaneVectors) ([]bool, error) {
	return s.fill(ctx, nil, lane, items)
}

func (s *store) fill(ctx context.Context, g *condition, lane backend.Lane, items []backend.LaneVectors) (ok []bool, err error) {
	if err := storerules.CheckFill(lane); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(t *tx) error {
		if err := g.check(t); err != nil {
			return err
		}
		ok, err = t.PutVectors(lane, items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ok, nil
}

func (s *store) DropLane(ctx context.Context, lane backend.Lane, after int64, limit int) (int64, error) {
	return s.dropLane(ctx, nil, lane, after, limit)
}

func (s *store) dropLane(ctx context.Context, g *condition, lane backend.Lane, after int64, limit int) (next int64, err error) {
	if err := storerules.CheckDrop(lane, limit); err != nil {
		return 0, err
	}
	err = s.change(ctx, func(t *tx) error {
		if err := g.check(t); err != nil {
			return err
		}
		next, err = t.DropLane(lane, after, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return next, nil
}

func (x rows) AddVector(chunk int64, lane backend.Lane, vector []float32) error {
	data := storerules.PackFloats(vector)
	return x.t.c.do("INSERT INTO vectors (ws, chunk, lane, crc, data) VALUES ($1, $2, $3, $4, $5)", chunk, int64(lane), storerules.Checksum(data), data)
}

func (x rows) ChunksInOrder(v *head) (nums []int64, err error) {
	err = x.t.c.each(bg, "SELECT num FROM chunks WHERE ws = $1 AND num BETWEEN $2 AND $3 ORDER BY ordinal, num", func(r *row) error {
		nums = append(nums, r.int(0))
		return nil
	}, v.First, v.First+v.Chunks-1)
	return nums, err
}

func (x rows) SetLanes(v *head) error {
	return x.t.c.do("UPDATE sources SET lanes = $2, seq_lane_1 = $3, seq_lane_2 = $4, seq_lane_3 = $5 WHERE ws = $1 AND num = $6",
		v.Lanes, v.SeqLane[1], v.SeqLane[2], v.SeqLane[3], v.Num)
}

func (x rows) RemoveVectors(v *head, lane backend.Lane) error {
	return x.t.c.do("DELETE FROM vectors WHERE ws = $1 AND chunk BETWEEN $2 AND $3 AND lane = $4", v.First, v.First+v.Chunks-1, int64(lane))
}

func (x rows) Filled(lane backend.Lane, after int64, limit int) ([]*head, error) {
	return x.heads(`num > $2 AND indexed AND lanes & $3 <> 0
		AND EXISTS (SELECT 1 FROM parts p WHERE p.ws = $1 AND p.id = sources.part AND p.class <> 3) ORDER BY num LIMIT $4`, after, int64(1)<<lane, limit)
}

func (s *store) MissingVectors(ctx context.Context, lane backend.Lane, after int64, limit int) (nums []int64, err error) {
	if err := storerules.CheckLane("missing vectors", lane); err != nil {
		return nil, err
	}
	err = s.query(ctx, func(c *conn) error {
		nums = nil
		return c.each(ctx, `SELECT s.num FROM sources s JOIN parts p ON p.ws = s.ws AND p.id = s.part
			WHERE s.ws = $1 AND s.num > $2 AND s.indexed AND s.lanes & $3 = 0 AND s.chunks > 0 AND p.class <> 3 ORDER BY s.num LIMIT $4`,
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
		filled := make(map[int64]bool)
		err := c.each(ctx, "SELECT num FROM sources WHERE ws = $1 AND num = ANY($2) AND indexed AND lanes & $3 <> 0", func(r *row) error {
			filled[r.int(0)] = true
			return nil
		}, nums, int64(1)<<lane)
		for i, num := range nums {
			has[i] = filled[num]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return has, nil
}

// eachVector reads the vectors of n chunks in a lane, with nil for missing and damaged ones. It adds
// damaged ones to lost.
func eachVector(ctx context.Context, c *conn, first, n int64, lane backend.Lane, lost *losses, f func(chunk int64, ordinal int, vector []float32)) error {
	return c.each(ctx, `SELECT c.num, c.ordinal, v.crc, v.data FROM chunks c LEFT JOIN vectors v ON v.ws = c.ws AND v.chunk = c.num AND v.lane = $4
		WHERE c.ws = $1 AND c.num BETWEEN $2 AND $3 ORDER BY c.num`, func(r *row) error {
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
