// Package models is a registry of models. Packages register a model when they are imported, as database drivers do. The
// registry determines the default model of the process.
package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// Registry holds models of one kind by name. At most one of them can be the default. It is safe for concurrent use.
type Registry[T any] struct {
	// Kind is the singular used in errors ("reranker"), Kinds the plural ("reranking models"). Option is the field that selects a
	// model.
	Kind, Kinds, Option string

	mu   sync.Mutex
	open map[string]func() (T, error)
	part map[string]bool // models that are components of another model
}

// Register adds a model under a name; open creates it. A later registration under the same name replaces the earlier one. A
// registered model is the default unless it is listed in of, the components of another model. The order of registration does
// not matter.
func (r *Registry[T]) Register(name string, open func() (T, error), of ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open, r.part = map[string]func() (T, error){}, map[string]bool{}
	}
	for _, n := range of {
		r.part[n] = true
	}
	r.open[name] = open
}

// Default opens the registered model, or returns the zero T if there is none. It returns an error if several are registered:
// the default must not depend on the order of imports.
func (r *Registry[T]) Default() (T, error) {
	r.mu.Lock()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(r.open)), func(n string) bool { return r.part[n] })
	var open func() (T, error)
	if len(names) == 1 {
		open = r.open[names[0]]
	}
	r.mu.Unlock()
	var none T
	switch {
	case len(names) == 0:
		return none, nil
	case open == nil:
		return none, fmt.Errorf("several %s are imported (%s): name one in %s", r.Kinds, strings.Join(names, ", "), r.Option)
	}
	m, err := open()
	if err != nil {
		return none, fmt.Errorf("%s %s: %w", r.Kind, names[0], err)
	}
	return m, nil
}

// Bytes returns the bytes of s without copying. The caller must not write to them. A file embedded as a string stays in the
// read-only part of the program. Its pages are loaded on first use and shared by all processes of the program, unlike those of
// a file embedded as bytes.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
