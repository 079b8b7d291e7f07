package weaviate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/local"
)

func TestConformance(t *testing.T) {
	w := sharedServer(t)
	backendtest.RunIndexers(t, backendtest.IndexersHarness{Open: func(t testing.TB, dir string) backend.Indexers {
		rest, err := local.Open(dir, nil)
		require.NoError(t, err)
		x, err := Open(t.Context(), w.URLs(), rest, &Options{Prefix: prefixOf(dir)})
		require.NoError(t, err)
		return x
	}})
}
