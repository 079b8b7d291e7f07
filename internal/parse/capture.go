package parse

import "bytes"

// capture diverts what is written until release, which returns it. Captures and table cells nest in any order as
// long as each is closed before what is around it.
func (w *writer) capture() {
	w.stack = append(w.stack, w.flow)
	w.flow = flow{start: true}
	w.tables = append(w.tables, &table{captured: true})
}

// release ends the innermost capture; tables that are open inside it are closed.
func (w *writer) release() []byte {
	for len(w.tables) > 0 && !w.tables[len(w.tables)-1].captured {
		w.endTable()
	}
	if len(w.tables) == 0 {
		return nil
	}
	w.tables = w.tables[:len(w.tables)-1]
	text, rich := bytes.TrimRight(w.buf, " \n"), w.rich
	w.flow = w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	w.rich = w.rich || rich
	// It is counted again when it is inserted, and must come out even if it filled the limit.
	w.spent = max(0, w.spent-len(text))
	w.cut = w.cut || w.full
	w.full = false
	return text
}

// keep holds released text for later, as long as all that is held fits the limit; lateNotes and insertKept write it.
func (w *writer) keep(text []byte) []byte {
	if w.spent+w.kept+len(text) > w.max {
		w.cut = true
		return nil
	}
	w.kept += len(text)
	return text
}

// insertKept writes blocks that were kept.
func (w *writer) insertKept(texts [][]byte) {
	for _, b := range texts {
		w.kept -= len(b)
		w.insert(b)
	}
}

// insert writes captured text as blocks of its own.
func (w *writer) insert(text []byte) {
	if len(text) == 0 {
		return
	}
	w.block()
	w.insertInline(text)
	w.block()
}

// insertInline writes captured text into the current block; its marks count.
func (w *writer) insertInline(text []byte) {
	w.pre = true
	if len(text) > 0 && w.open("") {
		w.put(ownedString(text))
	}
	w.pre = false
	w.full = w.full || w.cut
}

// spanCell lets the open cell span that many columns.
func (w *writer) spanCell(cols int) {
	if w.inCell() {
		w.tables[len(w.tables)-1].span = max(1, min(cols, maxSpan))
	}
}

// lateNote is a footnote or a comment that is written behind the document.
type lateNote struct {
	label string
	text  []byte
}

func (w *writer) lateNotes(notes []lateNote) {
	for _, n := range notes {
		if len(n.text) == 0 {
			continue
		}
		w.kept -= len(n.text)
		w.block()
		w.mark = n.label
		w.insertInline(n.text)
		w.block()
	}
}

// caption writes a paragraph in front of the open table, or into the cell around it.
func (w *writer) caption(text string) {
	if !w.inTable() || w.tables[len(w.tables)-1].cell {
		return
	}
	w.block()
	w.text(text)
	w.block()
}

// endsWith reports whether the text so far ends with s.
func (w *writer) endsWith(s string) bool {
	return bytes.HasSuffix(bytes.TrimRight(w.buf, " \n"), []byte(s))
}
