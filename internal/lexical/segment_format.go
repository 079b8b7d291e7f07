package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// A segment file has sections and a footer, all little-endian. Sections start at multiples of 8.
//
//	postings     per term: skip table, blocks, positions; 8 zero bytes at the end
//	terms        the bytes of all terms, in order
//	termSlots    uint32 each: a hash table of the terms, see segment_dict.go
//	termInfo     24 bytes per term: offset in postings uint64, byte length of its blocks and
//	             skip table uint32, df uint32, offset in terms uint32,
//	             greatest impact and tf uint8 each, seeds uint8 each
//	rows         uint32 per document, ascending; empty if rows are consecutive
//	lengths      per document: uint8, where 255 refers to longLengths; or uint32 if many
//	             documents are long
//	longLengths  8 bytes per document of length 255 and up, by document: document and
//	             length uint32 each; empty if lengths are uint32
//	fwdOffsets   uint32 per document and one more: offset of its terms in forward
//	forward      per document: distance to the term before and tf, as varints
//
// Postings come in blocks of 128. A full block of a term with several blocks is
// packed: 128 distances between documents less one, then 128 frequencies less one,
// each with the bits that its skip entry says. The last block, and the only block of
// a term with up to 128 documents, is varints: distance less one, doubled, plus 1 if
// tf is 1; else tf follows. A skip entry has 16 bytes: last document uint32, offset of
// the block and of its positions uint32 each, greatest impact, bits of documents and
// of frequencies uint8 each, 1 zero. A term with one block has no skip table.
// Positions of a posting: first position doubled, plus 1 if there are more; then
// their number and distances; all varints.
const (
	segmentMagic   = "cmlexseg"
	segmentVersion = 4
	blockDocs      = 128
	termInfoBytes  = 24
	skipBytes      = 16
	longBytes      = 8
	longLength     = 255 // lengths from here on do not fit a byte
	tailBytes      = 8   // readable bytes after packed blocks
)

// The sections, in file order.
const (
	secPostings = iota
	secTerms
	secTermSlots
	secTermInfo
	secRows
	secLengths
	secLongLengths
	secFwdOffsets
	secForward
	sections
)

var (
	// ErrCorrupt is returned if a segment is inconsistent or a checksum does not match.
	ErrCorrupt = errors.New("lexical: segment is damaged")
	// ErrVersion is returned for a segment of another format version.
	ErrVersion = errors.New("lexical: segment has another version")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// footer describes a segment.
type footer struct {
	docs, terms uint32
	firstRow    uint32
	totalLen    int64
	average     float64 // mean document length for which the impacts were computed
	sections    [sections]section
}

type section struct {
	offset, length uint64
	crc            uint32
}

// footerBytes: magic, version, documents, terms, 0, first row, 2 numbers, sections, checksum of the rest.
const footerBytes = 8 + 4 + 16 + 16 + sections*20 + 4

func (f *footer) encode() []byte {
	le := binary.LittleEndian
	buf := append(make([]byte, 0, footerBytes), segmentMagic...)
	for _, v := range []uint32{segmentVersion, f.docs, f.terms, 0, f.firstRow} {
		buf = le.AppendUint32(buf, v)
	}
	buf = le.AppendUint64(buf, uint64(f.totalLen))
	buf = le.AppendUint64(buf, math.Float64bits(f.average))
	for _, s := range f.sections {
		buf = le.AppendUint64(buf, s.offset)
		buf = le.AppendUint64(buf, s.length)
		buf = le.AppendUint32(buf, s.crc)
	}
	return le.AppendUint32(buf, crc32.Checksum(buf, castagnoli))
}

// decodeFooter reads the footer at the end of a segment. It checks that the sections lie
// inside the segment and have the lengths that the counts imply.
func decodeFooter(data []byte) (*footer, error) {
	if len(data) < footerBytes {
		return nil, fmt.Errorf("%w: too short", ErrCorrupt)
	}
	le := binary.LittleEndian
	end := uint64(len(data) - footerBytes)
	buf := data[end:]
	if string(buf[:8]) != segmentMagic {
		return nil, fmt.Errorf("%w: no footer", ErrCorrupt)
	}
	if v := le.Uint32(buf[8:]); v != segmentVersion {
		return nil, fmt.Errorf("%w: %d", ErrVersion, v)
	}
	if crc32.Checksum(buf[:footerBytes-4], castagnoli) != le.Uint32(buf[footerBytes-4:]) {
		return nil, fmt.Errorf("%w: footer checksum", ErrCorrupt)
	}
	f := &footer{docs: le.Uint32(buf[12:]), terms: le.Uint32(buf[16:]), firstRow: le.Uint32(buf[24:])}
	f.totalLen = int64(le.Uint64(buf[28:]))
	f.average = math.Float64frombits(le.Uint64(buf[36:]))
	for i := range f.sections {
		at := buf[44+20*i:]
		s := section{le.Uint64(at), le.Uint64(at[8:]), le.Uint32(at[16:])}
		if s.offset > end || s.length > end-s.offset {
			return nil, fmt.Errorf("%w: section outside the file", ErrCorrupt)
		}
		f.sections[i] = s
	}
	return f, f.check()
}

func (f *footer) check() error {
	docs, terms := uint64(f.docs), uint64(f.terms)
	want := map[int]uint64{
		secTermSlots: 4 * slotCount(terms), secTermInfo: termInfoBytes * terms, secFwdOffsets: 4 * (docs + 1),
	}
	for i, n := range want {
		if f.sections[i].length != n {
			return fmt.Errorf("%w: section %d has a wrong length", ErrCorrupt, i)
		}
	}
	if n := f.sections[secRows].length; n != 0 && n != 4*docs {
		return fmt.Errorf("%w: section %d has a wrong length", ErrCorrupt, secRows)
	}
	if n := f.sections[secLengths].length; n != docs && n != 4*docs || f.sections[secLongLengths].length%longBytes != 0 {
		return fmt.Errorf("%w: section %d has a wrong length", ErrCorrupt, secLengths)
	}
	switch {
	case f.sections[secPostings].length < tailBytes,
		f.totalLen < 0, !(f.average >= 1), math.IsInf(f.average, 1),
		uint64(f.firstRow)+docs > uint64(noDoc):
		return fmt.Errorf("%w: footer", ErrCorrupt)
	}
	return nil
}

// impact returns tf/(tf+norm) in units of 1/255, rounded up (most) and down (least). most is
// an upper bound for every average length up to the one of norm, and scaled by the ratio of
// the averages for a greater one. least is a lower bound for every average length from that
// one on, and scaled for a smaller one.
func impact(tf uint32, norm float32) (most, least uint8) {
	f := float64(tf)
	x := f / (f + float64(norm)) * impactOne
	return uint8(min(math.Ceil(x+1e-3), impactOne)), uint8(max(math.Floor(x-1e-3), 0))
}

// seedRanks are ranks among a term's documents, best first. A term's seeds are the impacts of
// the documents at these ranks, rounded down. A search for at most that many documents
// thereby knows a score that they reach before it reads postings. If a term has fewer
// documents, its seed is 0.
var seedRanks = [...]int{10, 100}

const (
	infoText, infoImpact, infoTF, infoSeeds = 16, 20, 21, 22 // offsets in an entry of termInfo

	impactOne = 255
	cappedTF  = 255 // a stored frequency of 255 means 255 or more
)
