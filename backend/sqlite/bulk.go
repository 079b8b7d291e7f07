package sqlite

import (
	"cmp"
	"slices"
	"strings"
)

// bulkRows is the maximal number of rows that one statement inserts. It is a power of two.
const bulkRows = 32

// inserts holds statements that insert 1, 2, 4 and so on up to bulkRows rows.
type inserts []string

// insertsOf returns the statements that begin with into and insert rows of width values. With OR FAIL or OR IGNORE a statement keeps no journal
// of its own, to which SQLite would copy each page that it changes. Its rows before one that fails then stay until the call is undone,
// which every error of a call leads to.
func insertsOf(into string, width int) (all inserts) {
	one := "(?" + strings.Repeat(", ?", width-1) + ")"
	for n := 1; n <= bulkRows; n *= 2 {
		all = append(all, into+" VALUES "+one+strings.Repeat(", "+one, n-1))
	}
	return all
}

// bulk collects the rows that the current call inserts into a table, and writes many of them with one statement. For small rows that saves most of the time. Code
// that reads or removes rows of the table in the same call must flush the bulk first.
type bulk struct {
	sql   inserts
	width int
	most  int // number of rows that are collected before they are written; 0: bulkRows
	// order compares two rows by the key of the table; nil: rows are written as they come. In a large table the rows of a call go to pages all over
	// it, and in the order of their keys each page is looked up once.
	order func(a, b []any) int
	args  []any
}

func (b *bulk) add(c *conn, args ...any) error {
	b.args = append(b.args, args...)
	if len(b.args) < max(b.most, bulkRows)*b.width {
		return nil
	}
	return b.flush(c)
}

// sort brings the rows into their order.
func (b *bulk) sort() {
	n := len(b.args) / b.width
	if b.order == nil || n < 2 {
		return
	}
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = b.args[i*b.width : (i+1)*b.width]
	}
	slices.SortStableFunc(rows, b.order)
	b.args = slices.Concat(rows...)
}

// flush writes the rows.
func (b *bulk) flush(c *conn) error {
	b.sort()
	from := 0
	for i := len(b.sql) - 1; i >= 0; i-- {
		n := b.width << i
		for ; len(b.args)-from >= n; from += n {
			if err := c.do(b.sql[i], b.args[from:from+n]...); err != nil {
				return err
			}
		}
	}
	b.drop()
	return nil
}

// drop discards the rows.
func (b *bulk) drop() {
	clear(b.args)
	b.args = b.args[:0]
}

// byTwo compares rows by their first two values, which are of type int64.
func byTwo(a, b []any) int {
	return cmp.Or(cmp.Compare(a[0].(int64), b[0].(int64)), cmp.Compare(a[1].(int64), b[1].(int64)))
}
