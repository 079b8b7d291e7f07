package weaviate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/local"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	w := sharedServer(t)
	backendtest.RunIndexers(t, backendtest.IndexersHarness{Open: func(t testing.TB, dir string) backend.Indexers {
		rest, err := local.Open(dir, nil)
		require.NoError(t, err)
		x, err := Open(t.Context(), w.URLs(), rest, &Options{Prefix: prefixOf(dir), Retry: time.Minute})
		require.NoError(t, err)
		x.cluster.leastTimeout.Store(int64(testTimeout))
		return x
	}})
}
