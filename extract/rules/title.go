package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// maxTitleWords is the maximum length of a title that counts as one name.
const maxTitleWords = 12

// titleMentions adds the names in a title: the title without its bracketed part, "X" of "X, Y", and the names inside.
func (d *doc) titleMentions(title string) {
	lo, hi := titleCore(title)
	core := title[lo:hi]
	if core == "" {
		return
	}
	t := newDoc(&extract.Input{Text: core})
	t.Read()
	t.ReadNames()
	add := func(from, to int, weight float32, typ string, part bool) {
		name := core[from:to]
		if key := extract.Key(name); key != "" {
			d.addTitle(extract.Mention{Name: name, Key: key, Type: typ, Weight: weight, Start: lo + from, End: lo + to, Part: part})
		}
	}
	if len(t.Tokens) == 0 {
		return
	}
	if len(t.Tokens) <= maxTitleWords {
		add(0, len(core), extract.WeightTitle, t.wholeType(), false)
		if k := strings.Index(core, ", "); k > 0 {
			add(0, k, extract.WeightTitlePart, t.TypeOf(0, max(1, t.tokensBefore(k))), false)
		}
	}
	for _, h := range t.Names {
		if !h.Weak {
			add(int(t.Tokens[h.Lo].Start), int(t.Tokens[h.Hi-1].End), extract.WeightText, h.Type, h.Part)
		}
	}
	for i := range t.Dates {
		if h := &t.Dates[i]; !h.From.IsZero() {
			d.addTitle(extract.Mention{Name: t.SpanText(h.Lo, h.Hi), Key: h.Key(), Type: extract.TypeDate, Weight: extract.WeightText,
				Start: lo + int(t.Tokens[h.Lo].Start), End: lo + int(t.Tokens[h.Hi-1].End)})
		}
	}
}

func (d *doc) addTitle(m extract.Mention) {
	m.Chunk = extract.TitleChunk
	d.AddToChunk(m)
}

// wholeType returns the type of a title: that of its name if it is one name, else a concept.
func (d *doc) wholeType() string {
	for _, h := range d.Names {
		if h.Lo == 0 && h.Hi == len(d.Tokens) {
			return h.Type
		}
	}
	if len(d.Tokens) == 1 {
		return d.TypeOf(0, 1)
	}
	return extract.TypeConcept
}

func (d *doc) tokensBefore(off int) int {
	n := 0
	for n < len(d.Tokens) && int(d.Tokens[n].End) <= off {
		n++
	}
	return n
}

// titleCore returns the bounds of a title without surrounding spaces and without a bracketed part at its end.
func titleCore(title string) (lo, hi int) {
	hi = len(strings.TrimRight(title, " \t\r\n"))
	lo = hi - len(strings.TrimLeft(title[:hi], " \t\r\n"))
	if hi > lo && (title[hi-1] == ')' || title[hi-1] == ']') {
		opening := "("
		if title[hi-1] == ']' {
			opening = "["
		}
		if k := strings.LastIndex(title[lo:hi], opening); k > 0 {
			hi = lo + len(strings.TrimRight(title[lo:lo+k], " "))
		}
	}
	return lo, hi
}
