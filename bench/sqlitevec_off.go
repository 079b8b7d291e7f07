//go:build !sqlitevec

package bench

import "context"

// SQLiteVec is left out of this build.
type SQLiteVec struct{}

// NewSQLiteVec returns ErrNotBuilt.
func NewSQLiteVec(context.Context, string, *Vectors) (*SQLiteVec, error) { return nil, ErrNotBuilt }

// Search returns ErrNotBuilt.
func (*SQLiteVec) Search(context.Context, []float32) ([]int, error) { return nil, ErrNotBuilt }

// Close does nothing.
func (*SQLiteVec) Close() error { return nil }
