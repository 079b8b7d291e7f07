package parse

import (
	"context"
	"strings"
)

// parsePPTX reads presentations (ECMA-376 part 1, PresentationML): slides in their order with title, text, lists,
// tables, diagrams, charts and speaker notes.
func parsePPTX(ctx context.Context, in Input, lim Limits) (*Document, error) {
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
		return nil, malformed("the presentation has no slides")
	}
	d := &drawReader{p: p, w: newWriter(lim, 4096)}
	for _, part := range slides {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d.w.full {
			break
		}
		if err := d.slide(part); err != nil {
			return nil, err
		}
	}
	return titled(d.w.finishOffice(p.zipFile, p.properties)), nil
}

// slideParts returns the slides in order: as the presentation lists them, else by number.
func slideParts(p *ooxml, main string) ([]string, error) {
	var parts []string
	if x := p.scan(main); x != nil {
		rels := relationMap(p.relations(main))
		for x.next() && len(parts) < maxSlides {
			if x.kind == xmlStart && x.name == "sldId" {
				if r, ok := rels[x.attrNS("id")]; ok && p.has(r.target) {
					parts = append(parts, r.target)
				}
			}
		}
		if err := scanFault(p.zipFile, x); err != nil {
			return nil, err
		}
	}
	if len(parts) > 0 {
		return parts, nil
	}
	for n := 1; n <= maxSlides; n++ {
		part := "ppt/slides/slide" + itoa(n) + ".xml"
		if p.has(part) {
			parts = append(parts, part)
		} else if n > len(parts)+1000 {
			break
		}
	}
	return parts, nil
}

const maxSlides = 10_000

// drawReader turns DrawingML text bodies into blocks: those of slides, notes, and the drawings of spreadsheets.
type drawReader struct {
	p    *ooxml
	w    *writer
	rels map[string]relation

	holder  string // placeholder type of the current shape; "text" for a shape without one
	bullets bool   // paragraphs of the shape are list items unless they say otherwise
	level   int
	marker  string
	number  int
	begun   bool // the current paragraph has its block
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
	d.rels, d.title = relationMap(rels), nil
	d.w.page("")
	d.w.capture()
	err := d.read(x)
	body := d.w.release()
	if err != nil {
		return err
	}
	if title := oneLine(string(d.title)); title != "" {
		d.w.heading(2)
		d.w.text(title)
		if n := len(d.w.pages); n > 0 {
			d.w.pages[n-1].Label = title
		}
	}
	d.w.insert(body)
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
	d.w.capture()
	err := d.read(x)
	d.plain = false
	text := d.w.release()
	if err != nil || len(text) == 0 {
		return err
	}
	d.w.block()
	d.w.mark = "Notes: "
	d.w.insertInline(text)
	d.w.block()
	return nil
}

// read reads a slide, a notes page or a drawing.
func (d *drawReader) read(x *xmlScanner) error {
	for n := 0; x.next() && !d.w.full; n++ {
		if n&1023 == 0 && d.p.ctx.Err() != nil {
			return d.p.ctx.Err()
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
	return scanFault(d.p.zipFile, x)
}

func (d *drawReader) start(x *xmlScanner) error {
	w := d.w
	switch x.name {
	case "Fallback", "extLst", "fPr", "timing", "transition":
		x.skip()
	case "sp":
		d.holder, d.bullets = "text", false
	case "ph":
		d.holder = x.attr("type")
		switch d.holder {
		case "":
			d.holder = "obj"
			d.bullets = true
		case "body", "obj":
			d.bullets = true
		}
	case "cNvPr", "docPr":
		if alt := strings.TrimSpace(x.attr("descr")); alt != "" && d.p != nil {
			w.block()
			w.text("![" + alt + "]()")
			w.block()
		}
	case "txBody", "t", "p", "pPr", "buNone", "buChar", "buAutoNum", "br", "fld", "hlinkClick":
		d.textStart(x)
	case "tbl":
		d.holder, d.bullets = "text", false
		w.beginTable()
	case "tr":
		w.beginRow()
	case "tc":
		if x.attr("hMerge") == "1" || x.attr("vMerge") == "1" {
			w.beginCell(1, 1)
			w.endCell()
			x.skip()
			break
		}
		w.beginCell(max(1, atoi(x.attr("gridSpan"))), 1)
	case "relIds":
		return d.diagram(d.rels[x.attrNS("dm")].target)
	case "chart":
		if r, ok := d.rels[x.attrNS("id")]; ok && !r.external {
			return d.chart(r.target)
		}
	}
	return nil
}

// textStart handles the elements of a text body.
func (d *drawReader) textStart(x *xmlScanner) {
	w := d.w
	switch x.name {
	case "txBody":
		switch d.holder {
		case "sldNum", "dt", "ftr", "hdr", "sldImg":
			x.skip()
		case "title", "ctrTitle":
			if len(d.title) == 0 {
				d.inTitle = true
				w.capture()
			}
		}
		d.number = 0
	case "p":
		w.block()
		d.level, d.marker, d.begun = 0, "", false
		if d.bullets && !d.inTitle && !d.plain {
			d.marker = "-"
		}
	case "pPr":
		d.level = min(atoi(x.attr("lvl")), 8)
	case "buNone":
		d.marker = ""
	case "buChar":
		d.marker = "-"
	case "buAutoNum":
		d.marker = "1."
	case "br":
		w.newline()
	case "fld":
		if x.attr("type") == "slidenum" {
			x.skip()
		}
	case "hlinkClick":
		if r, ok := d.rels[x.attrNS("id")]; ok && r.external && !d.link {
			d.link = true
			w.linkStart(r.target)
		}
	case "t":
		d.text(x)
	}
}

func (d *drawReader) text(x *xmlScanner) {
	for x.next() && x.kind != xmlEnd {
		if x.kind != xmlText {
			continue
		}
		if !d.begun && len(strings.TrimSpace(string(x.text))) > 0 {
			d.begun = true
			switch {
			case d.marker == "1.":
				d.number++
				d.w.item(d.level, itoa(d.number)+".")
			case d.marker != "":
				d.number = 0
				d.w.item(d.level, d.marker)
			default:
				d.number = 0
			}
		}
		d.w.text(ownedString(x.text))
	}
}

func (d *drawReader) end(name string) {
	w := d.w
	switch name {
	case "r":
		if d.link {
			w.linkEnd()
			d.link = false
		}
	case "p", "sp":
		w.block()
	case "txBody":
		if d.inTitle {
			d.inTitle = false
			d.title = w.release()
		}
		w.block()
	case "tbl":
		w.endTable()
	case "tc":
		w.endCell()
	}
}

// diagram writes the texts of a SmartArt graphic as a list.
func (d *drawReader) diagram(part string) error {
	x := d.p.scan(part)
	if x == nil {
		return nil
	}
	for x.next() && !d.w.full {
		switch {
		case x.kind == xmlStart && x.name == "p":
			d.begun = false
		case x.kind == xmlStart && x.name == "t":
			if inner := d.plainText(x); inner != "" {
				if !d.begun {
					d.w.item(0, "-")
					d.begun = true
				}
				d.w.text(inner)
			}
		}
	}
	d.w.block()
	return scanFault(d.p.zipFile, x)
}

// chart writes the titles, series names and categories of a chart, each once.
func (d *drawReader) chart(part string) error {
	x := d.p.scan(part)
	if x == nil {
		return nil
	}
	seen := map[string]bool{}
	cache := false
	for x.next() && !d.w.full {
		if x.kind == xmlEnd && x.name == "strCache" {
			cache = false
		}
		if x.kind != xmlStart {
			continue
		}
		switch x.name {
		case "strCache":
			cache = true
		case "t", "v":
			if x.name == "v" && !cache {
				continue
			}
			if s := d.plainText(x); s != "" && !seen[s] && len(seen) < 10_000 {
				seen[s] = true
				d.w.item(0, "-")
				d.w.text(s)
			}
		}
	}
	d.w.block()
	return scanFault(d.p.zipFile, x)
}

// plainText returns the text of the current element, which holds no others.
func (d *drawReader) plainText(x *xmlScanner) string {
	var b strings.Builder
	for x.next() && x.kind != xmlEnd {
		if x.kind == xmlText && b.Len() < 1<<16 {
			b.Write(x.text)
		}
	}
	return strings.TrimSpace(b.String())
}
