package chat

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/text"
)

// whatsAppLine matches the start of a message in a WhatsApp export: date, time and speaker, as Android and iOS write them.
var whatsAppLine = lazyregexp.New(`^\x{200e}?\[?(\d{1,4})[./-](\d{1,2})[./-](\d{2,4}),? (\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?[ \x{202f}]?([AaPp]\.?[Mm]\.?)?(?:\] | - )(.*)$`)

// IsWhatsApp reports whether a text begins like a WhatsApp export: with three messages, the first of them on the first line.
func IsWhatsApp(head string) bool {
	n, said := 0, 0
	for line := range strings.Lines(head) {
		m := whatsAppLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil && n == 0 {
			return false
		}
		if n++; m != nil && strings.Contains(m[8], ": ") {
			said++
		}
		if said == 3 {
			return true
		}
	}
	return false
}

// ParseWhatsApp reads an exported WhatsApp chat. Its times have no zone, and the text shows them without one.
// A number over 12 decides whether the day or the month comes first. Without such a number, a 12-hour clock means month first.
func ParseWhatsApp(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	plain, err := text.Parse(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	c := newWriter(lim, len(plain.Text))
	_, name, _ := strings.Cut(strings.TrimSuffix(in.Name, ".txt"), "WhatsApp Chat with ")
	c.begin(name)
	monthFirst := monthsFirst(plain.Text)
	var m message
	for line := range strings.Lines(plain.Text) {
		line = strings.TrimRight(line, "\n")
		p := whatsAppLine.FindStringSubmatch(line)
		if p == nil {
			m.text += "\n" + line
			continue
		}
		c.say(m)
		who, said, ok := strings.Cut(p[8], ": ")
		if !ok || len(who) > 200 { // a notice by WhatsApp itself
			who, said = "", p[8]
		}
		m = message{strings.Trim(who, "\u200e "), whatsAppTime(p, monthFirst), strings.ReplaceAll(said, "\u200e", "")}
	}
	c.say(m)
	doc := c.document()
	if doc == nil {
		return plain, nil
	}
	doc.Partial = plain.Partial
	doc.Meta = map[string]string{"format": "WhatsApp"}
	return doc, nil
}

// monthsFirst reports whether dates of a chat begin with the month.
func monthsFirst(text string) bool {
	twelve := false
	for line := range strings.Lines(text) {
		p := whatsAppLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if p == nil {
			continue
		}
		a, _ := strconv.Atoi(p[1])
		b, _ := strconv.Atoi(p[2])
		switch {
		case a > 12 && a < 32 && b <= 12:
			return false
		case b > 12 && b < 32 && a <= 12:
			return true
		}
		twelve = twelve || p[7] != ""
	}
	return twelve
}

// whatsAppTime formats a time as ISO 8601 without a zone.
func whatsAppTime(p []string, monthFirst bool) string {
	n := [7]int{}
	for i := 1; i <= 6; i++ {
		n[i], _ = strconv.Atoi(clean.FirstOf(p[i], "0"))
	}
	year, month, day := n[3], n[2], n[1]
	switch {
	case n[1] > 31:
		year, month, day = n[1], n[2], n[3]
	case monthFirst:
		month, day = n[1], n[2]
	}
	if year < 100 {
		year += 2000
	}
	hour := n[4]
	if p[7] != "" {
		hour %= 12
		if p[7][0]|0x20 == 'p' {
			hour += 12
		}
	}
	return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d", year, month, day, hour, n[5], n[6])
}
