package pdf

import (
	"fmt"
	"runtime"
	"slices"
)

// inherited lists the attributes that a page inherits from the nodes above it (ISO 32000-1, 7.7.3.4).
var inherited = []name{"Resources", "MediaBox", "CropBox", "Rotate"}

// pageNumber is the key under which a page dictionary keeps its object number.
const pageNumber name = "\x00number"

const (
	// maxKeptGlyphs (in glyphs) and maxKeptContent (in bytes) bound the memory that one page passes to the next.
	maxKeptGlyphs, maxKeptContent = 50_000, 1 << 20
	// For documents whose file plus twice the text has at least collectFrom bytes, the garbage of pages is collected each collectAfter units
	// of work, about 150 pages. The runtime alone lets garbage grow to the size of everything in use, file and text included, which for such
	// documents is more than the reader needs otherwise. A unit of work causes about one byte of garbage. A collection takes a millisecond
	// or two, and longer in a process with a large heap of pointers.
	collectAfter, collectFrom = 12 << 20, 32 << 20
)

// pages calls visit for every page in order, with its inherited attributes filled in, until visit returns false.
func (d *document) pages(visit func(page dict) bool) {
	root := d.dict(d.trailer["Root"])
	seen := map[ref]bool{}
	found := 0
	goOn := true
	var walk func(o any, above dict, depth int)
	walk = func(o any, above dict, depth int) {
		if r, ok := o.(ref); ok {
			if seen[r] {
				if d.name(d.dict(o)["Type"]) == "Pages" {
					d.note(partialDamaged) // it stands where other pages should be
				}
				return
			}
			seen[r] = true
		}
		node := d.dict(o)
		if node == nil {
			d.note(partialDamaged)
			return
		}
		if depth > d.lim.MaxDepth || !d.tick(64) {
			d.note(partialWork)
			return
		}
		attrs := dict{}
		for _, k := range inherited {
			if v, ok := node[k]; ok {
				attrs[k] = v
			} else if v, ok := above[k]; ok {
				attrs[k] = v
			}
		}
		kids := d.array(node["Kids"])
		if kids == nil || d.name(node["Type"]) == "Page" {
			if kids == nil && d.name(node["Type"]) == "Pages" {
				d.note(partialDamaged)
				return
			}
			if t := d.name(node["Type"]); t != "Page" && (t != "" || node["Contents"] == nil && node["MediaBox"] == nil) {
				d.note(partialDamaged) // this is not a page
				return
			}
			page := dict{"Contents": node["Contents"], "Annots": node["Annots"]}
			if r, ok := o.(ref); ok {
				page[pageNumber] = r.num
			}
			for k, v := range attrs {
				page[k] = v
			}
			found++
			goOn = visit(page)
			return
		}
		for _, kid := range kids {
			if !goOn || d.stop != nil {
				return
			}
			walk(kid, attrs, depth+1)
		}
	}
	walk(root["Pages"], dict{}, 0)
	if found == 0 && d.stop == nil {
		d.loosePages(visit)
	}
}

// loosePages visits page objects that no page tree refers to, in the order of their numbers.
func (d *document) loosePages(visit func(page dict) bool) {
	if err := d.repair(); err != nil {
		return
	}
	nums := make([]int, 0, d.xref.count)
	for num := range d.xref.all() {
		nums = append(nums, num)
	}
	slices.Sort(nums)
	for _, num := range nums {
		if d.stop != nil {
			return
		}
		if p, ok := d.load(num).(dict); ok && p["Type"] == name("Page") {
			d.note(partialDamaged)
			if !visit(p) {
				return
			}
		}
	}
}

// pageSpace is memory that one page passes to the next.
type pageSpace struct {
	content []byte // the content of all streams of the page
	stream  []byte // one of several streams
	glyphs  []glyph
}

// keep bounds the memory after a page, when nothing uses it any more.
func (sp *pageSpace) keep() {
	if cap(sp.content) > maxKeptContent {
		sp.content = nil
	}
	if cap(sp.stream) > maxKeptContent {
		sp.stream = nil
	}
	if cap(sp.glyphs) > maxKeptGlyphs {
		sp.glyphs = nil
	}
}

// contents returns the decoded content of a page, with its streams joined by line ends.
func (d *document) contents(o any, sp *pageSpace) []byte {
	switch v := d.resolve(o).(type) {
	case *stream:
		data, err := d.decodeInto(&sp.content, v)
		if err != nil && d.stop == nil {
			d.note(partialDamaged)
		}
		return data
	case array:
		out := sp.content[:0]
		for _, o := range v {
			st := d.stream(o)
			if st == nil {
				if d.stop == nil {
					d.note(partialDamaged)
				}
				continue
			}
			data, err := d.decodeInto(&sp.stream, st)
			if err != nil {
				if d.stop != nil {
					break
				}
				d.note(partialDamaged)
			}
			if int64(len(out)+len(data)) > d.lim.MaxStreamBytes {
				d.note(partialTooLarge)
				break
			}
			out = append(append(out, data...), '\n')
		}
		sp.content = out
		return out
	}
	return nil
}

// glyphs runs the content of a page and returns the glyphs that it shows. The result uses the memory of sp.
func (d *document) glyphs(page dict, fs *fonts, ly *layers, tree *structure, sp *pageSpace) *pageGlyphs {
	p := &pageGlyphs{bounds: box{-1e6, -1e6, 1e6, 1e6}, glyphs: sp.glyphs[:0], tree: tree}
	p.number, _ = page[pageNumber].(int)
	if v := d.numbers(page["MediaBox"], 4); v != nil {
		if b := makeBox(v); b.x1-b.x0 > 1 && b.y1-b.y0 > 1 {
			p.bounds = b
		}
	}
	if r, ok := d.integer(page["Rotate"]); ok {
		p.rotate = ((r/90*90)%360 + 360) % 360
	}
	in := &interpreter{d: d, fonts: fs, layer: ly, page: p, path: map[*stream]bool{}}
	in.state = graphics{ctm: identity, scale: 1}
	in.text, in.line = identity, identity
	resources := d.dict(page["Resources"])
	in.run(d.contents(page["Contents"], sp), resources, 0)
	if in.inText && d.stop == nil {
		d.note(partialContent) // a text object has no end
	}
	for _, a := range d.array(page["Annots"]) {
		if d.stop != nil {
			break
		}
		in.annotation(d.dict(a), resources)
	}
	if p.full {
		d.note(partialTooLarge)
	}
	sp.glyphs = p.glyphs
	return p
}

// annotationHidden has the annotation flags that prevent showing (ISO 32000-1, 12.5.3).
const annotationHidden = 1<<1 | 1<<5

// annotation runs the appearance of a form field or of another annotation that shows text on the page.
func (in *interpreter) annotation(a, resources dict) {
	d := in.d
	if flags, _ := d.integer(a["F"]); flags&annotationHidden != 0 || in.layer.hides(a["OC"]) {
		return
	}
	switch d.name(a["Subtype"]) {
	case "Widget", "FreeText", "Stamp", "Watermark":
	case "Text", "Highlight", "Underline", "StrikeOut", "Squiggly", "Caret", "Ink", "Square", "Circle", "Polygon", "Line":
		in.comment(a)
		return
	default:
		return
	}
	normal := d.dict(a["AP"])["N"]
	st := d.stream(normal)
	if st == nil {
		st = d.stream(d.dict(normal)[d.name(a["AS"])])
	}
	rect, bbox := d.numbers(a["Rect"], 4), []float64(nil)
	if st != nil {
		bbox = d.numbers(st.dict["BBox"], 4)
	}
	if rect == nil || bbox == nil {
		in.fieldValue(a, rect)
		return
	}
	m := identity
	if v := d.numbers(st.dict["Matrix"], 6); v != nil {
		m = matrix(v)
	}
	// The transformed bounding box is moved and scaled to the rectangle (ISO 32000-1, algorithm 8).
	from, to := makeBox(bbox).transform(m), makeBox(rect)
	at := matrix{1, 0, 0, 1, to.x0 - from.x0, to.y0 - from.y0}
	if w, h := from.x1-from.x0, from.y1-from.y0; w > 0 && h > 0 {
		sx, sy := (to.x1-to.x0)/w, (to.y1-to.y0)/h
		at = matrix{sx, 0, 0, sy, to.x0 - from.x0*sx, to.y0 - from.y0*sy}
	}
	in.state = graphics{ctm: identity, scale: 1}
	in.form(st, at, resources, 0)
}

// expectedPages returns the page count that the document states, limited to what is possible.
func (d *document) expectedPages(catalog dict) int {
	n, _ := d.integer(d.dict(catalog["Pages"])["Count"])
	return min(n, d.lim.MaxPages, d.xref.count)
}

// extract reads all pages.
func (d *document) extract() (*Result, error) {
	catalog := d.dict(d.trailer["Root"])
	res := &Result{}
	fs := newFonts(d)
	ly := d.newLayers(catalog)
	tree := d.newStructure(catalog)
	w, hyphens := newWriter(d.lim.MaxOutputBytes, d.expectedPages(catalog)), newHyphenation()
	images, mapped, unmapped := false, 0, 0
	var scans []int // numbers of pages
	queue := pageQueue{seen: map[string]bool{}}
	var page []block // the previous page, written once it is known whether its last row continues
	begun := false
	write := func(last bool) {
		for l := queue.pop(last); l != nil && !w.full; l = queue.pop(last) {
			next := l.blocks(d, hyphens)
			queue.release(l)
			if begun {
				next = joinRow(page, next, hyphens)
				w.page(page)
			}
			page, begun = next, true
		}
		if last && begun && !w.full {
			w.page(page)
		}
	}
	cleaned, pages := d.work, 0
	d.pages(func(page dict) bool {
		if pages++; pages > d.lim.MaxPages {
			d.note(partialPages)
			return false
		}
		space := queue.space()
		p := d.glyphs(page, fs, ly, tree, space)
		mapped += len(p.glyphs)
		images = images || p.images
		unmapped += p.unmapped
		if p.isScan() {
			scans = append(scans, pages)
		}
		queue.pages = append(queue.pages, newPageLayout(d, p, space))
		write(false)
		if cleaned-d.work >= collectAfter && len(d.data)+2*cap(w.text) >= collectFrom {
			runtime.GC()
			cleaned = d.work
		}
		return d.stop == nil && !w.full
	})
	write(true)
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	if w.full {
		d.note(partialTooLarge)
	}
	damaged := d.partial != ""
	if unmapped > 16+mapped/20 {
		d.note(partialGlyphs)
	}
	d.metadata(catalog, res)
	res.Text, res.Pages = w.finish()
	res.Partial = d.partial
	if res.Text != "" {
		res.Scans = scansReason(scans)
		return res, nil
	}
	switch {
	case d.stop != nil:
		return nil, d.stop
	case len(res.Pages) == 0:
		return nil, fmt.Errorf("%w: no pages", ErrMalformed)
	case damaged:
		return nil, fmt.Errorf("%w: no text could be read", ErrMalformed)
	case unmapped > 0:
		return res, fmt.Errorf("%w: its fonts do not tell what their characters mean", ErrNoText)
	case images:
		res.Images = true
		return res, fmt.Errorf("%w: it shows images only, likely a scan", ErrNoText)
	}
	return res, fmt.Errorf("%w: its pages are blank", ErrNoText)
}
