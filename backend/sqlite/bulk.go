package sqlite

import "strings"

// bulkRows is the maximal number of rows that one statement inserts. It is a power of two.
const bulkRows = 32

// inserts holds statements that insert 1, 2, 4 and so on up to bulkRows rows.
type inserts []string

// insertsOf returns the statements that begin with into and insert rows of width values.
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
	args  []any
}

func (b *bulk) add(c *conn, args ...any) error {
	b.args = append(b.args, args...)
	if len(b.args) < bulkRows*b.width {
		return nil
	}
	return b.flush(c)
}

// flush writes the rows.
func (b *bulk) flush(c *conn) error {
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
