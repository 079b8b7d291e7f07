// Package rerank keeps the reranker that services use where their options name none. Packages under models/ register theirs
// when they are imported, as database drivers do:
//
//	import _ "github.com/contextmem/contextmem/models/reranker-en"
package rerank

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Reranker is what contextmem.Reranker asks for.
type Reranker interface {
	// Rerank returns a score for each text, higher is closer to the query.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Defaults are rerankers by name, of which one at most can be the default. It is safe for concurrent use.
type Defaults struct {
	mu   sync.Mutex
	open map[string]func() (Reranker, error)
}

var process Defaults

// Register makes what open returns the default reranker of the process, under a name; again under the same name replaces it.
func Register(name string, open func() (Reranker, error)) { process.Register(name, open) }

// Default opens the reranker that was registered, nil when none was. It is an error when several were: which is the default
// must not depend on the order of imports.
func Default() (Reranker, error) { return process.Default() }

// Register makes what open returns the default; see the function of the same name.
func (d *Defaults) Register(name string, open func() (Reranker, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[string]func() (Reranker, error){}
	}
	d.open[name] = open
}

// Default opens what was registered; see the function of the same name.
func (d *Defaults) Default() (Reranker, error) {
	d.mu.Lock()
	names := slices.Sorted(maps.Keys(d.open))
	var open func() (Reranker, error)
	if len(names) == 1 {
		open = d.open[names[0]]
	}
	d.mu.Unlock()
	switch {
	case len(names) == 0:
		return nil, nil
	case open == nil:
		return nil, fmt.Errorf("several reranking models are imported (%s): name one in Options.Reranker", strings.Join(names, ", "))
	}
	r, err := open()
	if err != nil {
		return nil, fmt.Errorf("reranker %s: %w", names[0], err)
	}
	return r, nil
}
