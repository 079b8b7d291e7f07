package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlowedMail(t *testing.T) {
	t.Parallel()
	mail := func(params, body string) string {
		doc := mustParse(t, "a.eml", "", []byte("From: a@b.example\nTo: c@d.example\nSubject: x\nContent-Type: text/plain; charset=utf-8; "+params+"\n\n"+body))
		_, text, _ := strings.Cut(doc.Text, "d.example\n\n")
		return text
	}
	const body = "The walled garden \nlies south. \nOf the kitchen.\n\n> They sowed \n> carrots.\n>> Did they?\n From here\n-- \nA. Gardener"
	assert.Equal(t, "The walled garden lies south. Of the kitchen.\n\n> They sowed carrots.\n>> Did they?\nFrom here\n-- \nA. Gardener", mail("Format=Flowed", body))
	assert.Equal(t, "自分の庭\n終わり", mail(`format=flowed; delsp="yes"`, "自分 \nの庭\n終わり"))
	assert.Equal(t, "one \ntwo", mail("format=fixed", "one \ntwo"))
	assert.Equal(t, "one\n> two", mail("format=flowed", "one \n> two"))
}

func TestLongTablesKeepTheirRows(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	cell := func(ref, text string) string {
		return `<c r="` + ref + `" t="inlineStr"><is><t>` + text + `</t></is></c>`
	}
	rows.WriteString(`<row r="1">` + cell("A1", "Beds of the garden") + `</row><row r="2">` + cell("B2", "bed") + cell("D2", "plant") + "</row>")
	const n = 3 * 1024 // more rows than are buffered
	for i := range n {
		fmt.Fprintf(&rows, `<row r="%d">%s<c r="D%d"><v>%d</v></c></row>`, i+3, cell(fmt.Sprintf("B%d", i+3), "north"), i+3, i)
	}
	rows.WriteString(fmt.Sprintf(`<row r="%d">%s</row>`, n+3, cell(fmt.Sprintf("E%d", n+3), "new")))
	rows.WriteString(fmt.Sprintf(`<row r="%d">%s</row>`, n+9, cell(fmt.Sprintf("A%d", n+9), "Source: us")))
	text := mustParse(t, "a.xlsx", "", sheetFile(t, rows.String())).Text
	lines := strings.Split(text, "\n")
	require.Len(t, lines, n+9)
	assert.Equal(t, []string{"## Beds", "", "Beds of the garden", "", "| bed | plant |", "| --- | --- |", "| north | 0 |"}, lines[:7])
	for i := range n {
		require.Equal(t, fmt.Sprintf("| north | %d |", i), lines[6+i])
	}
	assert.Equal(t, []string{"|  |  | new |", "", "Source: us"}, lines[n+6:])
}

func TestManySharedStrings(t *testing.T) {
	t.Parallel()
	var shared, rows strings.Builder
	const n = 8<<10 + 10 // more than one block of spans
	text := func(i int) string { return fmt.Sprintf("string %d %s", i, strings.Repeat("x", 60)) }
	for i := range n {
		shared.WriteString("<si><r><t>" + text(i)[:7] + "</t></r><rPh><t>reading</t></rPh><r><t>" + text(i)[7:] + "</t></r></si>")
		fmt.Fprintf(&rows, `<row r="%d"><c r="A%d" t="s"><v>%d</v></c><c r="B%d" t="s"><v>%d</v></c></row>`, i+1, i+1, n-1-i, i+1, n+5)
	}
	got := mustParse(t, "a.xlsx", "", sheetFile(t, rows.String(), part{"xl/sharedStrings.xml", "<sst>" + shared.String() + "</sst>"})).Text
	_, got, _ = strings.Cut(got, "## Beds\n\n")
	for i, line := range strings.Split(got, "\n") {
		require.Equal(t, text(n-1-i), line)
	}
}

func TestLongCSVInAnotherCharset(t *testing.T) {
	t.Parallel()
	var in, want strings.Builder
	in.WriteString("bed;plant\n")
	want.WriteString("| bed | plant |\n| --- | --- |")
	for i := 0; in.Len() < 6<<20; i++ {
		fmt.Fprintf(&in, "%d;\"Gem\xfcse; \"\"fr\xfch\"\"\r\nund sp\xe4t\"\r\n", i)
		fmt.Fprintf(&want, "\n| %d | Gemüse; \"früh\" und spät |", i)
	}
	got := mustParse(t, "a.csv", "text/csv; charset=iso-8859-1", []byte(in.String())).Text
	require.Equal(t, len(want.String()), len(got))
	assert.True(t, want.String() == got)
}
