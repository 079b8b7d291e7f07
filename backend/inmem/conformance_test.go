package inmem_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

func TestConformance(t *testing.T) {
	var mu sync.Mutex
	byDir := map[string]*inmem.Backend{}
	backendtest.Run(t, backendtest.Harness{Open: func(t testing.TB, dir string) backend.Backend {
		mu.Lock()
		defer mu.Unlock()
		b := byDir[dir]
		if b == nil {
			b = inmem.New()
		} else {
			var err error
			b, err = b.Reopen()
			require.NoError(t, err)
		}
		byDir[dir] = b
		return b
	}})
}
