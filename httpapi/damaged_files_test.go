package httpapi

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// damagedLines are the paragraphs that the whole form of a damaged file holds. Each has a word of its own.
var damagedLines = func() (lines []string) {
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("w%03d stands in the bed by the wall.", i))
	}
	return lines
}()

// each returns the lines formatted one by one.
func each(format string) string {
	var b strings.Builder
	for _, l := range damagedLines {
		fmt.Fprintf(&b, format, l)
	}
	return b.String()
}

// zipOf returns a ZIP container of alternating names and contents.
func zipOf(parts ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(parts); i += 2 {
		f, _ := w.Create(parts[i])
		_, _ = f.Write([]byte(parts[i+1]))
	}
	_ = w.Close()
	return b.String()
}

func tarOf(name, content string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range 2 {
		_ = w.WriteHeader(&tar.Header{Name: fmt.Sprint(i, name), Mode: 0o600, Size: int64(len(content))})
		_, _ = w.Write([]byte(content))
	}
	_ = w.Close()
	return b.String()
}

func gzipOf(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(content))
	_ = w.Close()
	return b.String()
}

func utf16Of(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func inJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// pdfOf returns a PDF of one page for each content; more has further objects from number 20 on.
func pdfOf(more string, contents ...string) string {
	var b, kids strings.Builder
	for i, c := range contents {
		fmt.Fprintf(&kids, "%d 0 R ", 30+2*i)
		fmt.Fprintf(&b, "%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>/XObject<</X 20 0 R>>>>/Contents %d 0 R>>endobj\n", 30+2*i, 31+2*i)
		fmt.Fprintf(&b, "%d 0 obj<</Length %d>>stream\n%s\nendstream endobj\n", 31+2*i, len(c), c)
	}
	body := fmt.Sprintf("%%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[%s]/Count %d>>endobj\n3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n%s%s", kids.String(), len(contents), more, b.String())
	var xref strings.Builder
	at := map[int]int{}
	for pos := 0; ; {
		i := strings.Index(body[pos:], " 0 obj")
		if i < 0 {
			break
		}
		line := body[strings.LastIndexByte(body[:pos+i], '\n')+1 : pos+i]
		num := 0
		_, _ = fmt.Sscan(line, &num)
		at[num] = pos + i - len(line)
		pos += i + 6
	}
	for num, offset := range at {
		fmt.Fprintf(&xref, "%d 1\n%010d 00000 n \n", num, offset)
	}
	return fmt.Sprintf("%sxref\n%strailer<</Root 1 0 R/Size 99>>\nstartxref\n%d\n%%%%EOF\n", body, xref.String(), len(body))
}

// shown returns the content of a page that shows the lines from one number to another.
func shown(from, to int) string {
	var b strings.Builder
	b.WriteString("BT /F 11 Tf 14 TL 50 780 Td\n")
	for _, l := range damagedLines[from:to] {
		fmt.Fprintf(&b, "(%s) Tj T*\n", l)
	}
	b.WriteString("ET")
	return b.String()
}

// damagedFile is a file that has less than it should have.
type damagedFile struct{ what, name, data string }

// damagedText returns damaged files that are text, or hold text as it is.
func damagedText() []damagedFile {
	head, tail := strings.Join(damagedLines[:20], "\n"), strings.Join(damagedLines[20:], "\n")
	all := head + "\n" + tail
	paragraphs := each("<p>%s</p>\n")
	return []damagedFile{
		{"nothing in it", "empty.txt", ""},
		{"zeros behind the text", "zeros.txt", head + strings.Repeat("\x00", 2000)},
		{"UTF-16 behind ASCII", "joined.txt", head + utf16Of(tail)},
		{"UTF-16 that lost a byte", "shifted.txt", "\xff\xfe" + utf16Of(head) + "a" + utf16Of(tail)},
		{"cut in a tag", "tag.html", "<html><body>" + paragraphs[:600] + "<p cla"},
		{"cut in an attribute", "attribute.html", "<html><body>" + paragraphs[:600] + `<a href="x`},
		{"cut in a tag", "tag.xml", "<r>" + paragraphs[:600] + "<p"},
		{"cut in a section", "section.xml", "<r>" + paragraphs[:600] + "<![CDATA[w0"},
		{"cut in a string", "string.json", inJSON(damagedLines)[:700]},
		{"cut in a line", "line.jsonl", each("{\"t\":%q}\n")[:700]},
		{"a quote without an end", "quote.csv", "a,b\n" + each("1,\"%s\"\n")[:500]},
		{"cut in an event", "event.ics", "BEGIN:VCALENDAR\r\n" + each("BEGIN:VEVENT\r\nSUMMARY:%s\r\nEND:VEVENT\r\n")[:700]},
		{"lines that are not folded", "folded.ics", "BEGIN:VCALENDAR\r\n" + each("BEGIN:VEVENT\r\nSUMMARY:x\r\nDESCRIPTION:y\r\n%s\r\nEND:VEVENT\r\n") + "END:VCALENDAR\r\n"},
		{"cut in a contact", "contact.vcf", each("BEGIN:VCARD\r\nFN:%s\r\nEND:VCARD\r\n")[:700]},
		{"cut in a note", "note.enex", "<?xml version='1.0'?><en-export>" + each("<note><title>n</title><content><![CDATA[<en-note>%s</en-note>]]></content></note>")[:900]},
		{"a note with a tag that does not end", "open.enex", "<?xml version='1.0'?><en-export>" + strings.Replace(each("<note><title>n</title><content><![CDATA[<en-note><div>%s</div></en-note>]]></content></note>"), "<div>w020", "<div w020", 1) + "</en-export>"},
		{"an encrypted note", "sealed.enex", "<?xml version='1.0'?><en-export><note><title>n</title><content><![CDATA[<en-note>" + head + "<en-crypt>YWJj</en-crypt></en-note>]]></content></note></en-export>"},
		{"cut in a paragraph", "book.fb2", "<?xml version='1.0'?><FictionBook><body><section>" + paragraphs[:600]},
		{"cells without a source", "source.ipynb", `{"nbformat":4,"cells":[{"cell_type":"markdown","source":"` + damagedLines[0] + `"},{"cell_type":"markdown","text":"x"}]}`},
		{"a cell whose source is no text", "object.ipynb", `{"nbformat":4,"cells":[{"cell_type":"markdown","source":"` + damagedLines[0] + `"},{"cell_type":"markdown","source":{"text":"x"}}]}`},
		{"a conversation with a gap", "gap.json", `[{"title":"t","create_time":1.7e9,"current_node":"c","mapping":{"c":{"parent":"b","message":{"author":{"role":"user"},"create_time":1.7e9,"content":{"parts":["` + damagedLines[39] + `"]}}}}}]`},
		{"a definition without an end", "open.1", ".TH X 1\n.SH NAME\nx \\- y\n" + head + "\n.ig\n" + tail},
		{"a file that is elsewhere", "elsewhere.rst", "t\n=\n\n" + head + "\n\n.. include:: other.rst\n"},
		{"a block without an end", "block.org", "* t\n#+BEGIN_SRC sh\n" + all},
		{"cut in a group", "group.rtf", `{\rtf1\ansi ` + each("%s\\par ")[:600]},
	}
}

// damagedMail returns damaged mails and mailboxes.
func damagedMail() []damagedFile {
	mail := func(fields, body string) string {
		return "From: a@b.example\r\nTo: c@d.example\r\nSubject: beds\r\nDate: Mon, 01 Jan 2024 10:00:00 +0000\r\nMIME-Version: 1.0\r\n" + fields + "\r\n\r\n" + body
	}
	all := strings.Join(damagedLines, "\r\n") + "\r\n"
	encoded := base64.StdEncoding.EncodeToString([]byte(all))
	parts := "Content-Type: multipart/mixed; boundary=B"
	first := "--B\r\nContent-Type: text/plain\r\n\r\n" + damagedLines[0] + "\r\n"
	mailbox := strings.Repeat("From a@b.example Mon Jan  1 10:00:00 2024\r\n"+mail("Content-Type: text/plain", all)+"\r\n", 2)
	return []damagedFile{
		{"cut base64", "base64.eml", mail("Content-Transfer-Encoding: base64", encoded[:701])},
		{"cut quoted-printable", "quoted.eml", mail("Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable", damagedLines[0]+" M=C3=B6hren =C")},
		{"an encoding that is not known", "unknown.eml", mail("Content-Transfer-Encoding: x-secret", encoded)},
		{"no last boundary", "boundary.eml", mail(parts, first+"--B\r\nContent-Type: text/plain\r\n\r\n"+damagedLines[1])},
		{"a part that is elsewhere", "elsewhere.eml", mail(parts, first+"--B\r\nContent-Type: message/external-body; access-type=URL\r\n\r\n\r\n--B--\r\n")},
		{"a part of a mail", "part.eml", mail("Content-Type: message/partial; id=x; number=1; total=2", all)},
		{"a winmail.dat", "outlook.eml", mail(parts, first+"--B\r\nContent-Type: application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\n"+base64.StdEncoding.EncodeToString([]byte("\x78\x9f\x3e\x22"+all))+"\r\n--B--\r\n")},
		{"an attachment that is damaged", "attached.eml", mail(parts, first+"--B\r\nContent-Type: application/vnd.openxmlformats-officedocument.wordprocessingml.document; name=a.docx\r\nContent-Disposition: attachment; filename=a.docx\r\nContent-Transfer-Encoding: base64\r\n\r\n"+base64.StdEncoding.EncodeToString([]byte(damagedWord(all)[:300]))+"\r\n--B--\r\n")},
		{"cut in a mail", "half.mbox", mailbox[:len(mailbox)-500]},
		{"cut in a page", "page.mhtml", mail("Content-Type: multipart/related; boundary=B", "--B\r\nContent-Type: text/html\r\n\r\n<html><body>"+each("<p>%s</p>\r\n")[:500])},
	}
}

const wordTypes = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`

// damagedWord returns a Word document of one paragraph.
func damagedWord(text string, more ...string) string {
	return zipOf(append([]string{"[Content_Types].xml", wordTypes, "word/document.xml",
		`<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:body></w:document>`}, more...)...)
}

// damagedContainers returns damaged archives and documents that are archives.
func damagedContainers(t *testing.T) []damagedFile {
	all := strings.Join(damagedLines, "\n")
	const rels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	const kind = `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
	word := damagedWord(all)
	book := func(second string) string {
		return zipOf("xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="a" sheetId="1" r:id="r1"/><sheet name="b" sheetId="2" r:id="r2"/></sheets></workbook>`,
			"[Content_Types].xml", wordTypes, "xl/_rels/workbook.xml.rels", rels+`<Relationship Id="r1`+kind+`worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2`+kind+`worksheet" Target="worksheets/sheet2.xml"/></Relationships>`,
			"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>`+damagedLines[0]+`</t></is></c></row></sheetData></worksheet>`, "xl/worksheets/"+second, `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>`+damagedLines[1])
	}
	slide := func(text string) string {
		return `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`
	}
	show := func(second ...string) string {
		return zipOf(append([]string{"[Content_Types].xml", wordTypes, "ppt/presentation.xml", `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="1" r:id="r1"/><p:sldId id="2" r:id="r2"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation.xml.rels", rels + `<Relationship Id="r1` + kind + `slide" Target="slides/slide1.xml"/><Relationship Id="r2` + kind + `slide" Target="slides/slide2.xml"/></Relationships>`,
			"ppt/slides/slide1.xml", slide(damagedLines[0])}, second...)...)
	}
	const odt = "application/vnd.oasis.opendocument.text"
	epub := func(more ...string) string {
		return zipOf(append([]string{"mimetype", "application/epub+zip", "META-INF/container.xml", `<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>`,
			"c.opf", `<package><manifest><item id="a" href="a.html"/><item id="b" href="b.html"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="z"/></spine></package>`,
			"a.html", "<html><body><p>" + damagedLines[0] + "</p></body></html>"}, more...)...)
	}
	packed := gzipOf(all)
	wrong := []byte(packed)
	wrong[len(wrong)-6] ^= 1
	list := []damagedFile{
		{"cut", "cut.zip", zipOf("a.txt", all, "b.txt", all)[:250]},
		{"no table of contents", "list.zip", strings.Split(zipOf("a.txt", all, "b.txt", all), "PK\x01\x02")[0]},
		{"a file that cannot be read", "part.zip", zipOf("a.txt", all, "b.docx", "PK\x03\x04 no container")},
		{"cut in a file", "cut.tar", tarOf("a.txt", all)[:700]},
		{"cut between files", "between.tar", tarOf("a.txt", all)[:512+(len(all)+511)/512*512]},
		{"cut", "cut.txt.gz", packed[:len(packed)-20]},
		{"a wrong check sum", "sum.txt.gz", string(wrong)},
		{"cut", "cut.docx", word[:len(word)*2/3]},
		{"no body", "body.docx", zipOf("[Content_Types].xml", wordTypes, "word/styles.xml", "<a/>")},
		{"notes that are missing", "notes.docx", damagedWord(all, "word/_rels/document.xml.rels", rels+`<Relationship Id="r9`+kind+`footnotes" Target="footnotes.xml"/></Relationships>`)},
		{"a sheet that ends early", "cut.xlsx", book("sheet2.xml")},
		{"a sheet that is missing", "sheet.xlsx", book("sheet9.xml")},
		{"a slide that is missing", "slide.pptx", show()},
		{"a slide that ends early", "cut.pptx", show("ppt/slides/slide2.xml", slide(damagedLines[1])[:80])},
		{"content that ends early", "cut.odt", zipOf("mimetype", odt, "content.xml", "<office:document-content><office:body><office:text>"+each("<text:p>%s</text:p>")[:300])},
		{"a chapter that is missing", "chapter.epub", epub()},
		{"a chapter that is not listed", "list.epub", epub("b.html", "<html><body><p>"+damagedLines[1]+"</p></body></html>")},
		{"a chapter that ends early", "cut.epub", epub("b.html", "<html><body><p>"+damagedLines[1])},
	}
	for _, name := range []string{"old.doc", "old.ppt", "formats.xls", "nested.docx"} {
		data, err := os.ReadFile(filepath.Join("..", "internal", "parse", "testdata", "made", name))
		require.NoError(t, err)
		list = append(list, damagedFile{"its first half", name, string(data[:len(data)/2])})
	}
	return list
}

// damagedPDFs returns damaged PDF documents.
func damagedPDFs() []damagedFile {
	image := "20 0 obj<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>stream\nx\nendstream endobj\n"
	scan := "q 600 0 0 800 0 0 cm /X Do Q"
	whole := pdfOf(image, shown(0, 20), shown(20, 40))
	return []damagedFile{
		{"a page that is an image", "scan.pdf", pdfOf(image, shown(0, 20), scan, shown(20, 40))},
		{"pages that are images", "scans.pdf", pdfOf(image, scan, scan)},
		{"pages without content", "blank.pdf", pdfOf(image, "", "")},
		{"a form that is missing", "form.pdf", pdfOf("", shown(0, 20), "/X Do")},
		{"an image in the text without an end", "inline.pdf", pdfOf(image, shown(0, 20), "BI /W 1 /H 1 ID abc"+shown(20, 40))},
		{"a text that ends early", "content.pdf", pdfOf(image, shown(0, 20), shown(20, 40)[:400])},
		{"a page that is missing", "page.pdf", strings.Replace(whole, "32 0 R", "98 0 R", 1)},
		{"no table of objects", "xref.pdf", whole[:strings.Index(whole, "xref\n")]},
		{"cut", "cut.pdf", whole[:len(whole)/2]},
		{"a lock that is not known", "locked.pdf", strings.Replace(whole, "/Root 1 0 R", "/Root 1 0 R/Encrypt<</Filter/Standard/V 9/R 9/O(x)/U(y)/P -1>>", 1)},
		{"a code that is not known", "filter.pdf", strings.Replace(whole, "<</Length", "<</Filter/BrotliDecode/Length", 1)},
	}
}

// TestDamagedFilesAreTold uploads damaged files of every kind. Each must end errored with a hint, or completed with the reason why its text may
// be incomplete, which status, inspect, fetch, list and the webhook all give.
func TestDamagedFilesAreTold(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	var list []damagedFile
	for _, l := range [][]damagedFile{damagedText(), damagedMail(), damagedContainers(t), damagedPDFs()} {
		list = append(list, l...)
	}
	for _, f := range list {
		t.Run(f.name+", "+f.what, func(t *testing.T) {
			x := u.read(t, f.name, []byte(f.data))
			if x.failure == "" {
				require.NotEmpty(t, x.partial, "nothing is said of a text of %d bytes", len(x.text))
				require.NotEmpty(t, x.text)
				return
			}
			require.Contains(t, x.failure, ": ", "no hint: %s", x.failure)
		})
	}
}

// TestWholeFilesAreNotCalledPartial uploads whole forms of files that TestDamagedFilesAreTold damages.
func TestWholeFilesAreNotCalledPartial(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	all := strings.Join(damagedLines, "\n")
	mail := "From a@b.example Mon Jan  1 10:00:00 2024\r\nFrom: a@b.example\r\nSubject: beds\r\n\r\n" + strings.ReplaceAll(all, "\n", "\r\n") + "\r\n\r\n"
	for _, f := range []damagedFile{
		{"", "text.txt", all},
		{"", "utf16.txt", utf16Of(all)},
		{"", "a.tar", tarOf("a.txt", all)},
		{"", "a.txt.gz", gzipOf(all)},
		{"", "a.docx", damagedWord(all)},
		{"", "a.pdf", pdfOf("20 0 obj<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>stream\nx\nendstream endobj\n", shown(0, 20)+" q 20 0 0 20 0 0 cm /X Do Q", "", shown(20, 40))},
		{"", "unix.mbox", strings.ReplaceAll(mail, "\r", "")},
		{"", "old.mbox", strings.ReplaceAll(mail, "\n", "")},
		{"", "mixed.mbox", strings.ReplaceAll(mail[:len(mail)-200], "\r", "") + strings.ReplaceAll(mail[len(mail)-200:]+mail, "\n", "")},
		{"", "a.ipynb", `{"nbformat":4,"cells":[{"cell_type":"markdown","source":` + inJSON(strings.SplitAfter(all, "\n")) + `},{"cell_type":"code","source":[],"outputs":[]}]}`},
	} {
		t.Run(f.name, func(t *testing.T) {
			x := u.read(t, f.name, []byte(f.data))
			require.Empty(t, x.failure+x.partial)
			for i := range damagedLines {
				require.Contains(t, x.text, fmt.Sprintf("w%03d", i))
			}
		})
	}
}
