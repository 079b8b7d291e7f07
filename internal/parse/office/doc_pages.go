package office

import (
	"encoding/binary"
	"sort"
)

// docPages says which pages of a Word document have the properties of its paragraphs, or those of its characters ([MS-DOC] 2.8.5, 2.8.6).
type docPages struct {
	at   []uint32 // file positions from which on the pages apply, ascending
	page []uint32 // their numbers
}

// docPageSize is the size in bytes of a page of properties. Its last byte has the number of runs.
const docPageSize = 512

// readPages reads the locations of pages.
func readPages(plc []byte) (p docPages) {
	n := (len(plc) - 4) / 8
	for i := range max(n, 0) {
		p.at = append(p.at, binary.LittleEndian.Uint32(plc[4*i:]))
		p.page = append(p.page, binary.LittleEndian.Uint32(plc[4*(n+1)+4*i:])&0x3FFFFF)
	}
	return p
}

// formattedPage returns the page with the properties at a file position, the number of its runs and the run that ends after the position
// ([MS-DOC] 2.9.33, 2.9.175). In a page the bounds of the runs come first, then width bytes for each run. k is -1 if there is none.
func formattedPage(main []byte, p docPages, width int, fc uint32) (page []byte, runs, k int) {
	i := sort.Search(len(p.at), func(i int) bool { return p.at[i] > fc }) - 1
	if i < 0 {
		return nil, 0, -1
	}
	from := int64(p.page[i]) * docPageSize
	if from+docPageSize > int64(len(main)) {
		return nil, 0, -1
	}
	page = main[from : from+docPageSize]
	if runs = int(page[docPageSize-1]); 4*(runs+1)+width*runs > docPageSize-1 {
		return nil, 0, -1
	}
	if k = sort.Search(runs, func(k int) bool { return pageBound(page, k+1) > fc }); k >= runs {
		return nil, 0, -1
	}
	return page, runs, k
}

// pageBound returns the file position at which run k of a page begins, which is where the run before it ends.
func pageBound(page []byte, k int) uint32 { return binary.LittleEndian.Uint32(page[4*k:]) }
