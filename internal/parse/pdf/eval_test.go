package pdf

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var wordPattern = regexp.MustCompile(`[\p{L}\p{N}]+`)

func wordsOf(text string) []string { return wordPattern.FindAllString(strings.ToLower(text), -1) }

// recallOf returns the share of the items of want that are in got, counting repetitions.
func recallOf(want, got []string) float64 {
	left := map[string]int{}
	for _, w := range got {
		left[w]++
	}
	found := 0
	for _, w := range want {
		if left[w] > 0 {
			left[w]--
			found++
		}
	}
	return float64(found) / float64(len(want))
}

func pairsOf(words []string) []string {
	out := make([]string, 0, len(words))
	for i := 1; i < len(words); i++ {
		out = append(out, words[i-1]+" "+words[i])
	}
	return out
}

// orderOf returns the length of the longest common subsequence divided by the length of want.
func orderOf(want, got []string) float64 {
	row := make([]int, len(got)+1)
	for _, w := range want {
		corner := 0
		for k, g := range got {
			above := row[k+1]
			if w == g {
				row[k+1] = corner + 1
			} else {
				row[k+1] = max(above, row[k])
			}
			corner = above
		}
	}
	return float64(row[len(got)]) / float64(len(want))
}

// TestQuality compares the words of files that a typesetter made (see testdata/eval/README.md) with their sources.
func TestQuality(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "eval", "*.pdf"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			ref, err := os.ReadFile(strings.TrimSuffix(file, ".pdf") + ".txt")
			require.NoError(t, err)
			res := mustParse(t, data)
			want, got := wordsOf(string(ref)), wordsOf(res.Text)
			assert.GreaterOrEqual(t, recallOf(want, got), 0.99, "recall of words")
			assert.GreaterOrEqual(t, recallOf(got, want), 0.99, "precision of words")
			assert.GreaterOrEqual(t, orderOf(want, got), 0.98, "order of words")
			assert.GreaterOrEqual(t, recallOf(pairsOf(want), pairsOf(got)), 0.97, "neighbours of words")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("testdata", "eval", "two-columns.pdf"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	pages := 0
	for b.Loop() {
		res, err := Parse(b.Context(), data, Limits{})
		if err != nil {
			b.Fatal(err)
		}
		pages += len(res.Pages)
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
}
