package office

import (
	"bytes"
	"io"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// sheetTail is what a sheet part says about cells after them: merged ranges and links.
type sheetTail struct {
	merges [][4]int
	links  map[[2]int]string // by row and column
}

const (
	maxSheetLinks = 100_000
	maxTailTag    = 4096 // bytes of one tag
)

// tail reads the end of a sheet part before its cells.
func (r *xlsxReader) tail(part string) sheetTail {
	var t sheetTail
	var rels map[string]relation
	eachTag(r.p.Peek(part), nextTag, func(tag []byte) {
		name, _, _ := bytes.Cut(tag, []byte(" "))
		switch string(name[bytes.IndexByte(name, ':')+1:]) {
		case "mergeCell":
			if m, ok := cellRange(tagAttr(tag, "ref")); ok {
				t.merges = append(t.merges, m)
			}
		case "hyperlink":
			if rels == nil {
				rels = relationMap(r.p.relations(part))
			}
			m, ok := cellRange(tagAttr(tag, "ref"))
			rel := rels[tagAttr(tag, "id")]
			if ok && rel.external && len(t.links) < maxSheetLinks {
				if t.links == nil {
					t.links = map[[2]int]string{}
				}
				t.links[[2]int{m[0], m[1]}] = rel.target
			}
		}
	})
	return t
}

// eachTag calls do with the tags that next finds. It searches the bytes for them, because an XML scanner would take as long as the reading of all
// the cells. in may be nil.
func eachTag(in io.Reader, next func(b []byte, ended bool) (tag []byte, n int), do func(tag []byte)) {
	if in == nil {
		return
	}
	buf := make([]byte, 0, 64<<10)
	for ended := false; !ended; {
		n, err := io.ReadFull(in, buf[len(buf):cap(buf)])
		ended = err != nil
		buf = buf[:len(buf)+n]
		at := 0
		for {
			tag, n := next(buf[at:], ended)
			if tag == nil {
				break
			}
			at += n
			do(tag)
		}
		keep := min(len(buf), maxTailTag)
		if i := bytes.LastIndexByte(buf[max(at, len(buf)-keep):], '<'); i >= 0 {
			keep = len(buf) - max(at, len(buf)-keep) - i
		} else {
			keep = 0
		}
		buf = buf[:copy(buf, buf[len(buf)-keep:])]
	}
}

// nextTag returns the next tag of a merged range or a link in b, without its brackets, and the offset behind it.
func nextTag(b []byte, ended bool) ([]byte, int) {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '<')
		if i < 0 {
			return nil, 0
		}
		at += i + 1
		name := b[at:min(at+32, len(b))]
		if len(name) > 1 && (name[0] == 'c' || name[0] == 'v' || name[0] == '/') && (name[1] == ' ' || name[1] == '>' || name[0] == '/') {
			continue // cells, most of a sheet
		}
		if i = bytes.IndexByte(name, ':'); i >= 0 && bytes.IndexByte(name[:i], ' ') < 0 {
			name = name[i+1:]
		}
		if !bytes.HasPrefix(name, []byte("mergeCell ")) && !bytes.HasPrefix(name, []byte("hyperlink ")) {
			continue
		}
		end := bytes.IndexByte(b[at:min(at+maxTailTag, len(b))], '>')
		if end < 0 {
			return nil, 0
		}
		return b[at : at+end], at + end
	}
}

// tagAttr returns the value of an attribute, whatever its prefix.
func tagAttr(tag []byte, name string) string {
	for at := 0; ; {
		i := bytes.Index(tag[at:], []byte(name+"="))
		if i < 0 {
			return ""
		}
		start := at + i
		at = start + len(name) + 1
		if start == 0 || tag[start-1] != ' ' && tag[start-1] != ':' || at >= len(tag) {
			continue
		}
		value, _, ok := bytes.Cut(tag[at+1:], tag[at:at+1])
		if ok {
			return string(value)
		}
	}
}

// cellRange parses a reference such as "A1:C2" or "A1" to the first row and column and the last ones.
func cellRange(ref string) (m [4]int, ok bool) {
	first, last, more := strings.Cut(ref, ":")
	if !more {
		last = first
	}
	m = [4]int{rowOf(first), columnOf(first), rowOf(last), columnOf(last)}
	return m, m[0] > 0 && m[1] > 0 && m[2] > 0 && m[3] > 0
}

// rowOf returns the row number of a cell reference such as "AB12", or 0 when it has none.
func rowOf(ref string) int {
	return clean.Int(strings.TrimLeft(strings.ToUpper(ref), "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}

// linked returns the text of a cell with the address that it links to.
func linked(text []byte, url string) []byte {
	target := output.LinkTarget(url)
	if len(text) == 0 || target == "" || strings.Contains(string(text), url) || bytes.ContainsAny(text, "[]\n") {
		return text
	}
	return []byte("[" + string(text) + "](" + target + ")")
}
