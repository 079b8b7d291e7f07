// Package rules extracts knowledge without a model: names, dates, quantities and identifiers, relations between them,
// and what first-person sentences state about their speaker.
//
// In memories, only stated facts count. A fact or relation must be in a clause that asserts something ([extract.Mode]): conditions,
// guesses, questions, quotations, other people's beliefs, stories, jokes, instructions, code and the assistant's words state nothing.
// The object must have the type that the predicate requires: a person lives in a place, works for an organisation, is married to a
// person. A plan carries its start and supersedes nothing. TestHeldOut measures the precision on the sentences of testdata.
//
// A gate then judges what the rules found in a memory. It is a logistic model over the context of a statement, trained on statements
// that a reader labelled right or wrong. By default, statements that are probably wrong are dropped ([Extractor.Unjudged]). TestGate
// measures the gate on conversations that were not used for training.
//
// The rules follow these instructions ([extract.Input].Instructions), clause by clause: "only X", "just X", "focus on X" (keep only
// facts about X); "ignore X", "skip X", "do not store X", "except X" (drop facts about X); and "at most N facts" (keep the N facts
// with the highest confidence). X is one or more topics: a listed topic (food, work, health, family, travel, hobbies, money,
// technology), a kind (preferences, goals, events, facts, entities, relationships), or any other word, which must then be a prefix of
// a word of the fact. Relations of the graph are filtered like facts. The text itself stays as the caller gave it. Other instructions,
// such as a wish about language or style, are not followed and are listed in [extract.Output].Unheeded.
//
// The package makes one pass over tokens with word lists, so it is deterministic and fast enough to run on every ingest. English is
// understood in full. In Spanish, German, French, Portuguese, Italian, Chinese and Japanese it recognises relative dates and, by one
// table per language, the phrases for preferences, home, employer, role, age, birthday and family; in Dutch, Polish and Russian the phrases
// alone, and of the speaker in memories in Korean, Turkish, Arabic, Hindi and Thai. In memories phrases are checked: what is quoted, supposed, asked or ahead states nothing. In other languages it recognises names,
// spelled dates, numbers, addresses and identifiers.
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
	// Unjudged keeps the statements that the gate would drop: those of memories that are probably wrong. By default they are dropped.
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

// Extract reads every input. The text of an item after the first 4 MiB is not read. The only error is that of an ended ctx.
func (e *Extractor) Extract(ctx context.Context, in []extract.Input) ([]extract.Output, error) {
	out := make([]extract.Output, len(in))
	for i := range in {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = extractOne(&in[i], e.Unjudged)
		runtime.Gosched() // yields to other goroutines
	}
	return out, nil
}

// extractOne reads one input; of a note that leaves out words, the whole sentences that it stands for.
func extractOne(in *extract.Input, unjudged bool) extract.Output {
	text, edits, ok := completed(in)
	if !ok {
		return extractText(in, unjudged)
	}
	whole := *in
	whole.Text, whole.Turns, whole.Chunks = text, nil, nil
	if len(in.Turns) == 1 {
		t := in.Turns[0]
		if !t.User || t.Start != 0 || t.End != len(in.Text) {
			return extractText(in, unjudged)
		}
		t.End = len(text)
		whole.Turns = []extract.Turn{t}
	}
	if whole.Title != "" && titleIsText(in) {
		whole.Title = ""
	}
	out := extractText(&whole, unjudged)
	restored(&out, in, text, edits)
	return out
}

func extractText(in *extract.Input, unjudged bool) extract.Output {
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

// inTextOrder compares mentions: those of the title first, then by place, then the longer one first.
func inTextOrder(a, b extract.Mention) int {
	return cmp.Or(cmp.Compare(min(a.Chunk, 0), min(b.Chunk, 0)), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Chunk, b.Chunk))
}

// titleIsText reports whether a title is only the shortened text, as the default title of a memory is.
func titleIsText(in *extract.Input) bool {
	t := strings.TrimRight(in.Title, " .…")
	return strings.HasPrefix(in.Text, t) || in.Memory && strings.IndexByte(t, ' ') < 0 && t == ""
}

// readItem reads the text and the speakers in it.
func (d *doc) readItem() {
	d.SplitText()
	d.turns()
	d.ReadDates()
	d.ReadNames()
	if d.in.Memory || d.in.Pairs {
		d.ReadClauses()
	}
}
