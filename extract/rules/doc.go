package rules

import (
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// Bounds of one item.
const (
	maxRelations = 10000 // per item, the contract's limit of a supplied graph
	maxFacts     = 2000  // per item
)

// doc is one item on its way through the rules.
type doc struct {
	language.Document
	in  *extract.Input
	out extract.Output
	rel relator
	at  int // the token whose clause the next facts stand in
}

func newDoc(in *extract.Input) *doc {
	d := new(doc)
	said := in.Time
	if in.Location != nil && !said.IsZero() {
		said = said.In(in.Location)
	}
	d.Reset(in.Text, said)
	d.Chunks = in.Chunks
	for i := range in.Turns {
		if i > 0 {
			d.Breaks = append(d.Breaks, in.Turns[i-1].End)
		}
	}
	d.in = in
	return d
}
