package office

import (
	"context"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/markup"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// ParseDOCX reads Word documents (ECMA-376 part 1, WordprocessingML): the body, then footnotes, endnotes and comments, then each distinct
// header and footer once. It leaves out deleted and hidden text.
func ParseDOCX(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	p, err := openOOXML(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	main := p.mainPart("word/document.xml")
	x := p.scan(main)
	if x == nil {
		return nil, document.Errorf(document.Malformed, "the word document has no body")
	}
	rels := p.relations(main)
	d := &docxReader{p: p, w: output.New(lim, 4096), styles: map[string]docxStyle{}, counts: map[string]int{},
		noteIDs: map[string]int{}, noteLast: map[string]int{}}
	d.w.NestTables = true
	d.readStyles(partOf(rels, "styles", "word/styles.xml"))
	d.readNumbering(partOf(rels, "numbering", "word/numbering.xml"))
	if err := d.read(x, relationMap(rels)); err != nil {
		return nil, err
	}
	for _, part := range []struct{ kind, usual, element, mark string }{
		{"footnotes", "word/footnotes.xml", "footnote", "[^%]: "},
		{"endnotes", "word/endnotes.xml", "endnote", "[^e%]: "},
		{"comments", "word/comments.xml", "comment", ""},
	} {
		if err := d.notes(partOf(rels, part.kind, part.usual), part.element, part.mark); err != nil {
			return nil, err
		}
	}
	if err := d.headers(rels); err != nil {
		return nil, err
	}
	return output.Titled(finishOffice(d.w, p.File, p.properties)), nil
}

// partOf returns the target of the relation of that kind, else the usual name.
func partOf(rels []relation, kind, usual string) string {
	for _, r := range rels {
		if r.kind == kind && !r.external {
			return r.target
		}
	}
	return usual
}

// docxReader turns WordprocessingML into blocks.
type docxReader struct {
	p      *ooxml
	w      *output.Writer
	styles map[string]docxStyle
	lists  docxLists
	counts map[string]int // current number by list and level
	rels   map[string]relation

	paraOpen bool
	style    string // of the current paragraph
	num      string
	level    int // list level; -1 when not set
	outline  int // heading level from the paragraph itself; 0 when not set
	code     *strings.Builder
	inCode   bool
	boxes    [][]byte // text boxes of the current paragraph
	fields   []docxField
	hidden   bool // the current run is hidden
	math     docxMath
	noteIDs  map[string]int
	noteLast map[string]int
}

// skippedDOCX lists elements whose content is not text of the document.
var skippedDOCX = map[string]bool{
	"del": true, "moveFrom": true, "delText": true, "delInstrText": true, "Fallback": true,
	"sdtPr": true, "sectPr": true, "rubyPr": true, "ffData": true, "fldData": true, "binData": true,
	"tblGrid": true, "oMathParaPr": true, "ctrlPr": true, "proofErr": true,
}

// read reads the blocks of one part.
func (d *docxReader) read(x *xmlscan.Scanner, rels map[string]relation) error {
	d.rels = rels
	for n := 0; x.Next(); n++ {
		if n&1023 == 0 && d.p.Ctx.Err() != nil {
			return d.p.Ctx.Err()
		}
		if d.w.Full {
			break
		}
		switch x.Kind {
		case xmlscan.Start:
			if err := d.start(x); err != nil {
				return err
			}
		case xmlscan.End:
			d.mathEnd(x.Name)
			d.end(x.Name)
		}
	}
	d.flushCode()
	return scanFault(d.p.File, x)
}

func (d *docxReader) start(x *xmlscan.Scanner) error {
	w := d.w
	if skippedDOCX[x.Name] {
		x.Skip()
		return nil
	}
	if (x.Name == "r" || x.Name == "hyperlink") && !d.inCode {
		d.flushCode()
	}
	if d.mathStart(x) || d.character(x) || d.tableStart(x) {
		return nil
	}
	switch x.Name {
	case "p":
		w.Block()
		d.style, d.num, d.level, d.outline, d.paraOpen = "", "", -1, 0, true
	case "pPr":
		d.paragraphProperties(x)
		d.openParagraph()
	case "rPr":
		d.runProperties(x)
	case "hyperlink":
		url := ""
		if r, ok := d.rels[x.AttrNS("id")]; ok && r.external {
			url = r.target
		}
		w.LinkStart(url)
	case "txbxContent":
		w.Capture()
	case "altChunk":
		return d.embedded(d.rels[x.AttrNS("id")])
	case "docPr":
		if alt := strings.TrimSpace(x.Attr("descr")); alt != "" && !d.inCode {
			w.Text(" ![" + alt + "]() ")
		}
	}
	return nil
}

// character writes an element that stands for characters of a run, and reports whether x is at one.
func (d *docxReader) character(x *xmlscan.Scanner) bool {
	switch x.Name {
	case "t":
		d.text(x)
	case "instrText":
		d.instruction(x)
	case "fldChar":
		d.fieldChar(x.Attr("fldCharType"))
	case "tab", "ptab":
		d.write(" ")
	case "br", "cr":
		switch kind := x.Attr("type"); {
		case kind == "page" || kind == "column":
			d.w.WordBreak()
		case d.inCode:
			d.code.WriteByte('\n')
		default:
			d.w.Newline()
		}
	case "noBreakHyphen":
		d.write("-")
	case "sym":
		d.write(symbolText(x.Attr("char")))
	case "footnoteReference":
		d.write("[^" + d.noteNumber("footnote", x.Attr("id")) + "]")
	case "endnoteReference":
		d.write("[^e" + d.noteNumber("endnote", x.Attr("id")) + "]")
	default:
		return false
	}
	return true
}

// embedded writes an embedded HTML page. Programs that convert HTML to DOCX embed the page whole.
func (d *docxReader) embedded(r relation) error {
	switch media.Ext(r.target) {
	case "html", "htm", "xhtml", "txt":
	default:
		if r.target != "" {
			d.p.Note("a document inside the document was not read")
		}
		return nil
	}
	s := d.p.Open(r.target)
	if s == nil || r.external {
		return nil
	}
	in, err := utf8Reader(s)
	if err != nil {
		return err
	}
	d.w.Block()
	if err := markup.NewHTMLReader(d.w, false).Read(d.p.Ctx, in); err != nil {
		return err
	}
	d.w.Block()
	return nil
}

func (d *docxReader) end(name string) {
	w := d.w
	switch name {
	case "p":
		if d.inCode {
			d.code.WriteByte('\n')
			d.inCode = false
		}
		d.paraOpen = false
		w.Block()
		boxes := d.boxes
		d.boxes = nil
		w.InsertKept(boxes)
	case "r":
		d.hidden = false
	case "hyperlink":
		w.LinkEnd()
	case "tbl":
		w.EndTable()
	case "tc":
		d.flushCode()
		w.EndCell()
	case "txbxContent":
		d.flushCode()
		if b := w.Keep(w.Release()); len(b) > 0 {
			d.boxes = append(d.boxes, b)
		}
		d.inCode = false
	}
}

func (d *docxReader) write(s string) {
	switch {
	case d.hidden:
	case len(d.math.scripts) > 0:
		if t := &d.math.scripts[len(d.math.scripts)-1].text; len(*t) < d.w.Max {
			*t = append(*t, s...)
		}
	case d.inCode:
		if d.code.Len() < d.w.Max {
			d.code.WriteString(s)
		}
	default:
		d.w.Text(s)
	}
}

// text reads the content of a t element.
func (d *docxReader) text(x *xmlscan.Scanner) {
	for x.Next() && x.Kind != xmlscan.End {
		if x.Kind == xmlscan.Text {
			d.write(clean.String(x.Text))
		}
	}
}

// paragraphProperties reads a pPr element.
func (d *docxReader) paragraphProperties(x *xmlscan.Scanner) {
	depth := len(x.Stack)
	for len(x.Stack) >= depth && x.Next() {
		if x.Kind != xmlscan.Start {
			continue
		}
		switch x.Name {
		case "pStyle":
			d.style = x.Attr("val")
		case "numId":
			d.num = x.Attr("val")
		case "ilvl":
			d.level = clean.Int(x.Attr("val"))
		case "outlineLvl":
			if n := clean.Int(x.Attr("val")); n < 9 {
				d.outline = n + 1
			}
		case "pPrChange", "rPr", "sectPr":
			x.Skip()
		}
	}
}

// runProperties records whether a run is hidden.
func (d *docxReader) runProperties(x *xmlscan.Scanner) {
	depth := len(x.Stack)
	for len(x.Stack) >= depth && x.Next() {
		if x.Kind == xmlscan.Start && x.Name == "vanish" {
			d.hidden = x.Attr("val") != "0" && x.Attr("val") != "false"
		}
	}
}

// openParagraph begins the block that the style and the properties require.
func (d *docxReader) openParagraph() {
	st := d.resolve(d.style)
	if st.code {
		if d.code == nil {
			d.code = &strings.Builder{}
		}
		d.inCode = true
		return
	}
	d.flushCode()
	heading := st.heading
	if d.outline > 0 {
		heading = d.outline
	}
	if heading > 0 {
		d.w.Heading(heading)
		return
	}
	num, level := d.num, d.level
	if num == "" {
		num = st.num
		if level < 0 {
			level = st.level
		}
	}
	if num == "" || num == "0" {
		return
	}
	level = max(0, min(level, 8))
	format, ok := d.lists.format(num, level)
	if !ok {
		d.w.ContinueItem()
		return
	}
	marker := "-"
	if format.numbered {
		marker = strconv.Itoa(d.count(num, level, format.start)) + "."
	}
	d.w.Item(level, marker)
}

// count returns the next number of a list level and restarts the deeper levels.
func (d *docxReader) count(num string, level, start int) int {
	key := num + "/" + strconv.Itoa(level)
	n, ok := d.counts[key]
	if !ok {
		n = start - 1
	}
	if len(d.counts) < 1<<16 {
		d.counts[key] = n + 1
	}
	for deeper := level + 1; deeper <= 8; deeper++ {
		delete(d.counts, num+"/"+strconv.Itoa(deeper))
	}
	return n + 1
}

// flushCode writes the collected paragraphs of code.
func (d *docxReader) flushCode() {
	if d.code == nil {
		return
	}
	code := d.code.String()
	d.code, d.inCode = nil, false
	d.w.Fenced("", code)
}
