package postgres

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

const (
	kindLane = 16 // the kind of an entry is a ChangeKind plus the lane times this
)

// has reports whether a lane of the version is filled.
func (v *head) has(lane backend.Lane) bool { return v.lanes&(1<<lane) != 0 }

// addVector stores the vector of a chunk in a lane.
func (t *tx) addVector(chunk int64, lane backend.Lane, vector []float32) error {
	data := packVector(vector)
	return t.c.do("INSERT INTO vectors (ws, chunk, lane, crc, data) VALUES ($1, $2, $3, $4, $5)", chunk, int64(lane), checksum(data), data)
}

func (s *store) PutVectors(ctx context.Context, lane backend.Lane, items []backend.LaneVectors) ([]bool, error) {
	return s.fill(ctx, nil, lane, items)
}

func (s *store) fill(ctx context.Context, g *condition, lane backend.Lane, items []backend.LaneVectors) (ok []bool, err error) {
	if lane == 0 || lane >= backend.LaneCount {
		return nil, fmt.Errorf("put vectors: lane %d cannot be filled", lane)
	}
	err = s.change(ctx, func(t *tx) error {
		if err := g.check(t); err != nil {
			return err
		}
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
	err = t.c.each(bg, "SELECT num FROM chunks WHERE ws = $1 AND num BETWEEN $2 AND $3 ORDER BY ordinal, num", func(r *row) error {
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
	return t.c.do("UPDATE sources SET lanes = $2, seq_lane_1 = $3, seq_lane_2 = $4, seq_lane_3 = $5 WHERE ws = $1 AND num = $6",
		v.lanes, v.seqLane[1], v.seqLane[2], v.seqLane[3], v.num)
}

// clearLane removes the vectors of a version in a lane. The entry of the feed is the caller's.
func (t *tx) clearLane(v *head, lane backend.Lane) error {
	if !v.has(lane) || v.chunks == 0 {
		return nil
	}
	return t.c.do("DELETE FROM vectors WHERE ws = $1 AND chunk BETWEEN $2 AND $3 AND lane = $4", v.first, v.first+v.chunks-1, int64(lane))
}

func (s *store) MissingVectors(ctx context.Context, lane backend.Lane, after int64, limit int) (nums []int64, err error) {
	if lane >= backend.LaneCount {
		return nil, fmt.Errorf("missing vectors: there is no lane %d", lane)
	}
	err = s.query(ctx, func(c *conn) error {
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
	if lane >= backend.LaneCount {
		return nil, fmt.Errorf("has vectors: there is no lane %d", lane)
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

func (s *store) DropLane(ctx context.Context, lane backend.Lane, after int64, limit int) (int64, error) {
	return s.dropLane(ctx, nil, lane, after, limit)
}

func (s *store) dropLane(ctx context.Context, g *condition, lane backend.Lane, after int64, limit int) (next int64, err error) {
	if lane >= backend.LaneCount || limit <= 0 {
		return 0, fmt.Errorf("drop lane %d, %d at a time: there is none, or no end", lane, limit)
	}
	err = s.change(ctx, func(t *tx) error {
		if err := g.check(t); err != nil {
			return err
		}
		next = 0
		if after == 0 {
			if err := t.dropVectors(lane); err != nil {
				return err
			}
		}
		var found []*head
		err := t.c.each(bg, "SELECT "+headCols+` FROM sources WHERE ws = $1 AND num > $2 AND indexed AND lanes & $3 <> 0
			AND EXISTS (SELECT 1 FROM parts p WHERE p.ws = $1 AND p.id = sources.part AND p.class <> 3) ORDER BY num LIMIT $4 FOR UPDATE`, func(r *row) error {
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
	err := t.c.do("DELETE FROM changes WHERE ws = $1 AND sub = '' AND kind = $2 AND class = $3", int64(backend.DropVectors), int64(lane))
	if err != nil {
		return err
	}
	seq, err := t.next()
	if err != nil {
		return err
	}
	return t.c.do("INSERT INTO changes (ws, seq, kind, source, class, sub, id) VALUES ($1, $2, $3, 0, $4, '', '')",
		seq, int64(backend.DropVectors), int64(lane))
}

// eachVector reads the vectors of n chunks in a lane, nil where a chunk has none, or a damaged one,
// which is noted in lost.
func eachVector(ctx context.Context, c *conn, first, n int64, lane backend.Lane, lost *losses, f func(chunk int64, ordinal int, vector []float32)) error {
	return c.each(ctx, `SELECT c.num, c.ordinal, v.crc, v.data FROM chunks c LEFT JOIN vectors v ON v.ws = c.ws AND v.chunk = c.num AND v.lane = $4
		WHERE c.ws = $1 AND c.num BETWEEN $2 AND $3 ORDER BY c.num`, func(r *row) error {
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
