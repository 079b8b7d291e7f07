package pdf

import (
	"math"
	"slices"
	"strings"
)

const (
	// maxComments bounds the number of comments of a page, and maxComment the bytes of one comment.
	maxComments, maxComment = 500, 16 << 10
	// maxFieldParents bounds the fields around a field.
	maxFieldParents = 16
	// fieldSize is the assumed font size, in points, of a form field's value when the field has no appearance.
	fieldSize = 10
)

// comment stores a reader's comment on the page: the contents of a sticky note or of a highlighted passage.
func (in *interpreter) comment(a dict) {
	contents, _ := in.d.resolve(a["Contents"]).(str)
	text := strings.TrimSpace(textString(contents))
	if text == "" || len(in.page.comments) >= maxComments || !in.d.tick(len(text)) {
		return
	}
	label := "Comment: "
	if by, ok := in.d.resolve(a["T"]).(str); ok {
		if author := strings.Join(strings.Fields(textString(by)), " "); author != "" && len(author) < 200 {
			label = "Comment by " + author + ": "
		}
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text[:min(len(text), maxComment)], "\r\n", "\n"), "\r", "\n")
	comment := label + strings.ToValidUTF8(text, "")
	if !slices.Contains(in.page.comments, comment) {
		in.page.comments = append(in.page.comments, comment)
	}
}

// fieldValue adds the value of a form field that has no appearance stream. Viewers generate one (ISO 32000-1, 12.7.3.3).
func (in *interpreter) fieldValue(a dict, rect []float64) {
	d := in.d
	if rect == nil || d.name(a["Subtype"]) == "Stamp" || d.name(a["Subtype"]) == "Watermark" {
		return
	}
	var value any
	kind := name("")
	if d.name(a["Subtype"]) == "FreeText" {
		value, kind = d.resolve(a["Contents"]), "Tx"
	}
	for field, n := a, 0; field != nil && n < maxFieldParents; field, n = d.dict(field["Parent"]), n+1 {
		if value == nil {
			value = d.resolve(field["V"])
		}
		if kind == "" {
			kind = d.name(field["FT"])
		}
	}
	if kind != "Tx" && kind != "Ch" {
		return // the value of a button is a state, that of a signature is bytes
	}
	list, ok := value.(array)
	if !ok {
		list = array{value}
	}
	var words []string
	for _, v := range list[:min(len(list), maxComments)] {
		if s, ok := d.resolve(v).(str); ok && len(s) <= maxComment {
			words = append(words, strings.Fields(textString(s))...)
		}
	}
	if len(words) == 0 {
		return
	}
	box := makeBox(rect)
	in.page.placeText(words, box)
}

// placeText lays words out as lines inside a box, starting at its upper left corner.
func (p *pageGlyphs) placeText(words []string, at box) {
	size := math.Min(fieldSize, math.Max(1, 0.8*(at.y1-at.y0)))
	left, y := at.x0+2, at.y1-1.1*size
	if at.y1-at.y0 < 2*size {
		y = at.y0 + 0.25*size
	}
	x := left
	st := graphics{ctm: identity, scale: 1, font: &font{height: 1}}
	place := placing{cos: 1, along: 1, size: size, ok: true}
	if p.rotate != 0 {
		place.angle = int16((360 - p.rotate) % 360)
		place.sin, place.cos = math.Sincos(float64(place.angle) * math.Pi / 180)
	}
	for _, w := range words {
		width := 0.5 * size * float64(len([]rune(w)))
		if x > left && x+width > at.x1 && y-1.2*size > at.y0 {
			x, y = left, y-1.2*size
		}
		p.add(w, x, y, width, &place, &st)
		x += width + 0.4*size
	}
}
