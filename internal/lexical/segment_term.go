package lexical

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// termWriter encodes the postings of one term after the other.
type termWriter struct {
	postings  []posting
	positions []uint32
	skips     []byte
	blocks    []byte
	posBytes  []byte
}

// posting is a document with the range of its positions.
type posting struct {
	doc, tf  uint32
	from, to int
}

func (t *termWriter) reset() {
	t.postings, t.positions = t.postings[:0], t.positions[:0]
	t.skips, t.blocks, t.posBytes = t.skips[:0], t.blocks[:0], t.posBytes[:0]
}

// encode returns the blocks and positions of the collected postings, their
// greatest impact and tf, and leaves the skip table in t.skips.
func (t *termWriter) encode(lens []uint32, norms *scorer) (blocks, positions []byte, maxImpact, maxTF uint8) {
	byDoc := func(x, y posting) int { return cmp.Compare(x.doc, y.doc) }
	if !slices.IsSortedFunc(t.postings, byDoc) { // parts whose rows interleave
		slices.SortFunc(t.postings, byDoc)
	}
	several := len(t.postings) > blockDocs
	before := int64(-1)
	for from := 0; from < len(t.postings); from += blockDocs {
		block := t.postings[from:min(from+blockDocs, len(t.postings))]
		var most, mostTF uint8
		for _, p := range block {
			most = max(most, impact(p.tf, norms.norm(lens[p.doc])))
			mostTF = max(mostTF, uint8(min(p.tf, cappedTF)))
		}
		maxImpact, maxTF = max(maxImpact, most), max(maxTF, mostTF)
		off, pos := len(t.blocks), len(t.posBytes)
		docBits, tfBits := 0, 0
		if several && len(block) == blockDocs {
			docBits, tfBits = t.packBlock(block, before)
		} else {
			t.varintBlock(block, before)
		}
		for _, p := range block {
			t.posBytes = appendPositions(t.posBytes, t.positions[p.from:p.to])
		}
		last := block[len(block)-1].doc
		if several {
			t.skips = binary.LittleEndian.AppendUint32(t.skips, last)
			t.skips = binary.LittleEndian.AppendUint32(t.skips, uint32(off))
			t.skips = binary.LittleEndian.AppendUint32(t.skips, uint32(pos))
			t.skips = append(t.skips, most, uint8(docBits), uint8(tfBits), mostTF)
		}
		before = int64(last)
	}
	return t.blocks, t.posBytes, maxImpact, maxTF
}

func (t *termWriter) packBlock(block []posting, before int64) (docBits, tfBits int) {
	var docs, tfs [blockDocs]uint32
	for i, p := range block {
		docs[i] = uint32(int64(p.doc) - before - 1)
		tfs[i] = max(p.tf, 1) - 1
		before = int64(p.doc)
	}
	docBits, tfBits = widthOf(&docs), widthOf(&tfs)
	t.blocks = pack(t.blocks, &docs, docBits)
	t.blocks = pack(t.blocks, &tfs, tfBits)
	return docBits, tfBits
}

func (t *termWriter) varintBlock(block []posting, before int64) {
	for _, p := range block {
		head := uint64(int64(p.doc)-before-1) << 1
		if p.tf == 1 {
			t.blocks = binary.AppendUvarint(t.blocks, head|1)
		} else {
			t.blocks = binary.AppendUvarint(t.blocks, head)
			t.blocks = binary.AppendUvarint(t.blocks, uint64(p.tf))
		}
		before = int64(p.doc)
	}
}

// appendPositions encodes the positions of a posting. Every posting has one.
func appendPositions(dst []byte, positions []uint32) []byte {
	if len(positions) == 1 {
		return binary.AppendUvarint(dst, uint64(positions[0])<<1)
	}
	dst = binary.AppendUvarint(dst, uint64(positions[0])<<1|1)
	dst = binary.AppendUvarint(dst, uint64(len(positions)-1))
	for i := 1; i < len(positions); i++ {
		dst = binary.AppendUvarint(dst, uint64(positions[i]-positions[i-1]))
	}
	return dst
}
