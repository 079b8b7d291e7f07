package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
)

// place is a sub-tenant that one client changes, with what has to be there.
type place struct {
	c     *changes
	seat  *seat // the server that the client asks
	name  string
	sub   client.Sub
	rng   *rand.Rand
	n     int // memories made
	items map[string]kept
	gone  []string // deleted memories, the newest last
}

func newPlace(c *changes, n int, rng *rand.Rand) *place {
	p := &place{c: c, name: fmt.Sprint("place", n), rng: rng, items: map[string]kept{}}
	p.use(c.seats[n%len(c.seats)])
	c.places = append(c.places, p)
	return p
}

// use has the client ask a server.
func (p *place) use(s *seat) { p.seat, p.sub = s, p.c.clientOf(s).Tenant("main").Sub(p.name) }

var (
	towns     = []string{"Oslo", "Bergen", "Lisbon", "Vienna", "Prague", "Dublin", "Madrid", "Athens"}
	syllables = []string{"ba", "do", "fi", "gu", "ka", "le", "mo", "nu", "pi", "ra"}
)

// speakerOf returns the name of who says a memory, tokenOf a word of its text. No other memory has either.
func speakerOf(n int) string {
	name := "Z"
	for range 4 {
		name += syllables[n%len(syllables)]
		n /= len(syllables)
	}
	return name
}

func tokenOf(id string) string {
	return "q" + strings.NewReplacer("-", "x", "place", "").Replace(id) + "z"
}

func (p *place) text(id string) string {
	return fmt.Sprintf("I live in %s. My locker has the label %s.", towns[p.rng.IntN(len(towns))], tokenOf(id))
}

// do makes a call that changes what is stored to after. When the call got no answer, do looks what it has done.
func (p *place) do(kind string, after map[string]kept, call func() error) {
	p.c.sends(kind)
	err := call()
	if err == nil {
		p.c.count(p.c.acked, kind)
		p.items = after
		return
	}
	seen := p.read()
	switch {
	case !unanswered(err):
		p.c.foe("%s in %s was refused: %v", kind, p.name, err)
	case maps.Equal(seen, p.items):
		if !refusedConnection(err) {
			p.c.count(p.c.undone, kind)
		}
	case maps.Equal(seen, after) && !refusedConnection(err):
		p.c.count(p.c.done, kind)
		p.items = after
	default:
		p.c.foe("after %s in %s, which got no answer:\n  before %v\n  after  %v\n  there  %v", kind, p.name, p.items, after, seen)
	}
}

// work changes memories until stop is closed or a promise was broken.
func (p *place) work(stop <-chan struct{}) {
	for !p.c.failed() {
		select {
		case <-stop:
			return
		default:
		}
		groups := map[string]bool{}
		for _, k := range p.items {
			groups[k.group] = true
		}
		switch {
		case len(groups) < 2:
			p.add()
		case len(groups) > 3:
			p.deleteGroup()
		default:
			steps := []func(){p.add, p.deleteGroup, p.update, p.update, p.edit, p.edit, p.restore, p.restore, p.supersede, p.supersede, p.undo}
			steps[p.rng.IntN(len(steps))]()
		}
		if p.rng.IntN(10) == 0 {
			if seen := p.read(); !maps.Equal(seen, p.items) {
				p.c.foe("%s has\n  %v and not\n  %v", p.name, seen, p.items)
			}
		}
	}
}

// any returns one of the memories.
func (p *place) any() (string, kept) {
	ids := slices.Sorted(maps.Keys(p.items))
	id := ids[p.rng.IntN(len(ids))]
	return id, p.items[id]
}

// with returns the memories with one of them changed.
func (p *place) with(id string, k kept) map[string]kept {
	after := maps.Clone(p.items)
	after[id] = k
	return after
}

// freed returns the memories after some of them were replaced or deleted: they take nobody's place any more.
func freed(after map[string]kept, ids ...string) map[string]kept {
	for other, k := range after {
		if slices.Contains(ids, k.by) {
			k.by = ""
			after[other] = k
		}
	}
	return after
}

// add adds a group of memories in one call.
func (p *place) add() {
	after, group := maps.Clone(p.items), fmt.Sprint("g", p.n)
	var b contextmem.MemoryBatch
	for range 3 {
		id := fmt.Sprintf("%s-%d", p.name, p.n)
		m := contextmem.Memory{ID: id, Text: p.text(id), Infer: true, UserName: speakerOf(p.n), Additional: map[string]any{"group": group, "mark": "0"}}
		b.Memories = append(b.Memories, m)
		after[id] = kept{text: m.Text, group: group, mark: "0"}
		p.n++
	}
	p.do("add", after, func() error {
		_, err := p.sub.AddMemories(p.c.t.Context(), b)
		return err
	})
}

// deleteGroup deletes a group by a filter. Some of it may still be being indexed.
func (p *place) deleteGroup() {
	_, one := p.any()
	after := maps.Clone(p.items)
	var ids []string
	for id, k := range p.items {
		if k.group == one.group {
			ids = append(ids, id)
			delete(after, id)
		}
	}
	p.do("delete", freed(after, ids...), func() error {
		return p.ask("POST", "/ext/delete", map[string]any{"filters": map[string]any{"additional_metadata": map[string]any{"group": one.group}}}, nil)
	})
	if _, there := p.items[ids[0]]; !there {
		p.gone = append(p.gone, ids...)
	}
}

// settle waits until all memories are processed, and reports whether they are.
func (p *place) settle() bool { return p.read() != nil }

// update gives a memory another text.
func (p *place) update() {
	if !p.settle() {
		return
	}
	id, k := p.any()
	if strings.Count(k.past, "\n") > 5 { // more versions than are kept
		return
	}
	text := p.text(id)
	if text == k.text {
		return
	}
	p.do("update", freed(p.with(id, k.replaced(text)), id), func() error {
		return p.ask("PATCH", "/ext/memories/"+id, map[string]any{"text": text}, nil)
	})
}

// edit sets the metadata of a memory.
func (p *place) edit() {
	id, k := p.any()
	k.mark = fmt.Sprint(p.rng.Uint32())
	p.do("edit", p.with(id, k), func() error {
		return p.ask("PATCH", "/context/"+id+"/metadata", map[string]any{"type": "memory", "additional_metadata": map[string]any{"mark": k.mark}}, nil)
	})
}

// restore stores what the first version of a memory says as a new version.
func (p *place) restore() {
	if !p.settle() {
		return
	}
	id, k := p.any()
	past := strings.Split(strings.TrimSuffix(k.past, "\n"), "\n")
	first := past[len(past)-1]
	if k.past == "" || len(past) > 5 || first == k.text {
		return
	}
	p.do("restore", freed(p.with(id, k.replaced(first)), id), func() error {
		return p.ask("POST", "/ext/items/"+id+"/restore", map[string]any{"type": "memory", "version": 1}, nil)
	})
}

// supersede says that a memory took the place of another.
func (p *place) supersede() {
	if !p.settle() {
		return
	}
	id, k := p.any()
	by, of := p.any()
	if id == by || k.by != "" || of.by != "" || slices.ContainsFunc(slices.Collect(maps.Values(p.items)), func(x kept) bool { return x.by == id }) {
		return // one step at a time
	}
	k.by = by
	p.do("supersede", p.with(id, k), func() error {
		return p.ask("POST", "/ext/memories/"+id+"/supersede", map[string]any{"by": by, "reason": "it was said"}, nil)
	})
}

// undo lets a superseded memory hold again.
func (p *place) undo() {
	for id, k := range p.items {
		if k.by != "" {
			k.by = ""
			p.do("undo", p.with(id, k), func() error { return p.ask("POST", "/ext/memories/"+id+"/restore", map[string]any{}, nil) })
			return
		}
	}
}

// checkAll compares everything that the server tells with what has to be there. It returns the numbers of live and deleted memories.
func (p *place) checkAll() (live, gone int) {
	if seen := p.read(); !maps.Equal(seen, p.items) {
		p.c.foe("%s has\n  %v and not\n  %v", p.name, seen, p.items)
	}
	p.checkFacts()
	ctx := p.c.t.Context()
	for _, id := range p.gone[max(0, len(p.gone)-100):] {
		res, err := p.recall(ctx, id)
		if err != nil {
			p.c.foe("recall: %v", err)
			continue
		}
		for _, ch := range res.Chunks {
			if _, there := p.items[ch.SourceID]; !there {
				p.c.foe("%s was deleted and is recalled", ch.SourceID)
			}
		}
		if err := p.ask("GET", "/ext/items/"+id+"/history?type=memory", nil, nil); err == nil || !strings.Contains(err.Error(), "status 404") {
			p.c.foe("%s was deleted and has a history: %v", id, err)
		}
	}
	return len(p.items), len(p.gone)
}

// checkFacts checks that the facts are those of the newest versions, and that deleted memories left no facts and no entities.
func (p *place) checkFacts() {
	var facts struct {
		Facts []struct {
			Object   string `json:"object"`
			SourceID string `json:"source_id"`
		} `json:"facts"`
	}
	if err := p.ask("POST", "/ext/facts", map[string]any{"limit": 1000}, &facts); err != nil {
		p.c.foe("facts: %v", err)
	}
	homes := map[string]bool{}
	for _, f := range facts.Facts {
		k, there := p.items[f.SourceID]
		if !there {
			p.c.foe("%s was deleted and has a fact about %q", f.SourceID, f.Object)
			continue
		}
		if slices.ContainsFunc(towns, func(town string) bool { return strings.EqualFold(town, f.Object) }) {
			homes[f.SourceID] = true
		}
		if !strings.Contains(strings.ToLower(k.text), strings.ToLower(f.Object)) {
			p.c.foe("%s says %q and has a fact about %q", f.SourceID, k.text, f.Object)
		}
	}
	for id, k := range p.items {
		if !homes[id] && k.by == "" {
			p.c.foe("%s says %q and has no fact that says so", id, k.text)
		}
	}
	var entities struct {
		Entities []struct {
			Name string `json:"name"`
		} `json:"entities"`
	}
	if err := p.ask("GET", "/ext/entities?"+url.Values{"limit": {"1000"}}.Encode(), nil, &entities); err != nil {
		p.c.foe("entities: %v", err)
	}
	names := map[string]bool{}
	for _, e := range entities.Entities {
		names[strings.ToLower(e.Name)] = true
	}
	for n := range p.n {
		id := fmt.Sprintf("%s-%d", p.name, n)
		if _, there := p.items[id]; there != names[strings.ToLower(speakerOf(n))] {
			p.c.foe("%s is there: %v; its speaker %s is an entity: %v", id, there, speakerOf(n), !there)
		}
	}
}
