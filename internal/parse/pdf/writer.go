package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// headingSize is how much larger than the body a heading is set.
	headingSize = 1.18
	// boldShare is the part of the text, one in so many bytes, that bold lines may have to count as headings.
	boldShare = 4
	// maxHeadingLines and maxHeadingBytes are what a heading may have.
	maxHeadingLines, maxHeadingBytes = 3, 200
)

// writer collects the blocks of all pages, because only the whole document tells which size is that of its body.
type writer struct {
	pages  [][]block
	bytes  int
	limit  int
	full   bool
	bySize map[int]int // bytes of text by half points
	bold   int         // bytes of bold text
}

func newWriter(limit int) *writer { return &writer{limit: limit, bySize: map[int]int{}} }

// page adds a page, up to the limit.
func (w *writer) page(blocks []block) {
	for i, b := range blocks {
		if w.bytes += len(b.text) + 2; w.bytes > w.limit {
			w.full = true
			blocks = blocks[:i]
			break
		}
		if b.kind != blockTable {
			w.bySize[int(math.Round(2*b.size))] += len(b.text)
			if b.bold {
				w.bold += len(b.text)
			}
		}
	}
	w.pages = append(w.pages, blocks)
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

// finish writes the text. Items of a list stand on lines that follow one another, other blocks between blank lines.
func (w *writer) finish() (string, []Page) {
	var out strings.Builder
	out.Grow(w.bytes + w.bytes/64)
	body := w.body()
	last := -1
	pages := make([]Page, len(w.pages))
	for i, blocks := range w.pages {
		pages[i] = Page{Number: i + 1, Start: -1}
		for k := range blocks {
			b := &blocks[k]
			switch {
			case last < 0:
			case last == blockItem && b.kind == blockItem && k > 0:
				out.WriteString("\n")
			default:
				out.WriteString("\n\n")
			}
			if k == 0 {
				pages[i].Start = out.Len()
			}
			if w.isHeading(b, body) {
				out.WriteString("## ")
			}
			out.WriteString(strings.ToValidUTF8(b.text, ""))
			last = b.kind
		}
		w.pages[i] = nil
	}
	next := out.Len()
	for i := len(pages) - 1; i >= 0; i-- {
		if pages[i].Start < 0 {
			pages[i].Start = next
		}
		next = pages[i].Start
	}
	return out.String(), pages
}

// isHeading says whether a block is short, has words and is set clearly larger than the body, or as a bold line where
// bold is rare.
func (w *writer) isHeading(b *block, body float64) bool {
	large := b.size >= headingSize*body
	bold := b.bold && b.size >= 0.98*body && boldShare*w.bold < w.bytes
	if b.kind == blockTable || !large && !bold || b.lines > maxHeadingLines || len(b.text) > maxHeadingBytes {
		return false
	}
	if b.kind == blockItem && (strings.HasPrefix(b.text, "- ") || strings.Contains(b.text, " ... ")) {
		return false
	}
	letters := 0
	for _, r := range b.text {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	r, _ := utf8.DecodeLastRuneInString(b.text)
	return letters >= 2 && !strings.ContainsRune(".,;", r) && (large || r != ':')
}
