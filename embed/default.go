// Package embed keeps the embedder that services use where their options name none. Packages under models/ register theirs
// when they are imported, as database drivers do:
//
//	import _ "github.com/contextmem/contextmem/models/multilingual-e5-small"
package embed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Embedder turns texts into vectors. It must be safe for concurrent use.
//
// An Embedder may also implement [Covering], [WordEmbedder], [Rated], [Calibrated] and [Slow].
type Embedder interface {
	// Model identifies model and weights, for example "static-en-128/1". It is
	// stored with each tenant; another identity at a later open is an error.
	Model() string
	// Dim is the length of every vector, 1 to 4096.
	Dim() int
	// EmbedDocuments returns a [Dim]float32 vector for each text, in order.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns a [Dim]float32 vector. The score of a document is the
	// inner product of the two vectors.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Defaults are embedders by name, of which one at most can be the default. It is safe for concurrent use.
type Defaults struct {
	mu   sync.Mutex
	open map[string]func() (Embedder, error)
	used map[string]bool // by others
}

var process Defaults

// Register makes what open returns the default embedder of the process, under a name; again under the same name replaces it. An embedder
// that is made of others names these: they are the default no longer, whichever is registered first.
func Register(name string, open func() (Embedder, error), of ...string) {
	process.Register(name, open, of...)
}

// Default opens the embedder that was registered, nil when none was. It is an error when several were: which is the default
// must not depend on the order of imports.
func Default() (Embedder, error) { return process.Default() }

// Register makes what open returns the default; see the function of the same name.
func (d *Defaults) Register(name string, open func() (Embedder, error), of ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open, d.used = map[string]func() (Embedder, error){}, map[string]bool{}
	}
	for _, n := range of {
		d.used[n] = true
	}
	d.open[name] = open
}

// Default opens what was registered; see the function of the same name.
func (d *Defaults) Default() (Embedder, error) {
	d.mu.Lock()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(d.open)), func(n string) bool { return d.used[n] })
	var open func() (Embedder, error)
	if len(names) == 1 {
		open = d.open[names[0]]
	}
	d.mu.Unlock()
	switch {
	case len(names) == 0:
		return nil, nil
	case open == nil:
		return nil, fmt.Errorf("several embedding models are imported (%s): name one in Options.Embedder", strings.Join(names, ", "))
	}
	e, err := open()
	if err != nil {
		return nil, fmt.Errorf("embedder %s: %w", names[0], err)
	}
	return e, nil
}
