package parse

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

func TestSamplesOfAllFormats(t *testing.T) {
	t.Parallel()
	for name, data := range sampleFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			named := mustParse(t, name, "", data)
			assert.NotEmpty(t, named.Text)
			assert.Empty(t, named.Partial)
			// Containers and marked-up formats are recognised without a name.
			switch name {
			case "a.md", "a.csv", "a.json", "a.txt":
			default:
				assert.Equal(t, named.Text, mustParse(t, "", "application/octet-stream", data).Text)
			}
		})
	}
}

func TestDOCX(t *testing.T) {
	t.Parallel()
	body := `<w:p><w:pPr><w:pStyle w:val="Kopf"/></w:pPr><w:r><w:t>Beds</w:t></w:r></w:p>` +
		`<w:p><w:r><w:t xml:space="preserve">One </w:t></w:r><w:r><w:t>wo</w:t></w:r><w:r><w:t>rd</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>` +
		`<w:ins><w:r><w:t xml:space="preserve"> added</w:t></w:r></w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:footnoteReference w:id="7"/></w:r></w:p>` +
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>first</w:t></w:r></w:p>` +
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>below</w:t></w:r></w:p>` +
		`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>second</w:t></w:r></w:p>` +
		`<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>` + para("wide") + `</w:tc></w:tr><w:tr><w:tc>` + para("a") + `</w:tc><w:tc>` + para("b") + para("c") + `</w:tc></w:tr></w:tbl>` +
		`<w:p><w:hyperlink r:id="rId9"><w:r><w:t>the site</w:t></w:r></w:hyperlink><w:r><w:br/><w:t>new line</w:t></w:r></w:p>` +
		`<w:p><w:r><w:t>Outer</w:t><mc:AlternateContent><mc:Choice><w:drawing><wp:docPr descr="a gate"/><w:txbxContent>` + para("in a box") + `</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>` + para("in a box") + `</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent><w:t>text.</w:t></w:r></w:p>` +
		`<w:p><w:pPr><w:pStyle w:val="Code"/></w:pPr><w:r><w:t xml:space="preserve">if x {</w:t><w:br/><w:t xml:space="preserve">  y()</w:t></w:r></w:p><w:p><w:pPr><w:pStyle w:val="Code"/></w:pPr><w:r><w:t>}</w:t></w:r></w:p>` +
		`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://b.example" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>field</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`
	data := docxFile(t, body,
		part{"word/_rels/document.xml.rels", `<Relationships><Relationship Id="rId9" Type="http://x/hyperlink" Target="https://a.example/" TargetMode="External"/><Relationship Id="rId5" Type="http://x/header" Target="header1.xml"/></Relationships>`},
		part{"word/styles.xml", `<w:styles><w:style w:type="paragraph" w:styleId="Kopf"><w:name w:val="Mine"/><w:basedOn w:val="H2"/></w:style><w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style><w:style w:styleId="Code"><w:name w:val="HTML Preformatted"/></w:style></w:styles>`},
		part{"word/numbering.xml", `<w:numbering><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="4"/><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num></w:numbering>`},
		part{"word/footnotes.xml", `<w:footnotes><w:footnote w:type="separator" w:id="0">` + para("---") + `</w:footnote><w:footnote w:id="7">` + para("Small print.") + `</w:footnote></w:footnotes>`},
		part{"word/header1.xml", `<w:hdr>` + para("Garden club") + `</w:hdr>`},
		part{"docProps/core.xml", `<cp:coreProperties><dc:title>Plan</dc:title><dc:creator>A. Gardener</dc:creator><dcterms:created>2024-03-01T08:30:00Z</dcterms:created></cp:coreProperties>`})
	doc := mustParse(t, "a.docx", "", data)
	assert.Equal(t, strings.Join([]string{
		"## Beds", "One word added[^1]", "4. first\n  - below\n5. second", "| wide |  |\n| --- | --- |\n| a | b c |",
		"[the site](https://a.example/)\nnew line", "Outer ![a gate]() text.", "in a box", "```\nif x {\n  y()\n}\n```",
		"[field](https://b.example)", "[^1]: Small print.", "Garden club",
	}, "\n\n"), doc.Text)
	assert.Equal(t, "Plan", doc.Title)
	assert.Equal(t, "A. Gardener", doc.Author)
	assert.Equal(t, time.Date(2024, 3, 1, 8, 30, 0, 0, time.UTC), doc.Created)
}

func TestPPTX(t *testing.T) {
	t.Parallel()
	text := func(s string) string { return "<a:p><a:r><a:t>" + s + "</a:t></a:r></a:p>" }
	data := slideFile(t,
		"<p:sld>"+shape(`<p:ph type="body" idx="1"/>`, text("peas")+`<a:p><a:pPr lvl="1"/><a:r><a:t>late</a:t></a:r></a:p><a:p><a:pPr><a:buNone/></a:pPr><a:r><a:t>plain</a:t></a:r></a:p>`)+
			shape(`<p:ph type="title"/>`, text("First"))+shape(`<p:ph type="sldNum"/>`, text("1"))+"</p:sld>",
		"<p:sld>"+shape("", text("free text"))+`<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody>`+text("a")+`</a:txBody></a:tc><a:tc><a:txBody>`+text("b")+`</a:txBody></a:tc></a:tr><a:tr><a:tc gridSpan="2"><a:txBody>`+text("c")+`</a:txBody></a:tc><a:tc hMerge="1"><a:txBody>`+text("")+`</a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame></p:sld>`)
	doc := mustParse(t, "a.pptx", "", data)
	assert.Equal(t, "## First\n\n- peas\n  - late\n\nplain\n\nfree text\n\n| a | b |\n| --- | --- |\n| c |  |", doc.Text)
	assert.Equal(t, []document.Page{{Number: 1, Label: "First", Start: 0}, {Number: 2, Start: strings.Index(doc.Text, "free")}}, doc.Pages)
}

func TestXLSX(t *testing.T) {
	t.Parallel()
	rows := `<row r="1"><c r="A1" t="s"><v>0</v></c></row>` +
		`<row r="3"><c r="A3" t="inlineStr"><is><t>bed</t></is></c><c r="C3" t="inlineStr"><is><r><t>ro</t></r><r><t>ws</t></r></is></c><c r="D3" t="str"><f>X</f><v>sown</v></c></row>` +
		`<row r="4"><c r="A4" t="s"><v>1</v></c><c r="C4"><v>6.1699999999999998E-2</v></c><c r="D4" s="1"><v>45352.5</v></c><c r="XFD4" t="b"><v>1</v></c></row>` +
		`<row r="5"><c r="A5" t="s"><v>99</v></c><c r="C5"><v>12</v></c><c r="D5" s="2"><v>45352</v></c></row>`
	data := sheetFile(t, rows,
		part{"xl/sharedStrings.xml", `<sst><si><t>Beds of 2024</t></si><si><r><t>No</t></r><r><t>rth</t></r><rPh><t>x</t></rPh></si></sst>`},
		part{"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd hh:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs></styleSheet>`})
	doc := mustParse(t, "a.xlsx", "", data)
	assert.Equal(t, "## Beds\n\nBeds of 2024\n\n| bed | rows | sown |  |\n| --- | --- | --- | --- |\n| North | 0.0617 | 2024-03-01 12:00 | TRUE |\n|  | 12 | 2024-03-01 |", doc.Text)
	assert.Equal(t, []document.Page{{Number: 1, Label: "Beds", Start: 0}}, doc.Pages)
}

func TestFormulasWithoutAValue(t *testing.T) {
	t.Parallel()
	text := mustParse(t, "a.xlsx", "", sheetFile(t, `<row r="1"><c r="A1" t="inlineStr"><is><t>sum</t></is></c><c r="B1"><f>SUM(C1:C9)&amp;"x"</f><v></v></c>`+
		`<c r="C1" t="str"><f>IF(A1,"","")</f><v></v></c><c r="D1"><f>A1*2</f><v>14</v></c></row>`)).Text
	assert.Equal(t, "## Beds\n\n| sum | =SUM(C1:C9)&\"x\" | 14 |\n| --- | --- | --- |", text)
}

func TestODF(t *testing.T) {
	t.Parallel()
	text := odfFile(t, media.ODT, `<office:automatic-styles><text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-bullet text:level="2"/></text:list-style></office:automatic-styles>`+
		`<office:body><office:text><text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h text:outline-level="2">Beds</text:h>`+
		`<text:p>One<text:s text:c="2"/>word<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Small print.</text:p></text:note-body></text:note>, <text:a xlink:href="https://a.example">link</text:a><text:line-break/>next</text:p>`+
		`<text:list text:style-name="L1"><text:list-item><text:p>first</text:p><text:list><text:list-item><text:p>below</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>second</text:p></text:list-item></text:list>`+
		`<table:table><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>wide</text:p></table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`+
		`<text:p>Neighbours<draw:frame><draw:text-box><text:p>in a box</text:p></draw:text-box><svg:desc>a gate</svg:desc></draw:frame> it.</text:p></office:text></office:body>`,
		part{"meta.xml", `<office:document-meta><office:meta><dc:title>Plan</dc:title><meta:initial-creator>A. Gardener</meta:initial-creator><meta:creation-date>2024-03-01T08:30:00</meta:creation-date></office:meta></office:document-meta>`})
	doc := mustParse(t, "a.odt", "", text)
	assert.Equal(t, strings.Join([]string{
		"## Beds", "One word[^1], [link](https://a.example)\nnext", "1. first\n  - below\n2. second", "| wide |  |\n| --- | --- |\n| a | b |",
		"Neighbours ![a gate]() it.", "in a box", "[^1]: Small print.",
	}, "\n\n"), doc.Text)
	assert.Equal(t, "Plan", doc.Title)
	assert.Equal(t, "A. Gardener", doc.Author)

	sheet := odfFile(t, media.ODS, `<office:body><office:spreadsheet><table:table table:name="Beds"><table:table-row><table:table-cell><text:p>bed</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row>`+
		`<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>north</text:p></table:table-cell><table:table-cell office:value-type="float"><text:p>5</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row></table:table></office:spreadsheet></office:body>`)
	doc = mustParse(t, "a.ods", "", sheet)
	assert.Equal(t, "## Beds\n\n| bed | x | x |\n| --- | --- | --- |\n| north | 5 |\n| north | 5 |", doc.Text)

	show := odfFile(t, media.ODP, `<office:body><office:presentation><draw:page draw:name="p1"><draw:frame presentation:class="title"><draw:text-box><text:p>First</text:p></draw:text-box></draw:frame><draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item><text:p>peas</text:p></text:list-item></text:list></draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>Say it.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page></office:presentation></office:body>`)
	doc = mustParse(t, "a.odp", "", show)
	assert.Equal(t, "## First\n\n- peas\n\nNotes: Say it.", doc.Text)
	assert.Equal(t, []document.Page{{Number: 1, Label: "p1", Start: 0}}, doc.Pages)

	flat := `<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:h text:outline-level="1">Flat</text:h><text:p>file</text:p></office:text></office:body></office:document>`
	assert.Equal(t, "# Flat\n\nfile", mustParse(t, "a.fodt", "", []byte(flat)).Text)
	locked := odfFile(t, media.ODT, "x", part{"META-INF/manifest.xml", "<manifest><encryption-data/></manifest>"})
	assert.Equal(t, document.Encrypted, parseKind(t, document.Input{Data: locked}, document.Limits{}))
}

func TestEPUB(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.epub", "", epubFile(t, "<h1>Summer</h1><p>Beans.</p>", `<h1>Spring</h1><p>Peas.</p>`))
	assert.Equal(t, "# Spring\n\nPeas.\n\n# Summer\n\nBeans.", doc.Text)
	assert.Equal(t, "The Garden Book", doc.Title)
	assert.Equal(t, "en", doc.Language)
	assert.Equal(t, []document.Page{{Number: 1, Label: "Spring", Start: 0}, {Number: 2, Label: "Summer", Start: strings.Index(doc.Text, "# Summer")}}, doc.Pages)
}

func TestRTF(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.rtf", "", []byte(sampleRTF))
	assert.Equal(t, "# Beds\n\nGemüse and Пр Пруд.\n\n| Bed | Plant |\n| --- | --- |\n| North | Peas |\n\n1. First\n- Second\n\nNote[^1] end [the site](https://garden.example)\n\n[^1]: Small print.", doc.Text)
	assert.Equal(t, "Garden notes", doc.Title)
	assert.Equal(t, "A. Gardener", doc.Author)
	assert.Equal(t, time.Date(2024, 3, 1, 8, 30, 0, 0, time.UTC), doc.Created)

	cut := mustParse(t, "a.rtf", "", []byte(sampleRTF[:len(sampleRTF)-40]))
	assert.Contains(t, cut.Partial, "too early")
	assert.Equal(t, document.LimitExceeded, parseKind(t, document.Input{Data: []byte(`{\rtf1` + strings.Repeat("{", 10_000))}, document.Limits{}))
	assert.Equal(t, "\U0001F331x", mustParse(t, "a.rtf", "", []byte(`{\rtf1\uc0\u-10180 \u-8399 x{\bin4 }}{}}`)).Text)
}

func TestMail(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.eml", "", []byte(sampleMail))
	assert.Equal(t, "# Möhren\n\nFrom: Gärtner <head@garden.example>\nTo: cook@garden.example\nDate: Wed, 8 Apr 2026 07:30:00 +0200\n\n"+
		"Die Möhren sind reif.\n\n## Attachment: beds.csv\n\n| bed | rows |\n| --- | --- |\n| north | 5 |\n\n## Attachment: gate.png", doc.Text)
	assert.Equal(t, "Möhren", doc.Title)
	assert.Equal(t, "Gärtner <head@garden.example>", doc.Author)
	assert.Equal(t, time.Date(2026, 4, 8, 5, 30, 0, 0, time.UTC), doc.Created)
	assert.Equal(t, "cook@garden.example", doc.Meta["to"])

	html := mustParse(t, "a.eml", "", []byte("Subject: x\nFrom: a@b.example\nContent-Type: multipart/alternative; boundary=q\n\n--q\nContent-Type: text/plain\n\n \n--q\nContent-Type: text/html\n\n<h1>Page</h1><p>words"))
	assert.Contains(t, html.Text, "# Page\n\nwords")
	assert.Contains(t, html.Partial, "too early")

	forwarded := mustParse(t, "a.eml", "", []byte("Subject: outer\nFrom: a@b.example\nContent-Type: multipart/mixed; boundary=q\n\n--q\n\nsee below\n--q\nContent-Type: message/rfc822\n\nSubject: inner\nFrom: c@d.example\n\nhello\n--q--\n"))
	assert.Contains(t, forwarded.Text, "see below\n\n## inner\n\nFrom: c@d.example")
	assert.Contains(t, forwarded.Text, "hello")
}

func TestMbox(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.mbox", "", sampleFiles(t)["a.mbox"])
	assert.Contains(t, doc.Text, "# Möhren\n")
	assert.Contains(t, doc.Text, "# Two\n\nSecond.")
	assert.Len(t, doc.Pages, 2)
	assert.Equal(t, "Two", doc.Pages[1].Label)
	assert.True(t, strings.HasPrefix(doc.Text[doc.Pages[1].Start:], "# Two"))
	assert.Empty(t, doc.Title)
}

func TestXML(t *testing.T) {
	t.Parallel()
	doc := mustParse(t, "a.xml", "", []byte(`<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE g [<!ENTITY e SYSTEM "file:///etc/hostname"><!ENTITY f "lol">]>`+
		"<g xmlns='x'>\n<!-- no --><bed id='1'>Gem\xfcse &amp; <b>peas</b> &#x41;</bed><bed><name>south</name></bed>&e;&f;</g>"))
	assert.Equal(t, "g:\n  bed: (id=1) Gemüse & peas A\n  bed:\n    name: south\n  &e;&f;", doc.Text)
	assert.False(t, doc.Markdown)
	assert.Equal(t, xmlscan.ReasonEntities, doc.Partial)
	assert.Empty(t, mustParse(t, "a.xml", "", []byte(`<?xml version="1.0"?><g>caf&eacute; & more</g>`)).Partial)
	assert.Contains(t, mustParse(t, "a.xml", "", []byte(`<?xml version="1.0"?><g><a>text`)).Partial, "too early")
	assert.Equal(t, document.LimitExceeded, parseKind(t, document.Input{Name: "a.xml", Data: []byte(strings.Repeat("<a>", 10_000))}, document.Limits{}))
}
