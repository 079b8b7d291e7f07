package pdf

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestColumnsOfText checks that columns of text on common baselines are read one after the other, wherever their paragraphs end, and that
// cells in such columns are rows where they begin together.
func TestColumnsOfText(t *testing.T) {
	t.Parallel()
	line := func(column string, i int) string { return fmt.Sprintf("%s line %02d of words that fill it", column, i) }
	page := func(left, right string) string { // each letter is a line: x has text, - is blank
		var out strings.Builder
		for i := range left {
			v := 700 - 12*i
			if left[i] == 'x' {
				out.WriteString(textAt(72, float64(v), line("left", i)))
			}
			if right[i] == 'x' {
				out.WriteString(textAt(330, float64(v), line("right", i)))
			}
		}
		return out.String()
	}
	for name, tt := range map[string]struct {
		left, right string
		rows        int
	}{
		"paragraphs end anywhere": {"xxxx-xxxxxxx-xxxxx-xxx", "xxxxxxx-xxx-xxxxxxxxxx", 0},
		"no paragraphs":           {"xxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxx", 0},
		"rows of unlike height":   {"xx--xxx-xx--x-", "xxx-xx--xxx-xx", 4},
		"cells below one another": {"xx-xxx-xx-x---xxx", "xxx-x--xxxxx--xx-", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := mustParse(t, onePage(page(tt.left, tt.right))).Text
			tables := tablesOf(text)
			if tt.rows == 0 {
				assert.Empty(t, tables, text)
				assert.Less(t, strings.Index(text, "left line 00"), strings.Index(text, "left line 05"))
				return
			}
			assert.Len(t, tables, 1, text)
			assert.Len(t, tables[0], tt.rows, text)
		})
	}
}

// TestColumnsBesideOneAnother checks that columns of text are no table whose cells stand in the middle of their rows, where the lines of one
// stand between those of the other.
func TestColumnsBesideOneAnother(t *testing.T) {
	t.Parallel()
	words := strings.Fields("the beds along northern walls were sown early while others waited until frosts had gone from low ground near water")
	rnd := rand.New(rand.NewPCG(1, 2))
	line := func() string {
		text := words[rnd.IntN(len(words))]
		for len(text) < 34 {
			text += " " + words[rnd.IntN(len(words))]
		}
		return text
	}
	for _, offset := range []int{4, 5, 6, 7, 8} {
		var out strings.Builder
		for i := range 30 {
			v := float64(700 - 12*i)
			out.WriteString(textAt(72, v, line()))
			out.WriteString(textAt(330, v-float64(offset), line()))
		}
		text := mustParse(t, onePage(out.String())).Text
		assert.Empty(t, tablesOf(text), "%d points: %s", offset, text)
	}
}
