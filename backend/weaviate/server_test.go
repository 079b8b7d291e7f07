package weaviate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	client "github.com/weaviate/weaviate-go-client/v5/weaviate"

	"github.com/contextmem/contextmem/internal/testtool"
)

// TestServer: what the other tests run against is a real server of the release that is named. The gate runs this test first, as it
// builds the server.
func TestServer(t *testing.T) {
	w := sharedServer(t)
	c, err := client.NewClient(client.Config{Scheme: "http", Host: strings.TrimPrefix(w.URL(0), "http://")})
	require.NoError(t, err)
	meta, err := c.Misc().MetaGetter().Do(t.Context())
	require.NoError(t, err)
	assert.Equal(t, strings.TrimPrefix(testtool.WeaviateVersion, "v"), meta.Version)
}
