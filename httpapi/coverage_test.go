package httpapi

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCoverageTable checks docs/coverage.md: it has every number once and in order, and its transcripts and tests
// exist.
func TestCoverageTable(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../docs/coverage.md")
	require.NoError(t, err)
	shown := map[string]bool{}
	for _, file := range transcriptFiles(t) {
		_, list := readTranscript(t, file)
		for _, x := range list {
			shown[strings.TrimSuffix(filepath.Base(file), ".txtar")+": "+x.name] = true
		}
	}
	for _, dir := range []string{".", "..", "../internal/behaviour/*"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		for _, f := range files {
			src, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(src, -1) {
				shown[string(m[1])] = true
			}
		}
	}
	next := 1
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(line, " | ")
		n, err := strconv.Atoi(strings.TrimPrefix(cells[0], "| "))
		if err != nil {
			continue
		}
		require.Equal(t, next, n)
		require.Len(t, cells, 4, "row %d", n)
		next++
		proofs := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[3], -1)
		assert.NotEmpty(t, proofs, "row %d", n)
		for _, p := range proofs {
			assert.True(t, shown[p[1]], "row %d: there is no %s", n, p[1])
		}
	}
	require.Equal(t, 41, next)
}
