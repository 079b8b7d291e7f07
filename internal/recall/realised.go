package recall

import (
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

const (
	conditionLoses = .4 // share of its score that a memory loses if it only names the condition for an event
	conditionRead  = 20 // number of best hits whose texts are checked
)

// realise lowers the scores of memories that only name a condition, if the question asks what happened. For example, "in
// June, if the lease is signed" does not say when the lease was signed.
func (r *run) realise(hits []*Hit) {
	asked := false // whether the question is known to ask what happened; it is read only if a hit names a condition
	for _, h := range hits[:min(len(hits), conditionRead)] {
		if h.Row.Src.Part.Class != backend.Memory || h.Score <= 0 || !language.NamesCondition(h.Row.Text) {
			continue
		}
		if !asked && !language.AsksWhatHappened(r.Query) {
			return
		}
		asked = true
		if lost := conditionLoses * language.Conditional(h.Row.Text) * h.Score; lost > 0 {
			h.Parts.Time -= lost
			h.Score -= lost
		}
	}
}
