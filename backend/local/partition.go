package local

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/bitset"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/numtable"
)

const (
	// titleWeight is how often the terms of a title count, as package backend says.
	titleWeight = 3

	flagQuestion = 1
	flagHasTime  = 2
	flagAsks     = 4
	flagFirst    = 8
	flagSecond   = 16

	// none is no place in a table.
	none = ^uint32(0)
	// noTime is the unknown time as it is stored; it sorts before all others.
	noTime = int64(backend.NoTime)
)

// partition is the columns of one class of one sub-tenant, in memory or where its
// first file is mapped, over the vectors and postings of flushed rows in files. One
// goroutine writes, any number read under mu. A writer that only adds does most of
// its work without the lock: rows beyond the live set are not seen.
type partition struct {
	class backend.Class
	mu    sync.RWMutex
	gone  bool          // what is mapped was given back: look the partition up again
	ready atomic.Uint32 // the facets that are there

	runs []*columns // instead of columns of rows and sources, until those are needed
	end  uint32     // above every row of the runs

	// By row.
	inPlace bool // the columns of rows and sources are those of the first segment's file
	chunk   []int64
	ordinal []int32
	of      []uint32 // source
	speaker []uint32 // in names
	flags   []uint8
	live    *bitset.Set
	liveN   int
	rowOf   numtable.Table // by chunk
	rising  bool           // chunks rise with rows; those of dead rows may be repeated

	lastChunk int64 // the greatest

	// By source.
	sourceNum   []int64
	sources     []source // never changed
	links       []link
	tagsOf      [][]uint64
	refsOf      [][]ref
	sourceOf    numtable.Table
	liveSources int

	names  []string          // interned; 0 is empty
	nameOf map[string]uint32 // nil: to be made

	tags     tagIndex
	blocks   []*block     // what was read from files
	segments []*segment   // the flushed rows, by block
	words    *lexical.Mem // the tail: rows from tailFrom on
	vectors  []*vectorPart
	kept     atomic.Int64 // keptBytes as counted in the cache
	sessions sessions
	mentions mentions
	sealed   *sealed // the rows before tailFrom that are not in a file yet; nil: none

	// What the next flush has to say. Only the writer uses these.
	tailFrom     uint32
	tailTerms    int64
	flushAt      int  // rows of the tail from which on it is flushed unasked
	cleared      bool // what is in files no longer counts
	dropped      []storedDrop
	droppedRows  int
	changedTags  map[uint32]struct{} // flushed sources
	changedGraph map[uint32]struct{}
}

// segment is the postings of a block. A partition holds a reference to its file.
type segment struct {
	block *block
	words *lexical.Segment // nil: none
	parts []*vectorPart
}

// source is a source version as it lies in files. Its rows are first to
// first+rows-1, by ordinal.
type source struct {
	time        int64 // microseconds since 1970, or noTime
	length      int64 // terms of its rows
	first, rows uint32
	name        uint32 // explicit session
	zero        uint32
}

func newPartition(class backend.Class) *partition {
	p := &partition{
		class:  class,
		live:   bitset.New(0),
		rising: true,

		lastChunk: math.MinInt64,

		names:  []string{""},
		nameOf: make(map[string]uint32),
		tags:   newTagIndex(),
		words:  lexical.NewMem(),

		flushAt:      maxTailRows,
		changedTags:  make(map[uint32]struct{}),
		changedGraph: make(map[uint32]struct{}),
	}
	p.ready.Store(uint32(allFacets))
	return p
}

// views appends the parts of the keyword index to views, with the rows that may be found. Rows of
// segments that are not live are deleted there as well, so that the live rows altogether need
// no filter; the tail has rows that are not live yet.
func (p *partition) views(views []lexical.View, accept *bitset.Set) []lexical.View {
	inSegments, below := accept, uint32(0)
	if accept == p.live {
		inSegments = nil
		if p.liveN == p.live.Len() {
			below = uint32(p.liveN)
		}
	}
	for _, s := range p.segments {
		if s.words != nil {
			views = append(views, lexical.View{Part: s.words, Accept: inSegments})
		}
	}
	if p.sealed != nil {
		views = append(views, lexical.View{Part: p.sealed.words, Accept: accept, Below: below})
	}
	return append(views, lexical.View{Part: p.words, Accept: accept, Below: below})
}

// deleteWords takes a row out of the keyword index.
func (p *partition) deleteWords(row uint32) error {
	if row >= p.tailFrom {
		_, err := p.words.Delete(row)
		return err
	}
	if p.sealed != nil && row >= p.sealed.from {
		_, err := p.sealed.words.Delete(row)
		return err
	}
	for _, s := range p.segments {
		if s.words == nil {
			continue
		}
		if ok, err := s.words.Delete(row); ok || err != nil {
			return err
		}
	}
	return nil
}

// find returns the place of a live source.
func (p *partition) find(num int64) (uint32, bool) {
	at, ok := p.sourceOf.Get(p.sourceNum, num)
	return at, ok && p.alive(at)
}

// alive reports whether a source is live: its rows come and go together.
func (p *partition) alive(at uint32) bool { return p.live.Has(p.sources[at].first) }

// row returns the row of a live chunk.
func (p *partition) row(chunk int64) (row uint32, ok bool) {
	if p.has(facetPlaces) {
		row, ok = p.rowOf.Get(p.chunk, chunk)
	} else {
		var i int
		i, ok = slices.BinarySearch(p.chunk, chunk)
		row = uint32(i)
	}
	return row, ok && p.live.Has(row)
}

// intern returns the number of a string.
func (p *partition) intern(s string) uint32 {
	if s == "" {
		return 0
	}
	if p.nameOf == nil {
		p.nameOf = make(map[string]uint32, len(p.names))
		for i, s := range p.names[1:] {
			p.nameOf[s] = uint32(i + 1)
		}
	}
	n, ok := p.nameOf[s]
	if !ok {
		n = uint32(len(p.names))
		p.names = append(p.names, s)
		p.nameOf[s] = n
	}
	return n
}
