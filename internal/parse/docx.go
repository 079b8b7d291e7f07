package parse

import (
	"context"
	"strconv"
	"strings"
)

// parseDOCX reads Word documents (ECMA-376 part 1, WordprocessingML): the body, then footnotes, endnotes and
// comments, then headers and footers once. Deleted and hidden text is left out.
func parseDOCX(ctx context.Context, in Input, lim Limits) (*Document, error) {
	p, err := openOOXML(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	main := p.mainPart("word/document.xml")
	x := p.scan(main)
	if x == nil {
		return nil, malformed("the word document has no body")
	}
	rels := p.relations(main)
	d := &docxReader{p: p, w: newWriter(lim, 4096), styles: map[string]docxStyle{}, counts: map[string]int{},
		noteIDs: map[string]int{}, noteLast: map[string]int{}}
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
	return titled(d.w.finishOffice(p.zipFile, p.properties)), nil
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
	w      *writer
	styles map[string]docxStyle
	lists  docxLists
	counts map[string]int // number reached, by list and level
	rels   map[string]relation

	paraOpen bool
	style    string // of the current paragraph
	num      string
	level    int // of the list; -1 when not set
	outline  int // heading level from the paragraph itself; 0 when not set
	code     *strings.Builder
	inCode   bool
	boxes    [][]byte // text boxes of the current paragraph
	fields   []docxField
	hidden   bool // the current run is hidden
	noteIDs  map[string]int
	noteLast map[string]int
}

// skippedDOCX are elements whose content is no text of the document.
var skippedDOCX = map[string]bool{
	"del": true, "moveFrom": true, "delText": true, "delInstrText": true, "Fallback": true,
	"sdtPr": true, "sectPr": true, "rubyPr": true, "ffData": true, "fldData": true, "binData": true,
	"tblGrid": true, "trPr": true, "oMathParaPr": true, "ctrlPr": true, "proofErr": true,
}

// read reads the blocks of one part.
func (d *docxReader) read(x *xmlScanner, rels map[string]relation) error {
	d.rels = rels
	for n := 0; x.next(); n++ {
		if n&1023 == 0 && d.p.ctx.Err() != nil {
			return d.p.ctx.Err()
		}
		if d.w.full {
			break
		}
		switch x.kind {
		case xmlStart:
			if err := d.start(x); err != nil {
				return err
			}
		case xmlEnd:
			d.end(x.name)
		}
	}
	d.flushCode()
	return scanFault(d.p.zipFile, x)
}

func (d *docxReader) start(x *xmlScanner) error {
	w := d.w
	if skippedDOCX[x.name] {
		x.skip()
		return nil
	}
	switch x.name {
	case "r", "hyperlink":
		if !d.inCode {
			d.flushCode()
		}
	}
	switch x.name {
	case "p":
		w.block()
		d.style, d.num, d.level, d.outline, d.paraOpen = "", "", -1, 0, true
	case "pPr":
		d.paragraphProperties(x)
		d.openParagraph()
	case "rPr":
		d.runProperties(x)
	case "t":
		d.text(x)
	case "instrText":
		d.instruction(x)
	case "fldChar":
		d.fieldChar(x.attr("fldCharType"))
	case "tab", "ptab":
		d.write(" ")
	case "br", "cr":
		if x.attr("type") == "page" || x.attr("type") == "column" {
			w.space = true
			break
		}
		if d.inCode {
			d.code.WriteByte('\n')
		} else {
			w.newline()
		}
	case "noBreakHyphen":
		d.write("-")
	case "sym":
		d.write(symbolText(x.attr("char")))
	case "hyperlink":
		url := ""
		if r, ok := d.rels[x.attrNS("id")]; ok && r.external {
			url = r.target
		}
		w.linkStart(url)
	case "tbl":
		d.flushCode()
		w.beginTable()
	case "tr":
		w.beginRow()
	case "tc":
		w.beginCell(1, 1)
	case "tblCaption", "tblDescription":
		// Readers of the document hear it in place of the table; many programs repeat the paragraph above.
		if alt := oneLine(x.attr("val")); alt != "" && !w.endsWith(alt) {
			w.caption(alt)
		}
	case "gridSpan":
		w.spanCell(atoi(x.attr("val")))
	case "footnoteReference":
		d.write("[^" + d.noteNumber("footnote", x.attr("id")) + "]")
	case "endnoteReference":
		d.write("[^e" + d.noteNumber("endnote", x.attr("id")) + "]")
	case "txbxContent":
		w.capture()
	case "altChunk":
		return d.embedded(d.rels[x.attrNS("id")])
	case "docPr":
		if alt := strings.TrimSpace(x.attr("descr")); alt != "" && !d.inCode {
			w.text(" ![" + alt + "]() ")
		}
	}
	return nil
}

// embedded writes a page that the document takes in whole, as programs do that make documents from HTML.
func (d *docxReader) embedded(r relation) error {
	switch ext(r.target) {
	case "html", "htm", "xhtml", "txt":
	default:
		if r.target != "" {
			d.p.note("a document inside the document was not read")
		}
		return nil
	}
	s := d.p.open(r.target)
	if s == nil || r.external {
		return nil
	}
	in, err := utf8Reader(s)
	if err != nil {
		return err
	}
	d.w.block()
	if err := newHTMLReader(d.w, false).read(d.p.ctx, in); err != nil {
		return err
	}
	d.w.block()
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
		w.block()
		boxes := d.boxes
		d.boxes = nil
		w.insertKept(boxes)
	case "r":
		d.hidden = false
	case "hyperlink":
		w.linkEnd()
	case "tbl":
		w.endTable()
	case "tc":
		d.flushCode()
		w.endCell()
	case "num": // the numerator of a fraction in a formula
		w.word("/")
	case "txbxContent":
		d.flushCode()
		if b := w.keep(w.release()); len(b) > 0 {
			d.boxes = append(d.boxes, b)
		}
		d.inCode = false
	}
}

func (d *docxReader) write(s string) {
	switch {
	case d.hidden:
	case d.inCode:
		if d.code.Len() < d.w.max {
			d.code.WriteString(s)
		}
	default:
		d.w.text(s)
	}
}

// text reads the content of a t element.
func (d *docxReader) text(x *xmlScanner) {
	for x.next() && x.kind != xmlEnd {
		if x.kind == xmlText {
			d.write(ownedString(x.text))
		}
	}
}

// paragraphProperties reads a pPr element.
func (d *docxReader) paragraphProperties(x *xmlScanner) {
	depth := len(x.stack)
	for len(x.stack) >= depth && x.next() {
		if x.kind != xmlStart {
			continue
		}
		switch x.name {
		case "pStyle":
			d.style = x.attr("val")
		case "numId":
			d.num = x.attr("val")
		case "ilvl":
			d.level = atoi(x.attr("val"))
		case "outlineLvl":
			if n := atoi(x.attr("val")); n < 9 {
				d.outline = n + 1
			}
		case "pPrChange", "rPr", "sectPr":
			x.skip()
		}
	}
}

// runProperties notes whether a run is hidden.
func (d *docxReader) runProperties(x *xmlScanner) {
	depth := len(x.stack)
	for len(x.stack) >= depth && x.next() {
		if x.kind == xmlStart && x.name == "vanish" {
			d.hidden = x.attr("val") != "0" && x.attr("val") != "false"
		}
	}
}

// openParagraph begins the block that style and properties ask for.
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
		d.w.heading(heading)
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
		d.w.continueItem()
		return
	}
	marker := "-"
	if format.numbered {
		marker = itoa(d.count(num, level, format.start)) + "."
	}
	d.w.item(level, marker)
}

// count returns the next number of a list level; deeper levels begin anew.
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

// flushCode writes the paragraphs of code that were collected.
func (d *docxReader) flushCode() {
	if d.code == nil {
		return
	}
	code := d.code.String()
	d.code, d.inCode = nil, false
	d.w.fenced("", code)
}

// atoi reads a small number of an attribute; what is none is 0.
func atoi(s string) int {
	n, _ := parseInt(strings.TrimSpace(s))
	return n
}

// parseInt reads a decimal number of at most 18 digits.
func parseInt[S string | []byte](s S) (int, bool) {
	i, n := 0, 0
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		i++
	}
	if len(s) == i || len(s)-i > 18 {
		return 0, false
	}
	for _, c := range []byte(s[i:]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if s[0] == '-' {
		n = -n
	}
	return n, true
}
