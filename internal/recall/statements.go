package recall

import (
	"bytes"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// statements are the inferred statements among the hits of a recall: what several sources of a partition gave in the
// same words is kept once.
type statements struct {
	first map[statement]*Hit
	inferring
}

// inferring tells which layouts mark inferred statements. Those of a result are often the same.
type inferring struct {
	layout []byte // looked at last
	is     bool   // it does
}

// of reports whether a layout marks an inferred statement.
func (i *inferring) of(layout []byte) bool {
	if !bytes.Equal(layout, i.layout) {
		i.layout, i.is = layout, pipeline.IsInferred(layout)
	}
	return i.is
}

type statement struct {
	part backend.Partition
	text string
}

// again reports whether a hit is an inferred statement that says what a better hit said, and notes its source there.
func (s *statements) again(h *Hit) bool {
	if !s.of(h.Row.Layout) {
		return false
	}
	if s.first == nil {
		s.first = map[statement]*Hit{}
	}
	k := statement{h.scope.Part, h.Row.Text}
	best, ok := s.first[k]
	if !ok {
		s.first[k] = h
		return false
	}
	if id := h.Row.Src.ID; id != best.Row.Src.ID && !slices.Contains(best.AlsoFrom, id) {
		best.AlsoFrom = append(best.AlsoFrom, id)
	}
	return true
}
