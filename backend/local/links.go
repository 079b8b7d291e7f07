package local

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// links is a decoded section of mentions. Entities are sorted by number and keys by text, so that binary search finds them.
// Refs name entities and keys by their places in these lists.
type links struct {
	entities []int64 // ascending
	keys     []string
	sources  []storedLinks
	refs     []ref // of all sources
}

// storedLinks is the number of a source and the end of its refs in links.refs.
type storedLinks struct {
	num int64
	end int
}

// encodeLinks encodes the mentions of a block:
//   - the number of all mentions;
//   - the entities, ascending, each as the difference to the previous one;
//   - the keys, ascending, each as the length of the prefix that it shares with the previous one, and the rest;
//   - for each source the difference of its number to the previous one, the number of its mentions, and the mentions by row, entity and key.
//
// A mention is the difference of its row to the previous row, the place of its entity, and twice the place of its key. The last
// number is one higher when the weight is not 1; the weight then follows in 4 bytes.
func (c *content) encodeLinks() []byte {
	all := 0
	var entities []int64
	for _, g := range c.graph {
		all += len(g.refs)
		for _, r := range g.refs {
			entities = append(entities, r.entity)
		}
	}
	slices.Sort(entities)
	entities = slices.Compact(entities)
	order := make([]uint32, len(c.keys))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(c.keys[a], c.keys[b]) })
	place := make([]uint32, len(c.keys))

	var e encoder
	e.uint(uint64(all))
	e.uint(uint64(len(entities)))
	last := int64(0)
	for _, num := range entities {
		e.int(num - last)
		last = num
	}
	e.uint(uint64(len(order)))
	before := ""
	for i, k := range order {
		place[k] = uint32(i)
		key := c.keys[k]
		same := 0
		for same < min(len(before), len(key)) && before[same] == key[same] {
			same++
		}
		e.uint(uint64(same))
		e.text(key[same:])
		before = key
	}
	e.uint(uint64(len(c.graph)))
	last, row := int64(0), uint32(0)
	var refs []storedRef
	for _, g := range c.graph {
		e.int(g.source - last)
		last = g.source
		e.uint(uint64(len(g.refs)))
		refs = append(refs[:0], g.refs...)
		slices.SortStableFunc(refs, func(a, b storedRef) int {
			return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.entity, b.entity), cmp.Compare(place[a.key], place[b.key]))
		})
		for _, r := range refs {
			at, _ := slices.BinarySearch(entities, r.entity)
			e.int(int64(r.row) - int64(row))
			e.uint(uint64(at))
			row = r.row
			if r.weight == 1 {
				e.uint(uint64(place[r.key]) << 1)
				continue
			}
			e.uint(uint64(place[r.key])<<1 | 1)
			e.fixed32(math.Float32bits(r.weight))
		}
	}
	return e.buf
}

// decodeLinks decodes a section that encodeLinks made.
func decodeLinks(b []byte) (*links, error) {
	const leastRef, leastKey, leastSource = 3, 2, 2
	d := decoder{buf: b}
	l := &links{refs: make([]ref, d.count(leastRef))}
	l.entities = make([]int64, d.count(1))
	last := int64(0)
	for i := range l.entities {
		num := last + d.int()
		if i > 0 && num <= last {
			d.fail()
			break
		}
		l.entities[i], last = num, num
	}
	l.keys = make([]string, d.count(leastKey))
	ends, text := make([]int, len(l.keys)), make([]byte, 0, 8*len(l.keys))
	from := 0 // start of the previous key in text
	for i := range ends {
		same, rest := d.uint(), d.bytes(d.count(1))
		if same > uint64(len(text)-from) {
			d.fail()
			break
		}
		at := len(text)
		text = append(append(text, text[from:from+int(same)]...), rest...)
		if i > 0 && string(text[from:at]) >= string(text[at:]) {
			d.fail()
			break
		}
		ends[i], from = len(text), at
	}
	whole, at := string(text), 0
	for i, end := range ends {
		if d.err != nil {
			break
		}
		l.keys[i], at = whole[at:end], end
	}
	l.sources = make([]storedLinks, d.count(leastSource))
	last = 0
	next, row := 0, int64(0)
	for i := range l.sources {
		last += d.int()
		n := d.count(leastRef)
		if n > len(l.refs)-next {
			d.fail()
			break
		}
		for j := range n {
			row += d.int()
			entity, key, weight := d.uint(), d.uint(), float32(1)
			if key&1 != 0 {
				weight = math.Float32frombits(d.fixed32())
			}
			if row < 0 || row >= int64(none) || entity >= uint64(len(l.entities)) || key>>1 >= uint64(len(l.keys)) {
				d.fail()
				break
			}
			l.refs[next+j] = ref{uint32(row), uint32(entity), uint32(key >> 1), weight}
		}
		next += n
		l.sources[i] = storedLinks{last, next}
		if d.err != nil {
			break
		}
	}
	if next != len(l.refs) {
		d.fail()
	}
	return l, d.end()
}

// decodeLinks sets the keys and the graph of c from a section of mentions.
func (c *content) decodeLinks(b []byte) error {
	l, err := decodeLinks(b)
	if err != nil {
		return err
	}
	c.keys, c.graph = l.keys, make([]storedGraph, len(l.sources))
	refs, from := make([]storedRef, len(l.refs)), 0
	for i, r := range l.refs {
		refs[i] = storedRef{r.row, l.entities[r.entity], r.key, r.weight}
	}
	for i, s := range l.sources {
		c.graph[i] = storedGraph{s.num, refs[from:s.end:s.end]}
		from = s.end
	}
	return nil
}

// mergeOrdered merges ascending lists into one ascending list without duplicates. places has, for each list, the places of its values
// in the merged one. It has nil for a single list, whose places do not change.
func mergeOrdered[T cmp.Ordered](lists [][]T) (all []T, places [][]uint32) {
	if len(lists) == 1 {
		return lists[0], [][]uint32{nil}
	}
	n, heads := 0, make([]int, len(lists))
	for _, l := range lists {
		n += len(l)
		places = append(places, make([]uint32, len(l)))
	}
	all = make([]T, 0, n)
	for {
		var least T
		some := false
		for i, l := range lists {
			if h := heads[i]; h < len(l) && (!some || l[h] < least) {
				least, some = l[h], true
			}
		}
		if !some {
			return all, places
		}
		for i, l := range lists {
			if h := heads[i]; h < len(l) && l[h] == least {
				places[i][h] = uint32(len(all))
				heads[i]++
			}
		}
		all = append(all, least)
	}
}

// rename replaces the places of entities and keys in refs by those in the given tables. It changes nothing when the tables are nil.
func rename(refs []ref, entities, keys []uint32) {
	for i := range refs {
		if r := &refs[i]; entities != nil {
			r.entity, r.key = entities[r.entity], keys[r.key]
		}
	}
}

// useLinks fills the mentions of a partition that has none from its blocks, oldest first. It builds no maps: binary search finds
// entities and keys until a mention changes, see [mentions.index]. It leaves out mentions of removed sources, mentions of sources
// that a newer block has, and rows that do not belong to the source.
func (p *partition) useLinks(blocks []*links) {
	x := &p.mentions
	var numbers [][]int64
	var texts [][]string
	for _, l := range blocks {
		numbers, texts = append(numbers, l.entities), append(texts, l.keys)
	}
	entities, entityAt := mergeOrdered(numbers)
	keys, keyAt := mergeOrdered(texts)
	x.entities, x.keys = make([]entity, len(entities)), make([]key, len(keys))
	for i, num := range entities {
		x.entities[i].num = num
	}
	for i, text := range keys {
		x.keys[i].text = text
	}
	t := taken{p: p, counts: make([]uint32, len(entities)), named: make([]keyed, len(keys))}
	for i, l := range slices.Backward(blocks) {
		rename(l.refs, entityAt[i], keyAt[i])
		t.take(l, i > 0)
	}
	room := make([]edge, t.links)
	for i, n := range t.counts {
		e := &x.entities[i]
		e.edges, room = room[:0:n], room[n:]
		switch e.live = n > 0; {
		case n == 0:
			x.free = append(x.free, uint32(i))
		case n > 1:
			x.shared++
			x.links += int(n)
		}
	}
	x.ordered = len(x.entities) - len(x.free)
	for i := range x.keys {
		if len(x.keys[i].named) == 0 {
			x.freeK = append(x.freeK, uint32(i))
		}
	}
	p.fillEdges()
	x.inOrder = true
}

// taken is the state of a run of [partition.useLinks].
type taken struct {
	p      *partition
	counts []uint32 // number of edges, by entity
	named  []keyed  // the first entity of each key
	links  int      // number of all edges
}

// take adds the mentions of a block for all sources that have none yet. emptied is true when an older block may have mentions of
// sources that have none in this block.
func (t *taken) take(l *links, emptied bool) {
	p, x := t.p, &t.p.mentions
	from, to := 0, 0
	for _, s := range l.sources {
		refs := l.refs[from:s.end]
		from = s.end
		if len(refs) == 0 {
			if emptied {
				p.buildPlaces()
				if at, ok := p.find(s.num); ok && p.refsOf[at] == nil {
					p.refsOf[at] = []ref{}
				}
			}
			continue
		}
		if uint64(refs[0].row) >= uint64(len(p.of)) {
			continue
		}
		at := p.of[refs[0].row]
		if p.sourceNum[at] != s.num || !p.alive(at) || p.refsOf[at] != nil {
			continue
		}
		first, behind := p.sources[at].first, p.sources[at].first+p.sources[at].rows
		own := l.refs[to:to]
		for _, r := range refs {
			if r.row >= first && r.row < behind {
				own = append(own, r) // own overwrites only refs that were already read
			}
		}
		if !slices.IsSortedFunc(own, compareRefs) {
			slices.SortStableFunc(own, compareRefs)
		}
		own = foldRefs(own)
		to += len(own)
		x.edges += len(own)
		p.refsOf[at] = own
		for i, r := range own {
			k := &x.keys[r.key]
			if len(k.named) == 0 {
				t.named[r.key] = keyed{r.entity, 1}
				k.named = t.named[r.key : r.key+1 : r.key+1]
			} else {
				x.name(r)
			}
			if leads(own, i) {
				t.counts[r.entity]++
				t.links++
			}
		}
	}
}

// leads reports whether the ref at i is the first one of its row and entity. Each such ref is one edge.
func leads(refs []ref, i int) bool {
	return i == 0 || refs[i-1].row != refs[i].row || refs[i-1].entity != refs[i].entity
}

// fillEdges adds the edges of all sources to their entities, whose edge slices have enough capacity.
func (p *partition) fillEdges() {
	x := &p.mentions
	var falling []uint32 // entities whose edges are not ascending by chunk
	for _, refs := range p.refsOf {
		for i, r := range refs {
			if !leads(refs, i) {
				continue
			}
			e := &x.entities[r.entity]
			if n := len(e.edges); n > 0 && p.chunk[e.edges[n-1].row] >= p.chunk[r.row] {
				falling = append(falling, r.entity)
			}
			e.edges = append(e.edges, edge{r.row, r.weight})
		}
	}
	for _, at := range falling {
		slices.SortFunc(x.entities[at].edges, func(a, b edge) int { return cmp.Compare(p.chunk[a.row], p.chunk[b.row]) })
	}
}

// compareRefs orders the refs of a source by row, entity and key. It needs entities and keys that are sorted.
func compareRefs(a, b ref) int {
	return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.entity, b.entity), cmp.Compare(a.key, b.key))
}
