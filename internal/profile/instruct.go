package profile

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/intact"
)

// orderPredicate is the predicate of standing instructions to the assistant.
const orderPredicate = "wants_assistant_to"

// Bounds of instructions.
const (
	maxInstructions     = 20   // instructions in one result
	maxInstructionBytes = 4000 // bytes of all their texts together
)

//go:embed matters.txt
var matterFile string

// matters lists the subject matters of instructions with the phrases that identify them.
var matters = sync.OnceValue(func() (out []matter) {
	for line := range strings.Lines(matterFile) {
		if name, words, ok := strings.Cut(strings.TrimSpace(line), "|"); ok && !strings.HasPrefix(line, "#") {
			m := matter{name: strings.TrimSpace(name)}
			for w := range strings.SplitSeq(words, ",") {
				m.phrases = append(m.phrases, " "+strings.TrimSpace(w)+" ")
			}
			out = append(out, m)
		}
	}
	return out
})

type matter struct {
	name    string
	phrases []string
}

// matterOf returns the matter of an instruction, or "" if no phrase of a matter occurs in it.
func matterOf(order string) string {
	text := " " + strings.Join(strings.FieldsFunc(strings.ToLower(order), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }), " ") + " "
	for _, m := range matters() {
		if slices.ContainsFunc(m.phrases, func(p string) bool { return strings.Contains(text, p) }) {
			return m.name
		}
	}
	return ""
}

// occasionOf returns the words of an instruction that say when it holds ("when I ask about recipes"), or "" if it always holds. Instructions
// of one matter for different occasions do not contradict each other.
func occasionOf(order string) string {
	words := strings.Fields(strings.ToLower(order))
	for i, w := range words {
		switch w {
		case "when", "whenever", "if", "unless":
			if i > 0 {
				return extract.Key(strings.Join(words[i:], " "))
			}
		}
	}
	return ""
}

// instructions returns the standing instructions of a partition as they were known at knownAt (zero: now), newest first and up to maxInstructions and maxInstructionBytes. Of two with one
// matter and one occasion only the later one counts. If subject is not 0, only that subject's instructions count. until is the time at which the first evidence expires; zero: never.
func instructions(ctx context.Context, a asked, subject int64, knownAt time.Time) (out []facts.Instruction, until time.Time, err error) {
	q := backend.RelationQuery{Part: a.part, Predicates: []string{orderPredicate}, KnownAt: knownAt, Limit: batch}
	if subject != 0 {
		q.Entities = []int64{subject}
	}
	var all []facts.Instruction
	for {
		links, release, last, more, err := a.links(ctx, q)
		if err != nil {
			return nil, until, err
		}
		for i := range links {
			l := &links[i]
			if l.Retracts {
				continue
			}
			if end := l.Proof.Row.Src.ExpiresAt; !end.IsZero() && (until.IsZero() || end.Before(until)) {
				until = end
			}
			order := cmp.Or(l.Relation.Object, l.Object().Name)
			all = append(all, facts.Instruction{Text: l.Raw, Order: order, Matter: matterOf(order), Since: cmp.Or(l.KnownFrom, l.Proof.Row.Src.CreatedAt), SourceID: l.Proof.Row.Src.ID})
		}
		release()
		if q.After = last; !more {
			break
		}
	}
	slices.Reverse(all)
	slices.SortStableFunc(all, func(x, y facts.Instruction) int { return y.Since.Compare(x.Since) })
	size := 0
	seen := map[string]bool{}
	for _, x := range all {
		k := "\x00" + extract.Key(x.Order)
		if x.Matter != "" {
			k = x.Matter + "\x00" + occasionOf(x.Order)
		}
		if seen[k] {
			continue
		}
		if size += len(x.Text) + len(x.Order); len(out) == maxInstructions || size > maxInstructionBytes {
			break
		}
		seen[k] = true
		out = append(out, x)
	}
	return out, until, nil
}

// maxRemembered bounds the partitions whose instructions are cached.
const maxRemembered = 4096

// orders caches the instructions of partitions. Between nearly all recalls they do not change.
type orders struct {
	mu sync.Mutex
	of map[ordersKey]remembered
}

type ordersKey struct {
	uid  string // uid of the workspace
	part backend.Partition
}

// remembered is a cached result. It is valid until the Store changes or the first evidence expires.
type remembered struct {
	seq   uint64
	until time.Time // zero: no evidence expires
	list  []facts.Instruction
}

func (o *orders) get(k ordersKey, seq uint64, now time.Time) (list []facts.Instruction, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, ok := o.of[k]
	return r.list, ok && r.seq == seq && (r.until.IsZero() || now.Before(r.until))
}

func (o *orders) put(k ordersKey, r remembered) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil || len(o.of) >= maxRemembered {
		o.of = map[ordersKey]remembered{}
	}
	o.of[k] = r
}

// Instructions returns the standing instructions of those of parts that are partitions of memories, as they were known at knownAt (zero: now). It uses only visible sources. The newest of each partition come first; there are at most 20 in all.
func (e *Engine) Instructions(ctx context.Context, uid string, st *intact.Store, parts []backend.Partition, now, knownAt time.Time, visible backend.Filter) (out []facts.Instruction, err error) {
	shared := knownAt.IsZero() && len(visible.All)+len(visible.Not) == 0
	for _, part := range parts {
		if part.Class != backend.Memory || len(out) >= maxInstructions {
			continue
		}
		key, seq := ordersKey{uid, part}, st.LastSeq()
		some, ok := e.orders.get(key, seq, now)
		if !ok || !shared {
			r := remembered{seq: seq}
			if some, r.until, err = instructions(ctx, newAsked(st, part, now, visible), 0, knownAt); err != nil {
				return nil, err
			}
			if r.list = some; shared && st.Damaged() == 0 {
				e.orders.put(key, r)
			}
		}
		if out == nil {
			out = some[:len(some):len(some)] // the cache shares some, so append must copy it
			continue
		}
		out = append(out, some...)
	}
	return out[:min(len(out), maxInstructions)], nil
}
