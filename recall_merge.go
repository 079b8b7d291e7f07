package contextmem

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// statements are the inferred statements among the hits of a recall: what several sources of a partition gave in the same
// words is kept once.
type statements struct {
	first map[statement]*scopeHit
	also  map[int64][]string // by chunk: ids of the other sources, best first
}

type statement struct {
	part backend.Partition
	text string
}

// again reports whether an inferred statement says what a better hit said, and notes its source there.
func (s *statements) again(h *scopeHit) bool {
	if s.first == nil {
		s.first, s.also = map[statement]*scopeHit{}, map[int64][]string{}
	}
	k := statement{h.part, h.row.Text}
	best, ok := s.first[k]
	if !ok {
		s.first[k] = h
		return false
	}
	if id := h.row.Src.ID; id != best.row.Src.ID && !slices.Contains(s.also[best.Chunk], id) {
		s.also[best.Chunk] = append(s.also[best.Chunk], id)
	}
	return true
}
