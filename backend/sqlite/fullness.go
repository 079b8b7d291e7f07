package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"

	"github.com/contextmem/contextmem/backend/sqlite/internal/sealedvfs"
	"github.com/contextmem/contextmem/internal/atrest"
)

// Sizes in a SQLite file (https://sqlite.org/fileformat2.html).
const (
	pageSize   = 4096
	fileHeader = 100 // bytes of the file header, at the beginning of page 1
	pageHeader = 8   // bytes of the header of a B-tree leaf page; interior pages have 4 more
)

// fullnessPages is the number of sampled pages. The estimate has an error of some hundredths.
const fullnessPages = 256

// fullness estimates from a sample the share of B-tree pages in use, and that of all pages if the others, such as those of large contents, count
// as full. It does not read the log. c is the cipher of encrypted files, or nil.
func fullness(path string, c *atrest.Cipher) (part, whole float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	stride := int64(pageSize)
	if c != nil {
		stride += atrest.Overhead
	}
	pages := info.Size() / stride
	first, err := readPage(f, 0, c)
	if err != nil || len(first) < fileHeader || binary.BigEndian.Uint16(first[16:]) != pageSize {
		return 1, 1, err // treat a file with another page size as full
	}
	usable := pageSize - int64(first[20])
	r := rand.New(rand.NewPCG(uint64(pages), 1))
	used, room, others := int64(0), int64(0), int64(0)
	for i := range min(pages-1, fullnessPages) {
		// Sample one page of each range of equal length.
		from, to := 1+i*(pages-1)/min(pages-1, fullnessPages), 1+(i+1)*(pages-1)/min(pages-1, fullnessPages)
		at := from + r.Int64N(to-from)
		if at%(usable/5+1) == 1 { // pointer-map pages, which are no B-tree pages
			continue
		}
		page, err := readPage(f, at, c)
		if err != nil {
			return 0, 0, err
		}
		if n, ok := usedOf(page, usable); ok {
			used, room = used+n, room+usable
		} else {
			others += usable
		}
	}
	if room == 0 {
		return 1, 1, nil
	}
	return float64(used) / float64(room), float64(used+others) / float64(room+others), nil
}

// readPage reads page at, counted from 0.
func readPage(f io.ReaderAt, at int64, c *atrest.Cipher) ([]byte, error) {
	if c != nil {
		return sealedvfs.ReadPage(f, at, c)
	}
	page := make([]byte, pageSize)
	_, err := f.ReadAt(page, at*pageSize)
	return page, err
}

// usedOf returns the number of used bytes of a B-tree page. ok is false for other pages, and for a page that is just being written.
func usedOf(page []byte, usable int64) (used int64, ok bool) {
	header := int64(pageHeader)
	switch page[0] {
	case 2, 5: // interior pages
		header += 4
	case 10, 13:
	default:
		return 0, false
	}
	be := binary.BigEndian
	cells, content := int64(be.Uint16(page[3:])), int64(be.Uint16(page[5:]))
	free := content - header - 2*cells + int64(page[7])
	for at, n := int64(be.Uint16(page[1:])), 0; at != 0; n++ {
		if at > usable-4 || n > pageSize/4 {
			return 0, false
		}
		free += int64(be.Uint16(page[at+2:]))
		at = int64(be.Uint16(page[at:]))
	}
	if content > usable || free < 0 || free > usable {
		return 0, false
	}
	return usable - free, true
}
