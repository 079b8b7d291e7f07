package chunk

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is one line of a text: [start, end) without its terminator (LF, CRLF or
// a lone CR), next being where the following line begins.
type line struct{ start, end, next int }

func (l line) raw(src string) string  { return src[l.start:l.end] }
func (l line) text(src string) string { return strings.TrimLeft(src[l.start:l.end], " \t") }

// blank reports whether l is white space alone.
func (l line) blank(src string) bool {
	start, end := trim(src, l.start, l.end)
	return start == end
}

// contentStart is the offset of the first character that is not white space.
func (l line) contentStart(src string) int {
	start, _ := trim(src, l.start, l.end)
	return start
}

// column is the column of the first character of a line that is not white
// space; tabs end at every fourth column.
func column(raw string) int {
	return columnOf(raw, len(raw)-len(strings.TrimLeft(raw, " \t")))
}

// columnOf is the column of the byte at raw[at].
func columnOf(raw string, at int) int {
	n := 0
	for i := range at {
		if raw[i] == '\t' {
			n += 4 - n%4
		} else {
			n++
		}
	}
	return n
}

// lines yields the lines of src[start:end].
func lines(src string, start, end int) iter.Seq[line] {
	return func(yield func(line) bool) {
		for start < end {
			i := start
			for i < end && src[i] != '\n' && src[i] != '\r' {
				i++
			}
			l := line{start: start, end: i, next: min(i+1, end)}
			if i+1 < end && src[i] == '\r' && src[i+1] == '\n' {
				l.next++
			}
			if !yield(l) {
				return
			}
			start = l.next
		}
	}
}

// trim shrinks [start, end) by the white space at both ends.
func trim(src string, start, end int) (int, int) {
	for start < end {
		r, size := utf8.DecodeRuneInString(src[start:end])
		if !unicode.IsSpace(r) {
			break
		}
		start += size
	}
	for start < end {
		r, size := utf8.DecodeLastRuneInString(src[start:end])
		if !unicode.IsSpace(r) {
			break
		}
		end -= size
	}
	return start, end
}
