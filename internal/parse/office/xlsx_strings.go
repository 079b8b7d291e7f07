package office

import (
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// sharedStrings holds the strings of a workbook that cells refer to by number.
// It stores them in blocks, so that growth does not copy the existing strings.
type sharedStrings struct {
	blocks [][]byte
	spans  [][]sharedSpan
	count  int
	size   int
	open   []byte // the string being read
}

// sharedSpan is the location of a string in its block.
type sharedSpan struct{ block, start, end uint32 }

const (
	sharedBlock = 256 << 10 // bytes
	sharedSpans = 8 << 10   // spans
)

// end stores the open string under the next number.
func (s *sharedStrings) end() {
	last := len(s.blocks) - 1
	if last < 0 || cap(s.blocks[last])-len(s.blocks[last]) < len(s.open) {
		s.blocks = append(s.blocks, make([]byte, 0, max(sharedBlock, len(s.open))))
		last++
	}
	if s.count%sharedSpans == 0 {
		s.spans = append(s.spans, make([]sharedSpan, 0, sharedSpans))
	}
	block := s.blocks[last]
	s.blocks[last] = append(block, s.open...)
	group := &s.spans[len(s.spans)-1]
	*group = append(*group, sharedSpan{uint32(last), uint32(len(block)), uint32(len(block) + len(s.open))})
	s.count++
	s.size += len(s.open)
	s.open = s.open[:0]
}

// at returns string n, or nil if it does not exist.
func (s *sharedStrings) at(n int) []byte {
	if n < 0 || n >= s.count {
		return nil
	}
	p := s.spans[n/sharedSpans][n%sharedSpans]
	return s.blocks[p.block][p.start:p.end]
}

// readStrings reads the shared strings up to the output limit, because text beyond the limit would not be written.
func (r *xlsxReader) readStrings(part string) error {
	x := r.p.scan(part)
	if x == nil {
		return nil
	}
	s := &r.shared
	for n := 0; x.Next(); n++ {
		if n&4095 == 0 && r.p.Ctx.Err() != nil {
			return r.p.Ctx.Err()
		}
		switch {
		case x.Kind == xmlscan.Start && x.Name == "rPh":
			x.Skip()
		case x.Kind == xmlscan.Start && x.Name == "t":
			for x.Next() && x.Kind != xmlscan.End {
				if x.Kind == xmlscan.Text && s.size+len(s.open) < r.w.Max {
					s.open = append(s.open, x.Text...)
				}
			}
		case x.Kind == xmlscan.End && x.Name == "si":
			if s.count >= r.w.Max/8 {
				r.p.Note(output.LimitReason(int64(r.w.Max)))
				return nil
			}
			s.end()
		}
	}
	return scanFault(r.p.File, x)
}
