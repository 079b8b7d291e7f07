package local

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// A partition that is loaded from files first has runs: the mapped sections of rows of its
// blocks. A page of them is read only when a search has a hit on it. Searches by vector
// and by keyword need only the runs. Columns are built from the runs when another facet is
// needed.

// addRun adds the rows of a block after those of earlier blocks, and removes the sources
// that the block lists as dropped.
func (p *partition) addRun(c *columns) error {
	for i, num := range c.dropNum {
		if err := p.dropRun(num, c.dropRow[i]); err != nil {
			return err
		}
	}
	if c.sources == 0 {
		return nil
	}
	if c.first < p.end {
		return fmt.Errorf("%w: rows of a source overlap others", errFormat)
	}
	p.rising = p.rising && c.falling == 0 && c.low > p.lastChunk
	p.lastChunk = max(p.lastChunk, c.high)
	p.runs = append(p.runs, c)
	p.extend(c.first + c.rows)
	words, by := p.live.Words()[c.first/64:], c.first%64
	for i, w := range c.live {
		words[i] |= w << by
		if high := w >> 1 >> (63 - by); high != 0 {
			words[i+1] |= high
		}
		p.liveN += bits.OnesCount64(w)
	}
	p.liveSources += len(c.source)
	return nil
}

// extend marks the row numbers below end as used.
func (p *partition) extend(end uint32) {
	p.end = max(p.end, end)
	p.live.Grow(int(p.end))
}

// runOf returns the run that has a row, or nil.
func (p *partition) runOf(row uint32) *columns {
	for i := len(p.runs) - 1; i >= 0; i-- {
		if c := p.runs[i]; row >= c.first {
			if row-c.first < c.rows {
				return c
			}
			break
		}
	}
	return nil
}

// owner returns the place of a row's source in the run. It returns errFormat when that place does not exist.
func (c *columns) owner(row uint32) (uint32, error) {
	at := c.of[row-c.first]
	if at >= c.sources {
		return 0, fmt.Errorf("%w: the owner of a row", errFormat)
	}
	return at, nil
}

// dropRun removes a source of a run, if it is live and begins at row.
func (p *partition) dropRun(num int64, row uint32) error {
	c := p.runOf(row)
	if c == nil || !p.live.Has(row) {
		return nil
	}
	at, err := c.owner(row)
	if err != nil {
		return err
	}
	s := &c.source[at]
	if c.num[at] != num || s.first != row {
		return nil
	}
	if s.rows > c.rows-(row-c.first) {
		return fmt.Errorf("%w: rows of a source", errFormat)
	}
	return p.removeRows(s)
}

// hit returns the hit for a found row.
func (p *partition) hit(f found) (backend.Hit, error) {
	if p.has(facetColumns) {
		return backend.Hit{Chunk: p.chunk[f.row], Source: p.sourceNum[p.of[f.row]], Score: f.score}, nil
	}
	c := p.runOf(f.row)
	if c == nil {
		return backend.Hit{}, fmt.Errorf("%w: a row of no block", errFormat)
	}
	at, err := c.owner(f.row)
	if err != nil {
		return backend.Hit{}, err
	}
	return backend.Hit{Chunk: c.chunk[f.row-c.first], Source: c.num[at], Score: f.score}, nil
}

// buildColumns builds the columns from the runs. It uses a single run in place, and copies
// several. An error means damage. The caller holds mu.
func (p *partition) buildColumns() error {
	if p.has(facetColumns) {
		return nil
	}
	for _, c := range p.runs {
		if err := c.check(); err != nil {
			return err
		}
	}
	if len(p.runs) == 1 && p.runs[0].first == 0 {
		p.useColumns(p.runs[0])
	} else {
		p.copyRuns()
	}
	p.skipTo(p.end)
	p.runs = nil
	p.ready.Or(uint32(facetColumns))
	if p.rising {
		p.ready.Or(uint32(facetRows))
	}
	return nil
}

// useColumns makes the partition use the mapped columns of its only block.
func (p *partition) useColumns(c *columns) {
	p.inPlace = true
	p.chunk, p.ordinal, p.of, p.speaker, p.flags = clip(c.chunk), clip(c.ordinal), clip(c.of), clip(c.speaker), clip(c.flags)
	p.sourceNum, p.sources = clip(c.num), clip(c.source)
	p.names, p.nameOf = append(p.names, c.texts()...), nil
}

// copyRuns copies the columns of all runs into slices of exactly the needed size.
func (p *partition) copyRuns() {
	sources := 0
	for _, c := range p.runs {
		sources += len(c.source)
	}
	n := int(p.end)
	p.chunk, p.ordinal, p.of = slices.Grow(p.chunk, n), slices.Grow(p.ordinal, n), slices.Grow(p.of, n)
	p.speaker, p.flags = slices.Grow(p.speaker, n), slices.Grow(p.flags, n)
	p.sourceNum, p.sources = slices.Grow(p.sourceNum, sources), slices.Grow(p.sources, sources)
	p.lastChunk = math.MinInt64
	names := p.joinNames()
	for i, c := range p.runs {
		p.skipTo(c.first)
		p.copyColumns(c, names[i])
		p.lastChunk = max(p.lastChunk, c.high)
	}
}

// joinNames sets the names of the partition to those of all runs. For each run but the first, whose names keep their places, it returns
// the place in names of each name of the run, which counts from 1. The first run mostly has most names, so joinNames looks them up among
// the others and does not enter them in a table.
func (p *partition) joinNames() [][]uint32 {
	if len(p.runs) == 0 {
		return nil
	}
	first, rest := p.runs[0].texts(), 0
	for _, c := range p.runs[1:] {
		rest += int(c.names)
	}
	later, shared := make(map[string]uint32, rest), make([][]string, len(p.runs)) // a place of 0 is not assigned yet
	for i, c := range p.runs[1:] {
		shared[i+1] = c.texts()
		for _, s := range shared[i+1] {
			later[s] = 0
		}
	}
	p.names, p.nameOf = append(slices.Grow(p.names[:1], len(first)+len(later)), first...), nil
	out := make([][]uint32, len(p.runs))
	for i, s := range first {
		if _, ok := later[s]; ok {
			later[s] = uint32(i + 1)
		}
	}
	for i, names := range shared[1:] {
		if len(names) == 0 {
			continue
		}
		places := make([]uint32, len(names)+1)
		for j, s := range names {
			at := later[s]
			if at == 0 {
				at = uint32(len(p.names))
				p.names, later[s] = append(p.names, s), at
			}
			places[j+1] = at
		}
		out[i+1] = places
	}
	return out
}

func (p *partition) copyColumns(c *columns, renamed []uint32) {
	base := uint32(len(p.sources))
	from, sources := len(p.chunk), len(p.sources)
	p.chunk, p.ordinal, p.flags = append(p.chunk, c.chunk...), append(p.ordinal, c.ordinal...), append(p.flags, c.flags...)
	p.of, p.speaker = append(p.of, c.of...), append(p.speaker, c.speaker...)
	p.sourceNum, p.sources = append(p.sourceNum, c.num...), append(p.sources, c.source...)
	if base > 0 {
		for i := from; i < len(p.of); i++ {
			p.of[i] += base
		}
	}
	if renamed == nil {
		return
	}
	for i := from; i < len(p.speaker); i++ {
		p.speaker[i] = renamed[p.speaker[i]]
	}
	for i := sources; i < len(p.sources); i++ {
		p.sources[i].name = renamed[p.sources[i].name]
	}
}

// clip returns x with a capacity of its length, so that appending copies it.
func clip[T any](x []T) []T { return x[:len(x):len(x)] }

// own copies columns that lie in a mapped file. The caller holds mu.
func (p *partition) own() {
	if !p.inPlace {
		return
	}
	p.inPlace = false
	p.chunk, p.ordinal, p.of = slices.Clone(p.chunk), slices.Clone(p.ordinal), slices.Clone(p.of)
	p.speaker, p.flags = slices.Clone(p.speaker), slices.Clone(p.flags)
	p.sourceNum, p.sources = slices.Clone(p.sourceNum), slices.Clone(p.sources)
}
