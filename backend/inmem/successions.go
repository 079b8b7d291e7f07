package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// succession is a stored succession.
type succession struct {
	backend.Succession
	part     backend.Partition
	compared int64 // version whose comparison found the succession; 0: a caller stated it
}

func (s *store) Uncompared(ctx context.Context, generation, after int64, limit int) (nums []int64, err error) {
	err = s.read(ctx, func(d *storeData) error {
		for under, list := range d.compared {
			if under == generation {
				continue
			}
			for _, v := range firstN(list.after(after), limit) {
				nums = append(nums, v.src.Num)
			}
		}
		return nil
	})
	slices.Sort(nums)
	return firstN(nums, limit), err
}

func (s *store) Compare(ctx context.Context, generation int64, items []backend.Compared) (ok []bool, err error) {
	err = s.write(ctx, func(d *storeData) error {
		for i := range items {
			if err := storerules.CheckFound(&items[i]); err != nil {
				return err
			}
		}
		ok = make([]bool, len(items))
		for i := range items {
			v := d.versions[items[i].Source.Num]
			if v == nil || v.src.Version() != items[i].Source || !v.indexed {
				continue
			}
			ok[i] = true
			removeFrom(d.compared, v.compared, v.src.Num)
			v.compared = generation
			d.fileCompared(v)
			for _, x := range slices.Clone(d.touching[v.src.Num]) {
				if x.compared == v.src.Num && x.Undone.IsZero() {
					d.dropSuccession(x)
				}
			}
			for _, f := range items[i].Found {
				if other := d.versions[f.Later+f.Earlier-v.src.Num]; other != nil && other.part == v.part {
					d.succeed(v, f)
				}
			}
		}
		return nil
	})
	return ok, err
}

// succeed stores the successions that the comparison of a version found.
func (d *storeData) succeed(v *version, f backend.Succession) {
	if x := d.successionOf(f.Later, f.Earlier); x != nil {
		if x.Undone.IsZero() && x.compared != 0 {
			f.Num = x.Num
			x.set(f, v.src.Num)
		}
		return
	}
	d.addSuccession(v, f, v.src.Num)
}

func (x *succession) set(f backend.Succession, compared int64) {
	f.Extra = slices.Clone(f.Extra)
	f.Created, f.Undone, f.ByCaller = storerules.Stamped(f.Created), time.Time{}, compared == 0
	x.Succession, x.compared = f, compared
}

// successionOf returns the succession between two versions, or nil if there is none.
func (d *storeData) successionOf(later, earlier int64) *succession {
	for _, x := range d.touching[later] {
		if x.Later == later && x.Earlier == earlier {
			return x
		}
	}
	return nil
}

func (d *storeData) addSuccession(v *version, f backend.Succession, compared int64) int64 {
	d.last.succession++
	f.Num = d.last.succession
	x := &succession{part: v.part.name}
	x.set(f, compared)
	d.followed.add(x)
	addTo(d.touching, x.Later, x)
	addTo(d.touching, x.Earlier, x)
	return f.Num
}

func (d *storeData) dropSuccession(x *succession) {
	d.followed.remove(x.Num)
	removeFrom(d.touching, x.Later, x.Num)
	removeFrom(d.touching, x.Earlier, x.Num)
}

func (s *store) PutSuccession(ctx context.Context, in backend.Succession) (num int64, err error) {
	err = s.write(ctx, func(d *storeData) error {
		later, earlier := d.versions[in.Later], d.versions[in.Earlier]
		newest := func(v *version) bool { return v != nil && v.part.items[v.src.ID].newest == v }
		switch {
		case !newest(later) || !newest(earlier):
			return fmt.Errorf("put succession: %w", backend.ErrNotFound)
		case later == earlier || later.part != earlier.part:
			return fmt.Errorf("put succession: %w", backend.ErrConflict)
		}
		if x := d.successionOf(in.Later, in.Earlier); x != nil {
			d.dropSuccession(x)
		}
		num = d.addSuccession(later, in, 0)
		return nil
	})
	return num, err
}

func (s *store) UndoSuccession(ctx context.Context, num int64, now time.Time) error {
	return s.write(ctx, func(d *storeData) error {
		i, ok := d.followed.find(num)
		if !ok {
			return fmt.Errorf("undo succession %d: %w", num, backend.ErrNotFound)
		}
		if x := d.followed[i]; x.Undone.IsZero() {
			x.Undone = storerules.Stamped(now)
		}
		return nil
	})
}

func (s *store) Successions(ctx context.Context, q backend.SuccessionQuery) (out []backend.Succession, err error) {
	err = s.read(ctx, func(d *storeData) error {
		for _, x := range d.between(q) {
			switch {
			case x.part != q.Part || x.Num <= q.After || !q.Undone && !x.Undone.IsZero():
			case q.Earlier != nil && !slices.Contains(q.Earlier, x.Earlier):
			case q.Later != nil && !slices.Contains(q.Later, x.Later):
			case q.Limit > 0 && len(out) >= q.Limit:
			default:
				found := x.Succession
				found.Extra = slices.Clone(x.Extra)
				found.LaterID, found.EarlierID = d.versions[x.Later].src.ID, d.versions[x.Earlier].src.ID
				out = append(out, found)
			}
		}
		return nil
	})
	return out, err
}

// between returns a superset of the successions that match q, by ascending number.
func (d *storeData) between(q backend.SuccessionQuery) ordered[*succession] {
	ends := q.Earlier
	if ends == nil {
		ends = q.Later
	}
	if ends == nil {
		return d.followed.after(q.After)
	}
	var out ordered[*succession]
	for _, num := range ends {
		out = append(out, d.touching[num].after(q.After)...)
	}
	slices.SortFunc(out, func(a, b *succession) int { return cmp.Compare(a.Num, b.Num) })
	return slices.Compact(out)
}

// dropSuccessions deletes the successions of a version that is being deleted.
func (d *storeData) dropSuccessions(num int64) {
	for _, x := range slices.Clone(d.touching[num]) {
		d.dropSuccession(x)
	}
}
