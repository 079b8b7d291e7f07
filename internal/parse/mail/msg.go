package mail

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/ole"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// Properties of messages and attachments ([MS-OXPROPS]).
const (
	msgSubject    = 0x0037
	msgSubmitted  = 0x0039
	msgHeaders    = 0x007D
	msgSenderName = 0x0C1A
	msgSenderMail = 0x0C1F
	msgSenderSMTP = 0x5D01
	msgCc         = 0x0E03
	msgTo         = 0x0E04
	msgDelivered  = 0x0E06
	msgBody       = 0x1000
	msgRTF        = 0x1009
	msgHTML       = 0x1013
	msgID         = 0x1035
	msgData       = 0x3701
	msgShortName  = 0x3704
	msgLongName   = 0x3707
	msgMIME       = 0x370E

	// MSGMark is the stream that every message has.
	MSGMark = "__properties_version1.0"
)

// MSGParser reads messages that Outlook saved ([MS-OXMSG]). Files reads attachments and bodies that are not plain text.
type MSGParser struct{ Files Reader }

// msgFile is a message, or an attachment whose streams have the prefix.
type msgFile struct {
	*ole.File
	prefix string
}

// text returns a text property, or "" if there is none.
func (f msgFile) text(id int) string {
	if b := f.Stream(fmt.Sprintf("%s__substg1.0_%04X001F", f.prefix, id)); b != nil {
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(b[2*i:])
		}
		return clean.String([]byte(lines(strings.TrimRight(string(utf16.Decode(units)), "\x00"))))
	}
	b := f.Stream(fmt.Sprintf("%s__substg1.0_%04X001E", f.prefix, id))
	if b == nil {
		return ""
	}
	return clean.String([]byte(lines(string(charset.Decode(bytes.TrimRight(b, "\x00"), "")))))
}

// lines converts all line ends to line feeds.
func lines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// binary returns a binary property, or nil if there is none.
func (f msgFile) binary(id int) []byte {
	return f.Stream(fmt.Sprintf("%s__substg1.0_%04X0102", f.prefix, id))
}

// windowsEpoch is the number of seconds from 1601 to 1970.
const windowsEpoch = 11_644_473_600

// time returns a time property from the table of fixed-length properties.
func (f msgFile) time(id int) time.Time {
	table := f.Stream(f.prefix + MSGMark)
	for at := 32; at+16 <= len(table); at += 16 {
		if binary.LittleEndian.Uint32(table[at:]) == uint32(id)<<16|0x0040 {
			if ticks := binary.LittleEndian.Uint64(table[at+8:]); ticks > windowsEpoch*1e7 && ticks < 1<<62 {
				return time.Unix(int64(ticks/1e7)-windowsEpoch, 0).UTC()
			}
		}
	}
	return time.Time{}
}

// Parse reads one message.
func (p MSGParser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	o, err := ole.Open(in.Data)
	if err != nil {
		return nil, document.NewError(document.Malformed, "the message is damaged", err)
	}
	f := msgFile{o, ""}
	m := Parser(p).reader(ctx, lim, len(in.Data)/4)
	doc := &document.Document{Markdown: true, Title: clean.OneLine(f.text(msgSubject)), Created: f.time(msgSubmitted)}
	if doc.Created.IsZero() {
		doc.Created = f.time(msgDelivered)
	}
	doc.Author = f.sender()
	if doc.Title != "" {
		m.put("# " + doc.Title)
	}
	date := ""
	if !doc.Created.IsZero() {
		date = doc.Created.Format(time.RFC3339)
	}
	first := true
	for _, x := range []mailField{{"from", doc.Author}, {"to", clean.OneLine(f.text(msgTo))}, {"cc", clean.OneLine(f.text(msgCc))}, {"date", date}} {
		if x.value == "" {
			continue
		}
		if first {
			m.block()
		} else {
			m.put("\n")
		}
		first = false
		m.put(strings.ToUpper(x.name[:1]) + x.name[1:] + ": " + x.value)
		output.SetMeta(doc, x.name, x.value)
	}
	output.SetMeta(doc, "message-id", clean.OneLine(f.text(msgID)))
	m.msgBody(f)
	for n := 0; m.err == nil && !m.full; n++ {
		a := msgFile{o, fmt.Sprintf("__attach_version1.0_#%08X/", n)}
		if !o.Has(a.prefix + MSGMark) {
			break
		}
		if m.parts++; m.parts > maxMailParts {
			m.note(fmt.Sprintf("the mail has more than %d parts", maxMailParts))
			break
		}
		data := a.binary(msgData)
		name := clean.FirstOf(clean.OneLine(a.text(msgLongName)), clean.OneLine(a.text(msgShortName)))
		if data == nil {
			m.note("an attached message was not read")
		}
		mediaType, _ := media.Of(a.text(msgMIME))
		m.attachment(name, mediaType, "", data)
	}
	if o.Cut {
		m.note("the file is cut off or damaged")
	}
	return m.finish(doc)
}

// sender returns the sender's name and address.
func (f msgFile) sender() string {
	name, address := clean.OneLine(f.text(msgSenderName)), clean.OneLine(f.text(msgSenderSMTP))
	if other := clean.OneLine(f.text(msgSenderMail)); address == "" && strings.Contains(other, "@") {
		address = other
	}
	switch {
	case address == "" || address == name:
		return name
	case name == "":
		return address
	}
	return name + " <" + address + ">"
}

// msgBody writes the body: the plain text if there is one, else the HTML, else the RTF.
func (m *mailReader) msgBody(f msgFile) {
	if text := strings.TrimSpace(f.text(msgBody)); text != "" {
		m.block()
		m.put(text)
		return
	}
	data, mediaType := f.binary(msgHTML), media.HTML
	if html := f.text(msgHTML); data == nil && html != "" {
		data = []byte(html)
	}
	if len(data) == 0 {
		data, mediaType = unpackRTF(f.binary(msgRTF), m.lim.MaxExpanded), media.RTF
	}
	if len(data) == 0 {
		return
	}
	lim := m.rest()
	lim.Timeout = -1
	doc, err := m.files.Parse(m.ctx, document.Input{ContentType: mediaType, Data: data}, lim)
	if err != nil {
		m.fault(err, "the body could not be read")
		return
	}
	m.block()
	m.put(doc.Text)
	if doc.Partial != "" {
		m.note(doc.Partial)
	}
}

// rtfDictionary is the initial content of the window of compressed RTF ([MS-OXRTFCP]).
const rtfDictionary = "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArial" +
	"Times New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"

// unpackRTF decompresses RTF. It stops at damaged data and after most bytes.
func unpackRTF(data []byte, most int64) []byte {
	if len(data) < 16 {
		return nil
	}
	kind, body := string(data[8:12]), data[16:]
	if kind == "MELA" {
		return body
	}
	if kind != "LZFu" {
		return nil
	}
	const window = 4096
	var dict [window]byte
	at := copy(dict[:], rtfDictionary)
	most = min(most, int64(binary.LittleEndian.Uint32(data[4:])))
	var out []byte
	put := func(c byte) {
		out = append(out, c)
		dict[at%window] = c
		at++
	}
	for len(body) > 0 && int64(len(out)) < most {
		flags := body[0]
		body = body[1:]
		for bit := 0; bit < 8 && int64(len(out)) < most; bit++ {
			if flags>>bit&1 == 0 {
				if len(body) == 0 {
					return out
				}
				put(body[0])
				body = body[1:]
				continue
			}
			if len(body) < 2 {
				return out
			}
			ref := int(binary.BigEndian.Uint16(body))
			body = body[2:]
			from := ref >> 4
			if from == at%window { // marks the end
				return out
			}
			for n := ref&15 + 2; n > 0; n-- {
				put(dict[from%window])
				from++
			}
		}
	}
	return out
}
