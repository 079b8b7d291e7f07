package language

import (
	"slices"

	"github.com/contextmem/contextmem/extract"
)

// TextMentions adds the names, dates and literals (identifiers, addresses, amounts) of the text, in text order.
func (d *Document) TextMentions() {
	if n := min(len(d.Names)+len(d.Dates), MaxMentions); n > cap(d.Mentions) { // growing it step by step leaves twice as much garbage
		d.Mentions = slices.Grow(d.Mentions, n-len(d.Mentions))
	}
	name, date := 0, 0
	for i := range d.Tokens {
		for ; name < len(d.Names) && d.Names[name].Lo <= i; name++ {
			d.addName(&d.Names[name])
		}
		if date < len(d.Dates) && d.Dates[date].Lo == i {
			d.addDate(&d.Dates[date])
			date++
		}
		d.addLiteral(i)
	}
	for ; name < len(d.Names); name++ {
		d.addName(&d.Names[name])
	}
}

func (d *Document) addName(h *Name) {
	surface := d.SpanText(h.Lo, h.Hi)
	if h.Key == "" {
		h.Key = extract.Key(surface)
	}
	d.AddMention(extract.Mention{Name: surface, Key: h.Key, Type: h.Type, Start: int(d.Tokens[h.Lo].Start), End: int(d.Tokens[h.Hi-1].End), Weak: h.Weak, Part: h.Part})
}

// addDate adds a date. For a day or month with its year, it also adds the year.
func (d *Document) addDate(h *Date) {
	if h.From.IsZero() {
		return
	}
	m := extract.Mention{Name: d.SpanText(h.Lo, h.Hi), Key: h.Key(), Type: extract.TypeDate, Start: int(d.Tokens[h.Lo].Start), End: int(d.Tokens[h.Hi-1].End)}
	d.AddMention(m)
	if h.Precision == extract.PrecisionYear || h.Relative || len(m.Key) < 4 {
		return
	}
	m.Key, m.Part = m.Key[:4], true
	m.Name = m.Key
	d.AddMention(m)
}

// addLiteral adds an identifier, address or amount.
func (d *Document) addLiteral(i int) {
	t := &d.Tokens[i]
	m := extract.Mention{Start: int(t.Start), End: int(t.End)}
	switch t.Kind {
	case KindIdentifier:
		m.Type = extract.TypeIdentifier
	case KindErrorCode:
		m.Type = extract.TypeErrorCode
	case KindURL:
		m.Type = extract.TypeURL
	case KindEmail:
		m.Type = extract.TypeEmail
	case KindHandle:
		m.Type = extract.TypeHandle
	default:
		return
	}
	m.Name = d.TokenText(i)
	m.Key = extract.Key(m.Name)
	d.AddMention(m)
}

// DateRefs lists the resolved dates.
func (d *Document) DateRefs() []extract.DateRef {
	n := 0
	for i := range d.Dates {
		if !d.Dates[i].From.IsZero() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out := make([]extract.DateRef, 0, n)
	for i := range d.Dates {
		h := &d.Dates[i]
		if h.From.IsZero() {
			continue
		}
		out = append(out, extract.DateRef{Surface: d.SpanText(h.Lo, h.Hi), From: h.From, To: h.To, Precision: h.Precision, Relative: h.Relative,
			Start: int(d.Tokens[h.Lo].Start), End: int(d.Tokens[h.Hi-1].End)})
	}
	return out
}
