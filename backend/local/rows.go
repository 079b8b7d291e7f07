package local

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// prepare checks and orders the rows of a source before put. first is the row number of its first row.
func (c *step) prepare(first uint32) error {
	for i := range c.Rows {
		if err := checkVector(c.Rows[i].Vector); err != nil {
			return err
		}
	}
	c.first, c.order = first, make([]int, len(c.Rows))
	for i := range c.order {
		c.order[i] = i
	}
	slices.SortStableFunc(c.order, func(a, b int) int { return cmp.Compare(c.Rows[a].Ordinal, c.Rows[b].Ordinal) })
	c.facts = make([]rowFacts, len(c.order))
	if len(c.Rows) > 0 {
		c.extra = rowExtra(c.Rows[0].Extra)
	}
	return nil
}

// doc returns the texts of row i for the keyword index, and stores the row's facts in c.facts. i counts in the order of ordinals.
func (c *step) doc(i int) lexical.Doc {
	in := &c.Rows[c.order[i]]
	extra := c.extra
	if !bytes.Equal(in.Extra, c.Rows[0].Extra) { // mostly all chunks of a document have the same Extra
		extra = rowExtra(in.Extra)
	}
	c.facts[i] = factsOf(&extra)
	return lexical.Doc{Fields: fields(c.Title, in, &extra)}
}

// dropTexts clears the fields of the rows that only the keyword index reads, if the step owns the rows. It returns the size of the texts
// in bytes.
func (c *step) dropTexts() (size int) {
	if !c.taken {
		return 0
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		size += len(r.Text)
		r.Key, r.Text, r.Heading, r.Extra = "", "", "", nil
	}
	return size
}

// put makes the prepared rows of a source visible, and removes its previous rows. The caller holds mu.
func (p *partition) put(c *step) error {
	if err := p.drop(c.Source); err != nil {
		return err
	}
	if len(c.order) == 0 {
		return nil // nothing to find
	}
	s := source{first: c.first, rows: uint32(len(c.order)), time: int64(backend.MicrosOf(c.Time))}
	for row := s.first; row < s.first+s.rows; row++ {
		s.length += p.words.Length(row)
	}
	p.tailTerms += s.length
	p.publish(c, s)
	return nil
}

// undo removes rows below end that were added to the keyword index but not put. Their row numbers stay used, as dead rows. The caller
// holds mu.
func (p *partition) undo(end uint32) {
	for row := uint32(len(p.chunk)); row < end; row++ {
		_, _ = p.words.Delete(row) // the error is always nil
	}
	p.skipTo(end)
}

// skipTo adds dead rows, so that the next row is end. The caller holds mu.
func (p *partition) skipTo(end uint32) {
	n := int(end) - len(p.chunk)
	if n <= 0 {
		return
	}
	p.chunk = slices.Grow(p.chunk, n)
	for range n {
		p.chunk = append(p.chunk, p.lastChunk) // so that chunks stay ascending
	}
	p.ordinal = append(p.ordinal, make([]int32, n)...)
	p.of = append(p.of, make([]uint32, n)...)
	p.speaker = append(p.speaker, make([]uint32, n)...)
	p.flags = append(p.flags, make([]uint8, n)...)
	p.live.Grow(len(p.chunk))
}

// publish adds the source and the rows of c to the columns, and makes them live. The caller holds mu.
func (p *partition) publish(c *step, s source) {
	s.name = p.intern(c.Session)
	at := p.addSource(c.Source, s)
	p.tagsOf = append(p.tagsOf, slices.Clone(c.Tags))
	p.refsOf = append(p.refsOf, nil)
	for i, from := range c.order {
		in, facts := &c.Rows[from], &c.facts[i]
		row := p.addRow(at, storedRow{
			chunk: in.Chunk, ordinal: int32(min(max(in.Ordinal, math.MinInt32), math.MaxInt32)),
			speaker: p.intern(facts.speaker), flags: facts.flags,
		})
		if len(in.Vector) > 0 {
			p.vectorPart(len(in.Vector)).add(row, in.Vector)
			if c.taken {
				in.Vector = nil
			}
		}
	}
	p.addLive(at)
}

// rowFacts are the facts of a [backend.RowExtra] that the columns store.
type rowFacts struct {
	speaker string
	flags   uint8
}

func factsOf(x *backend.RowExtra) rowFacts {
	f := rowFacts{speaker: x.Speaker}
	for _, is := range [...]struct {
		so   bool
		flag uint8
	}{{x.Question, flagQuestion}, {x.HasTime, flagHasTime}, {x.Asks, flagAsks}, {x.First, flagFirst}, {x.Second, flagSecond}} {
		if is.so {
			f.flags |= is.flag
		}
	}
	return f
}

// addSource adds a source and returns its place. The caller adds its rows next.
func (p *partition) addSource(num int64, s source) uint32 {
	at := uint32(len(p.sources))
	p.sources = append(p.sources, s)
	p.sourceNum = append(p.sourceNum, num)
	if p.class == backend.Memory && p.has(facetSessions) {
		p.links = append(p.links, unlinked)
	}
	return at
}

// addRow adds a row of the source at a place, and returns the row number. The speaker is already interned.
func (p *partition) addRow(at uint32, r storedRow) uint32 {
	row := uint32(len(p.chunk))
	if r.chunk <= p.lastChunk {
		p.rising = false
	}
	p.lastChunk = max(p.lastChunk, r.chunk)
	p.chunk = append(p.chunk, r.chunk)
	p.ordinal = append(p.ordinal, r.ordinal)
	p.of = append(p.of, at)
	p.speaker = append(p.speaker, r.speaker)
	p.flags = append(p.flags, r.flags)
	if p.has(facetPlaces) {
		p.rowOf.Put(p.chunk, row)
	}
	return row
}

// addLive makes a source live after all its rows were added.
func (p *partition) addLive(at uint32) {
	s := &p.sources[at]
	p.live.Grow(len(p.chunk))
	setRange(p.live, s.first, s.rows)
	p.liveN += int(s.rows)
	p.liveSources++
	if p.has(facetPlaces) {
		p.sourceOf.Put(p.sourceNum, at)
	}
	if p.has(facetTags) {
		for _, t := range p.tagsOf[at] {
			p.tags.add(p, t, at)
		}
	}
	if p.has(facetSessions) && p.sessional(s) {
		p.sessions.insert(p, at)
	}
}

// drop removes a source with all its data, and records the removal for the next flush. It
// ignores an unknown source. An error means a damaged file. The caller holds mu.
func (p *partition) drop(num int64) error {
	at, ok := p.find(num)
	if !ok {
		return nil
	}
	if s := &p.sources[at]; s.first < p.tailFrom {
		p.dropped = append(p.dropped, storedDrop{num, s.first})
		p.droppedRows += int(s.rows)
		delete(p.changedTags, at)
		delete(p.changedGraph, at)
	}
	return p.remove(at)
}

// remove removes a live source from all facets. The caller holds mu.
func (p *partition) remove(at uint32) error {
	s := &p.sources[at]
	if p.has(facetGraph) {
		p.mentions.remove(p, at)
	}
	if p.has(facetSessions) && p.sessional(s) {
		p.sessions.remove(p, at)
	}
	if p.has(facetTags) {
		for _, t := range p.tagsOf[at] {
			p.tags.remove(p, t, at)
		}
		p.tagsOf[at] = nil
	}
	return p.removeRows(s)
}

// removeRows removes the rows of a live source from the vectors, the live set and the keyword index.
func (p *partition) removeRows(s *source) error {
	for _, v := range p.vectors {
		v.forget(s.first, s.rows)
	}
	clearRange(p.live, s.first, s.rows)
	p.liveN -= int(s.rows)
	p.liveSources--
	for r := s.first; r < s.first+s.rows; r++ {
		if err := p.deleteWords(r); err != nil {
			return err
		}
	}
	return nil
}

// putTags replaces the tags of a source. The caller holds mu.
func (p *partition) putTags(num int64, tags []uint64) {
	at, ok := p.find(num)
	if !ok {
		return
	}
	p.setTags(at, tags)
	if p.sources[at].first < p.tailFrom {
		p.changedTags[at] = struct{}{}
	}
}

func (p *partition) setTags(at uint32, tags []uint64) {
	for _, t := range p.tagsOf[at] {
		p.tags.remove(p, t, at)
	}
	p.tagsOf[at] = slices.Clone(tags)
	for _, t := range p.tagsOf[at] {
		p.tags.add(p, t, at)
	}
}

// rowExtra decodes the Extra of a row. It returns the zero value, and no error, for bytes
// that are no JSON of a RowExtra.
func rowExtra(b []byte) backend.RowExtra {
	var x backend.RowExtra
	if len(b) > 0 && json.Unmarshal(b, &x) != nil {
		return backend.RowExtra{}
	}
	return x
}

// fields returns the texts of a row with their weights.
func fields(title string, r *backend.Row, x *backend.RowExtra) []lexical.Field {
	fs := make([]lexical.Field, 0, 3+len(x.Keywords))
	fs = append(fs, lexical.Field{Text: title, Weight: titleWeight}, lexical.Field{Text: r.Heading, Weight: 1},
		lexical.Field{Text: r.Text, Weight: 1})
	for _, k := range x.Keywords {
		fs = append(fs, lexical.Field{Text: k, Weight: 1})
	}
	return fs
}
