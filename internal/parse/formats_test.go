package parse

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// pdfFile builds a PDF whose pages have one line of text each. An empty line makes a page with only a picture.
func pdfFile(lines ...string) []byte {
	objects := []string{
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		"<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>\nstream\nx\nendstream",
	}
	var contents []string
	for _, line := range lines {
		content := "q 600 0 0 800 0 0 cm /I Do Q"
		if line != "" {
			content = "BT /F 12 Tf 72 700 Td (" + line + ") Tj ET"
		}
		contents = append(contents, fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content))
	}
	return pdfPages(objects, func(int) string { return "/Font<</F 3 0 R>>/XObject<</I 4 0 R>>" }, contents)
}

// pdfImages builds a PDF of pages that show one image each.
func pdfImages(images ...string) []byte {
	const content = "q 600 0 0 800 0 0 cm /I Do Q"
	contents := make([]string, len(images))
	for i := range contents {
		contents[i] = fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content)
	}
	return pdfPages(images, func(page int) string { return fmt.Sprintf("/XObject<</I %d 0 R>>", 3+page) }, contents)
}

// pdfPages builds a PDF of shared objects, numbered from 3 on, and pages with resources and contents.
func pdfPages(objects []string, resources func(page int) string, contents []string) []byte {
	first := 3 + len(objects)
	var kids strings.Builder
	for i := range contents {
		fmt.Fprintf(&kids, "%d 0 R ", first+2*i)
	}
	all := append([]string{"<</Type/Catalog/Pages 2 0 R>>", fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(contents), kids.String())}, objects...)
	for i, content := range contents {
		all = append(all, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<<%s>>/Contents %d 0 R>>", resources(i), first+2*i+1), content)
	}
	var b bytes.Buffer
	offsets := make([]int, len(all))
	b.WriteString("%PDF-1.4\n")
	for i, body := range all {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(all)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(all)+1, xref)
	return b.Bytes()
}

type fakeTool string

func (f fakeTool) Text(context.Context, []byte) (string, error) { return string(f), nil }

func TestPDF(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "", "", pdfFile("The walled garden", "lies south"))
	assert.Contains(t, doc.Text, "The walled garden")
	assert.Equal(t, media.PDF, doc.MediaType)
	require.Len(t, doc.Pages, 2)
	assert.True(t, strings.HasPrefix(doc.Text[doc.Pages[1].Start:], "lies south"))

	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.pdf", Data: []byte("%PDF-1.4 and nothing else")}, document.Limits{}))
	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.pdf", Data: bytes.Repeat([]byte{0x81, 3, 0x99, 0x0e}, 100)}, document.Limits{}))

	r := New()
	r.SetPDFTool(fakeTool("page one\n\fpage two\n\f"))
	doc, err := r.Parse(t.Context(), document.Input{Data: pdfFile("x")}, document.Limits{})
	require.NoError(t, err)
	assert.Equal(t, "page one\n\npage two", doc.Text)
	assert.Equal(t, []document.Page{{Number: 1, Label: "", Start: 0}, {Number: 2, Label: "", Start: 10}}, doc.Pages)
	assert.False(t, doc.Markdown)
	r.SetPDFTool(fakeTool(""))
	doc, err = r.Parse(t.Context(), document.Input{Data: pdfFile("from the page")}, document.Limits{})
	require.NoError(t, err)
	assert.Contains(t, doc.Text, "from the page")
}

func TestScannedPDF(t *testing.T) {
	t.Parallel()
	scan := pdfFile("")
	_, err := New().Parse(t.Context(), document.Input{Data: scan}, document.Limits{})
	var e *document.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "E2003", e.Code)
	assert.Contains(t, e.Hint, "OCR")

	r := New()
	r.SetOCR(fakeOCR("read from\fthe picture"))
	doc, err := r.Parse(t.Context(), document.Input{Data: scan}, document.Limits{})
	require.NoError(t, err)
	assert.Equal(t, "read from\n\nthe picture", doc.Text)
	r.SetOCR(fakeOCR(""))
	_, err = r.Parse(t.Context(), document.Input{Data: scan}, document.Limits{})
	require.ErrorAs(t, err, &e)
	assert.Equal(t, document.NoText, e.Kind)
	assert.ErrorContains(t, e, "nothing to see")
}

func TestHTMLNotesAndVoids(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<p>word<a name="a" href="#n1sym"><sup>1</sup></a> and <a href="#top">top</a></p>`:                     "word[1] and top",
		`<p>word<a href="#n1" role="doc-noteref"><sup>1</sup></a> and<sup><a href="x.html#n2">2</a></sup></p>`: "word[1] and[2]",
		`<p>a note <a href="#r" role="doc-backlink">back</a></p>`:                                              "a note",
		`<p>one</p><hr><p>two<br/>three`:                                                                       "one\n\n---\n\ntwo\nthree",
		`<pre>a<br>b</pre>`:                                                                                    "```\na\nb\n```",
		`<q>said</q> <select><option>peas<option>beans</select>`:                                               "“said”\n\npeas\nbeans",
		`<li>alone<p>more</p>`:                                                                                 "- alone\n\nmore",
		"<pre>```\nx</pre>":                                                                                    "````\n```\nx\n````",
	} {
		t.Run(in, func(t *testing.T) {
			assert.Equal(t, want, mustParse(t, "a.html", "", []byte(in)).Text, in)
		})
	}
}

func TestDOCXExtras(t *testing.T) {
	t.Parallel()
	item := func(num, text string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="` + num + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	data := docxFile(t, item("1", "item")+item("2", "goes on")+
		`<w:tbl><w:tblPr><w:tblCaption w:val="Beds"/></w:tblPr><w:tr><w:tc>`+para("a")+`</w:tc><w:tc>`+para("b")+`</w:tc></w:tr></w:tbl>`+
		`<w:p><w:r><w:sym w:char="F0B7"/><w:sym w:char="03B1"/><w:sym w:char="F041"/><w:noBreakHyphen/><w:tab/><w:t>x</w:t></w:r></w:p>`+
		`<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>MACROBUTTON None your name</w:instrText><w:fldChar w:fldCharType="end"/></w:r></w:p><w:altChunk r:id="rId4"/>`,
		part{"word/numbering.xml", `<w:numbering><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val=" "/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num></w:numbering>`},
		part{"word/_rels/document.xml.rels", `<Relationships><Relationship Id="rId4" Type="http://x/aFChunk" Target="/word/page.html"/></Relationships>`},
		part{"word/page.html", "<h2>Taken in</h2>"},
		part{"word/comments.xml", `<w:comments><w:comment w:id="0" w:author="Cook">` + para("More peas.") + `</w:comment></w:comments>`},
		part{"word/endnotes.xml", `<w:endnotes><w:endnote w:id="2">` + para("At the end.") + `</w:endnote></w:endnotes>`})
	assert.Equal(t, "- item\n  goes on\n\nBeds\n\n| a | b |\n| --- | --- |\n\n•α- x\n\nyour name\n\n## Taken in\n\n[^e1]: At the end.\n\nComment by Cook: More peas.",
		mustParse(t, "a.docx", "", data).Text)

	locked := container(t, part{"EncryptedPackage", "x"}, part{"word/document.xml", "x"})
	assert.Equal(t, document.Encrypted, parseKind(t, document.Input{Name: "a.docx", Data: locked}, document.Limits{}))
}

func TestPPTXExtras(t *testing.T) {
	t.Parallel()
	text := func(s string) string { return "<a:p><a:r><a:t>" + s + "</a:t></a:r></a:p>" }
	slide := "<p:sld>" + shape(`<p:ph type="title"/>`, text("Plan")) + `<p:graphicFrame><dgm:relIds r:dm="rId1"/></p:graphicFrame><p:graphicFrame><c:chart r:id="rId2"/></p:graphicFrame>` +
		`<p:pic><p:cNvPr id="4" descr="a gate"/></p:pic>` + shape(`<p:ph type="body"/>`, `<a:p><a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr><a:r><a:t>dig</a:t></a:r></a:p><a:p><a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr><a:r><a:rPr><a:hlinkClick r:id="rId4"/></a:rPr><a:t>rake</a:t></a:r></a:p>`) + "</p:sld>"
	data := container(t,
		part{"ppt/slides/slide1.xml", slide},
		part{"ppt/slides/_rels/slide1.xml.rels", `<Relationships><Relationship Id="rId1" Type="http://x/diagramData" Target="../diagrams/data1.xml"/><Relationship Id="rId2" Type="http://x/chart" Target="../charts/chart1.xml"/><Relationship Id="rId3" Type="http://x/notesSlide" Target="../notesSlides/notesSlide1.xml"/><Relationship Id="rId4" Type="http://x/hyperlink" Target="https://a.example" TargetMode="External"/></Relationships>`},
		part{"ppt/diagrams/data1.xml", `<dgm:dataModel><dgm:pt><a:p><a:r><a:t>sow</a:t></a:r></a:p></dgm:pt><dgm:pt><a:p><a:r><a:t>reap</a:t></a:r></a:p></dgm:pt></dgm:dataModel>`},
		part{"ppt/charts/chart1.xml", `<c:chart><c:title><a:t>Yield</a:t></c:title><c:cat><c:strCache><c:pt><c:v>North</c:v></c:pt></c:strCache></c:cat><c:val><c:numCache><c:v>5</c:v></c:numCache></c:val></c:chart>`},
		part{"ppt/notesSlides/notesSlide1.xml", "<p:notes>" + shape(`<p:ph type="body"/>`, text("Say it.")) + "</p:notes>"})
	assert.Equal(t, "## Plan\n\n- sow\n- reap\n- Yield\n- North\n\n![a gate]()\n\n1. dig\n2. [rake](https://a.example)\n\nNotes: Say it.", mustParse(t, "a.pptx", "", data).Text)
	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.pptx", Data: container(t, part{"ppt/presentation.xml", "<x/>"})}, document.Limits{}))
}

func TestXLSXExtras(t *testing.T) {
	t.Parallel()
	data := container(t,
		part{"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row r="1"><c r="A1" t="e"><v>#N/A</v></c><c r="B1"><v>1.0E+20</v></c></row></sheetData></worksheet>`},
		part{"xl/worksheets/_rels/sheet1.xml.rels", `<Relationships><Relationship Id="r1" Type="http://x/comments" Target="../comments1.xml"/><Relationship Id="r2" Type="http://x/drawing" Target="../drawings/drawing1.xml"/></Relationships>`},
		part{"xl/comments1.xml", `<comments><commentList><comment ref="A1"><text><r><t>Ask the cook.</t></r></text></comment></commentList></comments>`},
		part{"xl/drawings/drawing1.xml", `<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>A box</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>`})
	assert.Equal(t, "## Sheet1\n\n| #N/A | 1e+20 |\n| --- | --- |\n\nComment on A1: Ask the cook.\n\nA box", mustParse(t, "a.xlsx", "", data).Text)
	assert.Equal(t, document.Unsupported, parseKind(t, document.Input{Name: "a.xlsx", Data: container(t, part{"xl/workbook.bin", "x"}, part{"xl/worksheets/x", ""})}, document.Limits{}))
}

func TestODTExtras(t *testing.T) {
	t.Parallel()
	data := odfFile(t, media.ODT, `<office:automatic-styles><style:style style:name="P1" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/></office:automatic-styles><office:body><office:text>`+
		`<text:p text:style-name="Big">Plan</text:p><text:p>so <draw:object xlink:href="./Object 1"/>.<office:annotation><dc:creator>Cook</dc:creator><dc:date>2024</dc:date><text:p>More peas.</text:p></office:annotation></text:p>`+
		`<text:p text:style-name="P1">if x {<text:line-break/><text:s text:c="2"/>y</text:p><text:p text:style-name="P1">}</text:p></office:text></office:body>`,
		part{"styles.xml", `<office:styles><style:style style:name="Big" style:display-name="Title" style:family="paragraph"/></office:styles><office:master-styles><text:p>header</text:p></office:master-styles>`},
		part{"Object 1/content.xml", `<math><semantics><mrow><mi>x</mi><mo>=</mo><mn>2</mn></mrow><annotation>x = 2</annotation></semantics></math>`})
	assert.Equal(t, "# Plan\n\nso x=2.\n\n```\nif x {\n  y\n}\n```\n\nComment: More peas.", mustParse(t, "a.odt", "", data).Text)
}

func TestEPUBExtras(t *testing.T) {
	t.Parallel()
	bare := container(t, part{"mimetype", media.EPUB}, part{"one.html", "<p>One."}, part{"two.xhtml", "<p>Two."})
	assert.Equal(t, "One.\n\nTwo.", mustParse(t, "a.epub", "", bare).Text)
	base := []part{{"META-INF/container.xml", `<rootfile full-path="a.opf"/>`}, {"a.opf", `<item id="a" href="one.html"/><item id="b" href="gone.html"/><itemref idref="a"/><itemref idref="b"/>`}, {"one.html", "<p>One."}}
	doc := mustParse(t, "a.epub", "", container(t, base...))
	assert.Equal(t, "One.", doc.Text)
	assert.Contains(t, doc.Partial, "missing")
	fonts := append(base, part{"META-INF/encryption.xml", `<CipherReference URI="font.otf"/>`})
	assert.Equal(t, "One.", mustParse(t, "a.epub", "", container(t, fonts...)).Text)
	locked := append(base, part{"META-INF/encryption.xml", `<CipherReference URI="one.html"/>`})
	assert.Equal(t, document.Encrypted, parseKind(t, document.Input{Name: "a.epub", Data: container(t, locked...)}, document.Limits{}))
	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.epub", Data: container(t, part{"mimetype", media.EPUB})}, document.Limits{}))
}

func TestRTFCharsets(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{\rtf1\ansi\ansicpg1251 \'cf\'f0\'f3\'e4}`:                                    "Пруд",
		`{\rtf1\mac caf\'8e}`:                                                          "café",
		`{\rtf1\pc caf\'82}`:                                                           "café",
		`{\rtf1\ansi\ansicpg932 \'8f\'48}`:                                             "秋",
		`{\rtf1{\fonttbl{\f0\fcharset128 x;}}\f0 \'8fH}`:                               "秋",
		`{\rtf1{\fonttbl{\f0\cpg1253 x;}}\f0 \'ea\'de\'f0\'ef\'f2}`:                    "κήπος",
		`{\rtf1 a\emdash b\~c\_d\-e\{\}\\\line f}`:                                     "a—b c-de{}\\\nf",
		`{\rtf1\uc2 \u1055 ??x}`:                                                       "Пx",
		`{\rtf1\uc5000 \u233 ?two words}`:                                              "étwo words",
		`{\rtf1 a {\field{\*\fldinst MACROBUTTON None your name}} b}`:                  "a your name b",
		"{\\rtf1 one\\\ntwo}":                                                          "one\n\ntwo",
		`{\rtf1\pard\bullet\tab peas\par\pard\bullet\tab beans\par}`:                   "•peas\n\n- beans",
		`{\rtf1{\header no}{\pict 0a}{\*\bkmkstart x}{\object{\result yes}}{\v no}ok}`: "yesok",
	} {
		t.Run(in, func(t *testing.T) {
			got := mustParse(t, "a.rtf", "", []byte(in)).Text
			assert.Equal(t, want, strings.ReplaceAll(got, "• ", "•"), in)
		})
	}
}

func TestMailOddities(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"From: a@b.example\nSubject: x\nContent-Type: text/html; charset=utf-8; charset=utf-8\n\n<p>page</p>":                                               "page",
		"From: a@b.example\nSubject: x\nContent-Type: nonsense\n\nwords":                                                                                    "words",
		"From: a@b.example\nSubject: x\nContent-Type: multipart/mixed\n\nno boundary":                                                                       "no boundary",
		"From: a@b.example\nSubject: x\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nd29y!ZHM=\n":                                         "words",
		"From: a@b.example\nSubject: x\nContent-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: application/pdf; name=\"../bad.pdf\"\n\nx\n--q--\n": "## Attachment: bad.pdf",
		"From: a@b.example\nSubject: x\nContent-Type: multipart/mixed; boundary=q\n\n--q\nContent-Type: message/delivery-status\n\nfailed\n--q--\n":         "failed",
	} {
		t.Run(in, func(t *testing.T) {
			assert.Contains(t, mustParse(t, "a.eml", "", []byte(in)).Text, "# x\n\nFrom: a@b.example\n\n"+want, in)
		})
	}
	raw := mustParse(t, "a.eml", "", []byte("From: a@b.example\nSubject: Gem\xfcse f\xfcr alle\n\tfolded\n\nwords"))
	assert.Equal(t, "Gemüse für alle folded", raw.Title)
	none := mustParse(t, "a.eml", "", []byte("no header here\n\ntext"))
	assert.Equal(t, "no header here\n\ntext", none.Text)
	assert.Contains(t, none.Partial, "no header")
	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.eml", Data: []byte("\x00\x01\x02\x03\x04 no mail")}, document.Limits{}))
	odd := mustParse(t, "a.eml", "", []byte("Subject: x\nFrom: a@b.example\nbroken fold\nContent-Type: text/plain; charset=utf-8\nno empty line here: none\nwords\n\nmore"))
	assert.Equal(t, "# x\n\nFrom: a@b.example\n\nno empty line here: none\nwords\n\nmore", odd.Text)
	odd = mustParse(t, "a.eml", "", []byte("From: a@b.example\nSubject: x\ncounter to the rules, there's no empty line\nmore"))
	assert.Contains(t, odd.Text, "there's no empty line\nmore")
	page := mustParse(t, "a.html", "", []byte("<title>Untitled</title><h1>Beds</h1>"))
	assert.Equal(t, "Beds", page.Title)
	invitation := mustParse(t, "a.eml", "", []byte("From: a@b.example\nSubject: x\nContent-Type: text/calendar\n\nSUMMARY:Pruning day\n"))
	assert.Contains(t, invitation.Text, "Pruning day")
	lost := mustParse(t, "a.eml", "", []byte("From: a@b.example\nSubject: x\nContent-Type: multipart/mixed; boundary=one\n\n--other\nContent-Type: text/plain\n\nwords\n--other--\n"))
	assert.Contains(t, lost.Text, "words")
	assert.NotEmpty(t, lost.Partial)
	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.mbox", Data: []byte("no mail here")}, document.Limits{}))
	quoted := mustParse(t, "a.mbox", "", []byte("From x Wed Apr  8 07:30:00 2026\nSubject: s\n\nline\n>From here\nFrom there it goes.\n"))
	assert.Contains(t, quoted.Text, "line\nFrom here\nFrom there it goes.")
}

func TestXMLForms(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "svg:\n  text: hello", mustParse(t, "a.svg", "", []byte(`<svg viewBox="0 0 1 1"><path d="M0 0"/><text x="1">hello</text></svg>`)).Text)
	assert.Contains(t, mustParse(t, "feed.xml", "", []byte(`<rss><item><title>Peas</title><description>&lt;p&gt;Sow &lt;b&gt;now&lt;/b&gt;&lt;/p&gt;</description></item></rss>`)).Text, "description: Sow now")
	assert.Equal(t, "# Page", mustParse(t, "a.xml", "", []byte(`<?xml version="1.0"?><html><body><h1>Page</h1></body></html>`)).Text)
	assert.Equal(t, "plain words", mustParse(t, "a.xml", "", []byte("plain words")).Text)
}

func TestJSONDataIsNotText(t *testing.T) {
	t.Parallel()
	blob := strings.Repeat("QUJD", 300)
	assert.Equal(t, "png: (base64, 1200 characters)\nuri: (base64, 1222 characters)\ntext: peas",
		mustParse(t, "a.ipynb", "", []byte(`{"png":"`+blob+`","uri":"data:image/png;base64,`+blob+`","text":"peas"}`)).Text)
}

func TestTextThatLooksLikeAMagic(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"This is WAVE after WAVE.", "ID3 tags explained", "abc ftyp box", "BZh is a mark", "MZ was a person", "A PDF starts with %PDF-1.4, as everyone who has ever opened one in an editor knows."} {
		t.Run(s, func(t *testing.T) {
			assert.Equal(t, s, mustParse(t, "", "", []byte(s)).Text)
		})
	}
}
