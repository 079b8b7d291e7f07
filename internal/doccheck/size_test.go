package doccheck

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file with more lines than maxFileLines has more than one role. The root package is what a user reads first, so it stays small as a whole.
const (
	maxFileLines = 450
	maxRootLines = 3500
)

// eachGoFile calls visit for the Go files of all modules, tests included.
func eachGoFile(t *testing.T, visit func(path string, text []byte)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			visit(path, text)
		}
		return err
	}))
}

// TestFilesStaySmall checks the Go files of all modules, tests included, and the root package without its tests.
func TestFilesStaySmall(t *testing.T) {
	t.Parallel()
	inRoot := 0
	files, long := 0, []string{}
	eachGoFile(t, func(path string, text []byte) {
		files++
		lines := bytes.Count(text, []byte("\n"))
		if lines > maxFileLines {
			long = append(long, fmt.Sprintf("%s: %d lines", path, lines))
		}
		if filepath.Dir(path) == root && !strings.HasSuffix(path, "_test.go") {
			inRoot += lines
		}
	})
	assert.Empty(t, long, "look for a seam: a file has one role")
	assert.LessOrEqual(t, inRoot, maxRootLines, "the root package")
	assert.Greater(t, files, 1000, "the walk found the modules")
	assert.Positive(t, inRoot)
}
