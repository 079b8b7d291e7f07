package parse

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What comes out must not depend on where the pieces of a text part.
func TestTextOutPieces(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\n":             "plain\ttext\n",
		"a\r\nb\rc\n\rd\r\r\ne":     "a\nb\nc\n\nd\n\ne",
		"\fpage\vline\x00\x1bend\r": "\npage\nlineend\n",
		"ж€𝄞":                       "ж€𝄞",
		"bad \xff\xfe\xe2\x82 end":  "bad \uFFFD end",
		"cut \xf0\x9d":              "cut \uFFFD",
		"\xe2\x82\r\n\xac":          "\uFFFD\n\uFFFD",
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in)), "halves": iotest.HalfReader(strings.NewReader(in)),
		} {
			out := textOut{max: 1 << 20}
			require.NoError(t, out.readAll(r))
			assert.Equal(t, want, string(out.finish()), "%q in %s", in, name)
		}
	}
	out := textOut{max: 10}
	require.NoError(t, out.readAll(iotest.OneByteReader(strings.NewReader(strings.Repeat("x", 100)))))
	assert.Len(t, out.finish(), 10)
}

func TestQuotedPrintableAsItIsSent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Gem=C3=BCse=\r\n und mehr":  "Gemüse und mehr",
		"=c3=bc lower":               "ü lower",
		"50=% of =ZZ and =":          "50=% of =ZZ and ",
		"space at the end  \nnext":   "space at the end\nnext",
		"soft =  \nbreak":            "soft break",
		"a=3Db=0D=0Ac":               "a=b\r\nc",
		"no escapes at all, a=b = c": "no escapes at all, a=b = c",
	} {
		h := mailHeader{{"content-transfer-encoding", "Quoted-Printable "}}
		assert.Equal(t, want, string(decodeTransfer(h, []byte(in))), in)
		small, err := io.ReadAll(iotest.OneByteReader(transferReader(h, []byte(in))))
		require.NoError(t, err)
		assert.Equal(t, want, string(small), in)
	}
}

func TestBase64AsItIsSent(t *testing.T) {
	t.Parallel()
	h := mailHeader{{"content-transfer-encoding", "base64"}}
	long := strings.Repeat("words in a row ", 500)
	for in, want := range map[string]string{
		"d29y\r\nZHM=\r\n":         "words",
		"d29y*ZH M":                "words",
		"d29y\nZHM=\nIGFuZCBtb3Jl": "words and more",
		"YQ==YWI=YWJj":             "aababc",
		"":                         "",
		"=":                        "",
	} {
		assert.Equal(t, want, string(decodeTransfer(h, []byte(in))), in)
	}
	for _, r := range []io.Reader{transferReader(h, []byte("d29yZHM=\r\n-- \na list's footer\n")), iotest.OneByteReader(transferReader(h, []byte("d29yZHM=\r\n-- \na list's footer\n")))} {
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, "words\n-- \na list's footer\n", string(text))
	}
	var b strings.Builder
	for i, c := range []byte(base64.StdEncoding.EncodeToString([]byte(long))) {
		b.WriteByte(c)
		if i%76 == 75 {
			b.WriteString("\r\n")
		}
	}
	assert.Equal(t, long, string(decodeTransfer(h, []byte(b.String()))))
}

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
	const n = 3 * maxHeldRows
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
	const n = sharedSpans + 10
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
	for i := 0; in.Len() < 3*csvWindow; i++ {
		fmt.Fprintf(&in, "%d;\"Gem\xfcse; \"\"fr\xfch\"\"\r\nund sp\xe4t\"\r\n", i)
		fmt.Fprintf(&want, "\n| %d | Gemüse; \"früh\" und spät |", i)
	}
	got := mustParse(t, "a.csv", "text/csv; charset=iso-8859-1", []byte(in.String())).Text
	require.Equal(t, len(want.String()), len(got))
	assert.True(t, want.String() == got)
}
