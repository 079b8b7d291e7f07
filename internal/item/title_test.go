package item

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// TestTitleLine: a title has at most 60 characters, of whatever width they are, and ends with a word where there is one.
func TestTitleLine(t *testing.T) {
	t.Parallel()
	for _, wide := range []string{"a", "é", "語", "😀"} {
		t.Run(wide, func(t *testing.T) {
			for n := 58; n <= 63; n++ {
				for _, ascii := range []int{0, 1, 59, 60} {
					text := strings.Repeat("x", min(ascii, n)) + strings.Repeat(wide, max(n-ascii, 0))
					line, cut := TitleLine("## " + text + "\nmore")
					assert.Equal(t, n > maxTitle, cut, text)
					assert.Equal(t, min(n, maxTitle), utf8.RuneCountInString(line), text)
					assert.True(t, strings.HasPrefix(text, line), text)
				}
			}
		})
	}
	line, cut := TitleLine(strings.Repeat("word ", 20))
	assert.True(t, cut)
	assert.Equal(t, strings.Repeat("word ", 11)+"word", line)
}
