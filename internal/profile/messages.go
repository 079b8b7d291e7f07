package profile

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	minProbability = .85 // least probability that a statement is of a slot; docs/recall.md has the measured precision
	minSearched    = 64  // least number of statements searched for each slot
	maxBytes       = 600 // bytes of a statement's text in a profile
)

// messages holds the messages that say something about a subject, by slot.
type messages struct {
	by     map[string][]statement
	only   map[string]slotted // chunk key -> slot of a message that is one sentence and has only one slot
	former map[string]string  // chunk key -> slot of a message that a later one of the slot probably replaced
}

type statement struct {
	facts.Statement
	order  int64 // orders statements of equal times; greater is later
	source int64 // Num of the message's version
}

type slotted struct {
	name        string
	probability float64
}

// messageQuery asks for messages about a subject.
type messageQuery struct {
	subject string
	asOf    time.Time // zero: now
	slots   []string  // only these; nil: all
	most    int       // messages of a slot
}

// vectors returns the statement slots that the service's embedder recognises, and the lane of a workspace that has its vectors. It returns no slots if no lane has them.
func (e *Engine) vectors(v *workspace.Serving) ([]embed.StatementSlot, backend.Lane) {
	if e.Embedder == nil {
		return nil, 0
	}
	reader, ok := pipeline.ForMemories(e.Embedder).(embed.StatementReader)
	if !ok {
		return nil, 0
	}
	switch slow := v.Identity.Slow; {
	case v.Refined != 0 && slow != nil && slow.Model == e.Embedder.Model():
		return reader.StatementSlots(), v.RefinedLane
	case v.Model >= 0 && v.Identity.Model == e.Embedder.Model():
		return reader.StatementSlots(), v.Lane
	}
	return nil, 0
}

// findMessages searches messages of a subject for each slot by their vectors. It leaves out superseded messages.
func (e *Engine) findMessages(ctx context.Context, ref *workspace.Ref, a *asked, r *messageQuery) (t messages, err error) {
	if a.part.Class != backend.Memory {
		return t, nil
	}
	v := ref.Use()
	defer v.Done()
	slots, lane := e.vectors(v)
	if len(slots) == 0 {
		return t, nil
	}
	if _, err := ref.FreshOrLate(ctx); err != nil {
		return t, err
	}
	found := map[int64][]slotted{} // chunk -> its slots
	for _, s := range slots {
		if !e.Slots.Has(s.Name) || r.slots != nil && !slices.Contains(r.slots, s.Name) {
			continue
		}
		hits, err := ref.Workspace.Vectors().SearchVectors(ctx, backend.VectorQuery{Part: a.part, Lane: lane, Vector: s.Vector, K: max(minSearched, 4*r.most), Filter: a.visible})
		if err != nil {
			return t, err
		}
		for _, h := range hits {
			if p := 1 / (1 + math.Exp(-float64(h.Score)-s.Bias)); p >= minProbability {
				found[h.Chunk] = append(found[h.Chunk], slotted{s.Name, p})
			}
		}
	}
	return t, t.read(ctx, a, r, found)
}

// read adds the messages found. It leaves out messages of other speakers and superseded ones.
func (t *messages) read(ctx context.Context, a *asked, r *messageQuery, found map[int64][]slotted) error {
	nums := make([]int64, 0, len(found))
	for n := range found {
		nums = append(nums, n)
	}
	slices.Sort(nums)
	rows, err := a.store.Chunks(ctx, nums, a.now)
	if err != nil {
		return err
	}
	replaced, err := a.replaced(ctx, rows, r.asOf)
	if err != nil {
		return err
	}
	subject := extract.Key(r.subject)
	t.by, t.only = map[string][]statement{}, map[string]slotted{}
	for _, row := range rows {
		if !r.asOf.IsZero() && item.StatedAt(row.Src).After(r.asOf) {
			continue
		}
		doc, err := item.Decode(row.Src.Doc)
		if err != nil {
			continue // the record is damaged, which verification reports
		}
		text, speaker := change.OwnText(doc, row.Src, &row.Chunk)
		if text == "" || extract.Key(speaker) != subject || replaced.gone(row) {
			continue
		}
		slots := found[row.Num]
		if len(slots) == 1 && single(text) {
			t.only[row.Key] = slots[0]
		}
		for _, s := range slots {
			t.by[s.name] = append(t.by[s.name], statement{facts.Statement{Text: short(text), Confidence: s.probability, Learnt: item.StatedAt(row.Src), SourceID: row.Src.ID, ChunkID: row.Key}, row.Num, row.Src.Num})
		}
	}
	for _, all := range t.by {
		slices.SortFunc(all, func(a, b statement) int {
			if c := b.Learnt.Compare(a.Learnt); c != 0 {
				return c
			}
			return int(b.order - a.order)
		})
	}
	t.dropFormer(replaced)
	return nil
}

// dropFormer drops each message of a slot that a later message of the slot probably replaced: both tell of the same matter.
func (t *messages) dropFormer(r replaced) {
	t.former = map[string]string{}
	for slot, all := range t.by {
		told := map[int64]bool{}
		for _, s := range all {
			told[s.source] = true
		}
		t.by[slot] = slices.DeleteFunc(all, func(s statement) bool {
			past := slices.ContainsFunc(r[s.source], func(f backend.Succession) bool { return told[f.Later] && probable(&f) })
			if past {
				t.former[s.ChunkID] = slot
			}
			return past
		})
	}
}

// probable reports whether a later message of the same slot probably replaced an earlier one. Less is not enough: a person has several pets or languages.
func probable(f *backend.Succession) bool { return f.Confidence > change.Orders }

// replaced holds, by the Num of the earlier version, the successions of messages by visible ones.
type replaced map[int64][]backend.Succession

// replaced reads what visible memories replaced rows by asOf (zero: now).
func (a *asked) replaced(ctx context.Context, rows []*backend.Hydrated, asOf time.Time) (replaced, error) {
	var nums []int64
	for _, row := range rows {
		nums = append(nums, row.Src.Num)
	}
	if len(nums) == 0 {
		return nil, nil
	}
	slices.Sort(nums)
	all, err := a.store.Successions(ctx, backend.SuccessionQuery{Part: a.part, Earlier: slices.Compact(nums)})
	if err != nil {
		return nil, err
	}
	of := replaced{}
	for _, s := range all {
		if s.Confidence < change.Shown && !probable(&s) {
			continue
		}
		if hides := len(a.visible.All)+len(a.visible.Not) > 0; hides || !asOf.IsZero() {
			later, err := a.store.SourcesByNum(ctx, []int64{s.Later})
			if err != nil {
				return nil, err
			}
			if l := later[0]; l != nil && (hides && !a.visible.Matches(l.Tags) || !asOf.IsZero() && item.StatedAt(l).After(asOf)) {
				continue
			}
		}
		of[s.Earlier] = append(of[s.Earlier], s)
	}
	return of, nil
}

// gone reports whether a message is known to be superseded.
func (r replaced) gone(row *backend.Hydrated) bool {
	return slices.ContainsFunc(r[row.Src.Num], func(s backend.Succession) bool {
		return s.Confidence >= change.Shown && (s.EarlierChunk < 0 || s.EarlierChunk == row.Ordinal)
	})
}

// single reports whether a text is one sentence.
func single(text string) bool {
	n := 0
	for range chunk.Sentences(text) {
		n++
	}
	return n == 1
}

// short returns the first maxBytes of a text, with a mark if it is longer.
func short(text string) string {
	if len(text) <= maxBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxBytes], "") + "…"
}

// place sets the slot of a fact without one to the slot of its message, if the message is one sentence with only one slot.
func (t *messages) place(f *facts.Fact) {
	if s, ok := t.only[f.ChunkID]; ok && f.Slot == "" {
		f.Slot, f.SlotConfidence = s.name, s.probability
	}
}

// statements returns at most most statements of a slot from which none of the known facts was extracted. more reports whether there are others.
func (t *messages) statements(slot string, known []facts.Fact, most int) (out []facts.Statement, more bool) {
	seen := map[string]bool{}
	for i := range known {
		seen[known[i].ChunkID] = true
		for _, t := range known[i].Also {
			seen[t.ChunkID] = true
		}
	}
	for _, s := range t.by[slot] {
		if seen[s.ChunkID] {
			continue
		}
		if len(out) == most {
			return out, true
		}
		out = append(out, s.Statement)
	}
	return out, false
}
