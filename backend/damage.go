package backend

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// DamageError reports that a read left out rows whose stored bytes fail their checksum
// or cannot be decoded. Methods that read several rows return it together with the
// undamaged rows. It wraps [ErrCorrupt].
type DamageError struct {
	Rows   int     // number of rows left out
	First  error   // error of the first damaged row
	Others []error // errors of the next ones, at most 99
}

// All yields First and Others.
func (e *DamageError) All() iter.Seq[error] {
	return func(yield func(error) bool) {
		if yield(e.First) {
			slices.Values(e.Others)(yield)
		}
	}
}

// Error returns a text with the number of rows left out.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%d damaged rows were left out, the first: %v", e.Rows, e.First)
}

// Unwrap returns First, which is an [ErrCorrupt].
func (e *DamageError) Unwrap() error { return e.First }

// Undamaged returns nil if err only reports that damaged rows were left out, and err otherwise.
func Undamaged(err error) error {
	var d *DamageError
	if errors.As(err, &d) {
		return nil
	}
	return err
}
