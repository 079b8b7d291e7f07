package parse

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// BenchmarkParse reports MB/s of the file, and for containers also of their unpacked size.
func BenchmarkParse(b *testing.B) {
	const text = "The walled garden lies south of the old kitchen; in April the gardener sows five rows of carrots. "
	const russian = "Осенью мы собрали яблоки и сложили их в погреб, чтобы хватило до весны. "
	paragraphs := strings.Repeat(para(text), 5000)
	rows := strings.Builder{}
	for i := range 20_000 {
		fmt.Fprintf(&rows, `<row r="%d"><c r="A%d" t="inlineStr"><is><t>north bed</t></is></c><c r="B%d"><v>%d</v></c><c r="C%d"><v>14.5</v></c></row>`, i+1, i+1, i+1, i, i+1)
	}
	koi := make([]byte, 0, 1<<20)
	for _, c := range charsetSamples {
		if c.name == "koi8-r sentence" {
			one, err := c.enc.NewEncoder().Bytes([]byte(russian))
			if err != nil {
				b.Fatal(err)
			}
			for len(koi) < 1<<20 {
				koi = append(koi, one...)
			}
		}
	}
	repeated := func(before, cell, after string) string {
		return strings.Repeat(before+strings.Repeat(strings.ReplaceAll(cell, "%", "north bed"), 6)+after, 3000)
	}
	tables := map[string]string{
		"docx": "<w:tbl>" + repeated("<w:tr>", "<w:tc>"+para("%")+"</w:tc>", "</w:tr>") + "</w:tbl>",
		"odt":  "<office:text><table:table>" + repeated("<table:table-row>", "<table:table-cell><text:p>%</text:p></table:table-cell>", "</table:table-row>") + "</table:table></office:text>",
		"ods":  "<office:spreadsheet><table:table>" + repeated("<table:table-row>", "<table:table-cell><text:p>%</text:p></table:table-cell>", "</table:table-row>") + "</table:table></office:spreadsheet>",
		"rtf":  `{\rtf1\ansi ` + repeated(`\trowd\cellx1000\cellx2000\cellx3000\cellx4000\cellx5000\cellx6000 `, `\pard\intbl %\cell `, "\\row\n") + "}",
		"html": "<table>" + repeated("<tr>", "<td>%", "</tr>") + "</table>",
	}
	odt := strings.Repeat("<text:p>"+text+"</text:p>", 5000)
	for _, bm := range []struct {
		name     string
		data     []byte
		unpacked int
	}{
		{"a.txt", []byte(strings.Repeat(text, 10_000)), 0},
		{"koi8.txt", koi, 0},
		{"a.md", []byte(strings.Repeat("# Part\n\n"+text+"\n\n- one\n- two\n\n", 5000)), 0},
		{"a.html", []byte(strings.Repeat("<h2 class=\"a\">Part</h2><p>"+text+"<a href=\"https://a.example/b\">link</a> and <b>more</b></p>\n", 5000)), 0},
		{"a.csv", []byte("bed,plant,rows,remark\n" + strings.Repeat("north,\"peas, late\",5,sown in April\n", 20_000)), 0},
		{"a.json", []byte("[" + strings.Repeat(`{"bed":"north","rows":[1,2,3],"remark":"sown in \"April\", thinned in May"},`, 10_000) + "1]"), 0},
		{"a.xml", []byte("<beds>" + strings.Repeat(`<bed id="1"><name>north</name><remark>`+text+`</remark></bed>`, 5000) + "</beds>"), 0},
		{"a.rtf", []byte(`{\rtf1\ansi ` + strings.Repeat(`\pard\plain\f0\fs24 `+text+`{\b bold} Gem\'fcse\par`+"\n", 5000) + "}"), 0},
		{"a.eml", []byte("Subject: x\nFrom: a@b.example\nMIME-Version: 1.0\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.Repeat(text+"=\n", 10_000)), 0},
		{"a.docx", docxFile(b, paragraphs), len(paragraphs)},
		{"a.xlsx", sheetFile(b, rows.String()), rows.Len()},
		{"a.odt", odfFile(b, media.ODT, "<office:text>"+odt+"</office:text>"), len(odt)},
		{"table.docx", docxFile(b, tables["docx"]), len(tables["docx"])},
		{"table.odt", odfFile(b, media.ODT, tables["odt"]), len(tables["odt"])},
		{"table.ods", odfFile(b, media.ODS, tables["ods"]), len(tables["ods"])},
		{"table.rtf", []byte(tables["rtf"]), 0},
		{"table.html", []byte(tables["html"]), 0},
		{"a.epub", epubFile(b, strings.Repeat("<p>"+text+"</p>", 5000)), 5000 * (len(text) + 7)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			r := New()
			b.SetBytes(int64(max(len(bm.data), bm.unpacked)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Parse(context.Background(), document.Input{Name: bm.name, Data: bm.data}, document.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
