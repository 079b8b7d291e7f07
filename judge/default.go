package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Defaults are judges by name, of which one at most can be the default. It is safe for concurrent use.
type Defaults struct {
	mu   sync.Mutex
	open map[string]func() (Judge, error)
}

var process Defaults

// Register makes what open returns the default judge of the process, under a name; again under the same name replaces it.
// Packages under models/ call it when they are imported.
func Register(name string, open func() (Judge, error)) { process.Register(name, open) }

// Default opens the judge that was registered, nil when none was. It is an error when several were: which is the default
// must not depend on the order of imports.
func Default() (Judge, error) { return process.Default() }

// Register makes what open returns the default; see the function of the same name.
func (d *Defaults) Register(name string, open func() (Judge, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[string]func() (Judge, error){}
	}
	d.open[name] = open
}

// Default opens what was registered; see the function of the same name.
func (d *Defaults) Default() (Judge, error) {
	d.mu.Lock()
	names := slices.Sorted(maps.Keys(d.open))
	var open func() (Judge, error)
	if len(names) == 1 {
		open = d.open[names[0]]
	}
	d.mu.Unlock()
	switch {
	case len(names) == 0:
		return nil, nil
	case open == nil:
		return nil, fmt.Errorf("several models of change are imported (%s): name one in Options.Judge", strings.Join(names, ", "))
	}
	j, err := open()
	if err != nil {
		return nil, fmt.Errorf("judge %s: %w", names[0], err)
	}
	return j, nil
}
