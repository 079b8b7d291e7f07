package local

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/vector"
)

const testUID = "0123456789abcdef0123456789abcdef"

// indexes is the interface of the implementations that the model test compares.
type indexes interface {
	backend.Vectors
	backend.Keywords
	backend.Graph
}

func openTest(t testing.TB, x backend.Indexers) indexes {
	t.Helper()
	ix, err := x.OpenIndexes(context.Background(), testUID)
	require.NoError(t, err)
	return ix.Indexes()[0].(indexes)
}

// model makes random changes as a store's feed does, and random queries.
type model struct {
	r       *rand.Rand
	seq     uint64
	chunk   int64
	source  int64
	alive   []modelSource
	parts   []backend.Partition
	dim     int
	shuffle bool // chunks do not rise with the feed
	log     []backend.Change

	limits        limits // of the indexes; zero: theirs
	key           []byte
	found, wanted int // hits of searches by lists, which are close to the oracle's
	coded         int // searches of parts with 1-bit codes
}

type modelSource struct {
	num    int64
	part   backend.Partition
	chunks []int64
	put    backend.Change
}

func newModel(seed uint64) *model {
	m := &model{r: rand.New(rand.NewPCG(seed, 7)), dim: 12, shuffle: seed%2 == 0}
	for _, class := range []backend.Class{backend.Knowledge, backend.Memory} {
		for _, sub := range []string{"", "a", "b/../c"} {
			m.parts = append(m.parts, backend.Partition{Class: class, Sub: sub})
		}
	}
	return m
}

var modelWords = strings.Fields("harbour lantern copper meadow violin saddle winter orchard ember falcon granite " +
	"marble puzzle quartz ribbon silver timber umbrella velvet walnut the of and is garden river stone cloud")

func (m *model) text(n int) string {
	var b strings.Builder
	for range n {
		// Squared, so that some words are frequent.
		f := m.r.Float64()
		b.WriteString(modelWords[int(f*f*float64(len(modelWords)))])
		b.WriteByte(' ')
	}
	return b.String()
}

func (m *model) vector() []float32 {
	v := make([]float32, m.dim)
	for i := range v {
		v[i] = float32(m.r.NormFloat64())
	}
	return v
}

func (m *model) tags() []uint64 {
	var tags []uint64
	for t := uint64(1); t < 8; t++ {
		if m.r.IntN(int(t)+1) == 0 {
			tags = append(tags, t)
		}
	}
	return append(tags, 1000+uint64(m.source))
}

func (m *model) change() backend.Change {
	m.seq++
	at := 0
	if n := len(m.alive); n > 0 {
		at = m.r.IntN(n)
	}
	switch p := m.r.IntN(100); {
	case len(m.alive) == 0 || p < 50:
		c := m.put(m.parts[m.r.IntN(len(m.parts))])
		return c
	case p < 55: // again, as when the feed is replayed
		c := m.alive[at].put
		c.Seq = m.seq
		return c
	case p < 65:
		s := m.alive[at]
		return backend.Change{Seq: m.seq, Kind: backend.PutTags, Part: s.part, Source: s.num, Tags: m.tags()}
	case p < 80:
		s := m.alive[at]
		return backend.Change{Seq: m.seq, Kind: backend.PutGraph, Part: s.part, Source: s.num, Mentions: m.mentions(s)}
	case p < 96:
		s := m.alive[at]
		m.alive = slices.Delete(m.alive, at, at+1)
		return backend.Change{Seq: m.seq, Kind: backend.Drop, Part: s.part, Source: s.num}
	case p < 97 && m.r.IntN(3) == 0:
		sub := m.alive[at].part.Sub
		m.alive = slices.DeleteFunc(m.alive, func(s modelSource) bool { return s.part.Sub == sub })
		return backend.Change{Seq: m.seq, Kind: backend.DropSub, Part: backend.Partition{Sub: sub}}
	}
	return backend.Change{Seq: m.seq, Kind: backend.Mark}
}

func (m *model) put(part backend.Partition) backend.Change {
	m.source++
	c := backend.Change{
		Seq: m.seq, Kind: backend.PutChunks, Part: part, Source: m.source, SourceID: fmt.Sprint("id", m.source),
		Title: m.text(m.r.IntN(3)), Tags: m.tags(),
	}
	if m.r.IntN(4) > 0 {
		c.Time = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(m.r.IntN(240)) * 10 * time.Minute)
	}
	if m.r.IntN(4) == 0 {
		c.Session = fmt.Sprint("session ", m.r.IntN(3))
	}
	s := modelSource{num: c.Source, part: part}
	for i := range 1 + m.r.IntN(4) {
		m.chunk++
		r := backend.Row{Chunk: m.chunk, Ordinal: i, Text: m.text(3 + m.r.IntN(20)), Heading: m.text(m.r.IntN(2))}
		if m.shuffle {
			r.Chunk = m.chunk ^ 0x15
		}
		if m.r.IntN(10) > 0 {
			r.Vector = m.vector()
		}
		if m.r.IntN(2) == 0 {
			r.Extra, _ = json.Marshal(backend.RowExtra{
				Keywords: []string{m.text(2)}, Speaker: []string{"", "Ada", "Bo"}[m.r.IntN(3)],
				Question: m.r.IntN(2) == 0, HasTime: m.r.IntN(2) == 0, Asks: m.r.IntN(2) == 0, First: m.r.IntN(2) == 0, Second: m.r.IntN(2) == 0,
			})
		}
		s.chunks = append(s.chunks, r.Chunk)
		c.Rows = append(c.Rows, r)
	}
	m.r.Shuffle(len(c.Rows), func(i, j int) { c.Rows[i], c.Rows[j] = c.Rows[j], c.Rows[i] })
	s.put = c
	m.alive = append(m.alive, s)
	return c
}

func (m *model) mentions(s modelSource) (refs []backend.MentionRef) {
	for range m.r.IntN(6) {
		chunk := int64(1 << 40) // of no source
		if len(s.chunks) > 0 && m.r.IntN(8) > 0 {
			chunk = s.chunks[m.r.IntN(len(s.chunks))]
		}
		e := int64(m.r.IntN(9))
		key := fmt.Sprint("key ", e)
		if m.r.IntN(4) == 0 {
			key = fmt.Sprint("key ", m.r.IntN(9))
		}
		refs = append(refs, backend.MentionRef{Chunk: chunk, Entity: e + 1, Key: key, Weight: float32(1 + m.r.IntN(3))})
	}
	return refs
}

func (m *model) filter() (f backend.Filter) {
	for range m.r.IntN(3) {
		f.All = append(f.All, m.someTags())
	}
	if m.r.IntN(4) == 0 {
		f.Not = m.someTags()
	}
	return f
}

func (m *model) someTags() (tags []uint64) {
	for range 1 + m.r.IntN(3) {
		tags = append(tags, 1+uint64(m.r.IntN(8)))
	}
	if m.r.IntN(4) == 0 {
		tags = append(tags, 1000+uint64(m.r.IntN(int(m.source)+1)))
	}
	return tags
}

func (m *model) keywordQuery(part backend.Partition) backend.KeywordQuery {
	q := backend.KeywordQuery{Part: part, Text: m.text(1 + m.r.IntN(4)), K: m.r.IntN(20), Filter: m.filter()}
	switch m.r.IntN(5) {
	case 0:
		q.Operator = backend.And
	case 1:
		q.Operator = backend.Phrase
	case 2:
		q.Operator = backend.And
		q.Text = `"` + m.text(2) + `" ` + m.text(1)
	case 3:
		q.Terms = []backend.WeightedTerm{{Term: "harbour", Weight: .5}, {Term: "lantern", Weight: 2}, {Term: "copper", Weight: -1}}
	}
	return q
}

// open opens the indexes with the model's limits.
func (m *model) open(t *testing.T, dir string) *Indexers {
	t.Helper()
	x, err := Open(dir, &Options{EncryptionKey: m.key})
	require.NoError(t, err)
	if m.limits.exactRows > 0 {
		x.exactRows, x.readFrom = m.limits.exactRows, m.limits.readFrom
	}
	return x
}

// restart performs a random operation between changes, such as a flush or reopening.
func (m *model) restart(t *testing.T, x *Indexers, dir string, ix *index) (*Indexers, *index) {
	t.Helper()
	switch m.r.IntN(8) {
	case 0, 1, 2:
		require.NoError(t, ix.Flush(t.Context()))
	case 3:
		require.NoError(t, ix.Flush(t.Context()))
		evictAll(ix)
		if m.r.IntN(2) == 0 {
			ix.sleep()
		}
	case 4:
		require.NoError(t, ix.Flush(t.Context()))
		ix.work.wait()
	case 5: // what was not flushed is lost, and replayed
		require.NoError(t, x.Close())
		x = m.open(t, dir)
		ix = openTest(t, x).(*index)
		applied := ix.Applied()
		require.NoError(t, ix.Apply(t.Context(), m.feed(applied)))
	}
	return x, ix
}

// beginFlush sometimes begins a flush and returns a function that writes it. Operations before that call run
// as if while the file is written. One flush in three fails first.
func (m *model) beginFlush(t *testing.T, ix *index) (write func()) {
	if m.r.IntN(3) > 0 {
		return nil
	}
	require.NoError(t, ix.enter(t.Context()))
	defer ix.leave()
	ix.flushing.Lock()
	defer ix.flushing.Unlock()
	if ix.pending == nil {
		require.NoError(t, ix.sealAll())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	fail, merge := m.r.IntN(3) == 0, m.r.IntN(2) == 0
	return func() {
		if merge {
			ix.work.start(ix.mergeAll)
		}
		ix.flushing.Lock()
		defer ix.flushing.Unlock()
		if ix.pending == nil {
			return
		}
		if fail && len(ix.pending.tails) > 0 {
			require.ErrorIs(t, ix.writePending(ended), context.Canceled)
			return
		}
		require.NoError(t, ix.writePending(t.Context()))
	}
}

// feed returns the changes after a sequence number as a store would: it leaves out puts
// of sources that were deleted since.
func (m *model) feed(after uint64) []backend.Change {
	var out []backend.Change
	for _, c := range m.log {
		if c.Seq > after && (c.Kind == backend.Drop || c.Kind == backend.DropSub || c.Kind == backend.Mark || m.lives(c.Source)) {
			out = append(out, c)
		}
	}
	return out
}

func (m *model) lives(source int64) bool {
	return slices.ContainsFunc(m.alive, func(s modelSource) bool { return s.num == source })
}

func evictAll(x *index) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.slots {
		x.evict(s)
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	seeds := uint64(12)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newModel(seed).run(t, 60, 20, nil)
		})
	}
}

// TestModelLists lowers the sizes from which on vectors are searched by lists, so that
// inverted files are written, merged, read, deleted from and filtered: of 8-bit rows, of
// 1-bit codes, half a cache line each or more, and of codes with rows that are read.
func TestModelLists(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(seed)
			if seed >= 9 {
				m.key = testKey
			}
			m.parts = []backend.Partition{{Class: []backend.Class{backend.Knowledge, backend.Memory}[seed%2], Sub: "a"}}
			m.limits = limits{exactRows: 64}
			switch {
			case seed%3 > 0:
				m.dim = 256
			case seed > 0:
				m.dim = 100
			}
			if seed%3 == 2 {
				m.limits.readFrom = 1
			}
			m.run(t, 40, 40, func(ix *index) {
				for _, s := range ix.slots {
					if p := s.p.Load(); p != nil {
						m.coded += codedParts(p, m.limits.readFrom > 0)
					}
				}
			})
			require.Greater(t, m.wanted, 100)
			require.GreaterOrEqual(t, float64(m.found), .97*float64(m.wanted), "recall")
			require.Equal(t, m.dim > 200, m.coded > 0, "1-bit codes were searched")
		})
	}
}

// codedParts counts the parts of a partition with 1-bit codes, with an open file if rows
// are to be read.
func codedParts(p *partition, read bool) (n int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, s := range p.segments {
		for _, v := range s.parts {
			if vs, ok := v.search.(*vector.Segment); ok && vs.Coded() && (!read || s.block.file.osf != nil) {
				n++
			}
		}
	}
	return n
}

// run makes batches of changes in both, comparing after each; look sees the index then.
func (m *model) run(t *testing.T, batches, most int, look func(ix *index)) {
	want := openTest(t, inmem.New())
	dir := t.TempDir()
	x := m.open(t, dir)
	defer func() { require.NoError(t, x.Close()) }()
	got := openTest(t, x).(*index)
	for range batches {
		var batch []backend.Change
		for range 1 + m.r.IntN(most) {
			batch = append(batch, m.change())
		}
		m.log = append(m.log, batch...)
		require.NoError(t, want.Apply(t.Context(), batch))
		write := m.beginFlush(t, got)
		require.NoError(t, got.Apply(t.Context(), batch))
		if write != nil {
			m.compare(t, want, got)
			write()
			m.compare(t, want, got)
		}
		x, got = m.restart(t, x, dir, got)
		m.compare(t, want, got)
		if look != nil {
			got.work.wait()
			look(got)
		}
	}
}
