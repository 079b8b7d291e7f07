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
	// titleWeight is the weight of title terms, see [backend.Keywords].
	titleWeight = 3

	flagQuestion = 1
	flagHasTime  = 2
	flagAsks     = 4
	flagFirst    = 8
	flagSecond   = 16

	// none stands for "no place in a table".
	none = ^uint32(0)
	// noTime is the stored form of an unknown time. It sorts before all others.
	noTime = int64(backend.NoTime)
)

// partition is the index of one class of one sub-tenant. Its columns are in memory or in
// the mapped first file. Vectors and postings of flushed rows are in files. One goroutine
// writes; any number read while they hold mu. A writer that only adds rows does most of
// its work without the lock, because readers ignore rows that are not in the live set.
type partition struct {
	class backend.Class
	mu    sync.RWMutex
	gone  bool          // the mapped files were released: the caller looks the partition up again
	ready atomic.Uint32 // the facets that are built

	runs []*columns // mapped rows of blocks, until the columns below are built from them
	end  uint32     // first row number above all rows of the runs

	// By row.
	inPlace bool // the columns of rows and sources lie in the mapped file of the first segment
	chunk   []int64
	ordinal []int32
	of      []uint32 // place of the source
	speaker []uint32 // place in names
	flags   []uint8
	live    *bitset.Set
	liveN   int
	rowOf   numtable.Table // row by chunk
	rising  bool           // chunks ascend with rows; chunks of dead rows may be repeated

	lastChunk int64 // the greatest chunk

	// By source.
	sourceNum   []int64
	sources     []source // elements never change
	links       []link
	tagsOf      [][]uint64
	refsOf      [][]ref
	sourceOf    numtable.Table
	liveSources int

	names  []string          // interned strings; names[0] is empty
	nameOf map[string]uint32 // place in names; nil until needed

	tags     tagIndex
	blocks   []*block     // blocks that the partition was loaded from
	segments []*segment   // the flushed rows, by block
	words    *lexical.Mem // postings of the tail: rows from tailFrom on
	vectors  []*vectorPart
	kept     atomic.Int64 // the keptBytes that the cache counts now
	sessions sessions
	mentions mentions
	sealed   *sealed // the rows before tailFrom that are not in a file yet; nil: none

	// State for the next flush. Only the writer uses it.
	tailFrom     uint32
	tailTerms    int64
	flushAt      int  // number of tail rows from which a flush starts by itself
	cleared      bool // all rows in files are deleted
	dropped      []storedDrop
	droppedRows  int
	changedTags  map[uint32]struct{} // flushed sources with changed tags
	changedGraph map[uint32]struct{} // flushed sources with changed mentions
}

// segment is the opened postings and vectors of a block. A partition holds a reference to its file.
type segment struct {
	block *block
	words *lexical.Segment // nil: none
	parts []*vectorPart
}

// source is a source version, in the layout of index files. Its rows are first to
// first+rows-1, by ordinal.
type source struct {
	time        int64 // microseconds since 1970, or noTime
	length      int64 // number of terms of its rows
	first, rows uint32
	name        uint32 // place of the explicit session in names; 0: none
	zero        uint32 // padding, always 0
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

// views appends the parts of the keyword index to views, each with the set of rows that a search may find.
// If accept is the live set, segments need no filter: rows that are not live are deleted from their
// postings too. The tail still needs one, because it has rows that are not live yet.
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

// deleteWords deletes a row from the keyword index.
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

// alive reports whether a source is live. Its first row tells, because all its rows are added and removed together.
func (p *partition) alive(at uint32) bool { return p.live.Has(p.sources[at].first) }

// row returns the row of a live chunk.
func (p *partition) row(chunk int64) (row uint32, ok bool) {
	if p.has(facetPlaces) {
		row, ok = p.rowOf.Get(p.chunk, chunk)
	} else {
		row, ok = findRising(p.chunk, chunk)
	}
	return row, ok && p.live.Has(row)
}

// findRising returns the index of a chunk in ascending chunks. Chunk numbers mostly rise evenly, so it begins where an even rise would have
// the chunk, and searches around that in steps that double.
func findRising(chunks []int64, chunk int64) (uint32, bool) {
	n := len(chunks)
	if n == 0 || chunk < chunks[0] || chunk > chunks[n-1] {
		return 0, false
	}
	first, last := chunks[0], chunks[n-1]
	at := min(n-1, int(float64(n)*((float64(chunk)-float64(first))/(float64(last)-float64(first)+1))))
	from, to := at, at+1 // chunks before from are less than chunk, those from to on are greater or equal
	if chunks[at] < chunk {
		for step := 1; to < n && chunks[to] < chunk; step *= 2 {
			from, to = to+1, min(n, to+step)
		}
	} else {
		to = at
		for step := 1; from > 0 && chunks[from-1] >= chunk; step *= 2 {
			to, from = from-1, max(0, from-step)
		}
	}
	i, ok := slices.BinarySearch(chunks[from:to], chunk)
	i += from
	return uint32(i), ok || i < n && chunks[i] == chunk
}

// intern returns the place of a string in names, and adds it if needed.
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
