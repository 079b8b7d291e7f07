//go:build !hnswlib

package hnsw

import "errors"

// Built reports whether the library is linked.
const Built = false

var errNotBuilt = errors.New("hnswlib: not built in")

// Index is left out of this build.
type Index struct{}

// New always returns an error.
func New(int, int, int, int) (*Index, error) { return nil, errNotBuilt }

// Load always returns an error.
func Load(int, string) (*Index, error) { return nil, errNotBuilt }

// Save always returns an error.
func (*Index) Save(string) error { return errNotBuilt }

// Add always returns an error.
func (*Index) Add([]float32, int) error { return errNotBuilt }

// SetEf does nothing.
func (*Index) SetEf(int) {}

// Search always returns an error.
func (*Index) Search([]float32, int) ([]int, error) { return nil, errNotBuilt }

// Close does nothing.
func (*Index) Close() {}
