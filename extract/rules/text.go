package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// maxTitleWords is the longest title that is taken for a name as a whole.
const maxTitleWords = 12

// titleMentions adds what a title names: itself without its bracketed part, "X" of "X, Y", and the names inside.
func (d *doc) titleMentions(title string) {
	lo, hi := titleCore(title)
	core := title[lo:hi]
	if core == "" {
		return
	}
	t := newDoc(core)
	defer t.free()
	t.in = &extract.Input{}
	t.read()
	add := func(from, to int, weight float32, typ string, part bool) {
		name := core[from:to]
		if key := extract.Key(name); key != "" {
			d.addTitle(extract.Mention{Name: name, Key: key, Type: typ, Weight: weight, Start: lo + from, End: lo + to, Part: part})
		}
	}
	if len(t.toks) == 0 {
		return
	}
	if len(t.toks) <= maxTitleWords {
		add(0, len(core), extract.WeightTitle, t.wholeType(), false)
		if k := strings.Index(core, ", "); k > 0 {
			add(0, k, extract.WeightTitlePart, t.typeOf(0, max(1, t.tokensBefore(k))), false)
		}
	}
	for _, h := range t.names {
		if !h.weak {
			add(int(t.toks[h.lo].start), int(t.toks[h.hi-1].end), extract.WeightText, h.typ, h.part)
		}
	}
	for i := range t.dates {
		if h := &t.dates[i]; !h.from.IsZero() {
			d.addTitle(extract.Mention{Name: t.surface(h.lo, h.hi), Key: h.key(), Type: extract.TypeDate, Weight: extract.WeightText,
				Start: lo + int(t.toks[h.lo].start), End: lo + int(t.toks[h.hi-1].end)})
		}
	}
}

func (d *doc) addTitle(m extract.Mention) {
	m.Chunk = extract.TitleChunk
	d.addOnce(m)
}

// wholeType types a title: as the one name it is, or else as a concept.
func (d *doc) wholeType() string {
	for _, h := range d.names {
		if h.lo == 0 && h.hi == len(d.toks) {
			return h.typ
		}
	}
	if len(d.toks) == 1 {
		return d.typeOf(0, 1)
	}
	return extract.TypeConcept
}

func (d *doc) tokensBefore(off int) int {
	n := 0
	for n < len(d.toks) && int(d.toks[n].end) <= off {
		n++
	}
	return n
}

// titleCore returns the bounds of a title without spaces around it and without a bracketed part at its end.
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

// textMentions adds the names, dates and literal things of the text, in reading order.
func (d *doc) textMentions() {
	name, date := 0, 0
	for i := range d.toks {
		for ; name < len(d.names) && d.names[name].lo <= i; name++ {
			d.addName(&d.names[name])
		}
		if date < len(d.dates) && d.dates[date].lo == i {
			d.addDate(&d.dates[date])
			date++
		}
		d.addLiteral(i)
	}
	for ; name < len(d.names); name++ {
		d.addName(&d.names[name])
	}
}

func (d *doc) addName(h *nameHit) {
	surface := d.surface(h.lo, h.hi)
	if h.key == "" {
		h.key = extract.Key(surface)
	}
	d.addMention(extract.Mention{Name: surface, Key: h.key, Type: h.typ, Start: int(d.toks[h.lo].start), End: int(d.toks[h.hi-1].end), Weak: h.weak, Part: h.part})
}

// addDate adds a date and, for a day or month that spells its year, the year too.
func (d *doc) addDate(h *dateHit) {
	if h.from.IsZero() {
		return
	}
	m := extract.Mention{Name: d.surface(h.lo, h.hi), Key: h.key(), Type: extract.TypeDate, Start: int(d.toks[h.lo].start), End: int(d.toks[h.hi-1].end)}
	d.addMention(m)
	if h.prec == extract.PrecisionYear || h.relative || len(m.Key) < 4 {
		return
	}
	m.Key, m.Part = m.Key[:4], true
	m.Name = m.Key
	d.addMention(m)
}

// addLiteral adds an identifier, address or amount.
func (d *doc) addLiteral(i int) {
	t := &d.toks[i]
	m := extract.Mention{Start: int(t.start), End: int(t.end)}
	switch t.kind {
	case kIdent:
		m.Type = extract.TypeIdentifier
	case kError:
		m.Type = extract.TypeErrorCode
	case kURL:
		m.Type = extract.TypeURL
	case kEmail:
		m.Type = extract.TypeEmail
	case kHandle:
		m.Type = extract.TypeHandle
	default:
		return
	}
	m.Name = d.str(i)
	m.Key = extract.Key(m.Name)
	d.addMention(m)
}

// finishDates lists the resolved dates.
func (d *doc) finishDates() {
	n := 0
	for i := range d.dates {
		if !d.dates[i].from.IsZero() {
			n++
		}
	}
	if n == 0 {
		return
	}
	d.out.Dates = make([]extract.DateRef, 0, n)
	for i := range d.dates {
		h := &d.dates[i]
		if h.from.IsZero() {
			continue
		}
		d.out.Dates = append(d.out.Dates, extract.DateRef{Surface: d.surface(h.lo, h.hi), From: h.from, To: h.to, Precision: h.prec, Relative: h.relative,
			Start: int(d.toks[h.lo].start), End: int(d.toks[h.hi-1].end)})
	}
}
