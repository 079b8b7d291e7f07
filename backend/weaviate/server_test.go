package weaviate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	client "github.com/weaviate/weaviate-go-client/v5/weaviate"

	"github.com/contextmem/contextmem/internal/testtool"
)

// TestServer checks that the other tests run against a real server of the expected release. The gate runs this test
// first, since it builds the server.
func TestServer(t *testing.T) {
	w := sharedServer(t)
	c, err := client.NewClient(client.Config{Scheme: "http", Host: strings.TrimPrefix(w.URL(0), "http://")})
	require.NoError(t, err)
	meta, err := c.Misc().MetaGetter().Do(t.Context())
	require.NoError(t, err)
	assert.Equal(t, strings.TrimPrefix(testtool.WeaviateVersion, "v"), meta.Version)
}
