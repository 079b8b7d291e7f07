package recall

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/pipeline"
)

// mark sets SupersededBy of hits.
func (s *succession) mark(hits []*Hit) error {
	for _, h := range hits {
		l := shown(s.of(h.Row.Src.Num, ordinalOf(h)))
		if l == nil {
			continue
		}
		partly, err := s.partly(l, h.Row.Text)
		if err != nil {
			return err
		}
		h.SupersededBy = &Supersession{By: l.row.Src, Confidence: l.Confidence, Retracts: l.Retracts, Matter: l.Matter, Evidence: l.Evidence, Decider: l.Decider, Partly: partly}
	}
	return nil
}

// shown returns the link that a result shows: of those that concern the question the surest one about the whole memory, else the surest one; nil: none
// is sure enough.
func shown(all []link) *link {
	var first *link
	for i := range all {
		l := &all[i]
		if !l.acts || l.Confidence < change.Shown {
			continue
		}
		if !change.Partly(l.Extra) {
			return l
		}
		if first == nil {
			first = l
		}
	}
	return first
}

// partly reports whether a shown link leaves a part of the text that still holds. Whatever it is about, others that the caller may see may have ended the rest.
func (s *succession) partly(l *link, text string) (bool, error) {
	if !change.Partly(l.Extra) {
		return false, nil
	}
	var ends []end
	for _, f := range s.pieces {
		if f.Earlier == l.Earlier {
			ends = append(ends, end{f.Later, f.LaterChunk})
		}
	}
	if len(ends) < 2 {
		return true, nil
	}
	seen, err := s.rows(ends)
	if err != nil {
		return false, err
	}
	var matters []string
	for _, f := range s.pieces {
		if f.Earlier == l.Earlier && seen[f.Later] != nil {
			matters = append(matters, f.Matter)
		}
	}
	return !change.TellsOnly(text, matters), nil
}

// isPiece reports whether a succession shows that a part of the earlier memory ended.
func isPiece(f backend.Succession) bool {
	return f.Confidence >= change.Shown && change.Partly(f.Extra)
}

// drop leaves out the superseded hits. A memory of which a part still holds stays, without what was inferred from the part that ended.
func (r *run) drop(hits []*Hit) []*Hit {
	return slices.DeleteFunc(hits, func(h *Hit) bool {
		by := h.SupersededBy
		gone := by != nil && (!by.Partly || pipeline.IsInferred(h.Row.Layout) && change.Repeats(h.Row.Text, by.Matter))
		if gone {
			r.reject(h, WhySuperseded)
		}
		return gone
	})
}
