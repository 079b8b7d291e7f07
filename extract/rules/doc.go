package rules

import (
	"sync"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// Bounds of one item.
const (
	maxRelations = 10000 // per item, the contract's limit of a supplied graph
	maxFacts     = 2000  // per item

	bytesOfMention = 128 // of a text, for each mention that room is made for
)

// doc is one item on its way through the rules.
type doc struct {
	language.Document
	in  *extract.Input
	out extract.Output
	rel relator
	at  int // the token whose clause the next facts stand in

	unjudged bool      // nothing is judged by the gate
	learn    *[]judged // what the gate would judge, for those who learn
	traits   traits
}

var docs = sync.Pool{New: func() any { return new(doc) }}

// maxKeptTokens is how many tokens a doc has room for, at most, that is kept for others: 8 MiB.
const maxKeptTokens = 1 << 18

// done gives d, of which nothing is used any more, to others.
func (d *doc) done() {
	if cap(d.Tokens) > maxKeptTokens {
		return
	}
	d.Forget()
	d.in, d.out, d.rel, d.at, d.unjudged, d.learn = nil, extract.Output{}, relator{}, 0, false, nil
	docs.Put(d)
}

func newDoc(in *extract.Input) *doc {
	d := docs.Get().(*doc)
	said := in.Time
	if in.Location != nil && !said.IsZero() {
		said = said.In(in.Location)
	}
	d.Reset(in.Text, said)
	d.Mentions = make([]extract.Mention, 0, len(in.Text)/bytesOfMention+4)
	d.Chunks = in.Chunks
	for i := range in.Turns {
		if i > 0 {
			d.Breaks = append(d.Breaks, in.Turns[i-1].End)
		}
	}
	d.in = in
	return d
}
