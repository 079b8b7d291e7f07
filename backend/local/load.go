package local

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/atrest"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/vector"
)

// verifyNow is the total size of a block's sections, in bytes, up to which the checksums of
// its mapped sections are compared before use. In larger blocks they are compared in the
// background. The checksum of a section that is decoded is always compared first.
const verifyNow = 4 << 20

// verifyAfter is the delay of the comparison in the background. Until then the search that
// loaded the partition has the processors and the disk for itself.
const verifyAfter = 250 * time.Millisecond

// verify compares the checksum of a section. The error is errFormat.
func (b *block) verify(s section) error {
	sum := uint32(0)
	for rest := b.bytes(s); len(rest) > 0; {
		part := rest[:min(len(rest), verifyBytes)]
		sum = updateChecksum(sum, part)
		if rest = rest[len(part):]; s.length > verifyBytes {
			b.file.dropPages(part)
		}
	}
	if sum != s.sum {
		return fmt.Errorf("%w: checksum of a section of kind %d", errFormat, s.kind)
	}
	return nil
}

// verifyBytes is the number of bytes that verify reads at once. After each part of a longer section it drops the pages of that part.
const verifyBytes = 1 << 20

// size returns the number of bytes of all sections.
func (b *block) size() (n uint64) {
	for _, s := range b.sections {
		n += s.length
	}
	return n
}

// find returns the section of a kind and its mapped bytes, or nil when the block has none.
func (b *block) find(kind sectionKind) (section, []byte) {
	for _, s := range b.sections {
		if s.kind == kind {
			return s, b.bytes(s)
		}
	}
	return section{}, nil
}

// bytesOf returns the bytes of the section of a kind after comparing their checksum, or nil when the block has none.
func (b *block) bytesOf(kind sectionKind) ([]byte, error) {
	s, data := b.find(kind)
	if data == nil {
		return nil, nil
	}
	return data, b.verify(s)
}

// read decodes the sections of the block other than vectors and postings.
func (b *block) read() (*content, error) {
	c := new(content)
	for kind, decode := range map[sectionKind]func(data []byte) error{
		secRows:  func(data []byte) error { return c.decodeRows(data, b.nextRow) },
		secTags:  c.decodeTags,
		secGraph: c.decodeGraph,
		secLinks: c.decodeLinks,
	} {
		data, err := b.bytesOf(kind)
		if err == nil && data != nil {
			err = decode(data)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// open opens the vectors and postings. If check is true it first compares their checksums
// and that of the rows. Errors are errFormat.
func (b *block) open(check bool) (*segment, error) {
	seg := &segment{block: b}
	vectors := -1 // a section of vectors whose section of places has not come yet
	for i, s := range b.sections {
		if s.kind == secPlaces || check && s.kind != secTags && s.kind != secGraph && s.kind != secLinks {
			if err := b.verify(s); err != nil {
				return nil, err
			}
		}
		var err error
		switch s.kind {
		case secRows, secTags, secGraph, secLinks:
		case secWords:
			seg.words, err = lexical.OpenSegment(b.bytes(s))
		case secVectors:
			vectors = i
		case secPlaces:
			if vectors < 0 {
				return nil, fmt.Errorf("%w: places without vectors", errFormat)
			}
			err = seg.openVectors(b.sections[vectors], b.bytes(s))
			vectors = -1
		default:
			err = fmt.Errorf("section of unknown kind %d", s.kind)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errFormat, err)
		}
	}
	return seg, nil
}

func (seg *segment) openVectors(s section, places []byte) error {
	vs, err := vector.OpenSegment(seg.block.bytes(s))
	if err != nil {
		return err
	}
	if osf := seg.block.file.osf; osf != nil && vs.Coded() {
		vs.ReadRows(io.NewSectionReader(osf, int64(s.offset), int64(s.length)))
	}
	at, err := decodePlaces(places, vs.Len(), seg.block.nextRow)
	if err != nil || vs.Len() == 0 {
		return err
	}
	seg.parts = append(seg.parts, &vectorPart{dim: vs.Dim(), search: vs, places: at, live: vs.Len()})
	return nil
}

// verifyLater compares in the background the checksums that loadPartition did not compare.
func (x *index) verifyLater(blocks []*block) {
	for _, b := range blocks {
		if b.size() <= verifyNow || b.checked.Swap(true) {
			continue
		}
		x.work.start(func(ctx context.Context) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(verifyAfter):
			}
			if err := b.reread(ctx, x.owner.cipher); isDamage(err) {
				x.damage(err)
			}
		})
	}
}

// rereadBytes is the number of bytes that reread reads at once.
const rereadBytes = 1 << 18

// reread compares the checksums of all sections. It reads the file and not the mapping,
// because reading the mapping would make every page of it resident.
func (b *block) reread(ctx context.Context, c *atrest.Cipher) error {
	f, err := openDisk(b.file.path, b.file.id, c)
	if err != nil {
		return err // a merge may have removed the file
	}
	defer func() { _ = f.Close() }() // only read
	buf := make([]byte, rereadBytes)
	for _, s := range b.sections {
		sum := uint32(0)
		for at := uint64(0); at < s.length; at += rereadBytes {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			part := buf[:min(rereadBytes, s.length-at)]
			if _, err := f.ReadAt(part, int64(s.offset+at)); err != nil {
				return err
			}
			sum = updateChecksum(sum, part)
		}
		if sum != s.sum {
			return fmt.Errorf("%w: checksum of a section of kind %d", errFormat, s.kind)
		}
	}
	return nil
}

// loadPartition builds a partition from its blocks, oldest first. It loads only the data
// that searches without a filter need; other facets are built on demand. It takes a
// reference to the file of each block. An error means damage.
func loadPartition(class backend.Class, blocks []*block) (*partition, error) {
	p := newPartition(class)
	p.ready.Store(0)
	p.blocks = blocks
	for _, b := range blocks {
		b.file.acquire()
		p.segments = append(p.segments, &segment{block: b})
		seg, err := b.open(b.size() <= verifyNow)
		if err == nil {
			err = p.addBlock(b)
		}
		if err != nil {
			p.giveBack()
			return nil, err
		}
		p.segments[len(p.segments)-1] = seg
		p.vectors = append(p.vectors, seg.parts...)
	}
	return p, nil
}

// giveBack releases the files of the partition, which cannot be used afterwards. The caller holds mu.
func (p *partition) giveBack() {
	p.gone = true
	for _, s := range p.segments {
		s.block.file.release()
	}
	p.segments, p.vectors, p.blocks, p.runs = nil, nil, nil, nil
}

// addBlock adds the sources and rows of a block.
func (p *partition) addBlock(b *block) error {
	if _, data := b.find(secRows); data != nil {
		c, err := openColumns(data, b.nextRow)
		if err == nil {
			err = p.addRun(c)
		}
		if err != nil {
			return err
		}
	}
	p.extend(b.nextRow)
	p.tailFrom = b.nextRow
	return nil
}
