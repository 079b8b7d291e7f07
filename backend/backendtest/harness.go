// Package backendtest is the contract of package backend as tests: a suite that
// every backend passes, a wrapper that injects faults, and small deterministic
// samples. A backend's own test file is one call of [Run], [RunStores] or
// [RunIndexers] and what is special about it.
//
// The suite compares with package inmem, which is the oracle: random operations
// must give the same answers there and in the backend under test.
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
	// Open opens the deployment kept in dir, making it when it is absent. Opening
	// a dir again, after Close, finds what was there. A backend that keeps nothing
	// in files finds its data by the name of dir; Open is called from several
	// goroutines.
	Open func(t testing.TB, dir string) backend.Backend
}

// StoresHarness opens the half of a backend that keeps stores; see Harness.
type StoresHarness struct {
	Open func(t testing.TB, dir string) backend.Stores
}

// IndexersHarness opens the half of a backend that keeps the indexes; see Harness.
type IndexersHarness struct {
	Open func(t testing.TB, dir string) backend.Indexers
}

// Run tests a whole backend: both halves, and how they work together.
func Run(t *testing.T, h Harness) {
	RunStores(t, StoresHarness{Open: func(t testing.TB, dir string) backend.Stores {
		return storesOf{h.Open(t, dir)}
	}})
	RunIndexers(t, IndexersHarness{Open: func(t testing.TB, dir string) backend.Indexers {
		return indexersOf{h.Open(t, dir)}
	}})
	t.Run("Whole", func(t *testing.T) { runWhole(t, h) })
}

// RunStores tests the half of a backend that keeps stores.
func RunStores(t *testing.T, h StoresHarness) {
	t.Run("Registry", func(t *testing.T) { runRegistry(t, h) })
	t.Run("Store", func(t *testing.T) { runStore(t, h) })
}

// RunIndexers tests the half of a backend that keeps the indexes.
func RunIndexers(t *testing.T, h IndexersHarness) {
	t.Run("Index", func(t *testing.T) { runIndex(t, h) })
}

// storesOf is the store of a whole backend.
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

// storeOf closes the whole workspace with its store.
type storeOf struct {
	backend.Store
	w backend.Workspace
}

func (s storeOf) Close() error { return s.w.Close() }

// indexersOf is the indexes of a whole backend.
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

// UID makes a valid workspace name out of any text.
func UID(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Base is the time at which the suite plays. It lies in the future, so that no
// clock of a backend takes what expires after it for expired.
var Base = time.Date(2150, time.March, 1, 12, 0, 0, 0, time.UTC)

// at returns a time some seconds after Base.
func at(seconds int) time.Time { return Base.Add(time.Duration(seconds) * time.Second) }

// run runs tests side by side, each by its name.
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

// closeAtEnd closes c when the test ends; closing again must do no harm.
func closeAtEnd(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			require.ErrorIs(t, err, backend.ErrClosed)
		}
	})
}
