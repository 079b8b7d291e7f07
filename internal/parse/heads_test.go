package parse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHeadersOfSeveralRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rows, want string }{
		{"marked rows are joined", `<thead><tr><th>Bed</th><th>Length</th></tr><tr><th></th><th>m</th></tr></thead><tr><td>north</td><td>4</td></tr>`,
			"| Bed | Length m |\n| --- | --- |\n| north | 4 |"},
		{"a row of th elements in the middle of a table is no header",
			`<tr><th>Bed</th><th>Crop</th></tr><tr><th colspan=2>Walled garden</th></tr><tr><td>north</td><td>leek</td></tr>`,
			"| Bed | Crop |\n| --- | --- |\n| Walled garden |  |\n| north | leek |"},
		{"groups without marks", `<tr><td rowspan=2>Bed</td><td colspan=2>Harvest</td></tr><tr><td>2024</td><td>2025</td></tr><tr><td>north</td><td>4</td><td>5</td></tr>`,
			"| Bed | Harvest 2024 | Harvest 2025 |\n| --- | --- | --- |\n| north | 4 | 5 |"},
		{"groups over names that the first row leaves open", `<tr><td></td><td colspan=2>Harvest</td></tr><tr><td>Bed</td><td>peas</td><td>leeks</td></tr><tr><td>north</td><td>4</td><td>5</td></tr>`,
			"| Bed | Harvest peas | Harvest leeks |\n| --- | --- | --- |\n| north | 4 | 5 |"},
		{"a value in two columns is no group", `<tr><td>Name</td><td colspan=2>Address</td></tr><tr><td>Ann</td><td>Mill Lane</td><td>York</td></tr><tr><td>Bob</td><td>High Street</td><td>Leeds</td></tr>`,
			"| Name | Address | Address |\n| --- | --- | --- |\n| Ann | Mill Lane | York |\n| Bob | High Street | Leeds |"},
		{"numbers below a group are values", `<tr><td rowspan=2>Bed</td><td colspan=2>Harvest</td></tr><tr><td>4.5</td><td>7</td></tr><tr><td>south</td><td>4</td><td>5</td></tr>`,
			"| Bed | Harvest | Harvest |\n| --- | --- | --- |\n| Bed | 4.5 | 7 |\n| south | 4 | 5 |"},
		{"a title over all columns stands above", `<tr><td colspan=2>Beds of the year</td></tr><tr><td>Bed</td><td>Crop</td></tr><tr><td>north</td><td>leek</td></tr>`,
			"Beds of the year\n\n| Bed | Crop |\n| --- | --- |\n| north | leek |"},
		{"each row of a group has its label", `<tr><th>Part</th><th>Bed</th></tr><tr><td rowspan=3>walled</td><td>a</td></tr><tr><td>b</td></tr><tr><td>c</td></tr><tr><td>open</td><td>d</td></tr>`,
			"| Part | Bed |\n| --- | --- |\n| walled | a |\n| walled | b |\n| walled | c |\n| open | d |"},
		{"a long text is not repeated", `<tr><th>Part</th><th>Bed</th></tr><tr><td rowspan=2>` + strings.Repeat("so long ", 20) + `</td><td>a</td></tr><tr><td>b</td></tr>`,
			"| Part | Bed |\n| --- | --- |\n| " + strings.TrimSpace(strings.Repeat("so long ", 20)) + " | a |\n|  | b |"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, mustParse(t, "a.html", "", []byte("<html><body><table>"+c.rows+"</table></body></html>")).Text)
		})
	}
}

// TestRepeatedLabelsAreBounded has labels that would be repeated in a million places.
func TestRepeatedLabelsAreBounded(t *testing.T) {
	t.Parallel()
	page := "<table><tr>" + strings.Repeat("<td rowspan=65535>"+strings.Repeat("x", 90)+"</td>", 1000) + "<td>end</td></tr>" + strings.Repeat("<tr><td>y</td></tr>", 1000) + "</table>"
	doc := mustParse(t, "a.html", "", []byte(page))
	assert.Less(t, strings.Count(doc.Text, "x"), 300_000)
}
