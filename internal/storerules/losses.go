package storerules

import (
	"errors"

	"github.com/contextmem/contextmem/backend"
)

// Losses are damaged rows that a read leaves out.
type Losses struct {
	rows  int
	first error
}

// Skips reports whether an error says that a row is damaged, and notes it.
func (l *Losses) Skips(err error) bool {
	if !errors.Is(err, backend.ErrCorrupt) {
		return false
	}
	l.Note(err)
	return true
}

// Note notes a damaged row.
func (l *Losses) Note(err error) {
	if l.rows++; l.first == nil {
		l.first = err
	}
}

// Err is what is said of the rows that were left out; nil when there are none.
func (l *Losses) Err() error {
	if l.rows == 0 {
		return nil
	}
	return &backend.DamageError{Rows: l.rows, First: l.first}
}
