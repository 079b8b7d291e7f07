package office

import (
	"bytes"
	"html"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/archive"
)

// odfName is the name of a range of cells whose first cell is at a row and column of a sheet.
type odfName struct {
	row, col int
	name     string
}

// maxODFNames bounds the named ranges of a file.
const maxODFNames = 10_000

// odfTableNames returns the names of the tables of a spreadsheet by sheet (OpenDocument 1.3, 9.4.15). They stand after all sheets.
func odfTableNames(z *archive.File) map[string][]odfName {
	names, count := map[string][]odfName{}, 0
	eachTag(z.Peek("content.xml"), nextRange, func(tag []byte) {
		sheet, m, ok := odfRange(html.UnescapeString(tagAttr(tag, "target-range-address")))
		name := html.UnescapeString(tagAttr(tag, "name"))
		if count++; !ok || name == "" || name[0] == '_' || count > maxODFNames { // programs give filters a name like __Anonymous_Sheet_DB__0
			return
		}
		names[sheet] = append(names[sheet], odfName{m[0], m[1], name})
	})
	return names
}

// nextRange returns the next tag of a named table in b, without its brackets, and the offset behind it.
func nextRange(b []byte, ended bool) ([]byte, int) {
	const name = "database-range "
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte(name))
		if i < 0 {
			return nil, 0
		}
		start := bytes.LastIndexByte(b[max(at, at+i-32):at+i], '<')
		start += max(at, at+i-32) + 1
		prefix := b[start : at+i]
		at += i + len(name)
		if start == 0 || b[start-1] != '<' || len(prefix) > 0 && (prefix[len(prefix)-1] != ':' || bytes.ContainsAny(prefix, " />")) {
			continue
		}
		end := bytes.IndexByte(b[at:min(at+maxTailTag, len(b))], '>')
		if end < 0 {
			return nil, 0
		}
		return b[start : at+end], at + end
	}
}

// odfRange reads the address of a range, such as "'Night ferries'.A1:'Night ferries'.C4".
func odfRange(address string) (sheet string, m [4]int, ok bool) {
	rest := strings.TrimPrefix(address, "$")
	if quoted, found := strings.CutPrefix(rest, "'"); found {
		var b strings.Builder
		for {
			part, after, closed := strings.Cut(quoted, "'")
			if !closed {
				return "", m, false
			}
			b.WriteString(part)
			if quoted, found = strings.CutPrefix(after, "'"); !found { // two quotes stand for one
				rest = after
				break
			}
			b.WriteByte('\'')
		}
		sheet = b.String()
		rest, ok = strings.CutPrefix(rest, ".")
	} else {
		sheet, rest, ok = strings.Cut(rest, ".")
	}
	if !ok {
		return "", m, false
	}
	cells, last, more := strings.Cut(strings.ReplaceAll(rest, "$", ""), ":")
	if more {
		cells += ":" + last[strings.LastIndexByte(last, '.')+1:]
	}
	m, ok = cellRange(cells)
	return sheet, m, ok
}
