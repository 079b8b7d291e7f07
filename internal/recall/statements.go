package recall

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// statements finds repeated statements among the hits of a recall. If the same statement was inferred from several sources
// of a partition, only the best hit is kept.
type statements struct {
	first  map[statement]*Hit
	layout pipeline.LayoutReader // of the last call of of
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

// repeats reports whether a hit is an inferred statement that repeats a better hit. If so, it adds the hit's source to the
// better hit's AlsoFrom.
func (s *statements) repeats(h *Hit) bool {
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
