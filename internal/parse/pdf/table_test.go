package pdf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tablesOf returns the tables of a text as rows of cells, without the separator lines below their headers.
func tablesOf(text string) [][][]string {
	var out [][][]string
	inTable := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inTable = false
			continue
		}
		if !inTable {
			out = append(out, nil)
			inTable = true
		}
		if strings.HasPrefix(line, "| --- ") {
			continue
		}
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		out[len(out)-1] = append(out[len(out)-1], cells)
	}
	return out
}

func TestTablesOfTypesetters(t *testing.T) {
	t.Parallel()
	tools := [][]string{
		{"Tool", "Use", "Price"},
		{"Spade", "For digging the beds over in the autumn, before the frost comes and breaks the clods", "34.50"},
		{"Rake with long teeth", "For the seed beds", "21.00"},
		{"Hoe", "Weeding between the rows, which has to be done each week of the summer from May on", "18.25"},
	}
	trial := [][]string{
		{"Bed", "What was sown and when it was sown", "Remarks of the gardener"},
		{"North wall", "Carrots of the old kind, in five rows, on the second of April after the frost had gone",
			"The rows were thinned twice; the yield was poor because of the fly and of the wet summer that followed"},
		{"South", "Leeks", "Planted deep and watered each evening in the dry weeks of June"},
		{"Glass house", "Figs and one vine that was already there when the house was bought", ""},
		{"East", "", "Fallow"},
	}
	for name, want := range map[string][][][]string{
		"weasyprint":  {trial, tools},
		"libreoffice": {trial, tools},
		"latex": {
			{
				{"Bed", "Sown", "Remarks", "Rows"},
				{"North", "Carrots of the old kind, in five rows, on the second of April", "The rows were thinned twice; the yield was poor because of the fly", "5"},
				{"South", "Leeks", "Planted deep and watered each evening in June", "12"},
				{"Glass", "Figs and one vine that was already there", "", "2"},
			},
			{
				{"Tool", "Use", "Price"},
				{"Spade", "For digging the beds over in the autumn, before the frost comes", "34.50"},
				{"Rake", "For the seed beds", "21.00"},
				{"Hoe", "Weeding between the rows, which has to be done each week", "18.25"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", "tables", name+".pdf"))
			require.NoError(t, err)
			text := mustParse(t, data).Text
			assert.Equal(t, want, tablesOf(text))
			assert.Contains(t, text, "```\ndef water(beds):\n    for b in beds:\n        # every evening\n        open_valve(b)\n```")
		})
	}
}

func TestRuledTables(t *testing.T) {
	t.Parallel()
	// A grid of two rows and three columns, whose first row has a cell over two columns.
	lines := "72 700 m 372 700 l S 72 680 m 372 680 l S 72 640 m 372 640 l S 72 640 m 72 700 l S 372 640 m 372 700 l S 172 640 m 172 700 l S 272 640 m 272 680 l S "
	cells := textAt(76, 686, "Bed") + textAt(176, 686, "Crops of the whole year") + textAt(76, 666, "North") + textAt(176, 666, "carrots") + textAt(176, 654, "and peas") + textAt(276, 666, "leeks")
	want := "| Bed | Crops of the whole year |  |\n| --- | --- | --- |\n| North | carrots and peas | leeks |"
	for name, tt := range map[string]struct{ content, want string }{
		"strokes":             {lines + cells, want},
		"thin rectangles":     {strings.NewReplacer(" 700 m 372 700 l S", " 700 300 0.5 re f").Replace(lines) + cells, want},
		"text around it":      {textAt(72, 740, "The beds:") + lines + cells + textAt(72, 600, "So it was."), "The beds:\n\n" + want + "\n\nSo it was."},
		"a frame is no table": {"72 640 300 60 re S " + textAt(76, 686, "A note in a frame,") + textAt(76, 674, "of two lines."), "A note in a frame, of two lines."},
		"the grid of a chart": {lines + "72 660 m 372 660 l S 72 690 m 372 690 l S 122 640 m 122 700 l S 222 640 m 222 700 l S 322 640 m 322 700 l S " + textAt(76, 666, "peak"), "peak"},
		"a clip is not drawn": {strings.ReplaceAll(lines, " S ", " n ") + textAt(76, 686, "Bed") + textAt(76, 660, "North"), "Bed\n\nNorth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, mustParse(t, onePage(tt.content)).Text)
		})
	}
}

// TestKnownCells counts the cells of tables that are extracted in the right row and column.
func TestKnownCells(t *testing.T) {
	t.Parallel()
	known := filepath.Join("testdata", "tables", "known")
	data, err := os.ReadFile(filepath.Join(known, "cells.json"))
	require.NoError(t, err)
	var want map[string][][]string
	require.NoError(t, json.Unmarshal(data, &want))
	sum := 0.0
	for name, rows := range want {
		data, err := os.ReadFile(filepath.Join(known, name+".pdf"))
		require.NoError(t, err)
		var got [][]string
		for _, table := range tablesOf(mustParse(t, data).Text) {
			got = append(got, table...)
		}
		right, all := 0, 0
		for _, row := range rows {
			at := slices.IndexFunc(got, func(g []string) bool { return g[0] == row[0] })
			for k, cell := range row {
				all++
				if at >= 0 && k < len(got[at]) && strings.Join(strings.Fields(got[at][k]), " ") == cell {
					right++
				}
			}
		}
		share := float64(right) / float64(all)
		sum += share
		assert.GreaterOrEqual(t, share, 0.95, name)
	}
	assert.GreaterOrEqual(t, sum/float64(len(want)), 0.97)
}

// TestBandsOfRows checks that rows are found in tables that have drawn lines around all of them only, and that cells of several lines stay
// whole.
func TestBandsOfRows(t *testing.T) {
	t.Parallel()
	lines := "72 700 m 372 700 l S 72 680 m 372 680 l S 72 620 m 372 620 l S 72 620 m 72 700 l S 372 620 m 372 700 l S 172 620 m 172 700 l S "
	head := textAt(76, 686, "Bed") + textAt(176, 686, "Rows")
	for name, tt := range map[string]struct{ content, want string }{
		"rows": {textAt(76, 666, "North") + textAt(176, 666, "12") + textAt(76, 650, "South") + textAt(176, 650, "7") + textAt(76, 634, "Glass") + textAt(176, 634, "3"),
			"| Bed | Rows |\n| --- | --- |\n| North | 12 |\n| South | 7 |\n| Glass | 3 |"},
		"cells of three lines": {textAt(76, 666, "The northern bed") + textAt(176, 666, "peas, beans, leeks and") + textAt(76, 654, "behind the wall of") + textAt(176, 654, "carrots that were sown") + textAt(76, 642, "the old kitchen") + textAt(176, 642, "in the first days of May"),
			"| Bed | Rows |\n| --- | --- |\n| The northern bed behind the wall of the old kitchen | peas, beans, leeks and carrots that were sown in the first days of May |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, mustParse(t, onePage(lines+head+tt.content)).Text)
		})
	}
}
