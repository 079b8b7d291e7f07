package purego_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/sqlite"
	_ "github.com/contextmem/contextmem/backend/sqlite/purego"
)

// TestSuite runs the tests of backend/sqlite, conformance and kills among them, on this driver in a build without cgo. It leaves out the test that
// damages each column of each table in turn, which is about statements: these are the same with either driver, and their damage is tried with the other.
func TestSuite(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the tests of backend/sqlite: left out with -short")
	}
	dir := t.TempDir()
	use := filepath.Join(dir, "use.go")
	require.NoError(t, os.WriteFile(use, []byte("package sqlite_test\n\nimport _ \"github.com/contextmem/contextmem/backend/sqlite/purego\"\n"), 0o600))
	above, err := filepath.Abs("..")
	require.NoError(t, err)
	b, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(above, "use_purego_test.go"): use}})
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, b, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-skip", "^TestWhateverIsDamagedCanBeDeleted$", ".")
	cmd.Dir = above
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// TestErrors: what the driver says is told in the words of package backend.
func TestErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := sqlite.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "deployment.db"), []byte("this is no database, whatever its name says of it; and it is long enough for a header"), 0o600))
	_, err = sqlite.Open(t.Context(), dir, nil)
	require.ErrorIs(t, err, backend.ErrCorrupt)
}
