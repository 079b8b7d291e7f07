package doccheck

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// code is what stands between backquotes on one line.
var code = regexp.MustCompile("`([^`\n]+)`")

// TestDocumentsNameFilesThatExist: paths in the documents for contributors lead somewhere.
func TestDocumentsNameFilesThatExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CONTRIBUTING.md", "docs/architecture.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
			checked := 0
			for _, m := range code.FindAllStringSubmatch(string(text), -1) {
				path, _, _ := strings.Cut(m[1], " ")
				first, _, isPath := strings.Cut(path, "/")
				if _, err := os.Stat(filepath.Join(root, first)); !isPath || first == "" || err != nil || strings.ContainsAny(path, "<*") || strings.Contains(path, "vX.Y.Z") {
					continue
				}
				checked++
				_, err := os.Stat(filepath.Join(root, path))
				require.NoError(t, err)
			}
			require.NotZero(t, checked)
		})
	}
}
