package inmem

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// graph is the entities and relations of a partition. Mentions and relations are
// kept under the keys they came with; aliases lead from a key to the entity it was
// folded into, so that a merge can be taken back.
type graph struct {
	entities map[string]*entity
	alias    map[string]string
	groups   map[factKey]map[int64]*relation
}

// entity is a key that something uses: itself, or a key folded into it.
type entity struct {
	of        *graph
	num       int64
	key       string
	name      string
	typ       string
	named     bool             // name and typ are those of a mention
	mentions  int              // of the key and of those folded into it
	uses      int              // mentions and ends of relations, counted alike
	sources   map[*version]int // mentions of the key itself by version
	relations map[int64]*relation
}

type mention struct {
	chunk  *chunk
	key    string
	weight float32
}

func newGraph() graph {
	return graph{
		entities: make(map[string]*entity),
		alias:    make(map[string]string),
		groups:   make(map[factKey]map[int64]*relation),
	}
}

// root follows the aliases of a key.
func (g *graph) root(key string) string {
	for {
		next, ok := g.alias[key]
		if !ok {
			return key
		}
		key = next
	}
}

// find returns the entity that a key stands for, nil when there is none.
func (g *graph) find(key string) *entity { return g.entities[g.root(key)] }

// use counts a use of a key, making its entity and those it is folded into; it
// returns the key's own.
func (d *storeData) use(g *graph, key string, mentions int) *entity {
	var own *entity
	for {
		e := g.entities[key]
		if e == nil {
			d.last.entity++
			e = &entity{
				of: g, num: d.last.entity, key: key, name: key,
				sources: make(map[*version]int), relations: make(map[int64]*relation),
			}
			g.entities[key] = e
			d.entities[e.num] = e
		}
		if own == nil {
			own = e
		}
		e.uses++
		e.mentions += mentions
		next, ok := g.alias[key]
		if !ok {
			return own
		}
		key = next
	}
}

// unuse takes one use back; entities without any are forgotten.
func (d *storeData) unuse(g *graph, key string, mentions int) {
	for {
		e := g.entities[key]
		e.uses--
		e.mentions -= mentions
		d.forgetUnused(g, e)
		next, ok := g.alias[key]
		if !ok {
			return
		}
		key = next
	}
}

func (d *storeData) forgetUnused(g *graph, e *entity) {
	if e.uses == 0 {
		delete(g.entities, e.key)
		delete(d.entities, e.num)
	}
}

// addGraph stores the mentions and relations of a version that has none.
func (d *storeData) addGraph(v *version, mentions []backend.Mention, relations []backend.Relation) {
	g := &v.part.graph
	for _, m := range mentions {
		e := d.use(g, m.Key, 1)
		e.sources[v]++
		for _, named := range []*entity{e, g.find(m.Key)} {
			if !named.named {
				named.name, named.typ, named.named = m.Name, m.Type, true
			}
		}
		v.mentions = append(v.mentions, mention{v.chunks[m.Chunk], m.Key, m.Weight})
	}
	for i := range relations {
		d.addRelation(v, &relations[i])
	}
}

// clearGraph forgets the mentions and relations of a version.
func (d *storeData) clearGraph(v *version) {
	g := &v.part.graph
	for _, m := range v.mentions {
		delete(g.entities[m.key].sources, v)
		d.unuse(g, m.key, 1)
	}
	v.mentions = nil
	for _, r := range v.relations {
		d.removeRelation(v, r)
	}
	v.relations = nil
}

func (e *entity) public() *backend.Entity {
	return &backend.Entity{Num: e.num, Key: e.key, Name: e.name, Type: e.typ, Mentions: e.mentions}
}

func (s *store) Entities(ctx context.Context, nums []int64) (out []*backend.Entity, err error) {
	err = s.read(ctx, func(d *storeData) error {
		out = make([]*backend.Entity, len(nums))
		for i, num := range nums {
			if e := d.entities[num]; e != nil {
				out[i] = e.of.find(e.key).public()
			}
		}
		return nil
	})
	return out, err
}

func (s *store) EntitiesByKey(ctx context.Context, part backend.Partition, keys []string) (out []*backend.Entity, err error) {
	err = s.read(ctx, func(d *storeData) error {
		out = make([]*backend.Entity, len(keys))
		p := d.parts[part]
		for i, key := range keys {
			if p == nil {
				break
			}
			if e := p.graph.find(key); e != nil {
				out[i] = e.public()
			}
		}
		return nil
	})
	return out, err
}

func (s *store) MergeEntities(ctx context.Context, part backend.Partition, from, into, reason string, now time.Time) (num int64, err error) {
	err = s.write(ctx, func(d *storeData) error {
		p := d.parts[part]
		if p == nil {
			return fmt.Errorf("merge entities: %w", backend.ErrNotFound)
		}
		a, b := p.graph.find(from), p.graph.find(into)
		if a == nil || b == nil {
			return fmt.Errorf("merge entities: %w", backend.ErrNotFound)
		}
		if a == b {
			return fmt.Errorf("merge entities: they are one already: %w", backend.ErrConflict)
		}
		p.graph.alias[a.key] = b.key
		b.uses += a.uses
		b.mentions += a.mentions
		d.last.merge++
		num = d.last.merge
		d.merges = append(d.merges, &backend.Merge{
			Num: num, Part: part, From: a.key, Into: b.key, Reason: reason, At: stamp(now),
		})
		d.refold(p, a.key)
		return nil
	})
	return num, err
}

func (s *store) UndoMerge(ctx context.Context, num int64) error {
	return s.write(ctx, func(d *storeData) error {
		i := slices.IndexFunc(d.merges, func(m *backend.Merge) bool { return m.Num == num })
		if i < 0 {
			return fmt.Errorf("undo merge %d: %w", num, backend.ErrNotFound)
		}
		m := d.merges[i]
		if m.Undone {
			return fmt.Errorf("undo merge %d: undone before: %w", num, backend.ErrConflict)
		}
		m.Undone = true
		p := d.parts[m.Part]
		g := &p.graph
		if a := g.entities[m.From]; a != nil {
			d.unfold(g, a)
		}
		delete(g.alias, m.From)
		d.refold(p, m.From)
		return nil
	})
}

// unfold takes the uses of a from the entities that it is folded into.
func (d *storeData) unfold(g *graph, a *entity) {
	for key, ok := g.alias[a.key]; ok; key, ok = g.alias[key] {
		e := g.entities[key]
		e.uses -= a.uses
		e.mentions -= a.mentions
		d.forgetUnused(g, e)
	}
}

// refold follows a change of what key and those folded into it stand for: mentions
// are put into the feed again, and beliefs are weighed again.
func (d *storeData) refold(p *partition, key string) {
	touched := make(map[*version]bool)
	for k, e := range p.graph.entities {
		if !p.graph.leadsTo(k, key) {
			continue
		}
		for v := range e.sources {
			touched[v] = true
		}
	}
	versions := make([]*version, 0, len(touched))
	for v := range touched {
		versions = append(versions, v)
	}
	slices.SortFunc(versions, func(a, b *version) int { return int(a.src.Num - b.src.Num) })
	for _, v := range versions {
		d.feed.put(v, backend.PutGraph)
	}
	d.feed.tidy()
	p.graph.regroup()
}

// leadsTo tells whether key is to or an alias of it.
func (g *graph) leadsTo(key, to string) bool {
	for ok := true; ok; key, ok = g.alias[key] {
		if key == to {
			return true
		}
	}
	return false
}

func (s *store) Merges(ctx context.Context, part backend.Partition, after int64, limit int) (out []backend.Merge, err error) {
	err = s.read(ctx, func(d *storeData) error {
		for _, m := range d.merges {
			if m.Part == part && m.Num > after && len(out) < limit {
				out = append(out, *m)
			}
		}
		return nil
	})
	return out, err
}
