package recall

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// statements are the inferred statements among the hits of a recall: what several sources of a partition gave in the
// same words is kept once.
type statements struct {
	first  map[statement]*Hit
	layout pipeline.LayoutReader // looked at last
}

type statement struct {
	part backend.Partition
	text string
}

// of reports whether a layout marks an inferred statement.
func (s *statements) of(layout []byte) bool {
	s.layout.Read(layout)
	return s.layout.Inferred
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
