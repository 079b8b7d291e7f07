package backend

import "fmt"

// DamageError says that a read left out rows whose stored bytes fail their checksum
// or cannot be read back. It comes beside an answer that holds the rest, from
// methods that name or list several things. It is an [ErrCorrupt].
type DamageError struct {
	Rows  int   // that were left out
	First error // what is wrong with the first of them
}

// Error says how many rows were left out.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%d damaged rows were left out, the first: %v", e.Rows, e.First)
}

// Unwrap returns First, which is an [ErrCorrupt].
func (e *DamageError) Unwrap() error { return e.First }
