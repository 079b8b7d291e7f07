package local

import (
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
)

// tagIndex finds the sources with a tag. Most tags have one source and take one map entry.
// Tags with more sources have a list, and tags with very many a set of rows.
type tagIndex struct {
	one   map[uint64]int32 // the only source of a tag, or the complement of its place in lists
	lists []*tagList
	free  []int32 // unused places in lists

	// Counts for sizeBytes.
	noted  int // tags of all sources
	listed int // sources in lists
	sets   int
}

// tagList is the sources with a tag: either their places, ascending, or the set of their rows.
type tagList struct {
	sources []uint32
	set     *bitset.Set
	n       int
}

const (
	// denseMin and denseShare: a tag is stored as a set when it has more than denseMin
	// sources and more than the number of rows divided by denseShare. The set takes at most
	// four times the memory of the list. A filter combines sets word by word, while each
	// source of a list is a cache miss.
	denseMin   = 64
	denseShare = 128
)

func newTagIndex() tagIndex { return tagIndex{one: make(map[uint64]int32)} }

// add adds a source to a tag. Adding it again does not change the tag.
func (x *tagIndex) add(p *partition, tag uint64, at uint32) {
	x.noted++
	v, ok := x.one[tag]
	switch {
	case !ok:
		x.one[tag] = int32(at)
		return
	case v == int32(at):
		return
	case v >= 0:
		l := &tagList{sources: []uint32{uint32(v)}, n: 1}
		if n := len(x.free); n > 0 {
			v = ^x.free[n-1]
			x.free = x.free[:n-1]
			x.lists[^v] = l
		} else {
			v = ^int32(len(x.lists))
			x.lists = append(x.lists, l)
		}
		x.one[tag] = v
		x.listed++
	}
	l := x.lists[^v]
	had := len(l.sources)
	l.add(p, at)
	x.listed += len(l.sources) - had
	if had > 0 && l.set != nil {
		x.sets++
	}
}

func (l *tagList) add(p *partition, at uint32) {
	if l.set != nil {
		s := &p.sources[at]
		l.set.Grow(len(p.chunk))
		if s.rows > 0 && !l.set.Has(s.first) {
			l.n++
			setRange(l.set, s.first, s.rows)
		}
		return
	}
	i, found := slices.BinarySearch(l.sources, at)
	if found {
		return
	}
	l.sources = slices.Insert(l.sources, i, at)
	l.n++
	if l.n > denseMin && l.n > len(p.chunk)/denseShare {
		l.set = bitset.New(len(p.chunk))
		for _, at := range l.sources {
			setRange(l.set, p.sources[at].first, p.sources[at].rows)
		}
		l.sources = nil
	}
}

// remove removes a source from a tag.
func (x *tagIndex) remove(p *partition, tag uint64, at uint32) {
	x.noted--
	v, ok := x.one[tag]
	if !ok {
		return
	}
	if v >= 0 {
		if v == int32(at) {
			delete(x.one, tag)
		}
		return
	}
	l := x.lists[^v]
	if l.set != nil {
		if s := &p.sources[at]; s.rows > 0 && l.set.Has(s.first) {
			clearRange(l.set, s.first, s.rows)
			l.n--
		}
	} else if i, found := slices.BinarySearch(l.sources, at); found {
		l.sources = slices.Delete(l.sources, i, i+1)
		l.n--
		x.listed--
	}
	if l.n == 0 {
		if l.set != nil {
			x.sets--
		}
		delete(x.one, tag)
		x.lists[^v] = nil
		x.free = append(x.free, ^v)
	}
}

// addTo adds the rows with a tag to dst.
func (x *tagIndex) addTo(p *partition, tag uint64, dst *bitset.Set) {
	v, ok := x.one[tag]
	if !ok {
		return
	}
	if v >= 0 {
		s := &p.sources[v]
		setRange(dst, s.first, s.rows)
		return
	}
	l := x.lists[^v]
	if l.set != nil {
		dst.Or(l.set)
		return
	}
	for _, at := range l.sources {
		setRange(dst, p.sources[at].first, p.sources[at].rows)
	}
}

func setRange(s *bitset.Set, first, n uint32) {
	for r := first; r < first+n; r++ {
		s.Add(r)
	}
}

func clearRange(s *bitset.Set, first, n uint32) {
	for r := first; r < first+n; r++ {
		s.Remove(r)
	}
}

// scratch is pooled memory for the sets of a search.
type scratch struct{ words, group []uint64 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// maxScratchWords is the greatest length of a set that goes back to the pool, in words (8 MB).
const maxScratchWords = 1 << 20

func (s *scratch) release() {
	if s != nil && len(s.words) <= maxScratchWords {
		scratches.Put(s)
	}
}

// accept returns the live rows that pass a filter. The caller releases the scratch when it
// no longer uses the rows. The scratch may be nil; release then does nothing.
func (p *partition) accept(f backend.Filter) (*bitset.Set, *scratch) {
	if len(f.All) == 0 && len(f.Not) == 0 {
		return p.live, nil
	}
	sc := scratches.Get().(*scratch)
	out := p.live
	for _, any := range f.All {
		set := p.tags.setOf(any)
		if set == nil {
			set = p.anyOf(sc, any)
		}
		out = sc.and(out, set)
	}
	if len(f.Not) > 0 {
		out = sc.and(out, nil)
		out.AndNot(p.anyOf(sc, f.Not))
	}
	return out, sc
}

// setOf returns the set of rows of a tag, if tags has only this one and it is stored as a set; else nil.
// The set may have rows that are not live, and may be shorter than the live set.
func (x *tagIndex) setOf(tags []uint64) *bitset.Set {
	if len(tags) != 1 {
		return nil
	}
	if v, ok := x.one[tags[0]]; ok && v < 0 {
		return x.lists[^v].set
	}
	return nil
}

// and returns the intersection of two sets in s.words. A nil y stands for all rows. The words of x may
// be s.words already.
func (s *scratch) and(x, y *bitset.Set) *bitset.Set {
	from := x.Words()
	n := len(from)
	s.words = slices.Grow(s.words[:0], n)[:n]
	out := s.words
	switch {
	case y != nil:
		with := y.Words()
		have := min(n, len(with))
		from, with = from[:have], with[:have]
		for i, w := range with {
			out[i] = from[i] & w
		}
		clear(out[have:])
	case n > 0 && &from[0] != &out[0]:
		copy(out, from)
	}
	return bitset.FromWords(out, x.Len())
}

// anyOf returns the rows with at least one of the tags, in the memory of sc.group.
func (p *partition) anyOf(sc *scratch, tags []uint64) *bitset.Set {
	n := p.live.Len()
	sc.group = slices.Grow(sc.group[:0], (n+63)/64)[:(n+63)/64]
	clear(sc.group)
	set := bitset.FromWords(sc.group, n)
	for _, t := range tags {
		p.tags.addTo(p, t, set)
	}
	return set
}
