// Package cas repeats changes that compare what they read with what is stored.
package cas

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
)

// maxTries bounds how often a change is made again because what it was worked out from changed meanwhile.
const maxTries = 100

// Retry calls f until it does not end with [backend.ErrConflict], at most 100 times. f reads what it changes anew
// each time.
func Retry(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if !errors.Is(err, backend.ErrConflict) || try == maxTries {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
