package inmem

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// changed collects the changes of the current call that are processed at its end.
type changed struct {
	aliases map[graphKey]bool // keys whose stated aliases changed
	existed map[graphKey]bool // keys whose entity was created or deleted: whether the entity existed before the call
}

type graphKey struct {
	g   *graph
	key string
}

func newChanged() changed {
	return changed{make(map[graphKey]bool), make(map[graphKey]bool)}
}

// stated holds the aliases that sources state for a key, by target.
type stated struct{ certain, likely map[string]ordered[statement] }

type statement struct {
	v *version
	backend.Alias
}

// of returns the aliases that are likely, or those that are certain.
func (x *stated) of(likely bool) map[string]ordered[statement] {
	if likely {
		return x.likely
	}
	return x.certain
}

// noteEntity records that an entity is created or deleted. was reports whether the entity existed before.
func (c *changed) noteEntity(g *graph, key string, was bool) {
	if k := (graphKey{g, key}); g.stated[key] != nil {
		if _, known := c.existed[k]; !known {
			c.existed[k] = was
		}
	}
}

// addAliases stores the aliases that a version states.
func (d *storeData) addAliases(v *version, f *backend.Finished) {
	g := &v.part.graph
	for _, a := range f.Aliases {
		said := slices.ContainsFunc(v.aliases, func(b backend.Alias) bool { return b.From == a.From && b.Into == a.Into && b.Likely == a.Likely })
		if said || a.From == a.Into || !slices.ContainsFunc(f.Mentions, func(m backend.Mention) bool { return m.Key == a.Into }) {
			continue
		}
		a.At = storerules.Stamped(a.At)
		v.aliases = append(v.aliases, a)
		x := g.stated[a.From]
		if x == nil {
			x = &stated{make(map[string]ordered[statement]), make(map[string]ordered[statement])}
			g.stated[a.From] = x
		}
		addTo(x.of(a.Likely), a.Into, statement{v, a})
		d.call.aliases[graphKey{g, a.From}] = true
	}
}

// clearAliases deletes the aliases that a version states.
func (d *storeData) clearAliases(v *version) {
	g := &v.part.graph
	for _, a := range v.aliases {
		x := g.stated[a.From]
		removeFrom(x.of(a.Likely), a.Into, v.src.Num)
		if len(x.certain)+len(x.likely) == 0 {
			delete(g.stated, a.From)
		}
		d.call.aliases[graphKey{g, a.From}] = true
	}
	v.aliases = nil
}

// settleAliases merges and separates entities according to the currently stated aliases.
func (d *storeData) settleAliases() {
	if len(d.call.aliases)+len(d.call.existed) == 0 {
		return
	}
	for k, was := range d.call.existed {
		if !was && k.g.entities[k.key] != nil && k.g.stated[k.key] != nil {
			d.call.aliases[k] = true
		}
	}
	type place struct {
		p   *partition
		key string
	}
	var all []place
	for k := range d.call.aliases {
		if p := k.g.of; d.parts[p.name] == p { // it still exists
			all = append(all, place{p, k.key})
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.p.name.Sub, b.p.name.Sub), cmp.Compare(a.p.name.Class, b.p.name.Class), cmp.Compare(a.key, b.key))
	})
	for _, x := range all {
		d.settleAlias(x.p, x.key)
	}
	d.call = newChanged()
	d.feed.tidy()
}

func (d *storeData) settleAlias(p *partition, key string) {
	g := &p.graph
	want := g.standIn(key)
	for _, m := range g.merged[key] {
		if m.Undone || m.stated == "" {
			continue
		}
		if m.stated == want.Into {
			return
		}
		d.unmerge(m)
	}
	if _, folded := g.alias[key]; folded || want.Into == "" {
		return
	}
	for _, m := range g.merged[key] {
		if m.ByCaller && (m.Into == want.Into || m.stated == want.Into) {
			return
		}
	}
	a, b := g.entities[key], g.find(want.Into)
	if a == nil || a == b {
		return
	}
	if direct := g.entities[want.Into]; direct != nil { // they part when it and what it stands for do
		b = direct
	}
	m := d.merge(p, a, b, want.Reason, want.At)
	m.Stated, m.stated = true, want.Into
	m.AskedFrom, m.AskedInto = want.From, want.Into
}

// standIn returns the stated alias of a key. Into is empty if sources state no alias, or more than one.
func (g *graph) standIn(key string) (want backend.Alias) {
	x := g.stated[key]
	if x == nil {
		return want
	}
	by := x.certain
	if len(by) == 0 {
		by = x.likely
	}
	if len(by) > 1 {
		return want
	}
	for _, list := range by {
		want = list[0].Alias
	}
	return want
}

func (s *store) Stated(ctx context.Context, q backend.StatedQuery) (out []backend.Stated, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[q.Part]
		if p == nil {
			return nil
		}
		for _, x := range p.graph.stated {
			for _, by := range [...]map[string]ordered[statement]{x.certain, x.likely} {
				for _, list := range by {
					for _, a := range list {
						if q.Limited && !a.v.src.Replaced && slices.Contains(a.v.src.Tags, backend.Everybody) {
							continue
						}
						out = append(out, backend.Stated{Alias: a.Alias, Source: a.v.src.Num})
					}
				}
			}
		}
		slices.SortFunc(out, storerules.CompareStated)
		return nil
	})
	return out, err
}
