// Package cas retries compare-and-swap changes of stored data.
package cas

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
)

// maxTries bounds how often a change is tried when its input changes concurrently.
const maxTries = 100

// Retry calls f until it returns something other than [backend.ErrConflict], at most 100 times. f must read the data that it
// changes anew on each call.
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
