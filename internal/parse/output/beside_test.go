package output

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/document"
)

// sheet returns the text of a sheet whose rows are lines and whose cells are separated by commas.
func sheet(text string) string {
	w := New(document.Limits{}.WithDefaults(0), 0)
	g := &Grid{W: w}
	for r, line := range strings.Split(text, "\n") {
		for c, cell := range strings.Split(line, ",") {
			_, err := strconv.ParseFloat(cell, 64)
			g.Set(r+1, c+1, []byte(cell), err == nil)
		}
	}
	g.End()
	return w.Document().Text
}

func TestTablesBesideEachOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, sheet, want string }{
		{"of different lengths", "Bed,Crop,,Tool,Shelf\nnorth,leek,,spade,A\nsouth,pea,,rake,B\neast,kale,,,",
			"| Bed | Crop |\n| --- | --- |\n| north | leek |\n| south | pea |\n| east | kale |\n\n| Tool | Shelf |\n| --- | --- |\n| spade | A |\n| rake | B |"},
		{"with the same names", "Bed,Crop,,Bed,Crop\nnorth,leek,,west,beet\nsouth,pea,,east,kale",
			"| Bed | Crop |\n| --- | --- |\n| north | leek |\n| south | pea |\n\n| Bed | Crop |\n| --- | --- |\n| west | beet |\n| east | kale |"},
		{"one table with a blank column", "Bed,Crop,,Weight,Price\nnorth,leek,,4,5\nsouth,pea,,6,7",
			"| Bed | Crop | Weight | Price |\n| --- | --- | --- | --- |\n| north | leek | 4 | 5 |\n| south | pea | 6 | 7 |"},
		{"remarks in some rows", "Bed,Crop,,Remark,By\nnorth,leek,,,\nsouth,pea,,late,Ann\neast,kale,,,\nwest,beet,,early,Bob\nyard,mint,,,",
			"| Bed | Crop | Remark | By |\n| --- | --- | --- | --- |\n| north | leek |\n| south | pea | late | Ann |\n| east | kale |\n| west | beet | early | Bob |\n| yard | mint |"},
		{"one column is no table", "Bed,Crop,,Remark\nnorth,leek,,late\nsouth,pea,,early\neast,kale,,",
			"| Bed | Crop | Remark |\n| --- | --- | --- |\n| north | leek | late |\n| south | pea | early |\n| east | kale |"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, sheet(c.sheet))
		})
	}
}
