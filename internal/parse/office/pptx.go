package office

import (
	"context"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// ParsePPTX reads presentations (ECMA-376 part 1, PresentationML): slides in order with title, text, lists, tables, diagrams, charts and
// speaker notes.
func ParsePPTX(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	p, err := openOOXML(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	main := p.mainPart("ppt/presentation.xml")
	slides, err := slideParts(p, main)
	if err != nil {
		return nil, err
	}
	if len(slides) == 0 {
		return nil, document.Errorf(document.Malformed, "the presentation has no slides")
	}
	d := &drawReader{p: p, w: output.New(lim, 4096)}
	for _, part := range slides {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d.w.Full {
			break
		}
		if err := d.slide(part); err != nil {
			return nil, err
		}
	}
	return output.Titled(finishOffice(d.w, p.File, p.properties)), nil
}

// slideParts returns the slides in the order of the presentation part, or by their numbers without one.
func slideParts(p *ooxml, main string) ([]string, error) {
	var parts []string
	if x := p.scan(main); x != nil {
		rels := relationMap(p.relations(main))
		for x.Next() && len(parts) < maxSlides {
			if x.Kind == xmlscan.Start && x.Name == "sldId" {
				if r, ok := rels[x.AttrNS("id")]; ok && p.Has(r.target) {
					parts = append(parts, r.target)
				}
			}
		}
		if err := scanFault(p.File, x); err != nil {
			return nil, err
		}
	}
	if len(parts) > 0 {
		return parts, nil
	}
	for n := 1; n <= maxSlides; n++ {
		part := "ppt/slides/slide" + strconv.Itoa(n) + ".xml"
		if p.Has(part) {
			parts = append(parts, part)
		} else if n > len(parts)+1000 {
			break
		}
	}
	return parts, nil
}

const maxSlides = 10_000

// drawReader turns DrawingML text bodies of slides, notes and spreadsheet drawings into blocks.
type drawReader struct {
	cells bool // a drawing of a sheet, whose cells are read
	p     *ooxml
	w     *output.Writer
	rels  map[string]relation

	holder  string // placeholder type of the current shape; "text" for a shape without one
	bullets bool   // paragraphs of the shape are list items by default
	level   int
	marker  string
	number  int
	begun   bool // the block of the current paragraph was begun
	link    bool
	title   []byte
	inTitle bool
	plain   bool // speaker notes: no bullets
}

// slide writes one slide: heading, content, notes.
func (d *drawReader) slide(part string) error {
	x := d.p.scan(part)
	if x == nil {
		return nil
	}
	rels := d.p.relations(part)
	if len(rels) == 0 && d.p.Has("ppt/notesSlides/notesSlide1.xml") {
		d.p.Note(reasonMissing) // a slide refers to its notes
	}
	d.rels, d.title = relationMap(rels), nil
	d.w.Page("")
	d.w.Capture()
	err := d.read(x)
	body := d.w.Release()
	if err != nil {
		return err
	}
	if title := clean.OneLine(string(d.title)); title != "" {
		d.w.Heading(2)
		d.w.Text(title)
		if n := len(d.w.Pages); n > 0 {
			d.w.Pages[n-1].Label = title
		}
	}
	d.w.Insert(body)
	for _, r := range rels {
		if r.kind == "notesSlide" && !r.external {
			if err := d.notes(r.target); err != nil {
				return err
			}
		}
	}
	return nil
}

// notes writes the speaker notes of a slide.
func (d *drawReader) notes(part string) error {
	x := d.p.scan(part)
	if x == nil {
		return nil
	}
	d.rels = relationMap(d.p.relations(part))
	d.title, d.plain = nil, true
	d.w.Capture()
	err := d.read(x)
	d.plain = false
	text := d.w.Release()
	if err != nil || len(text) == 0 {
		return err
	}
	d.w.Block()
	d.w.Label("Notes: ")
	d.w.InsertInline(text)
	d.w.Block()
	return nil
}

// read reads a slide, a notes page or a drawing.
func (d *drawReader) read(x *xmlscan.Scanner) error {
	for n := 0; x.Next() && !d.w.Full; n++ {
		if n&1023 == 0 && d.p.Ctx.Err() != nil {
			return d.p.Ctx.Err()
		}
		switch x.Kind {
		case xmlscan.Start:
			if err := d.start(x); err != nil {
				return err
			}
		case xmlscan.End:
			d.end(x.Name)
		}
	}
	return scanFault(d.p.File, x)
}

func (d *drawReader) start(x *xmlscan.Scanner) error {
	w := d.w
	switch x.Name {
	case "Fallback", "extLst", "fPr", "timing", "transition":
		x.Skip()
	case "sp":
		d.holder, d.bullets = "text", false
	case "ph":
		d.holder = x.Attr("type")
		switch d.holder {
		case "":
			d.holder = "obj"
			d.bullets = true
		case "body", "obj":
			d.bullets = true
		}
	case "cNvPr", "docPr":
		if alt := strings.TrimSpace(x.Attr("descr")); alt != "" && d.p != nil {
			w.Block()
			w.Text("![" + alt + "]()")
			w.Block()
		}
	case "txBody", "t", "p", "pPr", "buNone", "buChar", "buAutoNum", "br", "fld", "hlinkClick":
		d.textStart(x)
	case "tbl":
		d.holder, d.bullets = "text", false
		w.BeginTable()
	case "tr":
		w.BeginRow()
	case "tc":
		if isSet(x.Attr("hMerge")) || isSet(x.Attr("vMerge")) {
			x.Skip() // the cell that covers it says how far it reaches
			break
		}
		w.BeginCell(max(1, clean.Int(x.Attr("gridSpan"))), max(1, clean.Int(x.Attr("rowSpan"))))
	case "relIds":
		return d.diagram(d.rels[x.AttrNS("dm")].target)
	case "oMath":
		if text := mathText(x, w); text != "" {
			d.begin()
			w.Word(text)
		}
	case "chart":
		if r, ok := d.rels[x.AttrNS("id")]; ok && !r.external {
			return d.chart(r.target)
		}
	}
	return nil
}

// textStart handles the elements of a text body.
func (d *drawReader) textStart(x *xmlscan.Scanner) {
	w := d.w
	switch x.Name {
	case "txBody":
		switch d.holder {
		case "sldNum", "dt", "ftr", "hdr", "sldImg":
			x.Skip()
		case "title", "ctrTitle":
			if len(d.title) == 0 {
				d.inTitle = true
				w.Capture()
			}
		}
		d.number = 0
	case "p":
		w.Block()
		d.level, d.marker, d.begun = 0, "", false
		if d.bullets && !d.inTitle && !d.plain {
			d.marker = "-"
		}
	case "pPr":
		d.level = min(clean.Int(x.Attr("lvl")), 8)
	case "buNone":
		d.marker = ""
	case "buChar":
		d.marker = "-"
	case "buAutoNum":
		d.marker = "1."
	case "br":
		w.Newline()
	case "fld":
		if x.Attr("type") == "slidenum" {
			x.Skip()
		}
	case "hlinkClick":
		if r, ok := d.rels[x.AttrNS("id")]; ok && r.external && !d.link {
			d.link = true
			w.LinkStart(r.target)
		}
	case "t":
		d.text(x)
	}
}

func (d *drawReader) text(x *xmlscan.Scanner) {
	for x.Next() && x.Kind != xmlscan.End {
		if x.Kind != xmlscan.Text {
			continue
		}
		if len(strings.TrimSpace(string(x.Text))) > 0 {
			d.begin()
		}
		d.w.Text(clean.String(x.Text))
	}
}

// begin begins the block of the current paragraph at its first text.
func (d *drawReader) begin() {
	if d.begun {
		return
	}
	d.begun = true
	switch {
	case d.marker == "1.":
		d.number++
		d.w.Item(d.level, strconv.Itoa(d.number)+".")
	case d.marker != "":
		d.number = 0
		d.w.Item(d.level, d.marker)
	default:
		d.number = 0
	}
}

func (d *drawReader) end(name string) {
	w := d.w
	switch name {
	case "r":
		if d.link {
			w.LinkEnd()
			d.link = false
		}
	case "p", "sp":
		w.Block()
	case "txBody":
		if d.inTitle {
			d.inTitle = false
			d.title = w.Release()
		}
		w.Block()
	case "tbl":
		w.EndTable()
	case "tc":
		w.EndCell()
	}
}

// diagram writes the texts of a SmartArt graphic as a list.
func (d *drawReader) diagram(part string) error {
	x := d.p.scan(part)
	if x == nil {
		return nil
	}
	for x.Next() && !d.w.Full {
		switch {
		case x.Kind == xmlscan.Start && x.Name == "p":
			d.begun = false
		case x.Kind == xmlscan.Start && x.Name == "t":
			if inner := d.plainText(x); inner != "" {
				if !d.begun {
					d.w.Item(0, "-")
					d.begun = true
				}
				d.w.Text(inner)
			}
		}
	}
	d.w.Block()
	return scanFault(d.p.File, x)
}

// chart writes the titles, series names and categories of a chart, each once.
func (d *drawReader) chart(part string) error {
	x := d.p.scan(part)
	if x == nil {
		return nil
	}
	seen := map[string]bool{}
	labels := false // inside of labels, not of values
	for x.Next() && !d.w.Full {
		if x.Kind == xmlscan.End && (x.Name == "strCache" || x.Name == "tx") {
			labels = false
		}
		if x.Kind != xmlscan.Start {
			continue
		}
		switch x.Name {
		case "strCache", "tx":
			labels = true
		case "strRef":
			if d.cells {
				x.Skip() // the sheet has the text too
			}
		case "t", "v":
			if x.Name == "v" && !labels {
				continue
			}
			if s := d.plainText(x); s != "" && !seen[s] && len(seen) < 10_000 {
				seen[s] = true
				d.w.Item(0, "-")
				d.w.Text(s)
			}
		}
	}
	d.w.Block()
	return scanFault(d.p.File, x)
}

// plainText returns the text of the current element, which has no child elements.
func (d *drawReader) plainText(x *xmlscan.Scanner) string {
	var b strings.Builder
	for x.Next() && x.Kind != xmlscan.End {
		if x.Kind == xmlscan.Text && b.Len() < 1<<16 {
			b.Write(x.Text)
		}
	}
	return strings.TrimSpace(b.String())
}
