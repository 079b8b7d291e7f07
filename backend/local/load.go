package local

import (
	"context"
	"fmt"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/vector"
)

// verifyNow is the number of bytes of a block's vectors and postings up to which
// their checksums are compared before they are used; larger ones are compared in the
// background. Everything else is always compared first.
const verifyNow = 4 << 20

// verify compares the checksum of a section.
func (b *block) verify(s section) error {
	if checksum(b.bytes(s)) != s.sum {
		return fmt.Errorf("%w: checksum of a section of kind %d", errFormat, s.kind)
	}
	return nil
}

// mapped is the number of bytes of vectors and postings.
func (b *block) mapped() (n uint64) {
	for _, s := range b.sections {
		if s.kind == secWords || s.kind == secVectors {
			n += s.length
		}
	}
	return n
}

// bytesOf returns the section of a kind, its checksum compared; nil: there is none.
func (b *block) bytesOf(kind sectionKind) ([]byte, error) {
	for _, s := range b.sections {
		if s.kind == kind {
			return b.bytes(s), b.verify(s)
		}
	}
	return nil, nil
}

// read decodes what the block says beside vectors and postings.
func (b *block) read() (*content, error) {
	c := new(content)
	for kind, decode := range map[sectionKind]func(data []byte) error{
		secRows:  func(data []byte) error { return c.decodeRows(data, b.nextRow) },
		secTags:  c.decodeTags,
		secGraph: c.decodeGraph,
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

// open opens the vectors and postings; check asks for their checksums. Errors are
// errFormat.
func (b *block) open(check bool) (*segment, error) {
	seg := &segment{block: b}
	vectors := -1 // the section that waits for its places
	for i, s := range b.sections {
		if s.kind == secPlaces || check && (s.kind == secWords || s.kind == secVectors) {
			if err := b.verify(s); err != nil {
				return nil, err
			}
		}
		var err error
		switch s.kind {
		case secRows, secTags, secGraph:
		case secWords:
			seg.words, err = lexical.OpenSegment(b.bytes(s))
		case secVectors:
			vectors = i
		case secPlaces:
			if vectors < 0 {
				return nil, fmt.Errorf("%w: places without vectors", errFormat)
			}
			err = seg.openVectors(b.bytes(b.sections[vectors]), b.bytes(s))
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

func (seg *segment) openVectors(data, places []byte) error {
	vs, err := vector.OpenSegment(data)
	if err != nil {
		return err
	}
	first, rows, err := decodePlaces(places, vs.Len(), seg.block.nextRow)
	if err != nil || vs.Len() == 0 {
		return err
	}
	if rows == nil && first%64 != 0 {
		rows = make([]uint32, vs.Len())
		for i := range rows {
			rows[i] = first + uint32(i)
		}
	}
	seg.parts = append(seg.parts, &vectorPart{dim: vs.Dim(), search: vs, first: first, rows: rows, live: vs.Len()})
	return nil
}

// verifyLater compares, in the background, the checksums that were not compared when
// blocks were read.
func (x *index) verifyLater(blocks []*block) {
	for _, b := range blocks {
		if b.mapped() <= verifyNow || b.checked.Swap(true) {
			continue
		}
		b.file.acquire()
		job := func(ctx context.Context) {
			defer b.file.release()
			for _, s := range b.sections {
				if ctx.Err() != nil {
					return
				}
				if err := b.verify(s); err != nil {
					x.damage(err)
					return
				}
			}
		}
		if !x.work.start(job) {
			b.file.release()
		}
	}
}

// loadPartition builds a partition from its blocks, from the oldest to the newest:
// its rows and sources, and what else need asks for later. It takes a reference to
// the file of each block. Errors speak of damage.
func loadPartition(class backend.Class, blocks []*block) (*partition, error) {
	p := newPartition(class)
	p.ready.Store(0)
	p.blocks = blocks
	for _, b := range blocks {
		b.file.acquire()
		p.segments = append(p.segments, &segment{block: b})
		seg, err := b.open(b.mapped() <= verifyNow)
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

// giveBack makes the partition useless. The caller holds mu.
func (p *partition) giveBack() {
	p.gone = true
	for _, s := range p.segments {
		s.block.file.release()
	}
	p.segments, p.vectors, p.blocks = nil, nil, nil
}

// addBlock adds the sources and rows of a block.
func (p *partition) addBlock(b *block) error {
	data, err := b.bytesOf(secRows)
	if err != nil {
		return err
	}
	if data != nil {
		if err := p.addRows(data, b); err != nil {
			return err
		}
	}
	p.skipTo(b.nextRow)
	p.tailFrom = b.nextRow
	return nil
}

func (p *partition) addRows(data []byte, b *block) error {
	p.reserve(int(b.rows))
	var names []uint32
	at, left := uint32(0), 0 // the source being read, and how many of its rows are to come
	return readRows(data, b.nextRow, &rowReader{
		drop: func(source int64) error {
			p.buildPlaces()
			if at, ok := p.find(source); ok {
				return p.remove(at)
			}
			return nil
		},
		names: func(texts []string) {
			names = make([]uint32, len(texts)+1)
			for i, s := range texts {
				names[i+1] = p.intern(s)
			}
		},
		count: func(sources int) {
			p.sources, p.sourceNum = slices.Grow(p.sources, sources), slices.Grow(p.sourceNum, sources)
		},
		source: func(s *storedSource, rows int) error {
			if int(s.first) < len(p.chunk) || rows == 0 {
				return fmt.Errorf("%w: rows of a source overlap others", errFormat)
			}
			p.skipTo(s.first)
			at, left = p.addSource(s.num, source{
				first: s.first, rows: uint32(rows), time: s.time, name: names[s.name],
				length: s.length, prev: none, next: none, session: none,
			}), rows
			return nil
		},
		row: func(r storedRow) {
			r.speaker = names[r.speaker]
			p.addRow(at, r)
			if left--; left == 0 {
				p.addLive(at)
			}
		},
	})
}

// reserve makes room for rows.
func (p *partition) reserve(rows int) {
	p.chunk, p.ordinal, p.of = slices.Grow(p.chunk, rows), slices.Grow(p.ordinal, rows), slices.Grow(p.of, rows)
	p.speaker, p.flags = slices.Grow(p.speaker, rows), slices.Grow(p.flags, rows)
}
