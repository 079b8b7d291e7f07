// Package models keeps the models that packages register when they are imported, as database drivers do, and says which of them is
// the default of the process.
package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// Registry holds models of one kind by name, of which one at most can be the default. It is safe for concurrent use.
type Registry[T any] struct {
	// Kind names one model in errors ("reranker"), Kinds several ("reranking models"), Option the field that chooses.
	Kind, Kinds, Option string

	mu   sync.Mutex
	open map[string]func() (T, error)
	part map[string]bool // models that another one is made of
}

// Register makes what open returns the default, under a name; again under the same name replaces it. A model that is made of others
// names these: they are the default no longer, whichever is registered first.
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

// Default opens the model that was registered, the zero T when none was. It is an error when several were: which is the default
// must not depend on the order of imports.
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

// Bytes are the bytes of s, which must not be written to. A file that a program embeds as a string stays in the read-only part of the
// program, whose pages are read when they are first used and shared by all processes that run it; embedded as bytes it is not.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
