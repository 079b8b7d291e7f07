package chunk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	t.Parallel()
	head := "| fruit | price |\n|:--|--:|"
	var rows []string
	for i := range 20 {
		rows = append(rows, fmt.Sprintf("| apple %02d | %d |", i, i))
	}
	src := "Prices of fruit:\n" + head + "\n" + strings.Join(rows, "\n") + "\nafter\n"
	chunks := Split(src, true, nil, small)
	check(t, src, chunks, small)
	require.Greater(t, len(chunks), 2)
	assert.True(t, strings.HasPrefix(chunks[0].Text, "Prices of fruit:\n"+head+"\n"+rows[0]))
	for _, c := range chunks[1:] {
		assert.True(t, strings.HasPrefix(c.Text, head+"\n| apple"), "%q", c.Text)
		assert.True(t, strings.HasPrefix(src[c.Start:], "| apple"))
	}

	wide := "| " + strings.Repeat("column ", 10) + "|\n|---|\n"
	src = wide + strings.Join(rows, "\n")
	chunks = Split(src, true, nil, small)
	check(t, src, chunks, small)
	for _, c := range chunks {
		assert.True(t, strings.HasPrefix(c.Text, wide+"| apple"), "a header of up to half is repeated: %q", c.Text)
		assert.Greater(t, strings.Count(c.Text, "apple"), 1, "a chunk holds more than its header")
	}
}

// TestLongCell has rows of two and three columns with a cell that is too long for a chunk: its parts stand below the name of the column, beside the first
// cell, which never stands alone.
func TestLongCell(t *testing.T) {
	t.Parallel()
	for _, size := range []int{300, 520, 560, 700, 1500, 4000} {
		for _, columns := range []string{"", "before", "behind"} {
			long := strings.TrimSpace(strings.Repeat("rain fell ", size/10))
			head, row := "| station | remarks on the day |", "| station A | "+long+" |"
			switch columns {
			case "before":
				head, row = "| station | sky | remarks on the day |", "| station A | dry | "+long+" |"
			case "behind":
				head, row = "| station | remarks on the day | sky |", "| station A | "+long+" | dry |"
			}
			src := head + "\n|" + strings.Repeat(" --- |", strings.Count(head, "|")-1) + "\n" + row
			o := Options{TargetBytes: 400, MaxBytes: 600}
			chunks := Split(src, true, nil, o)
			check(t, src, chunks, o)
			for _, c := range chunks {
				if strings.Contains(c.Text, "rain fell") {
					assert.Contains(t, c.Text, "remarks on the day", "%d %s: %q", size, columns, c.Text)
					assert.Contains(t, c.Text, "| station A |", "%d %s", size, columns)
				}
				assert.NotEqual(t, "station A", strings.Trim(c.Text[strings.LastIndexByte(c.Text, '\n')+1:], " |"), "%d %s: the first cell stands alone", size, columns)
			}
		}
	}
}

// TestWideTable has rows that do not fit into a chunk with their header. Each cell stands below the name of its column, beside the first cell.
func TestWideTable(t *testing.T) {
	t.Parallel()
	for _, cols := range []int{30, 60, 300} {
		var head, rule strings.Builder
		for c := range cols {
			fmt.Fprintf(&head, "| day %03d ", c)
			rule.WriteString("| --- ")
		}
		src := "# Rain\n\n" + head.String() + "|\n" + rule.String() + "|"
		for r := range 4 {
			src += fmt.Sprintf("\n| station %c ", 'A'+r)
			for c := 1; c < cols; c++ {
				src += fmt.Sprintf("| %d mm ", 1000*r+c)
			}
			src += "|"
		}
		o := Options{TargetBytes: 400, MaxBytes: 600}
		chunks := Split(src, true, nil, o)
		check(t, src, chunks, o)
		found := map[string]int{}
		for _, c := range chunks {
			assert.Equal(t, "Rain", c.Heading)
			lines := strings.Split(c.Text, "\n")
			names := strings.Split(lines[0], "|")
			for _, row := range lines {
				cells := strings.Split(row, "|")
				if len(cells) < 2 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "station") {
					continue
				}
				for i, cell := range cells[2:] {
					if cell = strings.TrimSpace(cell); cell != "" {
						found[strings.TrimSpace(cells[1])+", "+strings.TrimSpace(names[i+2])+": "+cell]++
					}
				}
			}
		}
		require.Len(t, found, 4*(cols-1), "%d columns", cols)
		for r := range 4 {
			for c := 1; c < cols; c++ {
				require.Equal(t, 1, found[fmt.Sprintf("station %c, day %03d: %d mm", 'A'+r, c, 1000*r+c)], "station %c, day %d of %d", 'A'+r, c, cols)
			}
		}
	}
	// A row that takes a little more than one chunk becomes two halves.
	var head, rule, row strings.Builder
	for c := range 24 {
		fmt.Fprintf(&head, "| name of column %02d ", c)
		rule.WriteString("| --- ")
		fmt.Fprintf(&row, "| cell %02d ", c)
	}
	halves := Split(head.String()+"|\n"+rule.String()+"|\n"+row.String()+"|", true, nil, Options{TargetBytes: 700, MaxBytes: 700})
	require.Len(t, halves, 3, "the header has a chunk of its own")
	assert.InDelta(t, len(halves[1].Text), len(halves[2].Text), 60)
	// A short row below a long header is not multiplied by it.
	src := "| " + strings.Repeat("a very long name of a column | ", 2000) + "\n| --- |\n" + strings.Repeat("| 1 | 2 | 3 |\n", 200)
	total := 0
	for _, c := range Split(src, true, nil, Options{}) {
		total += len(c.Text)
	}
	assert.Less(t, total, 2*len(src))
}
