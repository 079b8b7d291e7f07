package parse

import "strings"

// docxStyle is what a paragraph style means for the text.
type docxStyle struct {
	base    string
	heading int // 1 to 9; 0 for none
	code    bool
	num     string
	level   int
}

// Bounds on styles and lists, far above what documents hold.
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
	for x.next() && len(d.styles) < maxStyles {
		switch {
		case x.kind == xmlStart && x.name == "style":
			id, st = x.attr("styleId"), docxStyle{level: -1}
		case x.kind == xmlEnd && x.name == "style":
			d.styles[id] = st
		case x.kind != xmlStart:
		case x.name == "name":
			st.named(x.attr("val"))
		case x.name == "basedOn":
			st.base = x.attr("val")
		case x.name == "outlineLvl":
			if n := atoi(x.attr("val")); n < 9 && st.heading == 0 {
				st.heading = n + 1
			}
		case x.name == "numId":
			st.num = x.attr("val")
		case x.name == "ilvl":
			st.level = atoi(x.attr("val"))
		}
	}
}

// named sets what the built-in names of styles mean.
func (st *docxStyle) named(name string) {
	name = strings.ToLower(name)
	switch name {
	case "title":
		st.heading = 1
	case "source code", "html preformatted", "code", "preformatted text":
		st.code = true
	default:
		if rest, ok := strings.CutPrefix(name, "heading "); ok {
			if n := atoi(rest); n >= 1 && n <= 9 {
				st.heading = n
			}
		}
	}
}

// resolve follows the chain of styles.
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

// format returns the format of a list level; without a definition it is a bullet. ok is false for levels that show
// no marker.
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
	for x.next() && len(d.lists.nums) < maxStyles && len(d.lists.abstract) < maxStyles {
		if x.kind == xmlEnd {
			if x.name == "lvl" && abstract != "" && num == "" {
				if d.lists.abstract[abstract] == nil {
					d.lists.abstract[abstract] = map[int]listFormat{}
				}
				if level >= 0 && level < 9 {
					d.lists.abstract[abstract][level] = format
				}
			}
			continue
		}
		if x.kind != xmlStart {
			continue
		}
		switch x.name {
		case "abstractNum":
			abstract, num = x.attr("abstractNumId"), ""
		case "lvl":
			level, format = atoi(x.attr("ilvl")), listFormat{start: 1}
		case "start":
			format.start = atoi(x.attr("val"))
		case "numFmt":
			v := x.attr("val")
			format.numbered = v != "bullet" && v != "none"
			format.none = v == "none"
		case "lvlText":
			// A blank bullet carries the further paragraphs of an item.
			format.none = format.none || !format.numbered && strings.TrimSpace(x.attr("val")) == ""
		case "num":
			num = x.attr("numId")
		case "abstractNumId":
			if num != "" {
				d.lists.nums[num] = x.attr("val")
			}
		}
	}
}
