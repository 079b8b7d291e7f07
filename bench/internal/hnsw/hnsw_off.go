//go:build !hnswlib

package hnsw

import "errors"

// Built tells that the library is not linked.
const Built = false

var errNotBuilt = errors.New("hnswlib: not built in")

// Index is left out of this build.
type Index struct{}

// New errs.
func New(int, int, int, int) (*Index, error) { return nil, errNotBuilt }

// Load errs.
func Load(int, string) (*Index, error) { return nil, errNotBuilt }

// Save errs.
func (*Index) Save(string) error { return errNotBuilt }

// Add errs.
func (*Index) Add([]float32, int) error { return errNotBuilt }

// SetEf does nothing.
func (*Index) SetEf(int) {}

// Search errs.
func (*Index) Search([]float32, int) ([]int, error) { return nil, errNotBuilt }

// Close does nothing.
func (*Index) Close() {}
