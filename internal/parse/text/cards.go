package text

import (
	"context"
	"io"
	"mime/quotedprintable"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

const (
	// maxCardLine bounds one unfolded line of a calendar or a contact.
	maxCardLine = 64 << 10
	// maxCardFields bounds the fields of one event or contact.
	maxCardFields = 2000
)

// cardField is a line "NAME;PARAM=VALUE:text" of a calendar (RFC 5545) or a contact (RFC 6350).
type cardField struct {
	name   string // in upper case, without its group prefix
	params string
	value  string
}

// cardReader reads the fields of a card. It joins folded lines.
type cardReader struct {
	lines []string
	lost  int // lines with words that are no fields
}

func (r *cardReader) next() (cardField, bool) {
	for len(r.lines) > 0 {
		line := r.lines[0]
		r.lines = r.lines[1:]
		soft := strings.HasSuffix(line, "=") && strings.Contains(strings.ToUpper(line), "QUOTED-PRINTABLE")
		var b strings.Builder
		b.WriteString(line)
		for len(r.lines) > 0 && b.Len() < maxCardLine {
			more := r.lines[0]
			if soft {
				b.WriteString("\n" + more)
				soft = strings.HasSuffix(more, "=")
			} else if more != "" && (more[0] == ' ' || more[0] == '\t') {
				b.WriteString(more[1:])
			} else {
				break
			}
			r.lines = r.lines[1:]
		}
		if f, ok := parseCardField(b.String()); ok {
			return f, true
		}
		if strings.TrimSpace(b.String()) != "" {
			r.lost++
		}
	}
	return cardField{}, false
}

// parseCardField splits a line at the first colon outside quotes.
func parseCardField(line string) (cardField, bool) {
	quoted := false
	for i := range len(line) {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ':' && !quoted:
			name, params, _ := strings.Cut(line[:i], ";")
			if _, rest, ok := strings.Cut(name, "."); ok {
				name = rest
			}
			f := cardField{name: strings.ToUpper(strings.TrimSpace(name)), params: params, value: line[i+1:]}
			if strings.Contains(strings.ToUpper(params), "QUOTED-PRINTABLE") { // vCard 2.1
				out, _ := io.ReadAll(quotedprintable.NewReader(strings.NewReader(f.value)))
				f.value = string(charset.Decode(out, f.param("CHARSET")))
			}
			return f, f.name != "" && !strings.ContainsAny(f.name, " \t")
		}
	}
	return cardField{}, false
}

var cardEscapes = strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`)

// text returns the value without its escapes.
func (f *cardField) text() string { return strings.TrimSpace(cardEscapes.Replace(f.value)) }

// parts returns the values of a structured field, joined by sep.
func (f *cardField) parts(sep string) string {
	var out []string
	for _, p := range strings.Split(strings.ReplaceAll(f.value, `\;`, "\x00"), ";") {
		if p = strings.TrimSpace(cardEscapes.Replace(strings.ReplaceAll(p, "\x00", ";"))); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}

// param returns the value of a parameter, "" when there is none.
func (f *cardField) param(name string) string {
	for rest := f.params; rest != ""; {
		end, quoted := 0, false
		for end < len(rest) && (quoted || rest[end] != ';') {
			quoted = quoted != (rest[end] == '"')
			end++
		}
		key, value, _ := strings.Cut(rest[:end], "=")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.Trim(value, `" `)
		}
		rest = strings.TrimPrefix(rest[end:], ";")
	}
	return ""
}

// person formats an organiser or attendee as the name in parameter CN followed by the address.
func (f *cardField) person() string {
	address := strings.TrimPrefix(strings.TrimPrefix(f.text(), "mailto:"), "MAILTO:")
	if name := f.param("CN"); name != "" && name != address {
		return name + " <" + address + ">"
	}
	return address
}

// when converts a date or time such as 20260402T073000Z to a readable ISO 8601 form.
func (f *cardField) when() string {
	v := strings.TrimSpace(f.value)
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, v)
	if len(digits) < 8 {
		return v
	}
	out := digits[:4] + "-" + digits[4:6] + "-" + digits[6:8]
	if len(digits) >= 12 {
		out += " " + digits[8:10] + ":" + digits[10:12]
		switch {
		case strings.HasSuffix(v, "Z"):
			out += " UTC"
		case f.param("TZID") != "":
			out += " (" + f.param("TZID") + ")"
		}
	}
	return out
}

// calendarLabels lists the event fields that the output shows, in this order.
var calendarLabels = []struct{ name, label string }{
	{"DTSTART", "Start"}, {"DTEND", "End"}, {"DUE", "Due"}, {"DURATION", "Duration"}, {"RRULE", "Repeats"}, {"LOCATION", "Where"},
	{"STATUS", "Status"}, {"ORGANIZER", "Organiser"}, {"ATTENDEE", "Attendee"}, {"CATEGORIES", "Categories"}, {"URL", "URL"},
	{"COMMENT", "Comment"}, {"DESCRIPTION", "Description"},
}

// contactLabels lists the contact fields that the output shows, in this order.
var contactLabels = []struct{ name, label string }{
	{"NICKNAME", "Nickname"}, {"ORG", "Organisation"}, {"TITLE", "Title"}, {"ROLE", "Role"}, {"EMAIL", "Mail"}, {"TEL", "Telephone"},
	{"ADR", "Address"}, {"BDAY", "Birthday"}, {"ANNIVERSARY", "Anniversary"}, {"URL", "URL"}, {"IMPP", "Messenger"},
	{"RELATED", "Related"}, {"CATEGORIES", "Categories"}, {"NOTE", "Note"},
}

// ParseCalendar reads iCalendar. Each event, task or journal entry becomes a section with its times, places and people.
// Recurrence rules are written as text, not expanded into single events.
func ParseCalendar(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	return parseCards(ctx, in, lim, func(name string) bool { return name == "VEVENT" || name == "VTODO" || name == "VJOURNAL" }, "SUMMARY", calendarLabels)
}

// ParseContacts reads vCards. Each contact becomes a section.
func ParseContacts(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	return parseCards(ctx, in, lim, func(name string) bool { return name == "VCARD" }, "FN", contactLabels)
}

func parseCards(ctx context.Context, in document.Input, lim document.Limits, wanted func(string) bool, title string,
	labels []struct{ name, label string }) (*document.Document, error) {
	plain, err := Parse(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	r := &cardReader{lines: strings.Split(plain.Text, "\n")}
	w := output.New(lim, len(plain.Text))
	var fields []cardField
	open, inside, any, depth := false, "", false, 0
	calendar := ""
	for n := 0; !w.Full; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f, ok := r.next()
		if !ok {
			break
		}
		value := strings.ToUpper(strings.TrimSpace(f.value))
		switch {
		case f.name == "BEGIN" && !open && wanted(value):
			open, any, inside, fields, depth = true, true, value, fields[:0], 0
		case f.name == "BEGIN" && open:
			depth++ // an alarm
		case f.name == "END" && open && value == inside && depth == 0:
			writeCard(w, fields, title, labels)
			open = false
		case f.name == "END" && depth > 0:
			depth--
		case f.name == "X-WR-CALNAME":
			calendar = f.text()
		case open && depth == 0 && len(fields) < maxCardFields:
			fields = append(fields, f)
		}
	}
	if !any {
		plain.AddPartial("no entries were found, and the file was kept as plain text")
		return plain, nil
	}
	if open {
		writeCard(w, fields, title, labels)
	}
	doc := w.Document()
	doc.Title, doc.Partial = calendar, plain.Partial
	if r.lost > 0 {
		doc.AddPartial(strconv.Itoa(r.lost) + " lines are no fields, and were left out")
	}
	if open {
		doc.AddPartial("the last entry has no end: the file may be cut off")
	}
	return doc, nil
}

func writeCard(w *output.Writer, fields []cardField, title string, labels []struct{ name, label string }) {
	name := ""
	for i := range fields {
		if f := &fields[i]; f.name == title || name == "" && f.name == "N" {
			if name = f.text(); f.name == "N" {
				name = f.parts(" ")
			}
			if f.name == title {
				break
			}
		}
	}
	w.Heading(2)
	w.Text(clean.FirstOf(clean.OneLine(name), "(no title)"))
	w.Block()
	for _, l := range labels {
		for i := range fields {
			f := &fields[i]
			if f.name != l.name {
				continue
			}
			text := f.text()
			switch l.name {
			case "DTSTART", "DTEND", "DUE", "BDAY", "ANNIVERSARY":
				text = f.when()
			case "ORGANIZER", "ATTENDEE":
				text = f.person()
			case "ADR", "ORG":
				text = f.parts(", ")
			}
			if text == "" || IsBase64([]byte(text)) {
				continue
			}
			w.Raw(l.label + ": ")
			for k, line := range strings.Split(text, "\n") {
				if k > 0 {
					w.Line()
				}
				w.Text(line)
			}
			w.Line()
		}
	}
	w.Block()
}
