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
)

// orderPredicate is that of facts which say what the assistant is to do from now on.
const orderPredicate = "wants_assistant_to"

// Bounds of instructions.
const (
	maxInstructions     = 20   // of one answer
	maxInstructionBytes = 4000 // of all texts together
)

//go:embed matters.txt
var matterFile string

// matters are what instructions are about, by the phrases that show it.
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

// matterOf tells what an instruction is about, empty for nothing that is known.
func matterOf(order string) string {
	text := " " + strings.Join(strings.FieldsFunc(strings.ToLower(order), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }), " ") + " "
	for _, m := range matters() {
		if slices.ContainsFunc(m.phrases, func(p string) bool { return strings.Contains(text, p) }) {
			return m.name
		}
	}
	return ""
}

// instructions returns the standing instructions of a partition as they were known at a time, zero for now: newest first, at most 20 and of 4000 bytes. Of two about one matter the later counts. With a
// subject only its own count. until is when the first evidence expires, zero for never.
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
		k := cmp.Or(x.Matter, "\x00"+extract.Key(x.Order))
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

// maxRemembered bounds the partitions whose instructions are remembered.
const maxRemembered = 4096

// orders remembers the instructions of partitions: nearly all recalls of a memory find nothing new.
type orders struct {
	mu sync.Mutex
	of map[ordersKey]remembered
}

type ordersKey struct {
	uid  string // of the workspace
	part backend.Partition
}

// remembered is what holds while the Store has seen no change, and no evidence expires.
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

// Instructions returns the standing instructions of those partitions of a workspace that hold memories, as they were known at a time, zero for now, from what is visible: of each the newest first, at most 20 in all.
func (e *Engine) Instructions(ctx context.Context, uid string, st backend.Store, parts []backend.Partition, now, knownAt time.Time, visible backend.Filter) (out []facts.Instruction, err error) {
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
			if r.list = some; shared {
				e.orders.put(key, r)
			}
		}
		if out == nil {
			out = some[:len(some):len(some)] // shared: the next ones are put behind a copy
			continue
		}
		out = append(out, some...)
	}
	return out[:min(len(out), maxInstructions)], nil
}
