package pdf

import (
	"compress/flate"
	"embed"
	"encoding/binary"
	"io"
	"sync"
)

// data/cid has the Unicode text of each CID of Adobe's character collections, which fonts that are not embedded name
// instead of saying what their characters mean. gencids.go makes the files of the mapping resources that Adobe
// publishes (BSD-3-Clause, data/cid/LICENSE).
//
//go:embed data/cid/*.bin
var cidData embed.FS

// cidTables has the collections by the ordering that a font names. Each is read when a font first needs it.
var cidTables = map[string]func() []string{
	"Japan1": cidTable("Adobe-Japan1"), "GB1": cidTable("Adobe-GB1"), "CNS1": cidTable("Adobe-CNS1"),
	"Korea1": cidTable("Adobe-Korea1"), "KR": cidTable("Adobe-KR"),
}

// cidTable returns the texts by CID, read at the first call. An entry begins with 0 for no text, with 1 for a count and as many code
// points, else it is 2 plus the zigzag difference from the previous code point.
func cidTable(name string) func() []string {
	return sync.OnceValue(func() []string {
		f, err := cidData.Open("data/cid/" + name + ".bin")
		if err != nil {
			return nil
		}
		defer f.Close()
		data, err := io.ReadAll(flate.NewReader(f))
		if err != nil {
			return nil
		}
		var out []string
		prev := rune(0)
		read := func() uint64 {
			v, n := binary.Uvarint(data)
			data = data[max(n, 1):]
			return v
		}
		for len(data) > 0 {
			switch v := read(); v {
			case 0:
				out = append(out, "")
			case 1:
				runes := make([]rune, read())
				for i := range runes {
					runes[i] = rune(read())
				}
				out = append(out, string(runes))
				prev = runes[0]
			default:
				prev += rune(int64((v-2)>>1) ^ -int64((v-2)&1))
				out = append(out, string(prev))
			}
		}
		return out
	})
}

// cidText returns the text of a CID of one of Adobe's collections, or "" if it has none.
func cidText(ordering string, cid int) string {
	table, ok := cidTables[ordering]
	if !ok {
		return ""
	}
	if texts := table(); cid >= 0 && cid < len(texts) {
		return texts[cid]
	}
	return ""
}
