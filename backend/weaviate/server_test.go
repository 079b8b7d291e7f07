package weaviate

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/testtool"
)

// TestServer checks that the other tests run against a real server of the expected release. The gate runs this test
// first, since it builds the server.
func TestServer(t *testing.T) {
	t.Parallel()
	w := sharedServer(t)
	meta, err := newAPI("http", strings.TrimPrefix(w.URL(0), "http://"), http.DefaultClient, nil).Misc().MetaGetter().Do(t.Context())
	require.NoError(t, err)
	assert.Equal(t, strings.TrimPrefix(testtool.WeaviateVersion, "v"), meta.Version)
}
