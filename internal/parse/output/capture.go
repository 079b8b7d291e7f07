package output

import (
	"bytes"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// Capture diverts all writes into a separate buffer, which Release returns. Captures and table cells nest in any order, as long as the
// inner one is closed first.
func (w *Writer) Capture() {
	w.stack = append(w.stack, w.flow)
	w.flow = flow{start: true}
	w.tables = append(w.tables, &table{captured: true})
}

// Release ends the innermost capture and closes the tables that are open inside it.
func (w *Writer) Release() []byte {
	for len(w.tables) > 0 && !w.tables[len(w.tables)-1].captured {
		w.EndTable()
	}
	if len(w.tables) == 0 {
		return nil
	}
	w.tables = w.tables[:len(w.tables)-1]
	text, rich := bytes.TrimRight(w.buf, " \n"), w.rich
	w.flow = w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	w.rich = w.rich || rich
	// The text is counted again when it is inserted, and must fit then even if it filled the limit.
	w.spent = max(0, w.spent-len(text))
	w.cut = w.cut || w.Full
	w.Full = false
	return text
}

// Keep stores released text for LateNotes and InsertKept, as long as all stored text fits the limit.
func (w *Writer) Keep(text []byte) []byte {
	if w.spent+w.kept+len(text) > w.Max {
		w.cut = true
		return nil
	}
	w.kept += len(text)
	return text
}

// InsertKept writes blocks that Keep stored.
func (w *Writer) InsertKept(texts [][]byte) {
	for _, b := range texts {
		w.kept -= len(b)
		w.Insert(b)
	}
}

// Insert writes captured text as blocks of its own.
func (w *Writer) Insert(text []byte) {
	if len(text) == 0 {
		return
	}
	w.Block()
	w.InsertInline(text)
	w.Block()
}

// InsertInline writes captured text into the current block, with its Markdown marks unchanged.
func (w *Writer) InsertInline(text []byte) {
	w.pre = true
	if len(text) > 0 && w.open("") {
		w.put(clean.String(text))
	}
	w.pre = false
	w.Full = w.Full || w.cut
}

// SpanCell makes the open cell span cols columns.
func (w *Writer) SpanCell(cols int) {
	if w.InCell() {
		w.tables[len(w.tables)-1].span = max(1, min(cols, maxSpan))
	}
}

// LateNote is a footnote or comment that the writer puts after the document.
type LateNote struct {
	Label string
	Text  []byte
}

// LateNotes writes the notes after the document.
func (w *Writer) LateNotes(notes []LateNote) {
	for _, n := range notes {
		if len(n.Text) == 0 {
			continue
		}
		w.kept -= len(n.Text)
		w.Block()
		w.mark = n.Label
		w.InsertInline(n.Text)
		w.Block()
	}
}

// Caption writes a paragraph in front of the open table, or into the cell around it.
func (w *Writer) Caption(text string) {
	if !w.inTable() || w.tables[len(w.tables)-1].cell {
		return
	}
	w.Block()
	w.Text(text)
	w.Block()
}

// EndsWith reports whether the text so far ends with s.
func (w *Writer) EndsWith(s string) bool {
	return bytes.HasSuffix(bytes.TrimRight(w.buf, " \n"), []byte(s))
}
