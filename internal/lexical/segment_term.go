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
	maxImpact uint8
	maxTF     uint8
	seeds     [len(seedRanks)]uint8
	counts    [impactOne + 1]uint32 // number of postings with each impact, rounded down
}

// posting is a document together with the range of its positions.
type posting struct {
	doc, tf  uint32
	from, to int
}

func (t *termWriter) reset() {
	t.postings, t.positions = t.postings[:0], t.positions[:0]
	t.skips, t.blocks, t.posBytes = t.skips[:0], t.blocks[:0], t.posBytes[:0]
	t.maxImpact, t.maxTF = 0, 0
	clear(t.seeds[:])
	clear(t.counts[:])
}

// encode writes the collected postings to t.skips, t.blocks and t.posBytes, and sets the fields
// with their bounds.
func (t *termWriter) encode(lens []uint32, norms *scorer) {
	byDoc := func(x, y posting) int { return cmp.Compare(x.doc, y.doc) }
	if !slices.IsSortedFunc(t.postings, byDoc) { // rows of the parts interleave
		slices.SortFunc(t.postings, byDoc)
	}
	several := len(t.postings) > blockDocs
	before := int64(-1)
	for from := 0; from < len(t.postings); from += blockDocs {
		block := t.postings[from:min(from+blockDocs, len(t.postings))]
		var most, mostTF uint8
		for _, p := range block {
			up, down := impact(p.tf, norms.norm(lens[p.doc]))
			most = max(most, up)
			mostTF = max(mostTF, uint8(min(p.tf, cappedTF)))
			t.counts[down]++
		}
		t.maxImpact, t.maxTF = max(t.maxImpact, most), max(t.maxTF, mostTF)
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
	t.setSeeds()
}

// setSeeds sets the seeds to the impacts at seedRanks.
func (t *termWriter) setSeeds() {
	at, seen := len(t.counts)-1, int(t.counts[len(t.counts)-1])
	for i, rank := range seedRanks {
		if rank > len(t.postings) {
			break
		}
		for seen < rank {
			at--
			seen += int(t.counts[at])
		}
		t.seeds[i] = uint8(at)
	}
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

// appendPositions encodes the positions of a posting. Every posting has at least one.
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
