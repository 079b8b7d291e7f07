package local

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/contextmem/contextmem/backend"
)

// mentions stores the edges between rows and entities.
type mentions struct {
	entities []entity
	place    map[int64]uint32 // place in entities, by number
	free     []uint32         // unused places in entities
	shared   int              // entities with two rows or more
	links    int              // edges of the shared entities
	edges    int              // refs of all sources

	keys  []key
	keyOf map[string]uint32 // place in keys, by text
	freeK []uint32          // unused places in keys

	// inOrder is true while entities are sorted by number and keys by text. Binary search then finds them, and place and keyOf are empty.
	inOrder bool
	ordered int // live entities while inOrder
}

// index fills place and keyOf before a change that would break the sorting of entities and keys. The caller holds mu.
func (x *mentions) index() {
	if !x.inOrder && x.place != nil {
		return
	}
	x.inOrder = false
	x.place, x.keyOf = make(map[int64]uint32, len(x.entities)), make(map[string]uint32, len(x.keys))
	for i := range x.entities {
		if x.entities[i].live {
			x.place[x.entities[i].num] = uint32(i)
		}
	}
	for i := range x.keys {
		if len(x.keys[i].named) > 0 {
			x.keyOf[x.keys[i].text] = uint32(i)
		}
	}
}

// count returns the number of live entities.
func (x *mentions) count() int {
	if x.inOrder {
		return x.ordered
	}
	return len(x.place)
}

// entity is an entity that live rows mention.
type entity struct {
	num   int64
	live  bool
	edges []edge // by chunk
}

type edge struct {
	row    uint32
	weight float32
}

// key is a name of entities. named has the number of edges under this name, by entity.
type key struct {
	text  string
	named []keyed
}

type keyed struct {
	entity uint32
	n      int
}

// ref is a mention as its source stores it. Several refs may have the same row and entity
// and differ by key. The first of them has the weight of the edge.
type ref struct {
	row, entity, key uint32
	weight           float32
}

// findEntity returns the place of an entity.
func (x *mentions) findEntity(num int64) (uint32, bool) {
	if x.inOrder {
		i, ok := slices.BinarySearchFunc(x.entities, num, func(e entity, num int64) int { return cmp.Compare(e.num, num) })
		return uint32(i), ok && x.entities[i].live
	}
	at, ok := x.place[num]
	return at, ok
}

// findKey returns the place of a key.
func (x *mentions) findKey(text string) (uint32, bool) {
	if x.inOrder {
		i := sort.Search(len(x.keys), func(i int) bool { return x.keys[i].text >= text })
		return uint32(i), i < len(x.keys) && x.keys[i].text == text && len(x.keys[i].named) > 0
	}
	at, ok := x.keyOf[text]
	return at, ok
}

// grow makes room for n keys, each of which names an entity.
func (x *mentions) grow(n int) {
	x.keys, x.entities = slices.Grow(x.keys, n), slices.Grow(x.entities, n)
	if x.place == nil {
		x.place, x.keyOf = make(map[int64]uint32, n), make(map[string]uint32, n)
	}
}

// putGraph replaces the mentions of a source. It ignores mentions of chunks that belong to
// other sources. The caller holds mu. A merge of two entities may put the mentions of all sources that have one of them again, so that only the
// rows whose mentions differ are changed.
func (p *partition) putGraph(num int64, refs []backend.MentionRef) {
	at, ok := p.find(num)
	if !ok {
		return
	}
	x := &p.mentions
	wanted := make([]wantedRef, 0, len(refs))
	for i := range refs {
		row, ok := p.row(refs[i].Chunk)
		if ok && p.of[row] == at {
			wanted = append(wanted, wantedRef{row, &refs[i]})
		}
	}
	if old := p.refsOf[at]; len(old) > 0 {
		changed := x.differ(old, wanted)
		if len(changed) == 0 {
			return
		}
		isChanged := func(row uint32) bool { _, ok := changed[row]; return ok }
		var kept, gone []ref
		for _, r := range old {
			if isChanged(r.row) {
				gone = append(gone, r)
			} else {
				kept = append(kept, r)
			}
		}
		x.detach(p, gone)
		wanted = slices.DeleteFunc(wanted, func(w wantedRef) bool { return !isChanged(w.row) })
		all := append(kept, x.attach(p, x.refs(wanted))...)
		slices.SortStableFunc(all, func(a, b ref) int { return cmp.Compare(a.row, b.row) })
		p.refsOf[at] = slices.Clip(all)
	} else {
		p.refsOf[at] = x.attach(p, x.refs(wanted))
	}
	if p.sources[at].first < p.tailFrom {
		p.changedGraph[at] = struct{}{}
	}
}

// wantedRef is a mention to store for a row.
type wantedRef struct {
	row uint32
	*backend.MentionRef
}

// refs adds the entities and keys of mentions that are new.
func (x *mentions) refs(wanted []wantedRef) []ref {
	own := make([]ref, len(wanted))
	for i, w := range wanted {
		own[i] = ref{w.row, x.entity(w.Entity), x.key(w.Key), w.Weight}
	}
	return own
}

// differ returns the rows whose refs differ from the wanted ones. refs are sorted and folded.
func (x *mentions) differ(refs []ref, wanted []wantedRef) map[uint32]struct{} {
	changed := make(map[uint32]struct{})
	known := make([]ref, 0, len(wanted))
	for _, w := range wanted {
		e, ok := x.findEntity(w.Entity)
		k, named := x.findKey(w.Key)
		if !ok || !named {
			changed[w.row] = struct{}{}
			continue
		}
		known = append(known, ref{w.row, e, k, w.Weight})
	}
	known = x.folded(known)
	for len(refs) > 0 || len(known) > 0 {
		row := uint32(math.MaxUint32)
		if len(refs) > 0 {
			row = refs[0].row
		}
		if len(known) > 0 {
			row = min(row, known[0].row)
		}
		n, m := ofRow(refs, row), ofRow(known, row)
		if !slices.Equal(refs[:n], known[:m]) {
			changed[row] = struct{}{}
		}
		refs, known = refs[n:], known[m:]
	}
	return changed
}

// ofRow returns the number of refs of a row at the beginning of refs.
func ofRow(refs []ref, row uint32) (n int) {
	for n < len(refs) && refs[n].row == row {
		n++
	}
	return n
}

// add adds refs to a source that has no mentions. It keeps the slice.
func (x *mentions) add(p *partition, at uint32, refs []ref) { p.refsOf[at] = x.attach(p, refs) }

// folded sorts refs and folds them. It changes the slice.
func (x *mentions) folded(refs []ref) []ref {
	order := func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(x.entities[a.entity].num, x.entities[b.entity].num),
			cmp.Compare(a.key, b.key))
	}
	if !slices.IsSortedFunc(refs, order) { // refs from files are mostly sorted already
		slices.SortStableFunc(refs, order)
	}
	return foldRefs(refs)
}

// attach adds the edges of refs to their entities, and returns the refs sorted and folded. It changes the slice.
func (x *mentions) attach(p *partition, refs []ref) []ref {
	refs = x.folded(refs)
	x.edges += len(refs)
	for i, r := range refs {
		x.name(r)
		if i == 0 || refs[i-1].row != r.row || refs[i-1].entity != r.entity {
			x.join(p, r)
		}
	}
	return refs
}

// foldRefs adds up the weights of refs with the same row and entity, and drops repeated keys. refs are sorted.
func foldRefs(refs []ref) []ref {
	out := refs[:0]
	head := 0
	for _, r := range refs {
		n := len(out)
		if n == 0 || out[head].row != r.row || out[head].entity != r.entity {
			head = n
			out = append(out, r)
			continue
		}
		out[head].weight += r.weight
		if out[n-1].key != r.key {
			r.weight = 0
			out = append(out, r)
		}
	}
	return slices.Clip(out)
}

func (x *mentions) entity(num int64) uint32 {
	x.index()
	e, ok := x.findEntity(num)
	if ok {
		return e
	}
	if n := len(x.free); n > 0 {
		e = x.free[n-1]
		x.free = x.free[:n-1]
		x.entities[e] = entity{num: num, live: true}
	} else {
		e = uint32(len(x.entities))
		x.entities = append(x.entities, entity{num: num, live: true})
	}
	x.place[num] = e
	return e
}

func (x *mentions) key(text string) uint32 {
	x.index()
	k, ok := x.findKey(text)
	if ok {
		return k
	}
	if n := len(x.freeK); n > 0 {
		k = x.freeK[n-1]
		x.freeK = x.freeK[:n-1]
		x.keys[k] = key{text: text}
	} else {
		k = uint32(len(x.keys))
		x.keys = append(x.keys, key{text: text})
	}
	x.keyOf[text] = k
	return k
}

// name counts a ref under its key.
func (x *mentions) name(r ref) {
	k := &x.keys[r.key]
	for i := range k.named {
		if k.named[i].entity == r.entity {
			k.named[i].n++
			return
		}
	}
	k.named = append(k.named, keyed{r.entity, 1})
}

// join adds an edge to its entity.
func (x *mentions) join(p *partition, r ref) {
	e := &x.entities[r.entity]
	i := len(e.edges)
	if i > 0 && p.chunk[e.edges[i-1].row] >= p.chunk[r.row] {
		i = p.edgeAt(e.edges, r.row)
	}
	if i == len(e.edges) {
		e.edges = append(e.edges, edge{r.row, r.weight})
	} else {
		e.edges = slices.Insert(e.edges, i, edge{r.row, r.weight})
	}
	switch len(e.edges) {
	case 1:
	case 2:
		x.shared++
		x.links += 2
	default:
		x.links++
	}
}

// edgeAt returns the place of the edge of a row, or the place at which to insert it.
func (p *partition) edgeAt(edges []edge, row uint32) int {
	i, _ := slices.BinarySearchFunc(edges, p.chunk[row], func(e edge, chunk int64) int {
		return cmp.Compare(p.chunk[e.row], chunk)
	})
	return i
}

// remove removes all mentions of a source.
func (x *mentions) remove(p *partition, at uint32) {
	x.detach(p, p.refsOf[at])
	p.refsOf[at] = nil
}

// detach removes the edges of refs, which are sorted and folded, from their entities.
func (x *mentions) detach(p *partition, refs []ref) {
	if len(refs) == 0 {
		return
	}
	x.index()
	x.edges -= len(refs)
	for i, r := range refs {
		x.unname(r)
		if i > 0 && refs[i-1].row == r.row && refs[i-1].entity == r.entity {
			continue
		}
		e := &x.entities[r.entity]
		at := p.edgeAt(e.edges, r.row)
		e.edges = slices.Delete(e.edges, at, at+1)
		switch len(e.edges) {
		case 0:
		case 1:
			x.shared--
			x.links -= 2
		default:
			x.links--
		}
	}
	for _, r := range refs {
		if e := &x.entities[r.entity]; len(e.edges) == 0 && e.live {
			delete(x.place, e.num)
			*e = entity{}
			x.free = append(x.free, r.entity)
		}
	}
}

// unname removes a ref from the count of its key.
func (x *mentions) unname(r ref) {
	k := &x.keys[r.key]
	for i := range k.named {
		if k.named[i].entity != r.entity {
			continue
		}
		if k.named[i].n--; k.named[i].n == 0 {
			k.named = slices.Delete(k.named, i, i+1)
		}
		break
	}
	if len(k.named) == 0 {
		delete(x.keyOf, k.text)
		*k = key{}
		x.freeK = append(x.freeK, r.key)
	}
}
