package recall

import (
	"slices"

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
	if !slices.ContainsFunc(r.scopes, func(sc scope) bool { return sc.Part.Class == backend.Memory }) || len(hits) == 0 || !language.AsksWhatHappened(r.Query) {
		return
	}
	for _, h := range hits[:min(len(hits), conditionRead)] {
		if h.Row.Src.Part.Class != backend.Memory || h.Score <= 0 || !language.NamesCondition(h.Row.Text) {
			continue
		}
		if lost := conditionLoses * language.Conditional(h.Row.Text) * h.Score; lost > 0 {
			h.Parts.Time -= lost
			h.Score -= lost
		}
	}
}
