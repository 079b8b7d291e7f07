package local

import (
	"slices"
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
)

// tagIndex finds the sources with a tag. Most tags name one source and cost one map
// entry; tags of many sources are sets of rows.
type tagIndex struct {
	one   map[uint64]int32 // a source, or the complement of a place in lists
	lists []*tagList
	free  []int32

	// How much there is of it, for sizeBytes.
	noted  int // tags of all sources
	listed int // sources in lists
	sets   int
}

// tagList is the sources with a tag: their places, rising, or their rows as a set.
type tagList struct {
	sources []uint32
	set     *bitset.Set
	n       int
}

const (
	// denseMin and denseShare: a tag of more sources than both denseMin and rows by
	// denseShare is kept as a set. It takes four times the memory of the list at most,
	// and joins a filter by words, where each source of a list is a cache miss.
	denseMin   = 64
	denseShare = 128
)

func newTagIndex() tagIndex { return tagIndex{one: make(map[uint64]int32)} }

// add notes that a source has a tag; noting it twice does nothing.
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

// remove takes a tag off a source.
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

// addTo puts the rows with a tag into dst.
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

// scratch is the sets that a search borrows.
type scratch struct{ words, group []uint64 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// maxScratchWords bounds the sets that are kept between searches, at 8 MB.
const maxScratchWords = 1 << 20

func (s *scratch) release() {
	if s != nil && len(s.words) <= maxScratchWords {
		scratches.Put(s)
	}
}

// accept returns the live rows that a filter allows. The caller releases the
// scratch after its use; nil needs none.
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

// setOf returns the set of rows with the one tag of a list, if it is kept as a set. It may
// have rows that are not live, and lack the last.
func (x *tagIndex) setOf(tags []uint64) *bitset.Set {
	if len(tags) != 1 {
		return nil
	}
	if v, ok := x.one[tags[0]]; ok && v < 0 {
		return x.lists[^v].set
	}
	return nil
}

// and returns the rows of both sets, of which nil is all, in the words of the scratch. x may
// lie there already.
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

// anyOf returns the rows with one of the tags, in the scratch.
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
