package output

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/document"
)

// TestHiddenAndNamed checks what a grid marks: rows and columns in ranges, cells outside of tables, and a table that has a name of its own.
func TestHiddenAndNamed(t *testing.T) {
	t.Parallel()
	g := Grid{W: New(document.Limits{MaxOutput: 1 << 20}, 0)}
	g.HideColumns(2, 2)
	g.HideColumns(3, 3)
	g.HideRows(1, 1)
	g.HideRows(5, 6)
	g.Name(3, 1, "Depot_margins")
	g.Name(9, 1, "Tabelle2")
	set := func(row int, cells ...string) {
		for i, c := range cells {
			g.Set(row, i+1, []byte(c), false)
		}
	}
	set(1, "Draft")
	set(3, "depot", "margin", "note", "vans")
	set(4, "Gera", ".1", "x", "7")
	set(5, "Halle", ".2", "", "9")
	set(6, "", ".3", "y", "4")
	set(9, "depot", "margin", "note", "vans")
	set(10, "Jena", ".4", "z", "2")
	g.End()
	assert.Equal(t, `Draft (hidden)

Depot margins

| depot | margin (hidden) | note (hidden) | vans |
| --- | --- | --- | --- |
| Gera | .1 | x | 7 |
| Halle (hidden) | .2 |  | 9 |
|  | .3 (hidden) | y | 4 |

| depot | margin (hidden) | note (hidden) | vans |
| --- | --- | --- | --- |
| Jena | .4 | z | 2 |`, g.W.Document().Text)
}
