package lexical

import "encoding/binary"

// An arena allocates byte ranges from pages that never move. An address has the page
// number in its upper 16 bits and the offset in its lower 16.
type arena struct {
	pages [][]byte
	used  int   // allocated bytes of the last page
	bytes int64 // of all pages
}

const (
	firstPageBytes = 1 << 10
	maxPageBytes   = 1 << 16
	maxPages       = 1 << 16
)

// fits reports whether the arena can allocate n more bytes, either at once or in pieces of at
// most half a page. Addresses of 32 bits limit an arena to 4 GB.
func (a *arena) fits(n int) bool { return len(a.pages)+n/(maxPageBytes/2)+2 <= maxPages }

// alloc returns n new bytes and their address. The caller has checked with fits that there is room.
func (a *arena) alloc(n int) (uint32, []byte) {
	last := len(a.pages) - 1
	if last < 0 || a.used+n > len(a.pages[last]) {
		size := firstPageBytes << min(len(a.pages), 6)
		size = max(min(size, maxPageBytes), n)
		a.pages = append(a.pages, make([]byte, size))
		a.used = 0
		a.bytes += int64(size)
		last++
	}
	off := a.used
	a.used += n
	return uint32(last)<<16 | uint32(off), a.pages[last][off:a.used:a.used]
}

// at returns the bytes from an address to the end of its page.
func (a *arena) at(addr uint32) []byte { return a.pages[addr>>16][addr&0xFFFF:] }

// A chain is a growing list of bytes in an arena: links of rising size, each with
// the address of the next one in its last four bytes.
type chain struct {
	head, tail uint32 // address of the first link, and of the next byte to write
	room       uint16 // bytes left in the last link
	level      uint8  // of the last link
	begun      bool
}

const (
	linkPointer = 4
	maxLevel    = 7
)

// linkBytes returns the payload of a link: 8 bytes for the many rare terms, then
// doubling to 1 KB.
func linkBytes(level uint8) int { return 8 << level }

func (c *chain) write(a *arena, data []byte) {
	for len(data) > 0 {
		if c.room == 0 {
			c.extend(a)
		}
		n := copy(a.at(c.tail)[:c.room], data)
		data = data[n:]
		c.tail += uint32(n)
		c.room -= uint16(n)
	}
}

func (c *chain) extend(a *arena) {
	level := c.level
	if c.begun && level < maxLevel {
		level++
	}
	n := linkBytes(level)
	addr, _ := a.alloc(n + linkPointer)
	if c.begun {
		binary.LittleEndian.PutUint32(a.at(c.tail), addr)
	} else {
		c.head, c.begun = addr, true
	}
	c.tail, c.room, c.level = addr, uint16(n), level
}

// chainReader reads a chain from its head. The caller knows the length of the chain.
type chainReader struct {
	a     *arena
	link  []byte // unread payload of the link
	next  uint32 // address of the next link's address
	level uint8
}

func (c *chain) reader(a *arena) chainReader {
	r := chainReader{a: a}
	r.open(c.head)
	return r
}

func (r *chainReader) open(addr uint32) {
	n := linkBytes(r.level)
	r.link = r.a.at(addr)[:n]
	r.next = addr + uint32(n)
}

func (r *chainReader) follow() {
	if r.level < maxLevel {
		r.level++
	}
	// The level follows from the link's place in the chain, so links do not store it.
	r.open(binary.LittleEndian.Uint32(r.a.at(r.next)))
}

func (r *chainReader) uvarint() uint64 {
	var v uint64
	for shift := 0; ; shift += 7 {
		if len(r.link) == 0 {
			r.follow()
		}
		c := r.link[0]
		r.link = r.link[1:]
		v |= uint64(c&0x7F) << shift
		if c < 0x80 {
			return v
		}
	}
}

func (r *chainReader) skip(n int) {
	for n > len(r.link) {
		n -= len(r.link)
		r.follow()
	}
	r.link = r.link[n:]
}
