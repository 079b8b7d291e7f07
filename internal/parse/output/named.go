package output

import (
	"strings"
)

// gridName is the name of a table whose first cell is at a row and column.
type gridName struct {
	row, col int32
	name     string
}

// maxGridNames bounds the named tables of a sheet.
const maxGridNames = 1000

// givenNames begin the names that spreadsheet programs give to tables, before a number.
var givenNames = []string{"table", "tabelle", "tableau", "tabla", "tabella", "tabela", "tabel", "taulukko", "tabell", "таблица", "表", "テーブル", "표"}

// Name says that a table begins at a row and column and has a name. It becomes a paragraph before the table, unless a program gave it.
// Callers name tables before the rows are set.
func (g *Grid) Name(row, col int, name string) {
	given := strings.ToLower(strings.TrimRight(name, "0123456789"))
	for _, s := range givenNames {
		if given == s {
			return
		}
	}
	if len(g.names) < maxGridNames {
		g.names = append(g.names, gridName{int32(min(row, 1<<30)), int32(min(col, 1<<30)), name})
	}
}

// writeName writes the name of the table whose first rows are given.
func (g *Grid) writeName(rows [][]gridCell) {
	for _, n := range g.names {
		if n.row >= rows[0][0].row && n.row <= rows[min(len(rows), maxHeads+1)-1][0].row && n.col >= g.used[0] && n.col <= g.used[len(g.used)-1] {
			g.W.Block()
			g.W.Text(strings.ReplaceAll(n.name, "_", " "))
			g.W.Block()
		}
	}
}
