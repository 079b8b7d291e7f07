package inmem

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

// graph holds the entities and relations of a partition. Mentions and relations are stored under their original keys.
// Aliases map a key to the entity that the key was merged into, so that a merge can be undone.
type graph struct {
	of        *partition
	entities  map[string]*entity
	alias     map[string]string
	behind    map[string][]string // keys whose alias is the key
	relations ordered[*relation]
	rivals    map[factKey]*rivals
	stated    map[string]*stated // aliases that sources state for a key
	merges    ordered[*merge]
	merged    map[string]ordered[*merge] // merges of a key into another
}

// entity is a key with at least one use: a use of the key itself or of a key merged into it.
type entity struct {
	of        *graph
	num       int64
	key       string
	name      string
	typ       string
	named     bool                   // name and typ come from a mention
	mentions  int                    // of the key and of the keys merged into it
	uses      int                    // number of mentions and relation ends
	sources   ordered[*mentionCount] // versions that mention the key itself
	relations ordered[*relation]     // with the key itself at an end
}

// mentionCount is what a version states about a key.
type mentionCount struct {
	v     *version
	typ   string // type given by the first mention
	count int
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
		behind:   make(map[string][]string),
		rivals:   make(map[factKey]*rivals),
		stated:   make(map[string]*stated),
		merged:   make(map[string]ordered[*merge]),
	}
}

// root follows the aliases of a key to the last key.
func (g *graph) root(key string) string {
	for {
		next, ok := g.alias[key]
		if !ok {
			return key
		}
		key = next
	}
}

// find returns the entity of a key after following aliases, or nil if there is none.
func (g *graph) find(key string) *entity { return g.entities[g.root(key)] }

// members returns a key and the keys that were merged into it.
func (g *graph) members(key string) []string {
	keys := []string{key}
	for i := 0; i < len(keys); i++ {
		keys = append(keys, g.behind[keys[i]]...)
	}
	return keys
}

// use counts a use of a key. It creates the key's entity and the entities that the key is merged into, if they are missing.
// It returns the key's own entity.
func (d *storeData) use(g *graph, key string, mentions int) *entity {
	var own *entity
	for {
		e := g.entities[key]
		if e == nil {
			d.call.noteEntity(g, key, false)
			d.last.entity++
			e = &entity{of: g, num: d.last.entity, key: key, name: key}
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

// unuse removes one use of a key. It deletes entities that have no uses left.
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
		d.call.noteEntity(g, e.key, true)
		delete(g.entities, e.key)
		delete(d.entities, e.num)
	}
}

// addGraph stores the graph of a version that has no graph yet.
func (d *storeData) addGraph(v *version, f *backend.Finished) {
	g := &v.part.graph
	for _, m := range f.Mentions {
		e := d.use(g, m.Key, 1)
		e.sources.add(&mentionCount{v: v, typ: m.Type})
		at, _ := e.sources.find(v.src.Num)
		e.sources[at].count++
		for _, named := range []*entity{e, g.find(m.Key)} {
			if !named.named {
				named.name, named.typ, named.named = m.Name, m.Type, true
			}
		}
		v.mentions = append(v.mentions, mention{v.chunks[m.Chunk], m.Key, m.Weight})
	}
	for i := range f.Relations {
		d.addRelation(v, &f.Relations[i])
	}
	d.addAliases(v, f)
}

// clearGraph deletes the graph of a version.
func (d *storeData) clearGraph(v *version) {
	g := &v.part.graph
	for _, m := range v.mentions {
		g.entities[m.key].sources.remove(v.src.Num)
		d.unuse(g, m.key, 1)
	}
	v.mentions = nil
	for _, r := range v.relations {
		d.removeRelation(v, r)
	}
	v.relations = nil
	d.clearAliases(v)
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

func (s *store) OwnEntities(ctx context.Context, part backend.Partition, keys []string) (out []*backend.Entity, err error) {
	err = s.read(ctx, func(d *storeData) error {
		out = make([]*backend.Entity, len(keys))
		if p := d.parts[part]; p != nil {
			for i, key := range keys {
				if e := p.graph.entities[key]; e != nil {
					out[i] = e.public()
				}
			}
		}
		return nil
	})
	return out, err
}
