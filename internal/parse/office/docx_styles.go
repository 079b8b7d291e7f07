package office

import (
	"strings"

	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// docxStyle is the meaning of a paragraph style for the text.
type docxStyle struct {
	base    string
	heading int // 1 to 9; 0 for none
	code    bool
	num     string
	level   int
}

// Bounds on styles and lists, far above those of real documents.
const (
	maxStyles     = 10_000
	maxStyleChain = 20
)

// readStyles reads the paragraph styles.
func (d *docxReader) readStyles(part string) {
	x := d.p.scan(part)
	if x == nil {
		return
	}
	id, st := "", docxStyle{}
	for x.Next() && len(d.styles) < maxStyles {
		switch {
		case x.Kind == xmlscan.Start && x.Name == "style":
			id, st = x.Attr("styleId"), docxStyle{level: -1}
		case x.Kind == xmlscan.End && x.Name == "style":
			d.styles[id] = st
		case x.Kind != xmlscan.Start:
		case x.Name == "name":
			st.named(x.Attr("val"))
		case x.Name == "basedOn":
			st.base = x.Attr("val")
		case x.Name == "outlineLvl":
			if n := clean.Int(x.Attr("val")); n < 9 && st.heading == 0 {
				st.heading = n + 1
			}
		case x.Name == "numId":
			st.num = x.Attr("val")
		case x.Name == "ilvl":
			st.level = clean.Int(x.Attr("val"))
		}
	}
}

// named sets the meaning of the built-in style names.
func (st *docxStyle) named(name string) {
	name = strings.ToLower(name)
	switch name {
	case "title":
		st.heading = 1
	case "source code", "html preformatted", "code", "preformatted text":
		st.code = true
	default:
		if rest, ok := strings.CutPrefix(name, "heading "); ok {
			if n := clean.Int(rest); n >= 1 && n <= 9 {
				st.heading = n
			}
		}
	}
}

// resolve follows the chain of base styles.
func (d *docxReader) resolve(id string) docxStyle {
	out := docxStyle{level: -1}
	if id == "" {
		return out
	}
	if _, ok := d.styles[id]; !ok {
		// Documents without a style part still use the usual ids.
		lower := strings.ToLower(id)
		if rest, ok := strings.CutPrefix(lower, "heading"); ok && len(rest) == 1 && rest[0] >= '1' && rest[0] <= '9' {
			out.heading = int(rest[0] - '0')
		} else if lower == "title" {
			out.heading = 1
		}
		return out
	}
	for range maxStyleChain {
		st, ok := d.styles[id]
		if !ok {
			break
		}
		if out.heading == 0 {
			out.heading = st.heading
		}
		out.code = out.code || st.code
		if out.num == "" {
			out.num = st.num
		}
		if out.level < 0 {
			out.level = st.level
		}
		if id = st.base; id == "" {
			break
		}
	}
	return out
}

// docxLists are the numbering definitions.
type docxLists struct {
	abstract map[string]map[int]listFormat // by abstract id and level
	nums     map[string]string             // number id to abstract id
}

type listFormat struct {
	numbered bool
	none     bool
	start    int
}

// format returns the format of a list level, which is a bullet if it has no definition. ok is false for levels that show no marker.
func (l docxLists) format(num string, level int) (listFormat, bool) {
	f, ok := l.abstract[l.nums[num]][level]
	if !ok {
		return listFormat{start: 1}, true
	}
	return f, !f.none
}

// readNumbering reads the numbering part.
func (d *docxReader) readNumbering(part string) {
	d.lists = docxLists{abstract: map[string]map[int]listFormat{}, nums: map[string]string{}}
	x := d.p.scan(part)
	if x == nil {
		return
	}
	abstract, num, level := "", "", 0
	format := listFormat{start: 1}
	for x.Next() && len(d.lists.nums) < maxStyles && len(d.lists.abstract) < maxStyles {
		if x.Kind == xmlscan.End {
			if x.Name == "lvl" && abstract != "" && num == "" {
				if d.lists.abstract[abstract] == nil {
					d.lists.abstract[abstract] = map[int]listFormat{}
				}
				if level >= 0 && level < 9 {
					d.lists.abstract[abstract][level] = format
				}
			}
			continue
		}
		if x.Kind != xmlscan.Start {
			continue
		}
		switch x.Name {
		case "abstractNum":
			abstract, num = x.Attr("abstractNumId"), ""
		case "lvl":
			level, format = clean.Int(x.Attr("ilvl")), listFormat{start: 1}
		case "start":
			format.start = clean.Int(x.Attr("val"))
		case "numFmt":
			v := x.Attr("val")
			format.numbered = v != "bullet" && v != "none"
			format.none = v == "none"
		case "lvlText":
			// Word uses a blank bullet for the second and later paragraphs of an item.
			format.none = format.none || !format.numbered && strings.TrimSpace(x.Attr("val")) == ""
		case "num":
			num = x.Attr("numId")
		case "abstractNumId":
			if num != "" {
				d.lists.nums[num] = x.Attr("val")
			}
		}
	}
}
