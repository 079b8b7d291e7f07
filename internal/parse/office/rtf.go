package office

import (
	"bytes"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// ParseRTF reads Rich Text Format (version 1.9.1 of its specification): text in the charsets of its fonts and in Unicode, tables, lists,
// footnotes, fields, and headings by outline level or style.
func ParseRTF(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	data := bytes.TrimLeft(in.Data, "\xef\xbb\xbf \t\r\n")
	if !bytes.HasPrefix(data, []byte("{\\rtf")) {
		return nil, document.Errorf(document.Malformed, "not a rich text file")
	}
	r := &rtfReader{ctx: ctx, data: data, w: output.New(lim, len(data)), maxDepth: max(lim.MaxDepth, 64),
		fonts: map[int]encoding.Encoding{}, decoders: map[encoding.Encoding]*encoding.Decoder{}, styles: map[int]rtfStyle{}, meta: map[string]string{}}
	r.state = rtfState{unicodeSkip: 1, font: -1}
	r.page = charmap.Windows1252
	r.w.NestTables = true
	if err := r.read(); err != nil {
		return nil, err
	}
	r.nestTo(0)
	r.w.LateNotes(r.notes)
	doc := r.w.Document()
	doc.Title, doc.Author = r.meta["title"], r.meta["author"]
	doc.Created, doc.Modified = r.created, r.revised
	for _, k := range []string{"subject", "keywords"} {
		output.SetMeta(doc, k, r.meta[k])
	}
	doc.AddPartial(r.partial)
	return output.Titled(doc), nil
}

// rtfReader is the state of the whole file. rtfState is the part that groups save and restore.
type rtfReader struct {
	ctx      context.Context
	data     []byte
	pos      int
	w        *output.Writer
	state    rtfState
	stack    []rtfState
	maxDepth int
	page     encoding.Encoding // code page of the document
	fonts    map[int]encoding.Encoding
	fontDef  int // the font being defined in the font table
	defFont  int
	styles   map[int]rtfStyle
	styleDef int
	styleTxt []byte
	bytes    []byte // undecoded text in the charset of the current font
	decoders map[encoding.Encoding]*encoding.Decoder
	decoded  []byte     // buffer for the decoded text
	high     rune       // a high surrogate that waits for the low one
	skip     int        // characters left to skip, which are the fallback of the last \u
	tables   []rtfTable // that are open, the innermost last
	row      rtfRow     // of the rows from the last \trowd on
	pending  bool       // the next text begins a paragraph
	meta     map[string]string
	created  time.Time
	revised  time.Time
	date     [5]int
	notes    []output.LateNote
	capture  []byte // text of a destination that is stored: a title, a field's instruction
	partial  string
}

// maxTrailer is how many bytes may stand behind the end of a document without a word in the result: senders add a few.
const maxTrailer = 64

type rtfStyle struct{ heading int }

type rtfDest int

const (
	destText rtfDest = iota
	destSkip
	destFonts
	destStyles
	destInfo    // the info group itself
	destField   // a text field of the info group
	destInstr   // a field's instruction
	destListTxt // the marker of a list item
	destDate
)

type rtfState struct {
	dest        rtfDest
	name        string // name of the info field
	font        int
	unicodeSkip int
	hidden      bool
	intbl       bool
	itap        int // depth of the table that the paragraph is in, 0 if unknown
	outline     int // heading level, 0 for none
	style       int
	level       int // list level
	inList      bool
	listMark    string
	link        bool
	note        bool
	url         string
}

func (r *rtfReader) read() error {
	for n := 0; r.pos < len(r.data) && !r.w.Full; n++ {
		if n&4095 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		switch c := r.data[r.pos]; c {
		case '{':
			r.flush()
			r.pos++
			r.skip = 0
			if len(r.stack) >= r.maxDepth {
				return document.Errorf(document.LimitExceeded, "groups are nested deeper than %d levels", r.maxDepth)
			}
			r.stack = append(r.stack, r.state)
			// The mark of a destination does not apply to the groups inside it.
			r.state.link, r.state.note = false, false
		case '}':
			r.flush()
			r.pos++
			r.skip = 0
			r.closeGroup()
			if len(r.stack) == 0 {
				// Text after the document's group does not belong to it.
				if len(bytes.Trim(r.data[r.pos:], "\x00\x1a \t\r\n}")) > maxTrailer {
					r.partial = "text behind the end of the document was left out"
				}
				return nil
			}
		case '\\':
			r.control()
		case '\r', '\n':
			r.pos++
		default:
			end := r.pos
			for end < len(r.data) && r.data[end] != '{' && r.data[end] != '}' && r.data[end] != '\\' && r.data[end] != '\r' && r.data[end] != '\n' {
				end++
			}
			r.chars(r.data[r.pos:end])
			r.pos = end
		}
	}
	r.flush()
	if len(r.stack) > 0 && !r.w.Full {
		r.partial = "the file ends too early"
		for len(r.stack) > 0 {
			r.closeGroup()
		}
	}
	return nil
}

// chars handles literal characters.
func (r *rtfReader) chars(b []byte) {
	for len(b) > 0 && r.skip > 0 {
		r.skip--
		b = b[1:]
	}
	if len(b) > 0 && r.state.dest != destSkip {
		r.bytes = append(r.bytes, b...)
	}
}

// control reads a control word or symbol.
func (r *rtfReader) control() {
	r.pos++
	if r.pos >= len(r.data) {
		return
	}
	c := r.data[r.pos]
	if !clean.IsLetter(rune(c)) {
		r.pos++
		r.symbol(c)
		return
	}
	start := r.pos
	for r.pos < len(r.data) && clean.IsLetter(rune(r.data[r.pos])) && r.pos-start < 64 {
		r.pos++
	}
	word := clean.String(r.data[start:r.pos])
	numStart := r.pos
	if r.pos < len(r.data) && r.data[r.pos] == '-' {
		r.pos++
	}
	for r.pos < len(r.data) && r.data[r.pos] >= '0' && r.data[r.pos] <= '9' && r.pos-numStart < 12 {
		r.pos++
	}
	arg, has := clean.ParseInt(r.data[numStart:r.pos])
	if r.pos < len(r.data) && r.data[r.pos] == ' ' {
		r.pos++
	}
	if word == "bin" {
		r.pos += max(0, min(arg, len(r.data)-r.pos))
		return
	}
	if r.skip > 0 && word != "u" {
		r.skip--
		return
	}
	if word == "u" && has {
		r.unicode(arg)
		return
	}
	if text, ok := rtfChars[word]; ok {
		r.flush()
		r.write(text)
		return
	}
	r.flush()
	r.word(word, arg, has)
}

// symbol handles a control symbol.
func (r *rtfReader) symbol(c byte) {
	if c == '\'' {
		b, ok := clean.HexByte(r.data[r.pos:])
		if !ok {
			return
		}
		r.pos += 2
		if r.skip > 0 {
			r.skip--
			return
		}
		if r.state.dest != destSkip {
			r.bytes = append(r.bytes, b)
		}
		return
	}
	if r.skip > 0 {
		r.skip--
		return
	}
	switch c {
	case '\\', '{', '}':
		r.bytes = append(r.bytes, c)
	case '~':
		r.flush()
		r.write(" ")
	case '_':
		r.bytes = append(r.bytes, '-')
	case '-':
	case '*':
		r.flush()
		// An ignorable destination: skip it unless its content is needed.
		if !rtfKnownIgnorable(r.data[r.pos:]) {
			r.state.dest = destSkip
		}
	case '\r', '\n':
		r.flush()
		r.paragraph()
	}
}

// rtfKnownIgnorable reports whether the content of the destination after \* is needed.
func rtfKnownIgnorable(b []byte) bool {
	for _, w := range []string{"\\fldinst", "\\shppict", "\\shptxt", "\\shpinst", "\\pntext", "\\cs", "\\footnote", "\\annotation", "\\nesttableprops"} {
		if bytes.HasPrefix(b, []byte(w)) {
			return true
		}
	}
	return false
}

// unicode handles a \u character. Negative numbers are the codes from 32768 on.
func (r *rtfReader) unicode(n int) {
	r.flush()
	if n < 0 {
		n += 1 << 16
	}
	r.skip = r.state.unicodeSkip
	u := rune(n)
	switch {
	case u >= 0xD800 && u < 0xDC00:
		r.high = u
		return
	case u >= 0xDC00 && u < 0xE000:
		if r.high == 0 {
			u = utf8.RuneError
		} else {
			u = (r.high-0xD800)<<10 + (u - 0xDC00) + 0x10000
		}
	case u >= 0xF020 && u <= 0xF0FF: // an 8-bit character of a symbol font
		if u == 0xF0B7 {
			u = '\u2022'
		} else {
			r.high = 0
			return
		}
	case u > utf8.MaxRune:
		u = utf8.RuneError
	}
	r.high = 0
	r.write(string(u))
}

// flush decodes the collected bytes.
func (r *rtfReader) flush() {
	if len(r.bytes) == 0 {
		return
	}
	enc := r.page
	if e, ok := r.fonts[r.state.font]; ok && e != nil {
		enc = e
	}
	text := r.bytes
	switch {
	case !slices.ContainsFunc(text, func(b byte) bool { return b >= utf8.RuneSelf }):
	case enc == charmap.Windows1252 && len(text) > 3 && charset.MostlyUTF8(text):
		text = charset.ToValid(text) // some programs write it against the specification
	default:
		dec := r.decoders[enc]
		if dec == nil {
			dec = enc.NewDecoder()
			r.decoders[enc] = dec
		}
		r.decoded = charset.AppendDecoded(r.decoded[:0], dec, text)
		text = r.decoded
	}
	r.write(clean.String(text))
	r.bytes = r.bytes[:0]
}

// write adds text to the current destination.
func (r *rtfReader) write(s string) {
	switch r.state.dest {
	case destSkip, destInfo, destFonts, destDate:
	case destStyles:
		if len(r.styleTxt) < 200 {
			r.styleTxt = append(r.styleTxt, s...)
		}
	case destField, destInstr, destListTxt:
		if len(r.capture) < 8192 {
			r.capture = append(r.capture, s...)
		}
	default:
		if r.state.hidden {
			return
		}
		if s == "\u2022" && r.pending && r.state.listMark == "" && !r.inNote() {
			r.state.listMark = "-" // a bullet written as text
			return
		}
		r.begin(s)
		r.w.Text(s)
	}
}

// closeGroup ends a group and handles the text that its destination collected.
func (r *rtfReader) closeGroup() {
	if len(r.stack) == 0 {
		return
	}
	ended := r.state
	r.state = r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	if ended.link {
		r.w.LinkEnd()
	}
	if ended.note {
		r.notes[len(r.notes)-1].Text = r.w.Keep(r.w.Release())
	}
	switch ended.dest {
	case destField:
		if r.state.dest != destField {
			r.meta[ended.name] = clean.OneLine(string(r.capture))
			r.capture = r.capture[:0]
		}
	case destInstr:
		if r.state.dest != destInstr {
			instr := string(r.capture)
			r.capture = r.capture[:0]
			r.state.url = hyperlinkField(instr)
			if label := buttonField(instr); label != "" && r.state.dest == destText {
				r.write(label)
			}
		}
	case destListTxt:
		if r.state.dest != destListTxt {
			r.setListMark(string(r.capture))
			r.capture = r.capture[:0]
		}
	case destStyles:
		r.endStyle()
	case destDate:
		if r.state.dest != destDate {
			r.endDate(ended.name)
		}
	}
}
