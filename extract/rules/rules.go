// Package rules extracts knowledge without a model: names, dates, quantities and identifiers, relations between them,
// and what first-person sentences state about their speaker.
//
// Of memories only what is stated is believed: a fact or relation has to stand in a clause that asserts something ([extract.Mode]), so that
// conditions, guesses, questions, quotes, other people's beliefs, stories, jokes, orders, code and the assistant's words state nothing; and its
// object has to have the type that the predicate asks for: one lives in a place, works for an organisation, is married to a person. A plan
// carries its start and takes the place of nothing. How much of it is right is measured by TestHeldOut on the sentences of testdata.
//
// What the rules find in a memory is judged once more by a gate: a logistic model over what stands around a statement, learned from statements that a reader called right or
// wrong. It drops what looks like the wrong ones, by default ([Extractor.Unjudged]); TestGate measures it on conversations of which nothing was learned.
//
// Of instructions ([extract.Input].Instructions) the rules honour, clause by clause: "only X", "just X", "focus on X" (facts
// about X alone are kept); "ignore X", "skip X", "do not store X", "except X" (those about X go); and "at most N facts" (the surest N
// are kept). X is one or more topics: those of a list (food, work, health, family, travel, hobbies, money, technology), kinds (preferences, goals,
// events, facts, entities, relationships), or any word, which then has to begin a word of the fact. The relations of the graph obey as facts do;
// the text itself is what the caller gave, and stays. Everything else, such as a wish about
// language or style, is not honoured and listed in [extract.Output].Unheeded.
//
// It works in one pass over tokens with word lists, so it is deterministic and fast enough to run on every ingest.
// English is understood in full. Of Spanish, German, French, Portuguese, Italian, Chinese and Japanese it knows relative dates and, by one table a
// language, the phrases for preferences, home, employer, age, birthday and family; of others names, spelled dates, numbers, addresses and identifiers.
package rules

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// Extractor implements extract.Extractor by rules. It has no state and is safe for concurrent use; its zero value is ready.
type Extractor struct {
	// Unjudged keeps what the gate of the rules would drop: statements of memories whose surroundings look like those of wrong ones. By default they go.
	Unjudged bool
}

var (
	_ extract.Extractor = (*Extractor)(nil)
	_ extract.Limited   = (*Extractor)(nil)
)

// New returns the extractor; it does not block.
func New() *Extractor { return &Extractor{} }

// Name identifies the rules and their version.
func (*Extractor) Name() string { return "rules-5" }

// MaxBytes implements [extract.Limited].
func (*Extractor) MaxBytes() int { return language.MaxText }

// Extract reads every input. Text beyond 4 MiB of an item is not read. The only error is that of an ended ctx.
func (e *Extractor) Extract(ctx context.Context, in []extract.Input) ([]extract.Output, error) {
	out := make([]extract.Output, len(in))
	for i := range in {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = extractOne(&in[i], e.Unjudged)
		runtime.Gosched() // lets those go on who wait for less
	}
	return out, nil
}

func extractOne(in *extract.Input, unjudged bool) extract.Output {
	d := newDoc(in)
	defer d.done()
	d.unjudged = unjudged
	d.read()
	slices.SortStableFunc(d.out.Mentions, inTextOrder)
	return d.out
}

// read finds everything that an item states.
func (d *doc) read() {
	in := d.in
	if in.Title != "" && !titleIsText(in) {
		d.titleMentions(in.Title)
	}
	d.readItem()
	d.TextMentions()
	d.relations()
	d.aliases()
	d.statedAliases()
	d.likelyAliases()
	if in.Infer && in.Instructions != "" {
		ins := parseInstructions(in.Instructions)
		d.out.Facts, d.out.Unheeded = ins.filter(d.out.Facts), ins.unheeded
		d.drop(ins)
	}
	d.out.Dates = d.DateRefs()
	d.out.Mentions = d.Mentions
}

// inTextOrder puts title mentions first, then by place, the longer of two at one place first.
func inTextOrder(a, b extract.Mention) int {
	return cmp.Or(cmp.Compare(min(a.Chunk, 0), min(b.Chunk, 0)), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Chunk, b.Chunk))
}

// titleIsText reports whether a title is only the shortened text, as memories get by default.
func titleIsText(in *extract.Input) bool {
	t := strings.TrimRight(in.Title, " .…")
	return strings.HasPrefix(in.Text, t) || in.Memory && strings.IndexByte(t, ' ') < 0 && t == ""
}

// readItem reads the text with who speaks in it.
func (d *doc) readItem() {
	d.SplitText()
	d.turns()
	d.ReadDates()
	d.ReadNames()
	if d.in.Memory || d.in.Pairs {
		d.ReadClauses()
	}
}
