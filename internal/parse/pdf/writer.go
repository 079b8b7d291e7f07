package pdf

import (
	"math"
	"strings"
	"unsafe"
)

// Before firstText bytes of text are written, which show how much text a page has, at most firstReserve bytes are reserved.
const firstReserve, firstText = 1 << 20, 64 << 10

// writer concatenates the text of all pages. The size of the body text is known only at the end of the document, so heading marks are
// inserted then.
type writer struct {
	text     []byte
	pages    []Page
	expected int // page count that the document states
	last     int // kind of the last block, -1 before the first
	headings headings
	bytes    int
	limit    int
	full     bool
	bySize   map[int]int // bytes of text by font size in half points
	bold     int         // bytes of bold text
}

func newWriter(limit, pages int) *writer {
	return &writer{limit: limit, expected: pages, last: -1, bySize: map[int]int{}}
}

// page appends a page, up to the limit. Consecutive list items are on consecutive lines; other blocks are separated by blank lines.
func (w *writer) page(blocks []block) {
	w.pages = append(w.pages, Page{Number: len(w.pages) + 1, Start: -1})
	for i := range blocks {
		b := &blocks[i]
		if w.bytes += len(b.text) + 2; w.bytes > w.limit {
			w.full = true
			return
		}
		if b.kind == blockCode {
			b.text = fence(b.text)
		} else if b.kind != blockTable {
			b.text = escapeMarks(b.text)
		}
		if b.kind != blockTable && b.kind != blockCode && b.size > 0 {
			w.bySize[int(math.Round(2*b.size))] += len(b.text)
			if b.bold {
				w.bold += len(b.text)
			}
		}
		w.reserve(len(b.text) + 2)
		switch {
		case w.last < 0:
		case w.last == blockItem && b.kind == blockItem && i > 0:
			w.text = append(w.text, '\n')
		default:
			w.text = append(w.text, "\n\n"...)
		}
		if i == 0 {
			w.pages[len(w.pages)-1].Start = len(w.text)
		}
		if mayBeHeading(b) {
			w.headings.add(len(w.text), b)
		}
		w.text = append(w.text, strings.ToValidUTF8(b.text, "")...)
		w.last = b.kind
	}
}

// escapeMarks puts a backslash before characters at the beginning of a line that Markdown would read as a heading or a fence.
func escapeMarks(text string) string {
	if !strings.Contains(text, "#") && !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		rest := strings.TrimLeft(l, "#")
		if n := len(l) - len(rest); n > 0 && n <= 6 && (strings.TrimSpace(rest) == "" || rest[0] == ' ') ||
			strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
			lines[i] = "\\" + l
		}
	}
	return strings.Join(lines, "")
}

// reserve makes room for n bytes, and for the remaining pages if they are like those so far. Growing by copying would keep the text in
// memory twice.
func (w *writer) reserve(n int) {
	need := len(w.text) + n
	if need <= cap(w.text) {
		return
	}
	all := float64(need+headingMark*w.headings.count) * max(1, float64(w.expected)/float64(len(w.pages)))
	size := int(min(all, float64(w.limit)) * (1 + 1.0/32))
	if need < firstText {
		size = min(size, firstReserve)
	}
	w.text = append(make([]byte, 0, max(size, need+need/8)), w.text...)
}

// body returns the font size of most of the text.
func (w *writer) body() float64 {
	best, most := 0, 0
	for size, n := range w.bySize {
		if n > most || n == most && size < best {
			best, most = size, n
		}
	}
	return float64(best) / 2
}

// finish returns the text. The writer must not be used any more.
func (w *writer) finish() (string, []Page) {
	w.markHeadings()
	next := len(w.text)
	for i := len(w.pages) - 1; i >= 0; i-- {
		if w.pages[i].Start < 0 {
			w.pages[i].Start = next
		}
		next = w.pages[i].Start
	}
	if cap(w.text) > 2*len(w.text) {
		return string(w.text), w.pages
	}
	return unsafe.String(unsafe.SliceData(w.text), len(w.text)), w.pages
}
