package parse

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/parse/media"
)

// part is a file of a container.
type part struct{ name, data string }

// container builds a ZIP file.
func container(tb testing.TB, parts ...part) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		w, err := z.Create(p.name)
		require.NoError(tb, err)
		_, err = w.Write([]byte(p.data))
		require.NoError(tb, err)
	}
	require.NoError(tb, z.Close())
	return b.Bytes()
}

func docxFile(tb testing.TB, body string, more ...part) []byte {
	return container(tb, append([]part{
		{"[Content_Types].xml", "<Types/>"},
		{"_rels/.rels", `<Relationships><Relationship Id="r1" Type="http://x/officeDocument" Target="word/document.xml"/><Relationship Id="r2" Type="http://x/core-properties" Target="docProps/core.xml"/></Relationships>`},
		{"word/document.xml", `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`},
	}, more...)...)
}

func para(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }

func slideFile(tb testing.TB, slides ...string) []byte {
	list, rels := "", ""
	parts := []part{{"[Content_Types].xml", "<Types/>"}}
	// The files are in another order than the slides.
	for i := len(slides) - 1; i >= 0; i-- {
		list = fmt.Sprintf(`<p:sldId id="%d" r:id="rId%d"/>`, 256+i, i) + list
		rels += fmt.Sprintf(`<Relationship Id="rId%d" Type="http://x/slide" Target="slides/slide%d.xml"/>`, i, i+1)
		parts = append(parts, part{fmt.Sprintf("ppt/slides/slide%d.xml", i+1), slides[i]})
	}
	return container(tb, append(parts,
		part{"ppt/presentation.xml", "<p:presentation><p:sldIdLst>" + list + "</p:sldIdLst></p:presentation>"},
		part{"ppt/_rels/presentation.xml.rels", "<Relationships>" + rels + "</Relationships>"})...)
}

func shape(holder, paragraphs string) string {
	return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:nvPr>` + holder + `</p:nvPr></p:nvSpPr><p:txBody><a:bodyPr/>` + paragraphs + `</p:txBody></p:sp>`
}

func sheetFile(tb testing.TB, sheetData string, more ...part) []byte {
	return container(tb, append([]part{
		{"xl/workbook.xml", `<workbook><sheets><sheet name="Beds" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="rId1" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
		{"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + sheetData + `</sheetData></worksheet>`},
	}, more...)...)
}

func odfFile(tb testing.TB, mediaType, body string, more ...part) []byte {
	return container(tb, append([]part{
		{"mimetype", mediaType},
		{"content.xml", `<office:document-content>` + body + `</office:document-content>`},
	}, more...)...)
}

func epubFile(tb testing.TB, chapters ...string) []byte {
	items, spine := "", ""
	parts := []part{
		{"mimetype", media.EPUB},
		{"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`},
	}
	for i, c := range chapters {
		items += fmt.Sprintf(`<item id="c%d" href="ch%%20%d.xhtml" media-type="application/xhtml+xml"/>`, i, i)
		spine = fmt.Sprintf(`<itemref idref="c%d"/>`, i) + spine // so that the last file is the first chapter
		parts = append(parts, part{fmt.Sprintf("OEBPS/ch %d.xhtml", i), `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>` + c + `</body></html>`})
	}
	return container(tb, append(parts, part{"OEBPS/book.opf", `<package><metadata><dc:title>The Garden Book</dc:title><dc:creator>A. Gardener</dc:creator><dc:language>en</dc:language></metadata><manifest>` +
		`<item id="n" href="nav.xhtml" properties="nav"/>` + items + `</manifest><spine><itemref idref="n"/>` + spine + `</spine></package>`},
		part{"OEBPS/nav.xhtml", "<html><body>contents</body></html>"})...)
}

const sampleMail = "From: =?utf-8?q?G=C3=A4rtner?= <head@garden.example>\r\nTo: cook@garden.example\r\nSubject: =?iso-8859-1?q?M=F6hren?=\r\n" +
	"Date: Wed, 8 Apr 2026 07:30:00 +0200\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"outer\"\r\n\r\npreamble\r\n" +
	"--outer\r\nContent-Type: multipart/alternative; boundary=inner\r\n\r\n" +
	"--inner\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nDie M=F6hren sind =\r\nreif.\r\n" +
	"--inner\r\nContent-Type: text/html\r\n\r\n<p>as a page</p>\r\n--inner--\r\n" +
	"--outer\r\nContent-Type: text/csv; name=\"beds.csv\"\r\nContent-Disposition: attachment; filename=\"beds.csv\"\r\nContent-Transfer-Encoding: base64\r\n\r\nYmVkLHJvd3MK\r\nbm9ydGgsNQo=\r\n" +
	"--outer\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=\"gate.png\"\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n" +
	"--outer--\r\n"

const sampleRTF = `{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset204 Arial Cyr;}}{\colortbl;\red0\green0\blue0;}` +
	`{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}}{\info{\title Garden notes}{\author A. Gardener}{\creatim\yr2024\mo3\dy1\hr8\min30}}` +
	`\pard\s1\outlinelevel0 Beds\par\pard\plain Gem\'fcse and \u1055\'3f\u1088\'3f {\f1\'cf\'f0\'f3\'e4}.{\*\unknown hidden {deep}}\par ` +
	`\trowd\cellx100\cellx200\pard\intbl Bed\cell Plant\cell\row\trowd\pard\intbl North\cell Peas\cell\row\pard ` +
	`{\pntext 1.\tab}First\par{\listtext\'b7\tab}Second\par\pard Note{\footnote Small print.} end {\v secret}{\field{\*\fldinst HYPERLINK "https://garden.example"}{\fldrslt the site}}\par}`

// sampleFiles builds one small file of each format.
func sampleFiles(tb testing.TB) map[string][]byte {
	const body = `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Beds</w:t></w:r></w:p>`
	return map[string][]byte{
		"a.txt":  []byte("The walled garden.\n"),
		"a.md":   []byte("---\ntitle: Garden\n---\n# Beds\n\n- peas\n"),
		"a.html": []byte("<title>x</title><h1>Beds</h1><ul><li>peas<li>beans</ul><table><tr><td>a<td>b<tr><td>1<td>2</table>"),
		"a.csv":  []byte("bed,plant\nnorth,\"peas, late\"\n"),
		"a.json": []byte(`{"bed":"north","rows":[1,{"a":"b\u00e9"}]}`),
		"a.xml":  []byte(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y">]><a b="c"><d>text &amp; more</d><![CDATA[raw]]></a>`),
		"a.rtf":  []byte(sampleRTF),
		"a.docx": docxFile(tb, body+para("Peas")+`<w:tbl><w:tr><w:tc>`+para("a")+`</w:tc><w:tc>`+para("b")+`</w:tc></w:tr></w:tbl>`),
		"a.pptx": slideFile(tb, "<p:sld>"+shape(`<p:ph type="title"/>`, "<a:p><a:r><a:t>Beds</a:t></a:r></a:p>")+"</p:sld>"),
		"a.xlsx": sheetFile(tb, `<row r="1"><c r="A1" t="inlineStr"><is><t>bed</t></is></c><c r="B1" t="inlineStr"><is><t>rows</t></is></c></row><row r="2"><c r="B2"><v>5</v></c></row>`),
		"a.odt":  odfFile(tb, media.ODT, `<office:body><office:text><text:h text:outline-level="1">Beds</text:h><text:p>Peas</text:p></office:text></office:body>`),
		"a.ods":  odfFile(tb, media.ODS, `<office:body><office:spreadsheet><table:table table:name="Beds"><table:table-row><table:table-cell><text:p>peas</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body>`),
		"a.odp":  odfFile(tb, media.ODP, `<office:body><office:presentation><draw:page draw:name="p1"><draw:frame presentation:class="title"><draw:text-box><text:p>Beds</text:p></draw:text-box></draw:frame></draw:page></office:presentation></office:body>`),
		"a.epub": epubFile(tb, "<h1>Summer</h1>", "<h1>Spring</h1><p>Peas.</p>"),
		"a.eml":  []byte(sampleMail),
		"a.mbox": []byte("From head@garden.example Wed Apr  8 07:30:00 2026\n" + strings.ReplaceAll(sampleMail, "\r\n", "\n") + "\nFrom x Thu Apr  9 07:30:00 2026\nSubject: Two\n\nSecond.\n"),
	}
}
