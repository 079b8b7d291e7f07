package pdf

import (
	"math"
	"strings"
	"unsafe"
)

// firstReserve is the most space that is reserved before there are firstText bytes of text, which tell how much a page
// has.
const firstReserve, firstText = 1 << 20, 64 << 10

// writer puts the text of all pages together. Only the whole document tells which size is that of its body, so that
// the marks of headings are put in at the end.
type writer struct {
	text     []byte
	pages    []Page
	expected int // pages that the document says it has
	last     int // kind of the last block, -1 before the first
	headings headings
	bytes    int
	limit    int
	full     bool
	bySize   map[int]int // bytes of text by half points
	bold     int         // bytes of bold text
}

func newWriter(limit, pages int) *writer {
	return &writer{limit: limit, expected: pages, last: -1, bySize: map[int]int{}}
}

// page adds a page, up to the limit. Items of a list stand on lines that follow one another, other blocks between
// blank lines.
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

// escapeMarks puts a backslash before what Markdown would take for a heading or a fence at the beginning of a line.
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

// reserve makes room for n bytes, and for what the pages to come will have if they are like those so far: a text that
// is copied as it grows is in memory twice.
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

// body returns the size of most of the text.
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
