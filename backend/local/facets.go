package local

import "github.com/contextmem/contextmem/backend"

// facet is a part of a partition's state that some searches do not need. A partition
// loaded from files begins with none. need builds a facet when a call first asks for it.
type facet uint32

const (
	facetColumns  facet = 1 << iota // the columns of rows and sources
	facetRows                       // lookup of rows by chunk number
	facetPlaces                     // the tables rowOf and sourceOf
	facetTags                       // tags and tagsOf
	facetSessions                   // sessions and the links of sources
	facetGraph                      // mentions and refsOf

	allFacets = facetColumns | facetRows | facetPlaces | facetTags | facetSessions | facetGraph
)

func (p *partition) has(f facet) bool { return facet(p.ready.Load())&f == f }

// need builds those facets of f that are missing, and reports whether it built any. Errors mean
// damage. The caller does not hold mu.
func (p *partition) need(f facet) (built bool, err error) {
	if p.has(f) {
		return false, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f &^= facet(p.ready.Load())
	if p.gone || f == 0 {
		return false, nil
	}
	if err := p.buildColumns(); err != nil {
		return true, err
	}
	f &^= facet(p.ready.Load()) // buildColumns also sets facetRows if chunk numbers rise with rows
	if f&(facetRows|facetTags) != 0 {
		f |= facetPlaces
	}
	if f&facetPlaces != 0 {
		p.buildPlaces()
	}
	if f&facetSessions != 0 {
		p.buildSessions()
	}
	if f&facetTags != 0 {
		err = p.buildTags()
	}
	if f&facetGraph != 0 && err == nil {
		err = p.buildGraph()
	}
	return true, err
}

// buildPlaces enters the live rows and sources in rowOf and sourceOf. Rows that are added afterwards are entered too.
func (p *partition) buildPlaces() {
	if p.has(facetPlaces) {
		return
	}
	for at := range p.sources {
		s := &p.sources[at]
		if !p.alive(uint32(at)) {
			continue
		}
		p.sourceOf.Put(p.sourceNum, uint32(at))
		for row := s.first; row < s.first+s.rows; row++ {
			p.rowOf.Put(p.chunk, row)
		}
	}
	p.ready.Or(uint32(facetPlaces | facetRows))
}

// buildTags reads the tags of all blocks. Tags in newer blocks replace tags in older blocks.
func (p *partition) buildTags() error {
	if p.has(facetTags) {
		return nil
	}
	p.tagsOf = make([][]uint64, len(p.sources))
	for _, b := range p.blocks {
		data, err := b.bytesOf(secTags)
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		c := new(content)
		if err := c.decodeTags(data); err != nil {
			return err
		}
		for _, t := range c.tags {
			if at, ok := p.find(t.source); ok {
				p.tagsOf[at] = t.tags
			}
		}
	}
	for at, tags := range p.tagsOf {
		for _, t := range tags {
			p.tags.add(p, t, uint32(at))
		}
	}
	p.ready.Or(uint32(facetTags))
	return nil
}

// buildGraph reads the mentions of all blocks. Mentions in newer blocks replace mentions in older blocks.
func (p *partition) buildGraph() error {
	if p.has(facetGraph) {
		return nil
	}
	p.refsOf = make([][]ref, len(p.sources))
	var blocks []*links
	for _, b := range p.blocks {
		if s, _ := b.find(secGraph); s.kind == secGraph {
			return p.lookUpGraph()
		}
		data, err := b.bytesOf(secLinks)
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		l, err := decodeLinks(data)
		if err != nil {
			return err
		}
		blocks = append(blocks, l)
	}
	if len(blocks) > 0 {
		p.useLinks(blocks)
	}
	p.ready.Or(uint32(facetGraph))
	return nil
}

// lookUpGraph does the work of buildGraph for partitions with a block of an earlier release.
func (p *partition) lookUpGraph() error {
	p.buildPlaces()
	x := &p.mentions
	for _, b := range p.blocks {
		c := new(content)
		for kind, decode := range map[sectionKind]func([]byte) error{secGraph: c.decodeGraph, secLinks: c.decodeLinks} {
			data, err := b.bytesOf(kind)
			if err == nil && data != nil {
				err = decode(data)
			}
			if err != nil {
				return err
			}
		}
		if len(x.keys) == 0 {
			x.grow(len(c.keys))
		}
		known := make([]lastMention, len(c.keys))
		for i := range c.graph {
			if at, ok := p.find(c.graph[i].source); ok {
				p.setRefs(at, c.graph[i].refs, c.keys, known)
			}
		}
	}
	p.ready.Or(uint32(facetGraph))
	return nil
}

// lastMention caches what the last mention with a key in a block resolved to: the key and the entity, each as its index plus 1.
// The next mention with the key mostly has the same entity, which saves looking both up by text and number.
type lastMention struct{ key, entity uint32 }

// setRefs replaces the mentions of a source by stored ones. It skips mentions of rows outside
// the source: they belong to an earlier version of the source.
func (p *partition) setRefs(at uint32, stored []storedRef, keys []string, known []lastMention) {
	s, x := &p.sources[at], &p.mentions
	x.remove(p, at)
	refs := make([]ref, 0, len(stored))
	for _, r := range stored {
		if r.row < s.first || r.row >= s.first+s.rows {
			continue
		}
		k := &known[r.key]
		if k.key == 0 || keys[r.key] == "" || x.keys[k.key-1].text != keys[r.key] { // a removed key's index may be reused
			k.key = x.key(keys[r.key]) + 1
		}
		if k.entity == 0 || !x.entities[k.entity-1].live || x.entities[k.entity-1].num != r.entity {
			k.entity = x.entity(r.entity) + 1
		}
		refs = append(refs, ref{r.row, k.entity - 1, k.key - 1, r.weight})
	}
	x.add(p, at, refs)
}

// needOf returns the facets that a filter needs.
func needOf(f backend.Filter) facet {
	if len(f.All)+len(f.Not) > 0 {
		return facetTags
	}
	return 0
}
