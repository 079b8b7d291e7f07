// Package output writes the text of a document: blocks, lists, links, tables and notes as Markdown ([Writer]), sheets of cells ([Grid]), or
// plain text in pieces ([Collector]). All respect the limit on the text.
package output

import (
	"bytes"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
)

// Writer assembles Markdown text from blocks and inline runs. It writes the break between two blocks when the next text comes, so that
// empty blocks leave no trace. Writes beyond the limit are dropped and set Full.
type Writer struct {
	flow
	Max   int             // the limit on the text, in bytes
	Full  bool            // the limit is reached; further writes are dropped
	Pages []document.Page // pages begun so far
	// NestTables allows small tables inside a cell of another table, with their rows on one line. Without it a table that contains tables
	// counts as the layout of a page, and its cells are written one after another.
	NestTables bool
	spent      int      // bytes written, including table cells
	cut        bool     // a capture was full, or Keep dropped text
	kept       int      // bytes stored by Keep
	stack      []flow   // the flows around the current table cell
	tables     []*table // the tables around the current position, innermost last
}

// flow is a stretch of blocks: the document, or a table cell.
type flow struct {
	buf    []byte
	gap    int    // line ends to write before the next text: 0, 1 or 2
	space  bool   // write one collapsed space before the next text
	mark   string // prefix of the next block: "# ", "- "
	indent string // prefix of the block's other lines: the indentation of a list item
	Quote  int    // depth of block quotes
	start  bool   // at the beginning of a block
	pre    bool   // inside preformatted text
	plain  bool   // the current block is a heading, where line ends become spaces
	links  []linkMark
	inItem bool // the current or last block is a list item
	toItem bool // the next block is a list item
	// itemIndent is the indentation of further paragraphs of the last list item.
	itemIndent string
	rich       bool // has headings, tables or code, which do not fit in a table row
	nested     bool // has tables, which fit in a row if they are small
}

// New returns a writer that keeps at most lim.MaxOutput bytes. sizeHint is the expected size.
func New(lim document.Limits, sizeHint int) *Writer {
	w := &Writer{Max: int(min(lim.MaxOutput, 1<<30))}
	w.buf = make([]byte, 0, min(sizeHint, w.Max))
	w.start = true
	return w
}

// maxQuote bounds the quote marks of a line.
const maxQuote = 8

// Block ends the current block. The next text begins a new one after a blank line.
func (w *Writer) Block() { w.breakLines(2, "", "") }

// Line ends the current line without a blank line.
func (w *Writer) Line() { w.breakLines(1, w.mark, w.indent) }

func (w *Writer) breakLines(n int, mark, indent string) {
	if !w.start {
		w.gap = max(w.gap, n)
	}
	if n == 2 {
		w.start = true
	}
	w.space, w.mark, w.indent, w.plain = false, mark, indent, false
}

// Heading begins a heading of level 1 to 6.
func (w *Writer) Heading(level int) {
	w.Block()
	w.mark = "######"[:max(1, min(level, 6))] + " "
	w.plain = true
	w.rich = true
}

// Item begins a list item at a depth from 0 on. marker is "-" or a number with its punctuation.
func (w *Writer) Item(depth int, marker string) {
	depth = max(0, min(depth, 16))
	gap := 2
	if w.inItem {
		gap = 1
	}
	pad := strings.Repeat("  ", depth)
	w.Block()
	if len(w.buf) > 0 {
		w.gap = gap
	}
	w.toItem = true
	w.mark = pad + marker + " "
	w.indent = pad + strings.Repeat(" ", min(len(marker)+1, 4))
	w.itemIndent = w.indent
}

// ItemBreak ends a paragraph inside a list item. The next paragraph remains part of the item.
func (w *Writer) ItemBreak() {
	indent := w.indent
	if w.mark != "" {
		return // the item has no text yet
	}
	w.breakLines(1, indent, indent)
}

// ContinueItem makes the block that was just begun part of the last list item, if that was the block before.
func (w *Writer) ContinueItem() {
	if !w.inItem || !w.start || w.itemIndent == "" {
		return
	}
	w.gap, w.mark, w.indent, w.toItem = 1, w.itemIndent, w.itemIndent, true
}

// Newline writes a line break inside a block.
func (w *Writer) Newline() {
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

// open writes the pending line ends, quote marks, block mark and space before text.
func (w *Writer) open(next string) bool {
	if w.Full {
		return false
	}
	if w.gap > 0 || w.start {
		if len(w.buf) > 0 {
			prefix := ""
			if w.Quote > 0 {
				prefix = strings.Repeat("> ", min(w.Quote, maxQuote))
			}
			for i := range max(w.gap, 1) {
				w.put("\n")
				if i == 0 && w.gap > 1 {
					w.put(strings.TrimRight(prefix, " "))
				}
			}
			w.put(prefix)
		} else if w.Quote > 0 {
			w.put(strings.Repeat("> ", min(w.Quote, maxQuote)))
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
	return !w.Full
}

// startsLikeMark reports whether Markdown would read a paragraph as a heading or a code fence.
func startsLikeMark(s string) bool {
	if strings.HasPrefix(s, "```") {
		return true
	}
	rest := strings.TrimLeft(s, "#")
	return len(rest) < len(s) && len(s)-len(rest) <= 6 && strings.HasPrefix(rest, " ")
}

// put appends s unchanged, within the limit.
func (w *Writer) put(s string) {
	if w.spent+len(s) > w.Max {
		s = clean.Cut(s, max(0, w.Max-w.spent))
		w.Full = true
	}
	if need := len(w.buf) + len(s); need > cap(w.buf) {
		// Doubling allocates less in total than append, which grows large slices in smaller steps.
		grown := make([]byte, len(w.buf), max(need, min(2*cap(w.buf), w.Max+1024), 64))
		copy(grown, w.buf)
		w.buf = grown
	}
	w.buf = append(w.buf, s...)
	w.spent += len(s)
}

// Text writes inline text; runs of white space become one space.
func (w *Writer) Text(s string) {
	for s != "" && !w.Full {
		i := 0
		for i < len(s) && clean.IsSpace(s[i]) {
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
		for end < len(s) && !(clean.IsSpace(s[end]) && (s[end] != ' ' || end+1 == len(s) || clean.IsSpace(s[end+1]))) {
			end++
		}
		w.Word(s[:end])
		s = s[end:]
	}
}

// Word writes text without white space to collapse.
func (w *Writer) Word(s string) {
	s = clean.StripInvisible(s)
	if s == "" || !w.open(s) {
		return
	}
	w.put(s)
}

// Fenced writes a block of code. The fence is longer than any run of backticks inside.
func (w *Writer) Fenced(lang, code string) {
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
		w.ItemBreak()
	} else {
		w.Block()
	}
	w.rich = true
	w.pre = true
	if w.open("") {
		w.put(fence + lang + "\n" + indent)
		code = clean.StripInvisible(code)
		if indent != "" {
			code = strings.ReplaceAll(code, "\n", "\n"+indent)
		}
		w.put(code)
		w.put("\n" + indent + fence)
	}
	w.pre = false
	if indent != "" {
		w.ItemBreak()
	} else {
		w.Block()
	}
}

// Rule writes a thematic break.
func (w *Writer) Rule() {
	w.Block()
	if len(w.buf) > 0 && w.open("") {
		w.put("---")
	}
	w.Block()
}

// Page records that a page begins at the next text.
func (w *Writer) Page(label string) {
	w.Block()
	if len(w.stack) > 0 || w.Full {
		return
	}
	w.Pages = append(w.Pages, document.Page{Number: len(w.Pages) + 1, Label: label, Start: len(w.buf)})
}

// Raw writes s unchanged: it escapes nothing and keeps white space.
func (w *Writer) Raw(s string) {
	pre := w.pre
	w.pre = true
	if w.open("") {
		w.put(s)
	}
	w.pre = pre
}

// Label begins the next block or line with mark, unchanged.
func (w *Writer) Label(mark string) { w.mark = mark }

// WordBreak puts a space between the previous and the next text.
func (w *Writer) WordBreak() { w.space = true }

// LineDue reports whether the next text begins a line.
func (w *Writer) LineDue() bool { return w.gap > 0 }

// MidLine reports whether the current line has text.
func (w *Writer) MidLine() bool { return w.gap == 0 && len(w.buf) > 0 }

// Length returns the number of bytes in the current flow, without breaks that are still pending.
func (w *Writer) Length() int { return len(w.buf) }

// Peek returns at most n bytes of the text written since an earlier length.
func (w *Writer) Peek(from, n int) string { return string(w.buf[from:min(len(w.buf), from+n)]) }

// Document returns the written document.
func (w *Writer) Document() *document.Document {
	for len(w.tables) > 0 {
		if w.inTable() {
			w.EndTable()
		} else {
			w.Insert(w.Release())
		}
	}
	doc := &document.Document{Text: clean.String(bytes.TrimRight(w.buf, " \n\t")), Markdown: true}
	w.buf = nil
	for _, p := range w.Pages {
		// The page was recorded before the break in front of its first text was written.
		for p.Start < len(doc.Text) && doc.Text[p.Start] == '\n' {
			p.Start++
		}
		if p.Start <= len(doc.Text) {
			doc.Pages = append(doc.Pages, p)
		}
	}
	if w.Full || w.cut {
		doc.AddPartial(LimitReason(int64(w.Max)))
	}
	return doc
}
