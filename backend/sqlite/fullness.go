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

// Of a file of SQLite (https://sqlite.org/fileformat2.html).
const (
	pageSize   = 4096
	fileHeader = 100 // bytes in front of what page 1 holds
	pageHeader = 8   // of a page of a B-tree without children; 4 more with them
)

// fullnessPages is how many pages are looked at to tell how full all are: the estimate is off by some hundredths.
const fullnessPages = 256

// fullness estimates from a sample which part of the pages of B-trees is in use. What stands in the log alone is not seen. c is that
// of encrypted files, else nil.
func fullness(path string, c *atrest.Cipher) (part float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	stride := int64(pageSize)
	if c != nil {
		stride += atrest.Overhead
	}
	pages := info.Size() / stride
	first, err := readPage(f, 0, c)
	if err != nil || len(first) < fileHeader || binary.BigEndian.Uint16(first[16:]) != pageSize {
		return 1, err // of other sizes nothing is known
	}
	usable := pageSize - int64(first[20])
	r := rand.New(rand.NewPCG(uint64(pages), 1))
	used, room := int64(0), int64(0)
	for i := range min(pages-1, fullnessPages) {
		// One of each stretch of as many pages.
		from, to := 1+i*(pages-1)/min(pages-1, fullnessPages), 1+(i+1)*(pages-1)/min(pages-1, fullnessPages)
		at := from + r.Int64N(to-from)
		if at%(usable/5+1) == 1 { // page 2 and each of these tell where pages belong
			continue
		}
		page, err := readPage(f, at, c)
		if err != nil {
			return 0, err
		}
		if n, ok := usedOf(page, usable); ok {
			used, room = used+n, room+usable
		}
	}
	if room == 0 {
		return 1, nil
	}
	return float64(used) / float64(room), nil
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

// usedOf returns how many bytes of a page of a B-tree are in use; ok is false for other pages, and for one that is just being written.
func usedOf(page []byte, usable int64) (used int64, ok bool) {
	header := int64(pageHeader)
	switch page[0] {
	case 2, 5: // with children
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
