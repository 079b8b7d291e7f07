package pdf

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// edgesOfRows makes a table with columns of width 100 whose last lines end at end. word is the width of the first word of each of the first
// rows.
func edgesOfRows(end, word float64, rows ...[]string) *tableEdges {
	e := newTableEdges(len(rows[0]))
	for _, row := range rows {
		e.rows = append(e.rows, slices.Clone(row))
	}
	for k := range rows[0] {
		e.left[k], e.right[k], e.wraps[k], e.end[k], e.size[k] = 200*float64(k), 200*float64(k)+100, true, 200*float64(k)+end, 10
		e.words[0][k], e.words[1][k] = word, word
	}
	return e
}

func TestRowsOverPages(t *testing.T) {
	t.Parallel()
	head := []string{"Depot", "Parts"}
	one := []string{"Halle", "Nuts."}
	cut := []string{"Leipzig", "Spare wheels for"}
	for name, x := range map[string]struct {
		above, next *tableEdges
		want        string // the last row after the join; empty: it is unchanged
		left        int    // rows that remain on the next page
	}{
		"goes on":                             {edgesOfRows(95, 30, head, one, cut), edgesOfRows(95, 30, []string{"", "all trams"}, one), "Spare wheels for all trams", 1},
		"below a repeated head":               {edgesOfRows(95, 30, head, cut), edgesOfRows(95, 30, head, []string{"", "all trams"}, one), "Spare wheels for all trams", 2},
		"alone":                               {edgesOfRows(95, 30, head, cut), edgesOfRows(95, 30, head, []string{"", "all trams"}), "Spare wheels for all trams", 0},
		"a capital, named rows":               {edgesOfRows(95, 30, head, one, cut), edgesOfRows(95, 30, []string{"", "Berlin trams"}, one), "Spare wheels for Berlin trams", 1},
		"a capital, other rows without names": {edgesOfRows(95, 30, head, []string{"", "Nuts."}, cut), edgesOfRows(95, 30, []string{"", "Berlin trams"}, one), "", 2},
		"there was room":                      {edgesOfRows(60, 30, head, cut), edgesOfRows(95, 30, []string{"", "all trams"}, one), "", 2},
		"another row":                         {edgesOfRows(95, 30, head, cut), edgesOfRows(95, 30, []string{"Gera", "Brake pads"}, one), "", 2},
		"a number":                            {edgesOfRows(95, 30, head, []string{"Leipzig", "Wheels 12"}), edgesOfRows(95, 30, []string{"", "2024"}, one), "", 2},
		"the head alone above":                {edgesOfRows(95, 30, head), edgesOfRows(95, 30, []string{"", "all trams"}, one), "", 2},
		"below nothing":                       {edgesOfRows(95, 30, head, []string{"Leipzig", ""}), edgesOfRows(95, 30, []string{"", "all trams"}, one), "", 2},
		"from right to left":                  {edgesOfRows(95, 30, head, cut), edgesOfRows(95, 0, []string{"", "all trams"}, one), "", 2},
		"another width":                       {edgesOfRows(95, 30, head, cut), edgesOfRows(95, 30, []string{"", "all trams", ""}, []string{"a", "b", "c"}), "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page, next := []block{{kind: blockTable, edges: x.above}}, []block{{kind: blockTable, edges: x.next}, {text: "behind"}}
			was := x.above.rows[len(x.above.rows)-1][1]
			next = joinRow(page, next, newHyphenation())
			require.Equal(t, "behind", next[len(next)-1].text)
			last := x.above.rows[len(x.above.rows)-1][1]
			if x.left == 0 {
				require.Len(t, next, 1)
			} else {
				require.Len(t, next, 2)
				require.Len(t, next[0].edges.rows, x.left)
			}
			if x.want == "" {
				require.Equal(t, was, last)
				return
			}
			require.Equal(t, x.want, last)
			require.Contains(t, page[0].text, "| Leipzig | "+x.want+" |")
		})
	}
	t.Run("columns elsewhere", func(t *testing.T) {
		t.Parallel()
		below := edgesOfRows(95, 30, []string{"", "all trams"}, one)
		below.left[1] += 40
		require.False(t, edgesOfRows(95, 30, head, cut).goesOn(below, 0))
	})
	t.Run("cells of one line", func(t *testing.T) {
		t.Parallel()
		above, below := edgesOfRows(95, 30, head, cut), edgesOfRows(95, 30, []string{"", "all trams"}, one)
		for k := range head {
			above.wraps[k], below.wraps[k] = false, false
		}
		require.False(t, above.goesOn(below, 0))
	})
}
