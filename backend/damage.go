package backend

import "fmt"

// DamageError says that a read left out rows whose stored bytes fail their checksum
// or cannot be decoded. Methods that name or list several things return it together
// with the other rows. It wraps [ErrCorrupt].
type DamageError struct {
	Rows  int   // that were left out
	First error // error of the first damaged row
}

// Error returns a text with the number of rows left out.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%d damaged rows were left out, the first: %v", e.Rows, e.First)
}

// Unwrap returns First, which is an [ErrCorrupt].
func (e *DamageError) Unwrap() error { return e.First }
