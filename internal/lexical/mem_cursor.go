package lexical

import "encoding/binary"

// memCursor implements cursor for a term of a Mem.
type memCursor struct {
	r      chainReader
	left   uint32 // postings not yet read
	n      uint32
	doc    uint32
	tf     uint32
	single bool
	pos    uint32 // the position of a single occurrence
	unread int    // bytes of positions not yet read
}

func (m *Mem) cursor(id uint32) *memCursor {
	t := &m.terms[id]
	return &memCursor{r: t.postings.reader(&m.store), left: t.n, n: t.n}
}

// skipPositions skips the unread positions of the current posting.
func (c *memCursor) skipPositions() {
	if c.unread > 0 {
		if link := c.r.link; c.unread <= len(link) {
			c.r.link = link[c.unread:]
		} else {
			c.r.skip(c.unread)
		}
		c.unread = 0
	}
}

// singles reads the following postings as long as they have a single occurrence and short numbers. It
// writes their documents to dst and returns how many there are. It skips the positions.
func (c *memCursor) singles(dst []uint32) int {
	c.skipPositions()
	n, doc, link := 0, c.doc, c.r.link
	for most := min(len(dst), int(c.left)); n < most; n++ {
		for ; n+4 <= most && len(link) >= 8; n += 4 {
			w := binary.LittleEndian.Uint64(link)
			if w&0x8081_8081_8081_8081 != 0x0001_0001_0001_0001 {
				break
			}
			w = w >> 1 & 0x003F_003F_003F_003F * 0x0001_0001_0001_0001 // in each 16 bits the distance from doc
			dst[n], dst[n+1], dst[n+2], dst[n+3] = doc+uint32(w&0xFFFF), doc+uint32(w>>16&0xFFFF), doc+uint32(w>>32&0xFFFF), doc+uint32(w>>48)
			doc += uint32(w >> 48)
			link = link[8:]
		}
		if n == most {
			break
		}
		if len(link) == 0 {
			c.r.follow()
			link = c.r.link
		}
		if len(link) < 2 || link[0]&0x81 != 1 {
			break
		}
		size := 2 + int(link[1]>>7)
		if size > len(link) || link[size-1] >= 0x80 {
			break
		}
		doc += uint32(link[0] >> 1)
		dst[n] = doc
		link = link[size:]
	}
	c.left -= uint32(n)
	c.single, c.tf, c.doc, c.r.link = true, 1, doc, link
	return n
}

func (c *memCursor) next() bool {
	c.skipPositions()
	if c.left == 0 {
		c.doc = noDoc
		return false
	}
	c.left--
	if c.short() {
		return true
	}
	head := c.r.uvarint()
	c.doc += uint32(head >> 1)
	if c.single = head&1 != 0; c.single {
		c.tf, c.pos = 1, uint32(c.r.uvarint())
	} else {
		c.tf = uint32(c.r.uvarint())
		c.unread = int(c.r.uvarint())
	}
	return true
}

// short reads a posting that lies in one link and has only short numbers, as most do. It reports whether
// the posting is of that kind.
func (c *memCursor) short() bool {
	link := c.r.link
	if len(link) < 3 || link[0] >= 0x80 {
		return false
	}
	a, size := uint32(link[1]), 3
	if link[0]&1 != 0 && a < 0x80 { // do not read further: a writer may be writing the bytes behind
		c.single, c.tf, c.pos, size = true, 1, a, 2
	} else {
		b := uint32(link[2])
		switch {
		case b >= 0x80:
			return false
		case link[0]&1 != 0:
			c.single, c.tf, c.pos = true, 1, a&0x7F|b<<7
		case a < 0x80: // the frequency, the size of the positions
			c.single, c.tf, c.unread = false, a, int(b)
		default:
			return false
		}
	}
	c.doc += uint32(link[0] >> 1)
	c.r.link = link[size:]
	return true
}

func (c *memCursor) advance(target uint32) uint32 {
	for c.left == c.n || c.doc < target {
		if !c.next() {
			break
		}
	}
	return c.doc
}

func (c *memCursor) freq() uint32 { return c.tf }

func (c *memCursor) count() int { return int(c.n) }

func (c *memCursor) err() error { return nil }

func (c *memCursor) positions(dst []uint32) []uint32 {
	if c.single {
		return append(dst, c.pos)
	}
	last := uint32(0)
	for c.unread > 0 {
		delta := uint32(c.r.uvarint())
		c.unread -= uvarintLen(delta)
		last += delta
		dst = append(dst, last)
	}
	return dst
}
