package office

import (
	"context"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// Types of records of [MS-PPT], and of [MS-ODRAW] for text boxes.
const (
	pptDocument     = 0x03E8
	pptSlide        = 0x03EE
	pptNotes        = 0x03F0
	pptNotesAtom    = 0x03F1
	pptPersist      = 0x03F3
	pptTextHeader   = 0x0F9F
	pptTextChars    = 0x0FA0
	pptTextBytes    = 0x0FA8
	pptSlideList    = 0x0FF0
	pptUserEdit     = 0x0FF5
	pptDirectory    = 0x1772
	pptClientText   = 0xF00D
	pptEncrypted    = 0xF3D1C4DF // headerToken of the Current User stream
	pptTitle        = 0          // kinds of text
	pptCentreTitle  = 6
	maxPPTEdits     = 10_000
	maxPPTPersisted = 1 << 20
)

// pptFile is a presentation of PowerPoint 97 to 2003.
type pptFile struct {
	ctx   context.Context
	data  []byte
	at    map[uint32]uint32 // offset of the newest version of each object
	depth int
	cut   bool
	odd   oddUnits
}

// pptRecord is a record. If its version is 15 it is a container of other records.
type pptRecord struct {
	kind, instance int
	container      bool
	body           []byte
}

// records calls visit for the records of data until visit returns false.
func (f *pptFile) records(data []byte, visit func(pptRecord) bool) {
	for len(data) >= 8 {
		first := binary.LittleEndian.Uint16(data)
		size := int64(binary.LittleEndian.Uint32(data[4:]))
		rest := data[8:]
		if size > int64(len(rest)) {
			f.cut = true
			size = int64(len(rest))
		}
		r := pptRecord{kind: int(binary.LittleEndian.Uint16(data[2:])), instance: int(first >> 4), container: first&15 == 15, body: rest[:size]}
		if !visit(r) {
			return
		}
		data = rest[size:]
	}
}

// record returns the record at an offset of the stream.
func (f *pptFile) record(at uint32) (out pptRecord) {
	if int64(at) < int64(len(f.data)) {
		f.records(f.data[at:], func(r pptRecord) bool {
			out = r
			return false
		})
	}
	return out
}

func u32At(b []byte, at int) uint32 {
	if at+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[at:])
}

// readEdits follows the edits of the file from the newest to the oldest, and returns the id of the document.
func (f *pptFile) readEdits(at uint32) (document uint32) {
	for n := 0; at != 0 && n < maxPPTEdits; n++ {
		edit := f.record(at)
		if edit.kind != pptUserEdit || len(edit.body) < 24 {
			f.cut = true
			break
		}
		if document == 0 {
			document = u32At(edit.body, 16)
		}
		dir := f.record(u32At(edit.body, 12)).body
		for len(dir) >= 4 {
			first := u32At(dir, 0)
			id, count := first&0xFFFFF, int(first>>20)
			dir = dir[4:]
			for ; count > 0 && len(dir) >= 4 && len(f.at) < maxPPTPersisted; count-- {
				if _, newer := f.at[id]; !newer {
					f.at[id] = u32At(dir, 0)
				}
				id, dir = id+1, dir[4:]
			}
		}
		before := u32At(edit.body, 8)
		if before >= at { // older edits have lower offsets
			break
		}
		at = before
	}
	return document
}

// pptText is a text of a slide.
type pptText struct {
	title bool
	text  string
}

// texts returns the texts in a container in order. For a list of slides it passes the texts to perSlide.
func (f *pptFile) texts(data []byte, boxed bool) (out []pptText) {
	if f.depth++; f.depth > 64 || f.ctx.Err() != nil {
		f.depth--
		return nil
	}
	title := false
	f.records(data, func(r pptRecord) bool {
		switch {
		case r.container || r.kind == pptClientText:
			out = append(out, f.texts(r.body, boxed || r.kind == pptClientText)...)
		case !boxed:
		case r.kind == pptTextHeader:
			kind := u32At(r.body, 0)
			title = kind == pptTitle || kind == pptCentreTitle
		case r.kind == pptTextChars || r.kind == pptTextBytes:
			if text := f.string(r); strings.TrimSpace(text) != "" && strings.TrimSpace(text) != "*" { // "*" is a page number
				out = append(out, pptText{title, text})
			}
		}
		return true
	})
	f.depth--
	return out
}

// string decodes a text record. One kind has only the low bytes of UTF-16.
func (f *pptFile) string(r pptRecord) string {
	units := make([]uint16, 0, len(r.body))
	if r.kind == pptTextBytes {
		for _, c := range r.body {
			units = append(units, uint16(c))
		}
	} else {
		for i := 0; i+1 < len(r.body); i += 2 {
			units = append(units, binary.LittleEndian.Uint16(r.body[i:]))
		}
	}
	f.odd.note(units)
	return strings.Map(func(c rune) rune {
		switch c {
		case '\r', '\v':
			return '\n'
		}
		return c
	}, string(utf16.Decode(units)))
}

// pptSlideRef is a slide of the document's list, with the texts of its outline.
type pptSlideRef struct {
	ref, id uint32
	texts   []pptText
}

// slideList returns the slides of a list in the document container: instance 0 is the presentation, 2 the notes.
func (f *pptFile) slideList(document []byte, instance int) (out []pptSlideRef) {
	f.records(document, func(r pptRecord) bool {
		if r.kind != pptSlideList || r.instance != instance {
			return true
		}
		title := false
		f.records(r.body, func(r pptRecord) bool {
			switch r.kind {
			case pptPersist:
				out = append(out, pptSlideRef{ref: u32At(r.body, 0), id: u32At(r.body, 12)})
			case pptTextHeader:
				kind := u32At(r.body, 0)
				title = kind == pptTitle || kind == pptCentreTitle
			case pptTextChars, pptTextBytes:
				if n := len(out) - 1; n >= 0 {
					out[n].texts = append(out[n].texts, pptText{title, f.string(r)})
				}
			}
			return len(out) < maxSlides
		})
		return true
	})
	return out
}

// notesOf returns the texts of notes by the id of their slide.
func (f *pptFile) notesOf(document []byte) map[uint32][]pptText {
	notes := map[uint32][]pptText{}
	for _, n := range f.slideList(document, 2) {
		r := f.record(f.at[n.ref])
		if r.kind != pptNotes {
			continue
		}
		slide := uint32(0)
		f.records(r.body, func(r pptRecord) bool {
			if r.kind == pptNotesAtom {
				slide = u32At(r.body, 0)
			}
			return slide == 0
		})
		notes[slide] = append(notes[slide], f.texts(r.body, false)...)
	}
	return notes
}

// ParsePPT reads presentations of PowerPoint 97 to 2003. Each slide is a page with its title, its texts and its notes.
func ParsePPT(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	c, err := openOLE(in)
	if err != nil {
		return nil, err
	}
	user := c.Stream("Current User")
	f := &pptFile{ctx: ctx, data: c.Stream("PowerPoint Document"), at: map[uint32]uint32{}}
	if u32At(user, 12) == pptEncrypted {
		return nil, document.NewError(document.Encrypted, "the presentation needs a password", nil).WithHint("save it without one")
	}
	root := f.record(f.at[f.readEdits(u32At(user, 16))])
	if root.kind != pptDocument {
		return nil, document.NewError(document.Malformed, "the presentation is damaged: its document is missing", nil).WithHint("save it as .pptx")
	}
	w := output.New(lim, len(f.data)/8)
	notes := f.notesOf(root.body)
	for _, s := range f.slideList(root.body, 0) {
		if w.Full {
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		slide := f.record(f.at[s.ref])
		if slide.kind != pptSlide {
			f.cut = true
		}
		writePPTSlide(w, append(s.texts, f.texts(slide.body, false)...), notes[s.id])
	}
	doc := w.Document()
	oleProperties(c, doc)
	if f.cut || c.Cut || f.odd.damaged() {
		doc.AddPartial("the file is cut off or damaged")
	}
	return output.Titled(doc), nil
}

// writePPTSlide writes a slide as a page.
func writePPTSlide(w *output.Writer, texts, notes []pptText) {
	label := ""
	for _, t := range texts {
		if t.title {
			label = clean.OneLine(t.text)
			break
		}
	}
	w.Page(label)
	for _, t := range texts {
		if t.title {
			w.Heading(2)
			w.Text(clean.OneLine(t.text))
			w.Block()
			continue
		}
		for line := range strings.SplitSeq(t.text, "\n") {
			w.Block()
			w.Text(clean.String([]byte(line)))
		}
		w.Block()
	}
	for i, t := range notes {
		w.Block()
		if i == 0 {
			w.Label("Notes: ")
		}
		w.Text(clean.OneLine(t.text))
		w.Block()
	}
}
