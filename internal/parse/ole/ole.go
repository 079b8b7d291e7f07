// Package ole reads the streams of compound files, the containers of office documents before 2007 and of Outlook's messages ([MS-CFB]). It
// never allocates memory by the sizes that a file declares. For a truncated file it returns the part of each stream that exists.
package ole

import (
	"encoding/binary"
	"errors"
	"unicode/utf16"
)

// ErrFormat means that the data is not a compound file.
var ErrFormat = errors.New("not a compound file")

const (
	headerSize  = 512
	entrySize   = 128
	miniSector  = 64
	miniCutoff  = 4096
	maxEntries  = 50_000
	lastSector  = 0xFFFFFFFA // sector numbers are lower
	headerDIFAT = 109
)

// File is an open compound file.
type File struct {
	// Cut is set when parts of the file are missing.
	Cut bool

	data    []byte
	sector  int
	fat     []uint32
	miniFAT []uint32
	mini    []byte
	entries []entry
	paths   map[string]int
}

type entry struct {
	name                string
	kind                byte // 1 a storage, 2 a stream, 5 the root
	left, right, within uint32
	start               uint32
	size                uint64
}

// Open reads the tables and the directory of a compound file.
func Open(data []byte) (*File, error) {
	if len(data) < headerSize || string(data[:8]) != "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" {
		return nil, ErrFormat
	}
	shift := binary.LittleEndian.Uint16(data[30:])
	if shift != 9 && shift != 12 {
		return nil, ErrFormat
	}
	f := &File{data: data, sector: 1 << shift, paths: map[string]int{}}
	f.readFAT()
	f.readDirectory(u32(data, 48))
	if len(f.entries) == 0 {
		return nil, ErrFormat
	}
	f.Cut = f.Cut || f.endsEarly()
	f.miniFAT = numbers(f.chain(u32(data, 60), uint64(len(data))))
	f.mini = f.chain(f.entries[0].start, f.entries[0].size)
	f.walk(f.entries[0].within, "", 0, map[uint32]bool{})
	return f, nil
}

func u32(b []byte, at int) uint32 {
	if at < 0 || at+4 > len(b) {
		return lastSector
	}
	return binary.LittleEndian.Uint32(b[at:])
}

func numbers(b []byte) []uint32 {
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// at returns a sector, or its remaining bytes at the end of the file, or nil.
func (f *File) at(n uint32) []byte {
	from := (int64(n) + 1) * int64(f.sector)
	if n >= lastSector || from >= int64(len(f.data)) {
		return nil
	}
	return f.data[from:min(from+int64(f.sector), int64(len(f.data)))]
}

// readFAT collects the sectors of the allocation table, which the header and a chain of further sectors list.
func (f *File) readFAT() {
	most := len(f.data)/f.sector + 1
	add := func(n uint32) {
		if n < lastSector && len(f.fat) < most {
			f.fat = append(f.fat, numbers(f.at(n))...)
		}
	}
	for i := range headerDIFAT {
		add(u32(f.data, 76+4*i))
	}
	for next, n := u32(f.data, 68), 0; next < lastSector && n < most; n++ {
		list := numbers(f.at(next))
		if len(list) < f.sector/4 {
			break
		}
		for _, s := range list[:len(list)-1] {
			add(s)
		}
		next = list[len(list)-1]
	}
}

// endsEarly reports whether the allocation table refers to sectors beyond the end of the file.
func (f *File) endsEarly() bool {
	there := (len(f.data) - headerSize + f.sector - 1) / f.sector // the last one may be short
	for n := len(f.fat) - 1; n >= max(there, 0); n-- {
		if f.fat[n] != 0xFFFFFFFF { // free
			return true
		}
	}
	return false
}

// chain returns the bytes of a chain of sectors, up to size.
func (f *File) chain(start uint32, size uint64) []byte {
	size = min(size, uint64(len(f.data)))
	room := uint64(0) // the size in the directory may be false
	for n := start; room < size && uint64(n) < uint64(len(f.fat)); n = f.fat[n] {
		room += uint64(f.sector)
	}
	out := make([]byte, 0, room)
	for n, steps := start, 0; n < lastSector && uint64(len(out)) < size; steps++ {
		b := f.at(n)
		if len(b) == 0 || steps > len(f.data)/f.sector {
			f.Cut = true
			break
		}
		out = append(out, b...)
		if int(n) >= len(f.fat) {
			f.Cut = true
			break
		}
		n = f.fat[n]
	}
	return out[:min(uint64(len(out)), size)]
}

// miniChain is chain for the small streams that are stored in the stream of the root.
func (f *File) miniChain(start uint32, size uint64) []byte {
	size = min(size, uint64(len(f.mini)))
	var out []byte
	for n, steps := start, 0; n < lastSector && uint64(len(out)) < size; steps++ {
		from := int64(n) * miniSector
		if from >= int64(len(f.mini)) || steps > len(f.mini)/miniSector {
			f.Cut = true
			break
		}
		out = append(out, f.mini[from:min(from+miniSector, int64(len(f.mini)))]...)
		if int(n) >= len(f.miniFAT) {
			f.Cut = true
			break
		}
		n = f.miniFAT[n]
	}
	return out[:min(uint64(len(out)), size)]
}

func (f *File) readDirectory(start uint32) {
	data := f.chain(start, uint64(len(f.data)))
	f.Cut = len(data)%f.sector != 0
	for len(data) >= entrySize && len(f.entries) < maxEntries {
		b := data[:entrySize]
		data = data[entrySize:]
		n := min(int(binary.LittleEndian.Uint16(b[64:])), 64)
		var units []uint16
		for i := 0; i+3 < n; i += 2 {
			units = append(units, binary.LittleEndian.Uint16(b[i:]))
		}
		e := entry{name: string(utf16.Decode(units)), kind: b[66], left: u32(b, 68), right: u32(b, 72), within: u32(b, 76),
			start: u32(b, 116), size: binary.LittleEndian.Uint64(b[120:])}
		if f.sector == 512 {
			e.size &= 0xFFFFFFFF
		}
		f.entries = append(f.entries, e)
	}
}

// walk sets the paths of the entries in a storage, which are a tree of siblings.
func (f *File) walk(n uint32, prefix string, depth int, seen map[uint32]bool) {
	if n >= uint32(len(f.entries)) || seen[n] || depth > 256 {
		return
	}
	seen[n] = true
	e := &f.entries[n]
	f.walk(e.left, prefix, depth+1, seen)
	if path := prefix + e.name; e.kind == 2 {
		f.paths[path] = int(n)
	} else if e.kind == 1 {
		f.walk(e.within, path+"/", depth+1, seen)
	}
	f.walk(e.right, prefix, depth+1, seen)
}

// Has reports whether there is a stream with that path.
func (f *File) Has(path string) bool {
	_, ok := f.paths[path]
	return ok
}

// Stream returns the content of a stream by its path, such as "WordDocument" or "storage/stream". It returns nil if there is none.
func (f *File) Stream(path string) []byte {
	i, ok := f.paths[path]
	if !ok {
		return nil
	}
	e := &f.entries[i]
	var out []byte
	if e.size < miniCutoff {
		out = f.miniChain(e.start, e.size)
	} else {
		out = f.chain(e.start, e.size)
	}
	if uint64(len(out)) < e.size {
		f.Cut = true
	}
	return out
}
