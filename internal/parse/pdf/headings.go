package pdf

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// headingSize is how much larger than the body text a heading must be.
	headingSize = 1.18
	// boldShare limits bold headings: bold lines count as headings only if less than one in boldShare bytes of the text is bold.
	boldShare = 4
	// maxHeadingLines and maxHeadingBytes limit the size of a heading.
	maxHeadingLines, maxHeadingBytes = 3, 200
	// headingPrefix marks a heading; headingMark is its length.
	headingPrefix = "## "
	headingMark   = len(headingPrefix)
)

// candidate is a block that becomes a heading if the sizes and weights in the whole document agree.
type candidate struct {
	at    int // offset in the text without marks
	size  float64
	bold  bool
	colon bool // the text ends with a colon
}

// headings is the candidates in text order, packed, because every line of a table of contents is one. Each is a varint of the distance from
// the previous one above the flags, followed by the size if it differs from that of the previous one.
type headings struct {
	packed []byte
	count  int
	at     int
	size   float64
}

// Flags of a packed candidate, in its lowest flagBits bits.
const (
	flagBold = 1 << iota
	flagColon
	flagSize
	flagBits = iota
)

func (h *headings) add(at int, b *block) {
	v := uint64(at-h.at) << flagBits
	if b.bold {
		v |= flagBold
	}
	if strings.HasSuffix(b.text, ":") {
		v |= flagColon
	}
	if b.size != h.size {
		v |= flagSize
	}
	h.packed = binary.AppendUvarint(h.packed, v)
	if v&flagSize != 0 {
		h.packed = binary.LittleEndian.AppendUint64(h.packed, math.Float64bits(b.size))
	}
	h.count, h.at, h.size = h.count+1, at, b.size
}

func (h *headings) all() iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		var c candidate
		for rest := h.packed; len(rest) > 0; {
			v, n := binary.Uvarint(rest)
			rest = rest[n:]
			if v&flagSize != 0 {
				c.size = math.Float64frombits(binary.LittleEndian.Uint64(rest))
				rest = rest[8:]
			}
			c.at += int(v >> flagBits)
			c.bold, c.colon = v&flagBold != 0, v&flagColon != 0
			if !yield(c) {
				return
			}
		}
	}
}

// mayBeHeading reports whether a block is short and has words, so that its size or weight may make it a heading.
func mayBeHeading(b *block) bool {
	if b.kind == blockTable || b.kind == blockCode || b.lines > maxHeadingLines || len(b.text) > maxHeadingBytes {
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
	return letters >= 2 && !strings.ContainsRune(".,;", r)
}

// markHeadings inserts a mark before the candidates that are clearly larger than the body text, or bold where bold is rare, and moves the
// starts of pages accordingly.
func (w *writer) markHeadings() {
	body, boldCounts := w.body(), boldShare*w.bold < w.bytes
	isHeading := func(c candidate) bool {
		large := c.size >= headingSize*body
		return large || !c.colon && boldCounts && c.bold && c.size >= 0.98*body
	}
	n := 0
	for c := range w.headings.all() {
		if isHeading(c) {
			n++
		}
	}
	if n == 0 {
		return
	}
	// The text is moved to the end of its buffer and copied back piece by piece, each piece after its mark.
	size, shift := len(w.text), n*headingMark
	w.text = slices.Grow(w.text, shift)[:size+shift]
	copy(w.text[shift:], w.text[:size])
	from, to, page := 0, 0, 0 // offsets without and with marks, and the first page that is not moved yet
	for c := range w.headings.all() {
		if !isHeading(c) {
			continue
		}
		for ; page < len(w.pages) && w.pages[page].Start <= c.at; page++ {
			w.pages[page].move(to - from)
		}
		to += copy(w.text[to:], w.text[shift+from:shift+c.at])
		to += copy(w.text[to:], headingPrefix)
		from = c.at
	}
	for ; page < len(w.pages); page++ {
		w.pages[page].move(shift)
	}
}

// move moves the start of a page that has text.
func (p *Page) move(by int) {
	if p.Start >= 0 {
		p.Start += by
	}
}
