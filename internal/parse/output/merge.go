package output

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
)

// gridMerge is a range of cells of a sheet that show the text of the first one.
type gridMerge struct {
	row, col, lastRow, lastCol int32
	text                       []byte // of the first cell, if it is short
}

// maxMerges bounds the merged ranges of a sheet.
const maxMerges = 100_000

// Merge tells of a merged range, before its cells are set.
func (g *Grid) Merge(row, col, lastRow, lastCol int) {
	if lastRow < row || lastCol < col || lastRow == row && lastCol == col || row < 1 || col < 1 || len(g.merges) >= maxMerges {
		return
	}
	m := gridMerge{row: int32(min(row, 1<<30)), col: int32(min(col, 1<<30)), lastRow: int32(min(lastRow, 1<<30)), lastCol: int32(min(lastCol, 1<<30))}
	if n := len(g.merges); n > 0 && beginsBefore(m, g.merges[n-1]) < 0 {
		g.unsorted = true
	}
	g.merges = append(g.merges, m)
}

func beginsBefore(a, b gridMerge) int {
	return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.col, b.col))
}

// mergeAt returns the merged range that begins at a cell, or nil.
func (g *Grid) mergeAt(row, col int32) *gridMerge {
	if len(g.merges) == 0 {
		return nil
	}
	if g.unsorted {
		slices.SortStableFunc(g.merges, beginsBefore)
		g.unsorted = false
	}
	i := sort.Search(len(g.merges), func(i int) bool { return beginsBefore(g.merges[i], gridMerge{row: row, col: col}) >= 0 })
	if i < len(g.merges) && g.merges[i].row == row && g.merges[i].col == col {
		return &g.merges[i]
	}
	return nil
}

// setMerged keeps the text of a cell for the places that it covers.
func (g *Grid) setMerged(row, col int32, text []byte) {
	if m := g.mergeAt(row, col); m != nil && len(text) <= maxLabel {
		m.text = bytes.Clone(text)
	}
}

// lastColumn returns the last column that the cell c covers.
func (g *Grid) lastColumn(c gridCell) int32 {
	if m := g.mergeAt(c.row, c.col); m != nil {
		return m.lastCol
	}
	return c.col
}

// fill sets the cells of a row, and those that merged ranges cover. Rows must come in order.
func (g *Grid) fill(cells []tableCell, row []gridCell) {
	clear(cells)
	for _, c := range row {
		cells[g.index[c.col]] = tableCell{text: g.textOf(c)}
	}
	if len(g.merges) == 0 {
		return
	}
	at := row[0].row
	for g.next < len(g.merges) && g.merges[g.next].row <= at {
		g.active = append(g.active, g.next)
		g.next++
	}
	g.active = slices.DeleteFunc(g.active, func(i int) bool { return g.merges[i].lastRow < at })
	for _, i := range g.active {
		m := &g.merges[i]
		if m.row > at {
			continue
		}
		from, _ := slices.BinarySearch(g.used, m.col)
		for _, col := range g.used[from:] {
			if col > m.lastCol {
				break
			}
			c := &cells[g.index[col]]
			switch {
			case len(c.text) > 0 || col == m.col && at == m.row:
			case col == m.col:
				*c = tableCell{side: down, over: m.text}
			default:
				*c = tableCell{side: across, over: m.text}
			}
		}
	}
}
