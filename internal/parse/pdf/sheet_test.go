package pdf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// TestCellOverRows checks that a cell in the middle of several rows does not join these.
func TestCellOverRows(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	out.WriteString(textAt(72, 700, "Bed") + textAt(172, 700, "Crop") + textAt(272, 700, "Day") + textAt(372, 700, "Rows"))
	for i := range 6 {
		v := float64(688 - 12*i)
		if i%2 == 0 {
			out.WriteString(textAt(72, v-6, fmt.Sprint("Wall ", i/2)))
		}
		out.WriteString(textAt(172, v, fmt.Sprint("peas ", i)) + textAt(272, v, fmt.Sprintf("2024-05-%02d", i+10)) + textAt(372, v, fmt.Sprint(300+i)))
	}
	tables := tablesOf(mustParse(t, onePage(out.String())).Text)
	require.Len(t, tables, 1)
	for i := range 6 {
		assert.True(t, slices.ContainsFunc(tables[0], func(row []string) bool {
			return len(row) == 4 && row[1] == fmt.Sprint("peas ", i) && row[3] == fmt.Sprint(300+i)
		}), "row %d in %v", i, tables[0])
	}
}
