package recall

import (
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/language"
)

const (
	conditionLoses = .4 // share of its score that a memory loses which tells only under which condition something comes
	conditionRead  = 20 // best hits whose texts are read for it
)

// realise lets memories that name a condition stand behind those that tell what came about, where the question is about that: "in June, if the
// lease is signed" does not say when it was signed.
func (r *run) realise(hits []*Hit) {
	if len(hits) == 0 || !language.AsksWhatHappened(r.Query) {
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
