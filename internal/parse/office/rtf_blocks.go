package office

import (
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// begin opens the paragraph of the next text.
func (r *rtfReader) begin(s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	if r.state.note {
		r.pending = false
	}
	if r.state.dest == destText && !r.inNote() {
		r.nestTo(r.depth())
	}
	if !r.inNote() {
		r.openCell()
	}
	if !r.pending && r.w.Length() > 0 || r.inNote() {
		return
	}
	r.pending = false
	heading := r.state.outline
	if heading == 0 {
		heading = r.styles[r.state.style].heading
	}
	switch {
	case heading > 0 && len(r.tables) == 0:
		r.w.Heading(heading)
	case r.state.listMark != "":
		r.w.Item(r.state.level, r.state.listMark)
		r.state.listMark = ""
		for i := range r.stack {
			r.stack[i].listMark = ""
		}
	default:
		r.w.Block()
	}
}

func (r *rtfReader) inNote() bool {
	for i := len(r.stack) - 1; i >= 0; i-- {
		if r.stack[i].note {
			return true
		}
	}
	return r.state.note
}

// paragraph ends a paragraph.
func (r *rtfReader) paragraph() {
	if r.state.dest == destSkip || r.state.dest == destInfo {
		return
	}
	if r.inNote() {
		r.w.Newline()
		return
	}
	if !r.state.intbl {
		r.nestTo(0)
	}
	r.w.Block()
	r.pending = true
	r.state.listMark = ""
}

// setListMark stores the marker that the writing program put before a list item.
func (r *rtfReader) setListMark(text string) {
	text = strings.TrimSpace(text)
	digits := strings.TrimRight(text, ".) ")
	if i := strings.LastIndexByte(digits, '.'); i >= 0 {
		digits = digits[i+1:]
	}
	r.state.listMark = "-"
	if n, err := strconv.Atoi(digits); err == nil && n >= 0 {
		r.state.listMark = strconv.Itoa(n) + "."
	}
}

func (r *rtfReader) endDate(name string) {
	d := r.date
	r.date = [5]int{}
	if d[0] < 1900 || d[0] > 9999 || d[1] < 1 || d[1] > 12 {
		return
	}
	t := time.Date(d[0], time.Month(d[1]), max(1, d[2]), d[3], d[4], 0, 0, time.UTC)
	if name == "creatim" {
		r.created = t
	} else {
		r.revised = t
	}
}

// endStyle handles the name of a style.
func (r *rtfReader) endStyle() {
	name := strings.ToLower(strings.TrimRight(strings.TrimSpace(string(r.styleTxt)), ";"))
	r.styleTxt = r.styleTxt[:0]
	st := r.styles[r.styleDef]
	if rest, ok := strings.CutPrefix(name, "heading "); ok {
		if n := clean.Int(rest); n >= 1 && n <= 9 {
			st.heading = n
		}
	} else if name == "title" {
		st.heading = 1
	}
	if name != "" && len(r.styles) < maxStyles {
		r.styles[r.styleDef] = st
	}
}
