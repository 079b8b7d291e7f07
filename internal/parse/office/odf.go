package office

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/archive"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// ParseODF reads OpenDocument texts, spreadsheets and presentations (OASIS OpenDocument 1.3).
func ParseODF(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	z, err := archive.Open(ctx, in.Data, lim)
	if err != nil {
		return nil, err
	}
	if manifest, err := z.Read("META-INF/manifest.xml", 4<<20); err != nil {
		return nil, err
	} else if bytes.Contains(manifest, []byte("encryption-data")) {
		return nil, document.NewError(document.Encrypted, "the office document needs a password", nil).WithHint("save it without one")
	}
	d := newODFReader(ctx, output.New(lim, 4096))
	if isODFSpreadsheet(z) {
		d.names = odfTableNames(z)
	}
	x := scanEntry(z, "content.xml", lim.MaxDepth)
	if x == nil {
		return nil, document.Errorf(document.Malformed, "the office document has no content")
	}
	d.w.NestTables = true
	d.z, d.maxDepth = z, lim.MaxDepth
	if s := scanEntry(z, "styles.xml", lim.MaxDepth); s != nil {
		if err := d.readStyles(s); err != nil {
			return nil, err
		}
	}
	if err := d.read(x); err != nil {
		return nil, err
	}
	if err := scanFault(z, x); err != nil {
		return nil, err
	}
	doc := finishOffice(d.w, z, func(doc *document.Document) {
		if m := scanEntry(z, "meta.xml", lim.MaxDepth); m != nil {
			readProperties(m, doc)
		}
	})
	if d.sheets {
		return doc, nil
	}
	return output.Titled(doc), nil
}

// isODFSpreadsheet reports whether the container says that it is a spreadsheet or a template of one.
func isODFSpreadsheet(z *archive.File) bool {
	kind, err := z.Read("mimetype", 256)
	return err == nil && bytes.HasPrefix(kind, []byte("application/vnd.oasis.opendocument.spreadsheet"))
}

// odfReader turns OpenDocument content into blocks.
type odfReader struct {
	ctx      context.Context
	w        *output.Writer
	numbered map[string][]odfLevel // list styles: which levels are numbered
	headings map[string]int        // paragraph styles that are headings by their outline level
	parents  map[string]string
	code     map[string]bool
	notes    []output.LateNote
	note     int // depth of notes and comments
	sheets   bool
	slides   bool
	sheet    odfSheet
	names    map[string][]odfName // of tables, by sheet
	hidden   map[string]bool      // styles of tables that are not shown
	// tableStyle is the style of tables that is being read.
	tableStyle string
	z          *archive.File // nil: a single XML file
	maxDepth   int           // of the elements of its parts
	title      bool
	odfState
	saved []odfState
}

// odfState is the reading state within one sequence of paragraphs: the body, a note, a text box or a cell.
type odfState struct {
	para   int // depth of open paragraphs
	lists  []odfList
	pre    *strings.Builder // collected code
	inPre  bool
	math   int      // open elements of a formula
	boxes  [][]byte // text boxes of the current paragraph
	inHead int      // open elements of header rows
	// repeat is how many equal cells of a table the current one stands for; 0 or less means one.
	repeat int
}

// enter begins a separate sequence of paragraphs. Its text is captured until leave returns it.
func (d *odfReader) enter() {
	d.w.Capture()
	d.saved = append(d.saved, d.odfState)
	d.odfState = odfState{}
}

func (d *odfReader) leave() []byte {
	if len(d.saved) == 0 {
		return nil
	}
	d.flushCode()
	d.flushBoxes()
	d.odfState = d.saved[len(d.saved)-1]
	d.saved = d.saved[:len(d.saved)-1]
	return d.w.Release()
}

type odfList struct {
	style string
	next  int
	item  bool // the marker of the current item was written
}

func newODFReader(ctx context.Context, w *output.Writer) *odfReader {
	return &odfReader{ctx: ctx, w: w, numbered: map[string][]odfLevel{}, headings: map[string]int{"Title": 1},
		hidden: map[string]bool{}, parents: map[string]string{}, code: map[string]bool{"Preformatted_20_Text": true}}
}

// read reads the content.
func (d *odfReader) read(x *xmlscan.Scanner) error {
	for n := 0; x.Next() && !d.w.Full; n++ {
		if n&1023 == 0 && d.ctx.Err() != nil {
			return d.ctx.Err()
		}
		switch x.Kind {
		case xmlscan.Start:
			d.start(x)
		case xmlscan.Text:
			if d.para > 0 {
				d.write(clean.String(x.Text))
			}
		case xmlscan.End:
			d.end(x.Name)
		}
	}
	d.flushCode()
	d.w.LateNotes(d.notes)
	return nil
}

func (d *odfReader) write(s string) {
	if d.inPre {
		if d.pre.Len() < d.w.Max {
			d.pre.WriteString(s)
		}
		return
	}
	d.w.Text(s)
}

func (d *odfReader) start(x *xmlscan.Scanner) {
	switch x.Name {
	case "tracked-changes", "forms", "scripts", "font-face-decls", "note-citation", "settings", "master-styles",
		"table-source", "content-validations", "sequence-decls", "variable-decls", "user-field-decls", "date-string",
		"creator-initials", "sender-initials", "event-listeners", "meta", "binary-data", "table-of-content-source",
		"illustration-index-source", "table-index-source", "object-index-source", "user-index-source",
		"alphabetical-index-source", "bibliography-source":
		x.Skip()
	case "date", "creator":
		if d.note > 0 && d.para == 0 { // the author and date of a comment; inside a paragraph they are fields
			x.Skip()
		}
	case "list-style", "style", "table-properties":
		d.style(x)
	case "spreadsheet":
		d.sheets = true
	case "presentation":
		d.slides = true
	case "h", "p":
		d.paragraph(x)
	case "s":
		d.write(strings.Repeat(" ", max(1, min(clean.Int(x.Attr("c")), 64))))
	case "tab":
		d.write(" ")
	case "line-break":
		if d.inPre {
			d.pre.WriteByte('\n')
		} else {
			d.w.Newline()
		}
	case "a":
		d.w.LinkStart(x.Attr("href"))
	case "list":
		d.list(x)
	case "list-item", "list-header":
		d.listItem(x)
	case "note":
		d.openNote(x)
	case "annotation":
		if x.Attr("encoding") != "" {
			x.Skip() // the source of a formula
			break
		}
		d.openNote(x)
	case "mi", "mn", "mo", "mtext":
		d.para++ // a formula within a sentence
		d.math++
	case "desc":
		d.image(x)
	case "object":
		d.formula(x.Attr("href"))
	case "annotation-xml":
		x.Skip()
	case "text-box":
		d.enter()
	case "page":
		d.w.Page(x.Attr("name"))
	case "notes":
		if d.slides {
			d.note++
			d.enter()
		}
	case "frame":
		d.frame(x)
	default:
		d.tableStart(x)
	}
}

// list opens a text:list. A list within another one has its style.
func (d *odfReader) list(x *xmlscan.Scanner) {
	style := x.Attr("style-name")
	if style == "" && len(d.lists) > 0 {
		style = d.lists[len(d.lists)-1].style
	}
	if len(d.lists) == 0 {
		d.w.Block()
	}
	d.lists = append(d.lists, odfList{style: style, next: 1})
}

func (d *odfReader) listItem(x *xmlscan.Scanner) {
	n := len(d.lists)
	if n == 0 {
		return
	}
	d.lists[n-1].item = x.Name == "list-header"
	if v := clean.Int(x.Attr("start-value")); v > 0 {
		d.lists[n-1].next = v
	}
}

// frame opens a frame of a slide. The page number and the like are not read.
func (d *odfReader) frame(x *xmlscan.Scanner) {
	switch class := x.Attr("class"); class {
	case "page-number", "date-time", "footer", "header":
		d.title = false
		x.Skip()
	default:
		d.title = class == "title"
	}
}

// paragraph opens a text:p or text:h.
func (d *odfReader) paragraph(x *xmlscan.Scanner) {
	style := x.Attr("style-name")
	d.para++
	if d.para > 1 {
		d.w.Line()
		return
	}
	if x.Name == "p" && inherits(d, style, d.code) {
		if d.pre == nil {
			d.pre = &strings.Builder{}
		}
		d.inPre = true
		return
	}
	d.flushCode()
	w := d.w
	level := inherits(d, style, d.headings)
	if x.Name == "h" {
		level = max(1, clean.Int(x.Attr("outline-level")))
	}
	if d.slides && d.title && d.note == 0 {
		level = 2
	}
	if n := len(d.lists); n > 0 && level == 0 {
		l := &d.lists[n-1]
		if l.item {
			w.ItemBreak()
			return
		}
		l.item = true
		marker := "-"
		if d.isNumbered(l.style, n) {
			marker = strconv.Itoa(l.next) + "."
		}
		l.next++
		w.Item(n-1, marker)
		return
	}
	if level > 0 {
		w.Heading(level)
		return
	}
	w.Block()
}

func (d *odfReader) end(name string) {
	w := d.w
	switch name {
	case "h", "p":
		d.para = max(0, d.para-1)
		if d.inPre {
			d.pre.WriteByte('\n')
			d.inPre = false
			return
		}
		if d.para > 0 {
			return
		}
		if len(d.lists) == 0 {
			w.Block()
		}
		d.flushBoxes()
	case "a":
		w.LinkEnd()
	case "mi", "mn", "mo", "mtext":
		if d.math > 0 {
			d.math--
			d.para = max(0, d.para-1)
		}
	case "list":
		if n := len(d.lists); n > 0 {
			d.lists = d.lists[:n-1]
			if n == 1 {
				w.Block()
			}
		}
	case "note", "annotation":
		d.closeNote()
	case "text-box":
		if text := w.Keep(d.leave()); len(text) > 0 {
			d.boxes = append(d.boxes, text)
		}
	case "frame":
		d.title = false
		if d.para == 0 {
			d.flushBoxes()
		}
	case "notes":
		if d.slides && d.note > 0 {
			d.note--
			if text := d.leave(); len(text) > 0 {
				w.Block()
				w.Label("Notes: ")
				w.InsertInline(text)
				w.Block()
			}
		}
	default:
		d.tableEnd(name)
	}
}

// flushBoxes writes the text boxes that are anchored in the paragraph that has ended.
func (d *odfReader) flushBoxes() {
	boxes := d.boxes
	d.boxes = nil
	d.w.InsertKept(boxes)
}

func (d *odfReader) flushCode() {
	if d.pre == nil {
		return
	}
	code := d.pre.String()
	d.pre, d.inPre = nil, false
	d.w.Fenced("", code)
}

// ParseFlatODF reads an OpenDocument file that is a single XML file. The caller has read the start tag of the root.
func ParseFlatODF(ctx context.Context, x *xmlscan.Scanner, lim document.Limits) (*document.Document, error) {
	d := newODFReader(ctx, output.New(lim, 4096))
	if err := d.read(x); err != nil {
		return nil, err
	}
	if output.IsDocumentError(x.Err) {
		return nil, x.Err
	}
	doc := d.w.Document()
	if x.Err != nil {
		doc.AddPartial(x.Err.Error())
	}
	return output.Titled(doc), nil
}
