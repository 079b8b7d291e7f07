package office

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/ole"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// oleProperties reads the title, author and dates of the summary information ([MS-OLEPS]).
func oleProperties(f *ole.File, doc *document.Document) {
	b := f.Stream("\x05SummaryInformation")
	if len(b) < 48 {
		return
	}
	from := int64(binary.LittleEndian.Uint32(b[44:]))
	if from+8 > int64(len(b)) {
		return
	}
	set := b[from:]
	codepage := uint32(1252)
	text := func(at uint32) string {
		v := set[at+4:]
		if len(v) < 4 {
			return ""
		}
		n := min(int(binary.LittleEndian.Uint32(v)), len(v)-4)
		switch kind := binary.LittleEndian.Uint32(set[at:]); {
		case kind == 0x1F:
			return utf16Text(v[4:min(4+2*n, len(v))])
		case kind == 0x1E && codepage == 65001:
			return string(v[4 : 4+n])
		case kind == 0x1E && codepage == 1200:
			return utf16Text(v[4 : 4+n])
		case kind == 0x1E:
			if enc := codePage(int(codepage)); enc != nil {
				out, _ := enc.NewDecoder().Bytes(v[4 : 4+n])
				return string(out)
			}
		}
		return ""
	}
	count := min(int(binary.LittleEndian.Uint32(set[4:])), (len(set)-8)/8)
	for i := range max(count, 0) {
		id, at := binary.LittleEndian.Uint32(set[8+8*i:]), binary.LittleEndian.Uint32(set[12+8*i:])
		if int64(at)+8 > int64(len(set)) {
			continue
		}
		switch id {
		case 1:
			codepage = uint32(binary.LittleEndian.Uint16(set[at+4:]))
		case 2:
			doc.Title = strings.TrimRight(text(at), "\x00 ")
		case 4:
			doc.Author = strings.TrimRight(text(at), "\x00 ")
		case 3, 5:
			output.SetMeta(doc, map[uint32]string{3: "subject", 5: "keywords"}[id], strings.TrimRight(text(at), "\x00 "))
		case 12, 13:
			if int64(at)+12 <= int64(len(set)) {
				when := clean.FileTime(binary.LittleEndian.Uint64(set[at+4:]))
				if id == 12 {
					doc.Created = when
				} else {
					doc.Modified = when
				}
			}
		}
	}
}

func utf16Text(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
