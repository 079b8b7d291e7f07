// Package backendtest tests backends: it has a conformance suite that every backend
// passes, a wrapper that injects faults, and small deterministic samples. The test
// file of a backend calls [Run], [RunStores] or [RunIndexers], and tests only what is
// special about that backend.
//
// Package inmem is the oracle of the suite: random operations must give the same
// answers from inmem and from the backend under test.
package backendtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// Harness opens a whole backend.
type Harness struct {
	// Open opens the deployment in dir and creates it if there is none. After Close,
	// opening the same dir again finds the same data. A backend without files uses
	// dir as the name under which it finds its data. The suite calls Open from
	// several goroutines.
	Open func(t testing.TB, dir string) backend.Backend
}

// StoresHarness opens the stores and the registry of a backend; see [Harness] for Open.
type StoresHarness struct {
	Open func(t testing.TB, dir string) backend.Stores
}

// IndexersHarness opens the indexes of a backend; see [Harness] for Open.
type IndexersHarness struct {
	Open func(t testing.TB, dir string) backend.Indexers
}

// Run tests a whole backend: its stores, its indexes, and both together.
func Run(t *testing.T, h Harness) {
	RunStores(t, StoresHarness{Open: func(t testing.TB, dir string) backend.Stores {
		return storesOf{h.Open(t, dir)}
	}})
	RunIndexers(t, IndexersHarness{Open: func(t testing.TB, dir string) backend.Indexers {
		return indexersOf{h.Open(t, dir)}
	}})
	t.Run("Whole", func(t *testing.T) { runWhole(t, h) })
}

// RunStores tests the stores and the registry of a backend.
func RunStores(t *testing.T, h StoresHarness) {
	t.Run("Registry", func(t *testing.T) { runRegistry(t, h) })
	t.Run("Store", func(t *testing.T) { runStore(t, h) })
}

// RunDamage tests what the stores of a backend do whose rows are damaged.
func RunDamage(t *testing.T, h StoresHarness, spoil Spoil) { runDamage(t, h, spoil) }

// RunIndexers tests the indexes of a backend.
func RunIndexers(t *testing.T, h IndexersHarness) {
	t.Run("Index", func(t *testing.T) { runIndex(t, h) })
}

// storesOf uses a whole backend as [backend.Stores].
type storesOf struct{ backend.Backend }

func (s storesOf) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	w, err := s.OpenWorkspace(ctx, uid)
	if err != nil {
		return nil, err
	}
	return storeOf{w.Store(), w}, nil
}

func (s storesOf) RemoveStore(ctx context.Context, uid string) error {
	return s.RemoveWorkspace(ctx, uid)
}

// storeOf is the store of a workspace. Close closes the workspace.
type storeOf struct {
	backend.Store
	w backend.Workspace
}

func (s storeOf) Close() error { return s.w.Close() }

// indexersOf uses a whole backend as [backend.Indexers].
type indexersOf struct{ backend.Backend }

func (x indexersOf) OpenIndexes(ctx context.Context, uid string) (backend.IndexSet, error) {
	w, err := x.OpenWorkspace(ctx, uid)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (x indexersOf) RemoveIndexes(ctx context.Context, uid string) error {
	return x.RemoveWorkspace(ctx, uid)
}

// UID returns a valid workspace uid that depends on text alone.
func UID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Base is the current time in the tests of the suite. It lies in the future. A backend that reads
// the real clock therefore never finds an item expired that expires after Base.
var Base = time.Date(2150, time.March, 1, 12, 0, 0, 0, time.UTC)

// at returns a time some seconds after Base.
func at(seconds int) time.Time { return Base.Add(time.Duration(seconds) * time.Second) }

// run runs each test as a parallel subtest.
func run[E any](t *testing.T, open func(t *testing.T) E, tests []namedTest[E]) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.f(t, open(t))
		})
	}
}

type namedTest[E any] struct {
	name string
	f    func(t *testing.T, e E)
}

// closeAtEnd closes c when the test ends. The test may have closed c before.
func closeAtEnd(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			require.ErrorIs(t, err, backend.ErrClosed)
		}
	})
}
