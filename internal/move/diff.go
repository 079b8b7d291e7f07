package move

import (
	"context"
	"encoding/binary"
	"iter"
)

// diff compares a table of two views. It calls gone with the rows of to that are missing or different in from, fresh with the
// rows of from that are missing or different in to, and same with the equal rows. All calls of gone come first, since a new row
// may need the key of an old one.
type diff struct {
	table       *Table
	from, to    View
	gone, fresh func(Row) error
	same        func(Row) error // nil: equal rows are skipped
	sums        *sums           // counts the rows of from
	seen        func(Row)       // called with the rows of from; nil: not called
}

func (d *diff) run(ctx context.Context) error {
	if d.table.numbered() {
		if err := d.merge(ctx, d.gone, nil, nil, nil); err != nil {
			return err
		}
		return d.merge(ctx, nil, d.fresh, d.same, d.sums)
	}
	return d.byHash(ctx)
}

// merge compares both tables by walking them in key order.
func (d *diff) merge(ctx context.Context, gone, fresh, same func(Row) error, count *sums) (err error) {
	nextTo, stopTo := iter.Pull2(d.to.Each(ctx, d.table))
	defer stopTo()
	old, err, more := nextTo()
	if err != nil || !more && gone != nil {
		return err
	}
	var s sums
	for row, err := range d.from.Each(ctx, d.table) {
		if err != nil {
			return err
		}
		for more && old[0].(int64) < row[0].(int64) {
			if gone != nil {
				if err := gone(old); err != nil {
					return err
				}
			}
			if old, err, more = nextTo(); err != nil {
				return err
			}
		}
		sum := s.of(row)
		if count != nil {
			count.add(sum)
			if d.seen != nil {
				d.seen(row)
			}
		}
		there := more && old[0].(int64) == row[0].(int64)
		equal := there && s.of(old) == sum
		switch {
		case equal && same != nil:
			err = same(row)
		case there && !equal && gone != nil:
			err = gone(old)
		case !equal && fresh != nil:
			err = fresh(row)
		}
		if err != nil {
			return err
		}
		if there {
			if old, err, more = nextTo(); err != nil {
				return err
			}
		}
	}
	for ; more && gone != nil; old, err, more = nextTo() {
		if err != nil {
			return err
		}
		if err := gone(old); err != nil {
			return err
		}
	}
	return err
}

// byHash compares tables by a checksum of each row. The checksums stay in memory: 16 bytes for a key and 8 for the row.
func (d *diff) byHash(ctx context.Context) error {
	have, want := make(map[[2]uint64]uint64), make(map[[2]uint64]uint64)
	var s sums
	read := func(v View, into map[[2]uint64]uint64, count *sums) error {
		for row, err := range v.Each(ctx, d.table) {
			if err != nil {
				return err
			}
			sum := s.of(row)
			if count != nil {
				count.add(sum)
			}
			into[keyOf(d.table, row)] = sum
		}
		return nil
	}
	if err := read(d.to, have, nil); err != nil {
		return err
	}
	if err := read(d.from, want, d.sums); err != nil {
		return err
	}
	for row, err := range d.to.Each(ctx, d.table) {
		if err != nil {
			return err
		}
		key := keyOf(d.table, row)
		if sum, ok := want[key]; !ok || sum != s.of(row) {
			delete(have, key)
			if err := d.gone(row); err != nil {
				return err
			}
		}
	}
	for row, err := range d.from.Each(ctx, d.table) {
		if err != nil {
			return err
		}
		if _, ok := have[keyOf(d.table, row)]; !ok {
			if err := d.fresh(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyOf returns a 128-bit checksum of a row's key. Collisions are taken to be impossible.
func keyOf(t *Table, r Row) [2]uint64 {
	b := encode(nil, r[:t.Keys])
	h := digest(b)
	return [2]uint64{binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:])}
}
