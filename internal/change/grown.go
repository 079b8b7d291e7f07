package change

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// outgrown returns the versions that are to be compared again, because one of those that were just compared is the one with which a partition has many
// statements: see crowd. Memories are told one by one, so that the first ones were compared when nothing could be said of how far one stands out. Where more than
// vectorsDeep statements came before their comparison, the first ones stay as they are.
func (r *run) outgrown(versions []*version) (again []int64, err error) {
	compared := map[int64]bool{}
	for _, v := range versions {
		compared[v.src.Num] = true
	}
	for _, v := range versions {
		if v.known < crowded || v.known >= vectorsDeep || !r.narrow() {
			continue
		}
		hits, err := r.Vectors.SearchVectors(r.ctx, backend.VectorQuery{Part: v.src.Part, Lane: r.Lane, Vector: v.vector(), K: vectorsDeep})
		if err != nil {
			return nil, err
		}
		nums := make([]int64, len(hits))
		for i, h := range hits {
			nums[i] = h.Chunk
		}
		rows, err := r.Store.Chunks(r.ctx, nums, r.now)
		if err != nil {
			return nil, err
		}
		found, err := r.crosses(v, rows)
		if err != nil {
			return nil, err
		}
		for _, num := range found {
			if !compared[num] {
				compared[num] = true
				again = append(again, num)
			}
		}
	}
	slices.Sort(again)
	return again, nil
}

// crosses returns the versions stored before v if v is the first one with a statement that has crowded chunks up to it.
func (r *run) crosses(v *version, rows []*backend.Hydrated) (before []int64, err error) {
	slices.SortFunc(rows, func(a, b *backend.Hydrated) int { return int(a.Src.Num - b.Src.Num) })
	rows = slices.DeleteFunc(rows, func(row *backend.Hydrated) bool { return row.Src.Num > v.src.Num })
	if len(rows) < crowded {
		return nil, nil
	}
	for i := len(rows) - 1; i >= 0; i-- {
		row := rows[i]
		if row.Src.Num == v.src.Num {
			continue
		}
		if len(before) == 0 && i+1 >= crowded { // chunks up to this version are many too
			doc, err := r.doc(row.Src)
			if err != nil {
				return nil, err
			}
			if read(doc, row.Src, &row.Chunk) != nil {
				return nil, nil
			}
			continue
		}
		if len(before) == 0 || before[len(before)-1] != row.Src.Num {
			before = append(before, row.Src.Num)
		}
	}
	return before, nil
}
