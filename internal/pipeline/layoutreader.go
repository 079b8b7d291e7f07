package pipeline

import "bytes"

// IsInferred reports whether a chunk with this layout is an inferred statement, not what a user wrote.
func IsInferred(layout []byte) bool {
	return bytes.Contains(layout, []byte(`"inferred":true`))
}

// PageOf returns the page of a chunk with this layout; 0 where it names none.
func PageOf(layout []byte) (page int) {
	_, rest, _ := bytes.Cut(layout, []byte(`"page":`))
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		page = 10*page + int(c-'0')
	}
	return page
}

// LayoutReader reads the layouts of chunks one after the other. One that equals the one before, as is frequent in a result, is not decoded again.
type LayoutReader struct {
	Inferred bool
	Page     int

	raw  []byte
	text string
}

// Read reads the layout of the next chunk. It keeps raw, which must not be changed.
func (l *LayoutReader) Read(raw []byte) {
	if bytes.Equal(raw, l.raw) {
		return
	}
	*l = LayoutReader{Inferred: IsInferred(raw), Page: PageOf(raw), raw: raw}
}

// Text is the layout as text.
func (l *LayoutReader) Text() string {
	if len(l.text) != len(l.raw) {
		l.text = string(l.raw)
	}
	return l.text
}
