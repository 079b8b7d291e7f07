//go:build unix

package testtool

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestScriptCanBeRun checks that scripts can be run however many processes others start meanwhile.
func TestScriptCanBeRun(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				path := filepath.Join(t.TempDir(), "script")
				Script(t, path, "exit 0")
				assert.NoError(t, exec.CommandContext(t.Context(), path).Run())
			}
		})
	}
	all.Wait()
}
