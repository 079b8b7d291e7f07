package postgres

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAbove runs tests of other packages over this backend: the transcripts of both generations of the REST API, and
// with CONTEXTMEM_TEST_ABOVE=all, which takes minutes, the tests of whole services. A compiler overlay adds a file that sets the backend to the package
// that opens the services.
func TestAbove(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tests of other packages")
	}
	sharedServer(t)
	type tests struct {
		file, name, run string // the added file, its package, and the tests that run
		of              []string
	}
	run := []tests{{"httpapi/zz_above_postgres_test.go", "httpapi", "^TestTranscripts$", []string{"./httpapi"}}}
	if os.Getenv("CONTEXTMEM_TEST_ABOVE") == "all" {
		run = append(run, tests{"internal/servicetest/zz_above_postgres.go", "servicetest", "", []string{".", "./internal/behaviour/..."}})
	}
	for _, above := range run {
		t.Run(above.name, func(t *testing.T) {
			root, err := filepath.Abs("../..")
			require.NoError(t, err)
			text, err := os.ReadFile("testdata/above_test.go.txt")
			require.NoError(t, err)
			dir := t.TempDir()
			file := filepath.Join(dir, "above_test.go")
			require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "PACKAGE", above.name, 1)), 0o600))
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, filepath.FromSlash(above.file)): file}})
			require.NoError(t, err)
			list := filepath.Join(dir, "overlay.json")
			require.NoError(t, os.WriteFile(list, overlay, 0o600))
			cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1", "-short", "-overlay", list, "-run", above.run}, above.of...)...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "CONTEXTMEM_TEST_POSTGRES="+database(t, "above"))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "ok")
			require.NotContains(t, string(out), "no tests to run")
		})
	}
}
