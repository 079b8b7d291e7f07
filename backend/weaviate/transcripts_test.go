package weaviate

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/weaviate/weaviate/entities/models"
)

// TestTranscripts runs the transcripts of both generations of the REST API over indexes in a cluster. A compiler
// overlay adds a file to package httpapi that sets the backend.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds tests of another package")
	}
	w := sharedServer(t)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	file, err := filepath.Abs("testdata/transcripts_test.go.txt")
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "httpapi", "zz_weaviate_test.go"): file}})
	require.NoError(t, err)
	list := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(list, overlay, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-short", "-v", "-overlay", list, "-run", "^TestTranscripts$", "./httpapi")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CONTEXTMEM_TEST_WEAVIATE_URLS="+strings.Join(w.URLs(), ","))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestTranscripts")
	x, _ := openSet(t, prefixOf(t.Name()), w.URLs(), Options{})
	dump, err := x.cluster.nodes[0].Schema().Getter().Do(t.Context())
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(dump.Classes, func(c *models.Class) bool { return strings.HasPrefix(c.Class, "Above") }), "the transcripts created no collections")
}
