package storerules

import (
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// CheckFound checks that the version is a side of each succession that its comparison found.
func CheckFound(in *backend.Compared) error {
	for i := range in.Found {
		if f := &in.Found[i]; f.Later == f.Earlier || f.Later != in.Source.Num && f.Earlier != in.Source.Num {
			return fmt.Errorf("compare source %d: succession %d of %d", in.Source.Num, f.Later, f.Earlier)
		}
	}
	return nil
}

// Compare stores the successions that comparisons found, which replace those of earlier comparisons. It reports which versions still exist.
func (t *Tx) Compare(generation int64, items []backend.Compared) (_ []bool, err error) {
	for i := range items {
		if err := CheckFound(&items[i]); err != nil {
			return nil, err
		}
	}
	ok := make([]bool, len(items))
	for i := range items {
		if ok[i], err = t.compare(generation, &items[i]); err != nil {
			return nil, fmt.Errorf("compare source %d: %w", items[i].Source.Num, err)
		}
	}
	return ok, nil
}

func (t *Tx) compare(generation int64, in *backend.Compared) (ok bool, err error) {
	v, err := t.Rows.Version(in.Source.Num)
	if err != nil || !v.Is(in.Source) || !v.Indexed {
		return false, err
	}
	if err := t.Rows.RemoveFound(v.Num); err != nil {
		return false, err
	}
	for i := range in.Found {
		f := &in.Found[i]
		other, err := t.Rows.Version(f.Later + f.Earlier - v.Num)
		if err != nil {
			return false, err
		}
		if other == nil || other.Part != v.Part {
			continue
		}
		if err := t.Rows.AddSuccession(v.Part, v.Num, f, true); err != nil {
			return false, err
		}
	}
	return true, t.Rows.SetCompared(v.Num, generation)
}

// PutSuccession stores a succession that a caller states, and returns its number.
func (t *Tx) PutSuccession(in *backend.Succession) (int64, error) {
	num, err := t.putSuccession(in)
	if err != nil {
		return 0, fmt.Errorf("put succession: %w", err)
	}
	return num, nil
}

func (t *Tx) putSuccession(in *backend.Succession) (int64, error) {
	later, err := t.Rows.Version(in.Later)
	if err != nil {
		return 0, err
	}
	earlier, err := t.Rows.Version(in.Earlier)
	switch {
	case err != nil:
		return 0, err
	case later == nil || earlier == nil || !later.Newest || !earlier.Newest:
		return 0, backend.ErrNotFound
	case later.Num == earlier.Num || later.Part != earlier.Part:
		return 0, backend.ErrConflict
	}
	if err := t.Rows.RemoveSuccession(in.Earlier, in.Later); err != nil {
		return 0, err
	}
	if err := t.Rows.AddSuccession(later.Part, 0, in, false); err != nil {
		return 0, err
	}
	return t.Rows.SuccessionOf(in.Earlier, in.Later)
}

// UndoSuccession undoes a succession. It does nothing if the succession is undone already.
func (t *Tx) UndoSuccession(num int64, now time.Time) error {
	found, err := t.Rows.UndoSuccession(num, now)
	if err == nil && !found {
		err = backend.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("undo succession %d: %w", num, err)
	}
	return nil
}
