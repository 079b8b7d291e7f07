package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// vector returns the vector of a chunk in a lane.
func (v *version) vector(i int, lane backend.Lane) []float32 {
	switch {
	case lane == v.lane:
		return v.chunks[i].Vector
	case v.vectors[lane] == nil:
		return nil
	}
	return v.vectors[lane][i]
}

func (s *store) PutVectors(ctx context.Context, lane backend.Lane, items []backend.LaneVectors) (ok []bool, err error) {
	err = s.write(ctx, func(d *storeData) error {
		if err := storerules.CheckFill(lane); err != nil {
			return err
		}
		fits := func(in *backend.LaneVectors) *version {
			v := d.versions[in.Source.Num]
			if v == nil || !v.indexed || v.src.Version() != in.Source || v.part.name.Class == backend.Raw {
				return nil
			}
			return v
		}
		for i := range items {
			if v := fits(&items[i]); v != nil && len(items[i].Vectors) != len(v.chunks) {
				return fmt.Errorf("put vectors: %d for the %d chunks of source %d", len(items[i].Vectors), len(v.chunks), v.src.Num)
			}
		}
		ok = make([]bool, len(items))
		for i := range items {
			if v := fits(&items[i]); v != nil {
				ok[i] = true
				d.putVectors(v, lane, items[i].Vectors)
			}
		}
		d.feed.tidy()
		return nil
	})
	return ok, err
}

// putVectors stores vectors by ordinal.
func (d *storeData) putVectors(v *version, lane backend.Lane, vectors [][]float32) {
	order := make([]int, len(v.chunks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.chunks[a].Ordinal, v.chunks[b].Ordinal) })
	v.vectors[lane] = make([][]float32, len(v.chunks))
	for i, at := range order {
		vec := slices.Clone(vectors[i])
		if lane == v.lane {
			v.chunks[at].Vector = vec
		} else {
			v.vectors[lane][at] = vec
		}
	}
	v.lanes[lane] = true
	d.feed.putVectors(v, lane)
}

func (s *store) MissingVectors(ctx context.Context, lane backend.Lane, after int64, limit int) (nums []int64, err error) {
	err = s.read(ctx, func(d *storeData) error {
		if err := storerules.CheckLane("missing vectors", lane); err != nil {
			return err
		}
		for _, v := range d.order.after(after) {
			if len(nums) >= limit {
				break
			}
			if v.indexed && !v.lanes[lane] && len(v.chunks) > 0 && v.part.name.Class != backend.Raw {
				nums = append(nums, v.src.Num)
			}
		}
		return nil
	})
	return nums, err
}

func (s *store) HasVectors(ctx context.Context, lane backend.Lane, nums []int64) (has []bool, err error) {
	err = s.read(ctx, func(d *storeData) error {
		if err := storerules.CheckLane("has vectors", lane); err != nil {
			return err
		}
		has = make([]bool, len(nums))
		for i, num := range nums {
			v := d.versions[num]
			has[i] = v != nil && v.indexed && v.lanes[lane]
		}
		return nil
	})
	return has, err
}

func (s *store) DropLane(ctx context.Context, lane backend.Lane, after int64, limit int) (next int64, err error) {
	err = s.write(ctx, func(d *storeData) error {
		if err := storerules.CheckDrop(lane, limit); err != nil {
			return err
		}
		if after == 0 {
			d.feed.dropVectors(lane)
		}
		n := 0
		for _, v := range d.order.after(after) {
			if !v.indexed || !v.lanes[lane] || v.part.name.Class == backend.Raw {
				continue
			}
			if n++; n > limit { // next tells of it
				d.feed.tidy()
				return nil
			}
			v.dropLane(lane)
			d.feed.takeBack(v.lanePuts[lane])
			v.lanePuts[lane] = 0
			next = v.src.Num
		}
		next = 0
		d.feed.tidy()
		return nil
	})
	return next, err
}

func (v *version) dropLane(lane backend.Lane) {
	v.lanes[lane], v.vectors[lane] = false, nil
	if lane == v.lane {
		for _, c := range v.chunks {
			c.Vector = nil
		}
	}
}
