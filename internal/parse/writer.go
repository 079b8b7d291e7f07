package parse

import (
	"bytes"
	"strings"
	"unsafe"
)

// writer assembles Markdown-flavoured text from blocks and inline runs. Breaks between blocks are written when the
// next text comes, so that empty blocks leave nothing. Writes beyond the limit are dropped and noted in full.
type writer struct {
	flow
	max    int
	spent  int // bytes written, cells of tables included
	full   bool
	cut    bool     // a capture was full, or something was not kept
	kept   int      // bytes that are held for later
	stack  []flow   // the flows around the current table cell
	tables []*table // the tables around the current position, innermost last
	pages  []Page
}

// flow is a stretch of blocks: the document, or a table cell.
type flow struct {
	buf    []byte
	gap    int    // line ends due before the next text: 0, 1 or 2
	space  bool   // a collapsed space is due before the next text
	mark   string // what opens the next block: "# ", "- "
	indent string // what opens further lines of the block: the indentation of a list item
	quote  int    // depth of block quotes
	start  bool   // at the beginning of a block
	pre    bool   // inside preformatted text
	plain  bool   // the current block is a heading, where line ends become spaces
	links  []linkMark
	inItem bool // the current or last block is a list item
	toItem bool // the next block is one
	// itemIndent opens further paragraphs of the last list item.
	itemIndent string
	rich       bool // holds headings, tables or code, and so does not fit a row of a table
}

func newWriter(lim Limits, sizeHint int) *writer {
	w := &writer{max: int(min(lim.MaxOutput, 1<<30))}
	w.buf = make([]byte, 0, min(sizeHint, w.max))
	w.start = true
	return w
}

// maxQuote bounds how many quote marks a line gets.
const maxQuote = 8

// block ends the current block; the next text begins a new one after a blank line.
func (w *writer) block() { w.breakLines(2, "", "") }

// line ends the current line without a blank one.
func (w *writer) line() { w.breakLines(1, w.mark, w.indent) }

func (w *writer) breakLines(n int, mark, indent string) {
	if !w.start {
		w.gap = max(w.gap, n)
	}
	if n == 2 {
		w.start = true
	}
	w.space, w.mark, w.indent, w.plain = false, mark, indent, false
}

// heading begins a heading of level 1 to 6.
func (w *writer) heading(level int) {
	w.block()
	w.mark = "######"[:max(1, min(level, 6))] + " "
	w.plain = true
	w.rich = true
}

// item begins a list item at a depth from 0 on; marker is "-" or a number with its sign.
func (w *writer) item(depth int, marker string) {
	depth = max(0, min(depth, 16))
	gap := 2
	if w.inItem {
		gap = 1
	}
	pad := strings.Repeat("  ", depth)
	w.block()
	if len(w.buf) > 0 {
		w.gap = gap
	}
	w.toItem = true
	w.mark = pad + marker + " "
	w.indent = pad + strings.Repeat(" ", min(len(marker)+1, 4))
	w.itemIndent = w.indent
}

// itemBreak ends a paragraph inside a list item; the next one stays part of the item.
func (w *writer) itemBreak() {
	indent := w.indent
	if w.mark != "" {
		return // nothing of the item was written yet
	}
	w.breakLines(1, indent, indent)
}

// continueItem lets the block that was just begun go on with the last list item, if that was the block before.
func (w *writer) continueItem() {
	if !w.inItem || !w.start || w.itemIndent == "" {
		return
	}
	w.gap, w.mark, w.indent, w.toItem = 1, w.itemIndent, w.itemIndent, true
}

// newline is a line break inside a block.
func (w *writer) newline() {
	if w.plain {
		w.space = true
		return
	}
	w.space = false
	if w.start || w.gap > 0 || len(w.buf) == 0 {
		return
	}
	w.gap = 1
	w.mark = w.indent
}

// open writes what is due before text: line ends, quote marks, the mark of the block, a space.
func (w *writer) open(next string) bool {
	if w.full {
		return false
	}
	if w.gap > 0 || w.start {
		if len(w.buf) > 0 {
			prefix := ""
			if w.quote > 0 {
				prefix = strings.Repeat("> ", min(w.quote, maxQuote))
			}
			for i := range max(w.gap, 1) {
				w.put("\n")
				if i == 0 && w.gap > 1 {
					w.put(strings.TrimRight(prefix, " "))
				}
			}
			w.put(prefix)
		} else if w.quote > 0 {
			w.put(strings.Repeat("> ", min(w.quote, maxQuote)))
		}
		if w.mark == "" && w.start && !w.pre && startsLikeMark(next) {
			w.put("\\")
		}
		w.put(w.mark)
		if w.start {
			w.inItem, w.toItem = w.toItem, false
		}
		w.mark, w.gap, w.space, w.start = "", 0, false, false
	}
	if w.space {
		w.put(" ")
		w.space = false
	}
	for i := range w.links {
		if w.links[i].at < 0 {
			w.links[i].at = len(w.buf)
		}
	}
	return !w.full
}

// startsLikeMark reports whether a paragraph would be taken for a heading or a code fence.
func startsLikeMark(s string) bool {
	if strings.HasPrefix(s, "```") {
		return true
	}
	rest := strings.TrimLeft(s, "#")
	return len(rest) < len(s) && len(s)-len(rest) <= 6 && strings.HasPrefix(rest, " ")
}

// put appends as it is, within the limit.
func (w *writer) put(s string) {
	if w.spent+len(s) > w.max {
		s = cutRune(s, max(0, w.max-w.spent))
		w.full = true
	}
	if need := len(w.buf) + len(s); need > cap(w.buf) {
		// Doubling leaves less garbage behind than append's own growth of large slices.
		grown := make([]byte, len(w.buf), max(need, min(2*cap(w.buf), w.max+1024), 64))
		copy(grown, w.buf)
		w.buf = grown
	}
	w.buf = append(w.buf, s...)
	w.spent += len(s)
}

// text writes inline text; runs of white space become one space.
func (w *writer) text(s string) {
	for s != "" && !w.full {
		i := 0
		for i < len(s) && asciiSpace(s[i]) {
			i++
		}
		if i > 0 {
			if !w.start && w.gap == 0 {
				w.space = true
			}
			s = s[i:]
			continue
		}
		// A stretch without white space to collapse: single spaces may stay inside.
		end := 0
		for end < len(s) && !(asciiSpace(s[end]) && (s[end] != ' ' || end+1 == len(s) || asciiSpace(s[end+1]))) {
			end++
		}
		w.word(s[:end])
		s = s[end:]
	}
}

// word writes text that holds no white space to collapse.
func (w *writer) word(s string) {
	s = stripInvisible(s)
	if s == "" || !w.open(s) {
		return
	}
	w.put(s)
}

// fenced writes a block of code. The fence is longer than any run of backticks inside.
func (w *writer) fenced(lang, code string) {
	code = strings.Trim(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	if strings.TrimSpace(code) == "" {
		return
	}
	longest, run := 0, 0
	for i := range len(code) {
		if code[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", max(3, min(longest+1, 16)))
	indent := w.indent
	if indent != "" {
		w.itemBreak()
	} else {
		w.block()
	}
	w.rich = true
	w.pre = true
	if w.open("") {
		w.put(fence + lang + "\n" + indent)
		code = stripInvisible(code)
		if indent != "" {
			code = strings.ReplaceAll(code, "\n", "\n"+indent)
		}
		w.put(code)
		w.put("\n" + indent + fence)
	}
	w.pre = false
	if indent != "" {
		w.itemBreak()
	} else {
		w.block()
	}
}

// rule writes a thematic break.
func (w *writer) rule() {
	w.block()
	if len(w.buf) > 0 && w.open("") {
		w.put("---")
	}
	w.block()
}

// page notes that a page begins with the next text.
func (w *writer) page(label string) {
	w.block()
	if len(w.stack) > 0 || w.full {
		return
	}
	w.pages = append(w.pages, Page{Number: len(w.pages) + 1, Label: label, Start: len(w.buf)})
}

// document returns what was written.
func (w *writer) document() *Document {
	for len(w.tables) > 0 {
		if w.inTable() {
			w.endTable()
		} else {
			w.insert(w.release())
		}
	}
	doc := &Document{Text: ownedString(bytes.TrimRight(w.buf, " \n\t")), Markdown: true}
	w.buf = nil
	for _, p := range w.pages {
		// Pages were noted before the break that came in front of their first text.
		for p.Start < len(doc.Text) && doc.Text[p.Start] == '\n' {
			p.Start++
		}
		if p.Start <= len(doc.Text) {
			doc.Pages = append(doc.Pages, p)
		}
	}
	if w.full || w.cut {
		doc.addPartial(outputLimitReason(int64(w.max)))
	}
	return doc
}

// ownedString returns the bytes as a string without copying. The bytes must not change while the string is in use:
// forever when it is kept, during the call when it is handed to the writer, which copies.
func ownedString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
