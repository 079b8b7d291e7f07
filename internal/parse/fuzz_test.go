package parse

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// fuzzLimits keep the parsing of one input within a fraction of a second.
var fuzzLimits = document.Limits{MaxOutput: 1 << 20, MaxExpanded: 8 << 20, Timeout: 5 * time.Second}

// check parses any bytes under a name and checks the guarantees of Parse.
func check(t *testing.T, name string, data []byte) {
	doc, err := New().Parse(context.Background(), document.Input{Name: name, Data: data}, fuzzLimits)
	if err != nil {
		var e *document.Error
		if !errors.As(err, &e) {
			t.Fatalf("error %v is no *Error", err)
		}
		if e.Kind == document.Internal || e.Kind == document.Timeout {
			t.Fatalf("%v", err)
		}
		return
	}
	if strings.TrimSpace(doc.Text) == "" {
		t.Fatal("empty text without an error")
	}
	if !utf8.ValidString(doc.Text) || !utf8.ValidString(doc.Title) || strings.Contains(doc.Text, "\x00") {
		t.Fatal("text is not clean")
	}
	if int64(len(doc.Text)) > fuzzLimits.MaxOutput {
		t.Fatalf("text has %d bytes", len(doc.Text))
	}
	last := 0
	for _, p := range doc.Pages {
		if p.Start < last || p.Start > len(doc.Text) {
			t.Fatalf("page %d starts at %d", p.Number, p.Start)
		}
		last = p.Start
	}
}

// fuzzFile fuzzes whole files of one format.
func fuzzFile(f *testing.F, name string) {
	f.Add(sampleFiles(f)[name])
	f.Fuzz(func(t *testing.T, data []byte) { check(t, name, data) })
}

func FuzzText(f *testing.F) {
	for _, s := range charsetSamples {
		if data, err := s.enc.NewEncoder().Bytes([]byte(s.text)); err == nil {
			f.Add(data)
		}
	}
	fuzzFile(f, "a.txt")
}

func FuzzMarkdown(f *testing.F) { fuzzFile(f, "a.md") }
func FuzzHTML(f *testing.F) {
	f.Add([]byte(`<p>x <math><semantics><mrow><msup><mi>x</mi><mn>2</mn></msup><mfenced open="["><mi>c<mspace/><p></mfenced></mrow><annotation>x</semantics></math><table><math><mfrac><td></mfrac>`))
	fuzzFile(f, "a.html")
}
func FuzzCSV(f *testing.F)  { fuzzFile(f, "a.csv") }
func FuzzJSON(f *testing.F) { fuzzFile(f, "a.json") }
func FuzzXML(f *testing.F)  { fuzzFile(f, "a.xml") }
func FuzzMail(f *testing.F) { fuzzFile(f, "a.eml") }
func FuzzMbox(f *testing.F) { fuzzFile(f, "a.mbox") }

func FuzzRTF(f *testing.F) {
	f.Add([]byte(sampleRTF))
	fuzzMade(f, "tables.rtf", "ferry.rtf")
}
func FuzzDOC(f *testing.F) { fuzzMade(f, "ferry.doc", "revised.doc", "tables.doc") }
func FuzzXLS(f *testing.F) { fuzzMade(f, "depots.xls", "energy.xls") }

// FuzzFormula fuzzes a formula in its own file of an OpenDocument text.
func FuzzFormula(f *testing.F) {
	f.Add(`<math xmlns="m"><semantics><mrow><msup><mi>x</mi><mn>2</mn></msup><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac><mroot><mi>z</mi><mn>3</mn></mroot>` +
		`<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mfenced open="["><mi>c</mi><mtable><mtr><mtd><mn>1</mn></mtd></mtr></mtable></mfenced></mrow><annotation>x</annotation></semantics></math>`)
	f.Fuzz(func(t *testing.T, formula string) {
		check(t, "a.odt", odfFile(t, media.ODT, `<office:body><office:text><text:p>x <draw:frame><draw:object xlink:href="./Formula-1"/></draw:frame></text:p></office:text></office:body>`, part{"Formula-1/content.xml", formula}))
	})
}

// fuzzMade fuzzes files that real programs wrote. The first one names the format.
func fuzzMade(f *testing.F, names ...string) {
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", "made", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, names[0], data) })
}

// FuzzZip fuzzes the container. The targets below fuzz its content, which mutated ZIP files hardly reach.
func FuzzZip(f *testing.F) {
	for name, data := range sampleFiles(f) {
		if strings.HasPrefix(string(data), "PK\x03\x04") {
			f.Add(name, data)
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) { check(t, name, data) })
}

func FuzzDOCX(f *testing.F) {
	f.Add("<w:p><w:pPr><w:pStyle w:val=\"h\"/><w:numPr><w:ilvl w:val=\"1\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>"+
		"<w:tbl><w:tr><w:tc><w:txbxContent><w:p><w:tbl><w:tr><w:tc>"+para("x")+"</w:tc></w:tr></w:tbl></w:p></w:txbxContent></w:tc></w:tr></w:tbl>",
		`<w:style w:styleId="h"><w:name w:val="heading 1"/><w:basedOn w:val="h"/></w:style>`)
	f.Add("<w:p><m:oMath><m:nary><m:naryPr><m:chr m:val=\"∑\"/></m:naryPr><m:sub><m:r><m:t>i</m:t></m:r></m:sub><m:sup/><m:e><m:rad><m:deg/><m:e><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num>"+
		"<m:den><m:d><m:dPr><m:begChr m:val=\"[\"/></m:dPr><m:e><m:r><m:t>c</m:t></m:r></m:e></m:d></m:den></m:f></m:e></m:rad></m:e></m:nary></m:oMath></w:p>", "")
	f.Fuzz(func(t *testing.T, body, styles string) {
		check(t, "a.docx", docxFile(t, body, part{"word/styles.xml", styles}, part{"word/numbering.xml", styles}, part{"word/footnotes.xml", body}))
	})
}

func FuzzPPTX(f *testing.F) {
	f.Add("<p:sld>" + shape(`<p:ph type="title"/>`, `<a:p><a:pPr lvl="2"><a:buAutoNum/></a:pPr><a:r><a:rPr><a:hlinkClick r:id="x"/></a:rPr><a:t>x</a:t></a:r></a:p>`) + "<a:tbl><a:tr><a:tc gridSpan=\"2\"/></a:tr></a:tbl></p:sld>")
	f.Add("<p:sld>" + shape(`<p:ph/>`, `<a:p><a14:m><m:oMath><m:d><m:e><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup/></m:sSup></m:e></m:d><m:oMath><m:rad><m:deg/><m:e/></m:rad></m:oMath></m:oMath></a14:m></a:p>`) + "</p:sld>")
	f.Fuzz(func(t *testing.T, slide string) { check(t, "a.pptx", slideFile(t, slide)) })
}

func FuzzXLSX(f *testing.F) {
	f.Add(`<row r="1"><c r="XFD1" t="s" s="1"><v>0</v></c><c><v>1e5</v></c></row>`, `<sst><si><t>x</t></si></sst>`, `<numFmt numFmtId="1" formatCode="y"/><cellXfs><xf numFmtId="1"/></cellXfs>`)
	f.Add(`<row r="1"><c r="A1"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B2"/></mergeCells><hyperlinks><hyperlink ref="A1" r:id="x"/>`, "", "")
	f.Fuzz(func(t *testing.T, rows, strings, styles string) {
		check(t, "a.xlsx", sheetFile(t, rows, part{"xl/sharedStrings.xml", strings}, part{"xl/styles.xml", styles}))
	})
}

func FuzzODF(f *testing.F) {
	f.Add(`<office:body><office:text><text:list><text:list-item><text:p>x<text:note><text:note-body><text:p>y</text:p></text:note-body></text:note></text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell/></table:table-row></table:table></office:text></office:body>`, media.ODT)
	f.Add(`<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="9"><table:table-cell table:number-columns-repeated="9"><text:p>x</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`, media.ODS)
	f.Add(`<office:spreadsheet><table:table table:name="a"><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table><table:database-ranges><table:database-range table:name="b&amp;c" table:target-range-address="a.A1:a.B2"/></table:database-ranges></office:spreadsheet>`, media.ODS)
	f.Fuzz(func(t *testing.T, body, mediaType string) { check(t, "a.odt", odfFile(t, mediaType, body)) })
}

func FuzzEPUB(f *testing.F) {
	f.Add("<h1>x</h1><p>y<img alt='z'/>", "<item id=\"a\" href=\"b\"/><itemref idref=\"a\"/>")
	f.Fuzz(func(t *testing.T, chapter, manifest string) {
		check(t, "a.epub", epubFile(t, chapter, manifest))
	})
}
