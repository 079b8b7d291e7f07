package lexical

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sort"
)

// segCursor implements cursor for a term of a Segment. It is at one posting of one decoded
// block. It checks everything that it reads; damage ends the cursor with an error.
type segCursor struct {
	docs [blockDocs]uint32 // documents of the block
	tfs  [blockDocs]uint32 // their frequencies, if haveTFs

	limit     uint32 // documents of the segment
	skips     []byte // the skip table; empty if there is only one block
	data      []byte // the blocks, and tailBytes more
	blocks    int    // byte length of the blocks
	posData   []byte
	df        uint32
	maxImpact uint8
	maxTF     uint8

	nblocks int
	block   int // index of the decoded block, -1 before the first
	n       int // postings in it
	i       int // index of the current posting
	haveTFs bool
	ones    bool   // every frequency of the block is 1
	packed  []byte // packed frequencies minus one, of tfBits each
	tfBits  int
	posRest []byte // positions of the block's postings from posNext on
	posNext int
	fault   error
}

// open puts the cursor before the first posting of a term.
func (c *segCursor) open(s *Segment, id uint32) error {
	le := binary.LittleEndian
	at := s.termInfo[termInfoBytes*int(id):]
	off, size, df := le.Uint64(at), le.Uint32(at[8:]), le.Uint32(at[12:])
	end := uint64(len(s.postings) - tailBytes)
	next := end
	if id+1 < s.footer.terms {
		next = le.Uint64(at[termInfoBytes:])
	}
	if df == 0 || df > s.footer.docs || next > end || off > next || uint64(size) > next-off {
		return fmt.Errorf("%w: term entry", ErrCorrupt)
	}
	nblocks := (int(df) + blockDocs - 1) / blockDocs
	skips := 0
	if nblocks > 1 {
		skips = nblocks * skipBytes
	}
	if uint64(skips) > uint64(size) {
		return fmt.Errorf("%w: skip table", ErrCorrupt)
	}
	area := s.postings[off:]
	c.limit, c.df, c.maxImpact, c.maxTF, c.nblocks = s.footer.docs, df, at[infoImpact], at[infoTF], nblocks
	c.skips = area[:skips]
	c.blocks = int(size) - skips
	c.data = area[skips : int(size)+tailBytes]
	c.posData = area[size : next-off]
	c.block, c.n, c.i, c.fault = -1, 0, 0, nil
	return nil
}

func (c *segCursor) fail() {
	c.fault = fmt.Errorf("%w: postings", ErrCorrupt)
	c.stop()
}

// stop puts the cursor past the last posting.
func (c *segCursor) stop() {
	c.block, c.n, c.i = c.nblocks, 1, 0
	c.docs[0] = noDoc
}

// blockLast returns the last document of a block, or an upper bound if only decoding would show it.
func (c *segCursor) blockLast(block int) uint32 {
	if len(c.skips) == 0 {
		return c.limit - 1
	}
	return binary.LittleEndian.Uint32(c.skips[block*skipBytes:])
}

// blockImpact returns the greatest impact in a block.
func (c *segCursor) blockImpact(block int) uint8 {
	if len(c.skips) == 0 {
		return c.maxImpact
	}
	return c.skips[block*skipBytes+12]
}

// blockTF returns the greatest frequency in a block, at most cappedTF.
func (c *segCursor) blockTF(block int) uint8 {
	if len(c.skips) == 0 {
		return c.maxTF
	}
	return c.skips[block*skipBytes+15]
}

// load decodes the documents of a block and moves the cursor to the first.
func (c *segCursor) load(block int) bool {
	c.block, c.i, c.haveTFs, c.posNext = block, 0, false, 0
	c.n = min(blockDocs, int(c.df)-block*blockDocs)
	if len(c.skips) == 0 {
		c.posRest = c.posData
		return c.loadVarint(c.data[:c.blocks+tailBytes], -1) || c.failed()
	}
	le := binary.LittleEndian
	entry := c.skips[block*skipBytes:]
	last, off, pos := le.Uint32(entry), le.Uint32(entry[4:]), le.Uint32(entry[8:])
	before := int64(-1)
	if block > 0 {
		before = int64(c.blockLast(block - 1))
	}
	if uint64(off) > uint64(c.blocks) || uint64(pos) > uint64(len(c.posData)) {
		return c.failed()
	}
	c.posRest = c.posData[pos:]
	ok := false
	if c.n == blockDocs {
		ok = c.loadPacked(c.data[off:], int(entry[13]), int(entry[14]), before)
	} else {
		ok = c.loadVarint(c.data[off:c.blocks+tailBytes], before)
	}
	if !ok || c.docs[c.n-1] != last {
		return c.failed()
	}
	return true
}

func (c *segCursor) failed() bool {
	c.fail()
	return false
}

func (c *segCursor) loadPacked(data []byte, docBits, tfBits int, before int64) bool {
	size := blockDocs / 8 * (docBits + tfBits)
	if docBits > 32 || tfBits > 31 || len(data) < size+tailBytes {
		return false
	}
	unpack(&c.docs, data, docBits)
	// Distances are not negative. If their sum is in range, so are all partial sums.
	next := uint64(before + 1)
	for i, delta := range &c.docs {
		next += uint64(delta)
		c.docs[i] = uint32(next)
		next++
	}
	if next > uint64(c.limit) {
		return false
	}
	c.packed, c.tfBits = data[blockDocs/8*docBits:size+tailBytes], tfBits
	c.ones = tfBits == 0
	return true
}

// loadVarint decodes a block of varints. data has tailBytes more bytes than they take.
func (c *segCursor) loadVarint(data []byte, before int64) bool {
	doc, at, end := before, 0, len(data)-tailBytes
	c.ones = true
	for i := range c.n {
		if at >= end {
			return false
		}
		head, n := shortVarint(data[at:])
		at += n
		doc += int64(head>>1) + 1
		if n == 0 || doc >= int64(c.limit) {
			return false
		}
		c.docs[i] = uint32(doc)
		c.tfs[i] = 1
		if head&1 == 0 {
			tf, n := binary.Uvarint(data[at:])
			if n <= 0 || tf == 0 || tf > maxTF {
				return false
			}
			at += n
			c.tfs[i] = uint32(tf)
			c.ones = false
		}
	}
	c.haveTFs = true
	return at <= end
}

// shortVarint reads a varint of up to 5 bytes without a branch on its length. data has at least 8
// bytes. n is the length of the varint, or 0 if it is longer than 5.
func shortVarint(data []byte) (v uint64, n int) {
	x := binary.LittleEndian.Uint64(data)
	n = bits.TrailingZeros64(^x&0x8080808080)/8 + 1
	if n > 5 {
		return 0, 0
	}
	x &= 1<<(8*n) - 1
	return x&0x7f | x>>1&(0x7f<<7) | x>>2&(0x7f<<14) | x>>3&(0x7f<<21) | x>>4&(0x7f<<28), n
}

// loadTFs decodes all frequencies of the block.
func (c *segCursor) loadTFs() {
	if c.haveTFs {
		return
	}
	if c.haveTFs = true; c.ones {
		for i := range c.tfs {
			c.tfs[i] = 1
		}
		return
	}
	unpack(&c.tfs, c.packed, c.tfBits)
	for i := range c.tfs {
		c.tfs[i]++
	}
}

// findBlock returns the first block that may have a document at or after target, or
// nblocks if there is none. It decodes nothing.
func (c *segCursor) findBlock(target uint32) int {
	from := c.block
	if from >= 0 && (from == c.nblocks || c.docs[c.n-1] >= target) {
		return from
	}
	from++
	if from >= c.nblocks || c.blockLast(from) >= target {
		return from
	}
	step := 1 // gallop over the skip table
	for from+step < c.nblocks && c.blockLast(from+step) < target {
		from += step
		step *= 2
	}
	return from + 1 + sort.Search(min(step, c.nblocks-from)-1, func(i int) bool { return c.blockLast(from+1+i) >= target })
}

// seekBlock decodes the first block that has a document at or after target. It reports whether
// there is one.
func (c *segCursor) seekBlock(target uint32) bool {
	block := c.findBlock(target)
	if block >= c.nblocks {
		c.stop()
		return false
	}
	return block == c.block || c.load(block)
}

func (c *segCursor) advance(target uint32) uint32 {
	if (c.n == 0 || c.docs[c.n-1] < target) && !c.seekBlock(target) {
		return noDoc
	}
	docs := c.docs[:c.n]
	i := c.i
	if docs[i] < target {
		for step := blockDocs / 2; step > 0; step /= 2 {
			if next := i + step; next < len(docs) && docs[next] < target {
				i = next
			}
		}
		i++
	}
	if i == len(docs) {
		c.stop() // a single block has no skip entry that gives its last document
		return noDoc
	}
	c.i = i
	return docs[i]
}

// freq returns the frequency at the current posting.
func (c *segCursor) freq() uint32 {
	if c.haveTFs {
		return c.tfs[c.i]
	}
	if c.tfBits == 0 {
		return 1
	}
	bit := c.i * c.tfBits
	mask := uint64(1)<<c.tfBits - 1
	return uint32(binary.LittleEndian.Uint64(c.packed[bit>>3:])>>(bit&7)&mask) + 1
}

func (c *segCursor) count() int { return int(c.df) }

func (c *segCursor) err() error { return c.fault }

// positions appends the positions of the current posting. Damage ends the cursor.
func (c *segCursor) positions(dst []uint32) []uint32 {
	for ; c.posNext < c.i; c.posNext++ {
		if _, ok := c.readPositions(nil, true); !ok {
			c.fail()
			return dst
		}
	}
	dst, ok := c.readPositions(dst, false)
	if !ok {
		c.fail()
		return dst
	}
	c.posNext++
	return dst
}

// readPositions reads the positions of the next posting from posRest.
func (c *segCursor) readPositions(dst []uint32, skip bool) ([]uint32, bool) {
	head, n := binary.Uvarint(c.posRest)
	if n <= 0 {
		return dst, false
	}
	rest := c.posRest[n:]
	pos, more := head>>1, uint64(0)
	if !skip {
		dst = append(dst, uint32(pos))
	}
	if head&1 != 0 {
		if more, n = binary.Uvarint(rest); n <= 0 {
			return dst, false
		}
		rest = rest[n:]
	}
	for ; more > 0; more-- {
		delta, n := binary.Uvarint(rest)
		if n <= 0 {
			return dst, false
		}
		rest = rest[n:]
		pos += delta
		if !skip {
			dst = append(dst, uint32(pos))
		}
	}
	c.posRest = rest
	return dst, true
}
