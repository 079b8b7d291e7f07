package storerules

import (
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// CheckFill checks the lane of a call that fills one.
func CheckFill(lane backend.Lane) error {
	if lane == 0 || lane >= backend.LaneCount {
		return fmt.Errorf("put vectors: lane %d cannot be filled", lane)
	}
	return nil
}

// CheckLane checks the lane of a call. Its error names the call.
func CheckLane(call string, lane backend.Lane) error {
	if lane >= backend.LaneCount {
		return fmt.Errorf("%s: there is no lane %d", call, lane)
	}
	return nil
}

// CheckDrop checks the arguments of DropLane.
func CheckDrop(lane backend.Lane, limit int) error {
	if lane >= backend.LaneCount || limit <= 0 {
		return fmt.Errorf("drop lane %d, %d at a time: there is none, or no end", lane, limit)
	}
	return nil
}

// PutVectors fills a lane of versions and reports which of them it has filled; see [backend.Lanes].
func (t *Tx) PutVectors(lane backend.Lane, items []backend.LaneVectors) (_ []bool, err error) {
	ok := make([]bool, len(items))
	for i := range items {
		if ok[i], err = t.putVectors(lane, &items[i]); err != nil {
			return nil, fmt.Errorf("put vectors of source %d: %w", items[i].Source.Num, err)
		}
	}
	return ok, nil
}

func (t *Tx) putVectors(lane backend.Lane, in *backend.LaneVectors) (ok bool, err error) {
	v, err := t.Rows.Version(in.Source.Num)
	if err != nil || !v.Is(in.Source) || !v.Indexed {
		return false, err
	}
	p, err := t.Rows.PartName(v.Part)
	if err != nil || p.Class == backend.Raw {
		return false, err
	}
	if int64(len(in.Vectors)) != v.Chunks {
		return false, fmt.Errorf("%d vectors for %d chunks", len(in.Vectors), v.Chunks)
	}
	if err := t.clearLane(v, lane); err != nil {
		return false, err
	}
	nums, err := t.Rows.ChunksInOrder(v)
	if err == nil && int64(len(nums)) != v.Chunks {
		err = fmt.Errorf("%d chunks of %d: %w", len(nums), v.Chunks, backend.ErrCorrupt)
	}
	if err != nil {
		return false, err
	}
	for i, vector := range in.Vectors {
		if vector == nil {
			continue
		}
		if err := t.Rows.AddVector(nums[i], lane, vector); err != nil {
			return false, err
		}
	}
	v.Lanes |= 1 << lane
	if err := t.Put(v.Num, backend.PutVectors+KindLane*backend.ChangeKind(lane), &v.SeqLane[lane]); err != nil {
		return false, err
	}
	return true, t.Rows.SetLanes(v)
}

// clearLane removes the vectors of a version in a lane. The caller changes the feed.
func (t *Tx) clearLane(v *Head, lane backend.Lane) error {
	if v.Lanes&(1<<lane) == 0 || v.Chunks == 0 {
		return nil
	}
	return t.Rows.RemoveVectors(v, lane)
}

// DropLane removes a lane's vectors of up to limit versions after the version after. It returns the last of them, or 0 if there are no more. The
// first call, with after 0, adds the tombstone of the lane to the feed.
func (t *Tx) DropLane(lane backend.Lane, after int64, limit int) (next int64, err error) {
	if after == 0 {
		if err := t.dropVectors(lane); err != nil {
			return 0, err
		}
	}
	found, err := t.Rows.Filled(lane, after, limit+1)
	if err != nil {
		return 0, err
	}
	for i, v := range found {
		if i == limit {
			return found[i-1].Num, nil
		}
		if err := t.clearLane(v, lane); err != nil {
			return 0, err
		}
		if err := t.takeBack(&v.SeqLane[lane]); err != nil {
			return 0, err
		}
		v.Lanes &^= 1 << lane
		if err := t.Rows.SetLanes(v); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
