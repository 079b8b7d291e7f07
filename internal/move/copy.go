package move

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

func digest(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }

var sourceState = Sources.At("state")

// Bounds of one transaction on the target.
const (
	batchOps     = 500
	batchSources = 64 // sources whose content is read at once
	batchBytes   = 8 << 20
)

// ErrDiffers is wrapped by the errors of a copy that does not equal its source.
var ErrDiffers = errors.New("the copy differs")

// leaseKind is the kind of the registry's lease records. They are not copied, because no process holds a lease after a move.
var leaseKind = []byte("lease")

// copier makes one workspace, or the registry, of the target equal to that of the source.
type copier struct {
	tables  []*Table
	from    View
	to      Place
	check   bool // also compare the content of sources with equal rows
	classes map[int64]int64
	done    func(rows, bytes int64) // called with the size of each write

	ops     []Op
	bytes   int64
	fresh   []Row // sources whose content is to be copied
	equal   []Row // sources whose content is to be compared
	wrote   bool
	pending bool            // a source is still being processed
	total   map[string]sums // of the source, by table
}

// run copies all tables, then reads the written rows back and compares them.
func (c *copier) run(ctx context.Context) error {
	c.total, c.classes = make(map[string]sums), make(map[int64]int64)
	for _, t := range c.tables {
		if err := c.table(ctx, t); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	if !c.wrote {
		return nil // the comparison has just found them equal
	}
	for _, t := range c.tables {
		var have sums
		for row, err := range c.to.Each(ctx, t) {
			if err != nil {
				return err
			}
			have.add(have.of(row))
		}
		if want := c.total[t.Name]; have.rows != want.rows || have.sum != want.sum {
			return fmt.Errorf("table %s has %d rows with the checksum %016x, want %d with %016x: %w", t.Name, have.rows, have.sum, want.rows, want.sum, ErrDiffers)
		}
	}
	return nil
}

func (c *copier) table(ctx context.Context, t *Table) error {
	var s sums
	d := &diff{table: t, from: c.from, to: c.to, sums: &s}
	d.gone = func(old Row) error { return c.op(ctx, Op{Table: t, Old: old}) }
	d.fresh = func(row Row) error { return c.op(ctx, Op{Table: t, New: row}) }
	if t == Sources {
		d.seen = func(row Row) { c.pending = c.pending || !backend.State(row[sourceState].(int64)).Terminal() }
		d.fresh = func(row Row) error {
			if c.fresh = append(c.fresh, row); len(c.fresh) < batchSources {
				return nil
			}
			return c.take(ctx)
		}
		if c.check {
			d.same = func(row Row) error {
				if c.equal = append(c.equal, row); len(c.equal) < batchSources {
					return nil
				}
				return c.compareEqual(ctx)
			}
		}
	}
	if t == Parts {
		for row, err := range c.from.Each(ctx, Parts) {
			if err != nil {
				return err
			}
			c.classes[row[0].(int64)] = row[1].(int64)
		}
	}
	if err := d.run(ctx); err != nil {
		return err
	}
	c.total[t.Name] = s
	if err := errors.Join(c.take(ctx), c.compareEqual(ctx)); err != nil {
		return err
	}
	return c.flush(ctx)
}

// op queues an operation.
func (c *copier) op(ctx context.Context, op Op) error {
	if len(c.ops) > 0 && (op.New == nil) != (c.ops[0].New == nil) { // deletions come first, to free their keys
		if err := c.flush(ctx); err != nil {
			return err
		}
	}
	c.ops = append(c.ops, op)
	c.bytes += size(op.New)
	for _, o := range op.Owned {
		c.bytes += size(o.Row)
	}
	if len(c.ops) < batchOps && c.bytes < batchBytes {
		return nil
	}
	return c.flush(ctx)
}

func (c *copier) flush(ctx context.Context) error {
	if len(c.ops) == 0 {
		return nil
	}
	c.wrote = true
	if err := c.to.Apply(ctx, c.ops); err != nil {
		return err
	}
	var put []Row
	want := make(map[int64][]Owned)
	for i := range c.ops {
		if op := &c.ops[i]; op.Table == Sources && op.New != nil {
			put = append(put, op.New)
			want[op.New[0].(int64)] = op.Owned
		}
	}
	if err := c.compare(ctx, put, want); err != nil {
		return err
	}
	if c.done != nil {
		c.done(int64(len(c.ops)), c.bytes)
	}
	clear(c.ops)
	c.ops, c.bytes = c.ops[:0], 0
	return nil
}

// take reads the content of new sources.
func (c *copier) take(ctx context.Context) error {
	if len(c.fresh) == 0 {
		return nil
	}
	owned, err := c.from.Owned(ctx, c.fresh)
	if err != nil {
		return err
	}
	for _, row := range c.fresh {
		if err := c.op(ctx, Op{Table: Sources, New: row, Owned: owned[row[0].(int64)], Class: c.classes[row[1].(int64)]}); err != nil {
			return err
		}
	}
	c.fresh = c.fresh[:0]
	return nil
}

// compareEqual compares the content of sources with equal rows. An interrupted run may have written that content without
// comparing it.
func (c *copier) compareEqual(ctx context.Context) error {
	if len(c.equal) == 0 {
		return nil
	}
	want, err := c.from.Owned(ctx, c.equal)
	if err != nil {
		return err
	}
	err = c.compare(ctx, c.equal, want)
	c.equal = c.equal[:0]
	return err
}

// compare reads the rows owned by the sources back and compares them with want.
func (c *copier) compare(ctx context.Context, sources []Row, want map[int64][]Owned) error {
	if len(sources) == 0 {
		return nil
	}
	have, err := c.to.Owned(ctx, sources)
	if err != nil {
		return err
	}
	for _, s := range sources {
		var a, b sums
		for _, o := range want[s[0].(int64)] {
			a.add(a.of(o.Row))
		}
		for _, o := range have[s[0].(int64)] {
			b.add(b.of(o.Row))
		}
		if a.rows != b.rows || a.sum != b.sum {
			return fmt.Errorf("version %d has %d rows of content with the checksum %016x, want %d with %016x: %w", s[0], b.rows, b.sum, a.rows, a.sum, ErrDiffers)
		}
	}
	return nil
}

func size(r Row) (n int64) {
	for _, v := range r {
		n += 8
		if b, ok := v.([]byte); ok {
			n += int64(len(b))
		}
	}
	return n
}
