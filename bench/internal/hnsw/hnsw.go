//go:build hnswlib

package hnsw

// #cgo CXXFLAGS: -O3 -std=c++14
// #include <stdlib.h>
// #include "hnsw.h"
import "C"

import (
	"errors"
	"unsafe"
)

// Built reports whether the library is linked.
const Built = true

// Index is an HNSW graph that ranks by inner product.
type Index struct {
	x    *C.hnsw_index
	rows []C.size_t
}

// New returns an empty graph for rows vectors of dim dimensions, M neighbours a node and efConstruction.
func New(dim, rows, m, efConstruction int) (*Index, error) {
	x := C.hnsw_new(C.size_t(dim), C.size_t(rows), C.size_t(m), C.size_t(efConstruction))
	if x == nil {
		return nil, errors.New("hnswlib: no memory")
	}
	return &Index{x: x}, nil
}

// Load reads a graph of dim dimensions that Save wrote.
func Load(dim int, path string) (*Index, error) {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	x := C.hnsw_load(C.size_t(dim), p)
	if x == nil {
		return nil, errors.New("hnswlib: the file cannot be read")
	}
	return &Index{x: x}, nil
}

// Save writes the graph to a file.
func (i *Index) Save(path string) error {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	if C.hnsw_save(i.x, p) != 0 {
		return errors.New("hnswlib: the file cannot be written")
	}
	return nil
}

// Add adds a row.
func (i *Index) Add(v []float32, row int) error {
	if C.hnsw_add(i.x, (*C.float)(unsafe.Pointer(unsafe.SliceData(v))), C.size_t(row)) != 0 {
		return errors.New("hnswlib: add failed")
	}
	return nil
}

// SetEf sets how many candidates a search keeps.
func (i *Index) SetEf(ef int) { C.hnsw_set_ef(i.x, C.size_t(ef)) }

// Search returns the nearest rows. It is not safe for concurrent use.
func (i *Index) Search(q []float32, k int) ([]int, error) {
	if len(i.rows) < k {
		i.rows = make([]C.size_t, k)
	}
	n := int(C.hnsw_search(i.x, (*C.float)(unsafe.Pointer(unsafe.SliceData(q))), C.size_t(k), &i.rows[0]))
	if n < 0 {
		return nil, errors.New("hnswlib: search failed")
	}
	out := make([]int, n)
	for j := range out {
		out[j] = int(i.rows[j])
	}
	return out, nil
}

// Close frees the graph.
func (i *Index) Close() {
	C.hnsw_free(i.x)
	i.x = nil
}
