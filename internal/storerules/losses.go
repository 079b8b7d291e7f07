package storerules

import (
	"errors"

	"github.com/contextmem/contextmem/backend"
)

// Losses collects damaged rows that a read leaves out.
type Losses struct {
	rows   int
	first  error
	others []error
}

// maxErrors is the number of errors of damaged rows that are kept.
const maxErrors = 100

// Skips reports whether an error means that a row is damaged. If so, it adds the error.
func (l *Losses) Skips(err error) bool {
	if !errors.Is(err, backend.ErrCorrupt) {
		return false
	}
	l.Note(err)
	return true
}

// Note adds the error of a damaged row.
func (l *Losses) Note(err error) {
	switch l.rows++; {
	case l.first == nil:
		l.first = err
	case l.rows <= maxErrors:
		l.others = append(l.others, err)
	}
}

// Err returns the error for the rows that were left out, or nil if there are none.
func (l *Losses) Err() error {
	if l.rows == 0 {
		return nil
	}
	return &backend.DamageError{Rows: l.rows, First: l.first, Others: l.others}
}
