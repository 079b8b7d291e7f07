package profile

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/change"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
)

// A fact ends with the words that state it. "I've gone vegan" says nothing of fish, so no relation of it retires "eats fish"; the comparison of
// memories knows that the one ends the other, and names the words of the earlier memory that no longer hold.

// endedWords are the words of a message that no longer hold, by the Num of its version.
type endedWords map[int64][]endedPart

type endedPart struct {
	chunk int // ordinal; below 0: any
	words string
	at    time.Time // when that was told
}

// endedOf reads which words of the sources of links no longer held at a time; zero: now.
func (a *asked) endedOf(ctx context.Context, links []graph.Link, at time.Time) (endedWords, error) {
	if a.part.Class != backend.Memory {
		return nil, nil
	}
	rows := make([]*backend.Hydrated, len(links))
	for i := range links {
		rows[i] = links[i].Proof.Row
	}
	found, err := a.replaced(ctx, rows, at)
	if err != nil {
		return nil, err
	}
	var later []int64
	for _, all := range found {
		for i := range all {
			if decidedByRule(&all[i]) {
				later = append(later, all[i].Later)
			}
		}
	}
	if len(later) == 0 {
		return nil, nil
	}
	slices.Sort(later)
	later = slices.Compact(later)
	srcs, err := a.store.SourcesByNum(ctx, later)
	if err != nil {
		return nil, err
	}
	again, err := a.takenUp(ctx, later, at)
	if err != nil {
		return nil, err
	}
	out := endedWords{}
	for num, all := range found {
		for i := range all {
			s := &all[i]
			j, ok := slices.BinarySearch(later, s.Later)
			if !ok || srcs[j] == nil || again[s.Later] || !decidedByRule(s) {
				continue
			}
			out[num] = append(out[num], endedPart{s.EarlierChunk, spaced(s.Matter), item.StatedAt(srcs[j])})
		}
	}
	return out, nil
}

// decidedByRule reports whether a rule decided a succession surely, and named the words that no longer hold. A model judges memories as wholes.
func decidedByRule(s *backend.Succession) bool {
	return s.Confidence >= change.Shown && s.Matter != "" && strings.HasPrefix(s.Decider, "rules: ")
}

// takenUp reports which of some versions, which ended something, were ended themselves by what the speaker took up again.
func (a *asked) takenUp(ctx context.Context, nums []int64, at time.Time) (map[int64]bool, error) {
	rows := make([]*backend.Hydrated, len(nums))
	srcs := make([]backend.Source, len(nums))
	for i, n := range nums {
		srcs[i].Num = n
		rows[i] = &backend.Hydrated{Src: &srcs[i]}
	}
	found, err := a.replaced(ctx, rows, at)
	again := map[int64]bool{}
	for num, all := range found {
		again[num] = slices.ContainsFunc(all, func(s backend.Succession) bool { return s.Decider == change.Resumed })
	}
	return again, err
}

// end marks a fact as superseded if the words that state it no longer hold, and reports whether it did.
func (w endedWords) end(f *facts.Fact, l *graph.Link) bool {
	row := l.Proof.Row
	if len(w[row.Src.Num]) == 0 || l.Retracts || !f.Restored.IsZero() || f.Status != facts.Current && f.Status != facts.Upcoming {
		return false
	}
	name := spaced(f.Object)
	if !allIn(name, spaced(f.Evidence)) {
		name = spaced(f.Subject) // "Rex is the pet of User"
	}
	for _, p := range w[row.Src.Num] {
		if (p.chunk < 0 || p.chunk == row.Ordinal) && allIn(name, p.words) {
			f.Status, f.Retired = facts.Superseded, cmp.Or(f.Retired, p.at)
			return true
		}
	}
	return false
}

// spaced returns the words of a text as its key has them, each between spaces.
func spaced(text string) string {
	return " " + strings.NewReplacer(".", " ", ",", " ", "!", " ", ";", " ").Replace(extract.Key(text)) + " "
}

// allIn reports whether all words of one text, of which there are some, are in another. Both are spaced.
func allIn(words, text string) bool {
	n := 0
	for w := range strings.FieldsSeq(words) {
		if !strings.Contains(text, " "+w+" ") {
			return false
		}
		n++
	}
	return n > 0
}
