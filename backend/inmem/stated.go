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

// noteEntity records that an entity is created or deleted. was reports whether the entity existed before.
func (c *changed) noteEntity(g *graph, key string, was bool) {
	if k := (graphKey{g, key}); len(g.stated[key]) > 0 {
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
		if g.stated[a.From] == nil {
			g.stated[a.From] = make(map[*version][]backend.Alias)
		}
		g.stated[a.From][v] = append(g.stated[a.From][v], a)
		d.call.aliases[graphKey{g, a.From}] = true
	}
}

// clearAliases deletes the aliases that a version states.
func (d *storeData) clearAliases(v *version) {
	g := &v.part.graph
	for _, a := range v.aliases {
		if delete(g.stated[a.From], v); len(g.stated[a.From]) == 0 {
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
		if !was && k.g.entities[k.key] != nil && len(k.g.stated[k.key]) > 0 {
			d.call.aliases[k] = true
		}
	}
	type place struct {
		p   *partition
		key string
	}
	var all []place
	for _, p := range d.parts { // partitions that still exist
		for k := range d.call.aliases {
			if k.g == &p.graph {
				all = append(all, place{p, k.key})
			}
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
	for _, m := range d.merges {
		if m.Part != p.name || m.From != key || m.Undone || m.stated == "" {
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
	for _, m := range d.merges {
		if m.Part == p.name && m.From == key && m.ByCaller && (m.Into == want.Into || m.stated == want.Into) {
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
	for _, likely := range [...]bool{false, true} {
		var oldest *version
		for v, as := range g.stated[key] {
			for _, a := range as {
				switch {
				case a.Likely != likely:
				case want.Into != "" && want.Into != a.Into:
					return backend.Alias{}
				case oldest == nil || v.src.Num < oldest.src.Num:
					want, oldest = a, v
				}
			}
		}
		if want.Into != "" {
			return want
		}
	}
	return backend.Alias{}
}

func (s *store) Stated(ctx context.Context, q backend.StatedQuery) (out []backend.Stated, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[q.Part]
		if p == nil {
			return nil
		}
		for _, by := range p.graph.stated {
			for v, as := range by {
				if q.Limited && !v.src.Replaced && slices.Contains(v.src.Tags, backend.Everybody) {
					continue
				}
				for _, a := range as {
					out = append(out, backend.Stated{Alias: a, Source: v.src.Num})
				}
			}
		}
		slices.SortFunc(out, storerules.CompareStated)
		return nil
	})
	return out, err
}
