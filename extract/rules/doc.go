package rules

import (
	"sync"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// Limits of one item.
const (
	maxRelations = 10000 // per item; the API's limit for a supplied graph
	maxFacts     = 2000  // per item

	bytesOfMention   = 128 // bytes of text per mention, to reserve memory
	reservedMentions = 256 // for a text of unknown content
)

// doc is one item while the rules process it.
type doc struct {
	language.Document
	in  *extract.Input
	out extract.Output
	rel relator
	at  int // the token of the clause that the next facts belong to

	stated int // relations of the sentences before

	unjudged bool      // the gate judges nothing
	learn    *[]judged // collects the gate's input, for training
	traits   traits

	offOf language.Span // the sentence for which off was asked last
	isOff bool          // its answer

	tongueOf  language.Span // the sentence for which otherTongue was asked last
	isForeign bool          // its answer

	quotes     []piece // what stands between quotation marks, if quotesRead
	quotesRead bool

	tongue       string // what textTongue returns, if tongueRead
	tongueRead   bool
	capital      bool // what hasCapitals returns, if capitalsRead
	capitalsRead bool
}

var docs = sync.Pool{New: func() any { return new(doc) }}

// maxKeptTokens is the maximum capacity for tokens of a doc that returns to the pool: 4 MiB.
const maxKeptTokens = 1 << 18

// done returns d to the pool; d must not be used afterwards.
func (d *doc) done() {
	if cap(d.Tokens) > maxKeptTokens {
		return
	}
	d.Forget()
	d.in, d.out, d.rel, d.at, d.stated, d.unjudged, d.learn = nil, extract.Output{}, relator{}, 0, 0, false, nil
	d.quotes, d.quotesRead = d.quotes[:0], false
	d.tongueRead, d.capitalsRead = false, false
	d.offOf, d.tongueOf = language.Span{}, language.Span{}
	docs.Put(d)
}

func newDoc(in *extract.Input) *doc {
	d := docs.Get().(*doc)
	said := in.Time
	if in.Location != nil && !said.IsZero() {
		said = said.In(in.Location)
	}
	d.Reset(in.Text, said)
	d.Mentions = make([]extract.Mention, 0, min(len(in.Text)/bytesOfMention+4, reservedMentions))
	d.Chunks = in.Chunks
	for i := range in.Turns {
		if i > 0 {
			d.Breaks = append(d.Breaks, in.Turns[i-1].End)
		}
	}
	d.in = in
	return d
}
