package backendtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// modelSize returns the number of random runs and the number of operations of each.
func modelSize(ops int) (seeds, perSeed int) {
	if testing.Short() {
		return 1, ops / 2
	}
	return 2, ops
}

// runIndexModel applies random feeds to the indexes under test and to the oracle, and compares their answers.
func runIndexModel(t *testing.T, h IndexersHarness) {
	seeds, ops := modelSize(200)
	for seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			m := &indexModel{indexEnv: openIndex(t, h), rng: newRand(uint64(seed)), versions: map[int64][]int64{}, parts: map[int64]backend.Partition{}, tags: map[int64][]uint64{}}
			m.now = at(0)
			m.x = newOracleIndex(t)
			defer m.printLog()
			for range ops {
				m.step()
			}
			m.check()
		})
	}
}

type indexModel struct {
	*indexEnv
	rng      *rand.Rand
	x        oracleIndex
	now      time.Time
	versions map[int64][]int64 // chunks of each live version
	parts    map[int64]backend.Partition
	tags     map[int64][]uint64
	log      []string
}

// printLog prints the operations if the test failed.
func (m *indexModel) printLog() {
	if m.t.Failed() {
		m.t.Logf("operations:\n%s", strings.Join(m.log, "\n"))
	}
}

var modelQueries = querySet{
	parts:   []backend.Partition{notes, files, other},
	texts:   []string{"Anna", "Who repaired the bicycle near Oslo?", "the lantern", "Bruno painted the sweater"},
	keys:    []string{"k0", "k1", "k2", "k3", "k4", "k5"},
	filters: []backend.Filter{{}, {All: [][]uint64{{1, 2}}}, {All: [][]uint64{{3}}, Not: []uint64{1}}},
}

func (m *indexModel) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *indexModel) step() {
	m.t.Helper()
	ctx := m.t.Context()
	switch n := m.rng.IntN(100); {
	case n < 40:
		m.put(m.nextSource())
	case n < 46 && len(m.versions) > 0:
		m.put(m.anyVersion()) // replaces the chunks of a version
	case n < 56 && len(m.versions) > 0:
		v := m.anyVersion()
		m.add(backend.Change{Kind: backend.PutTags, Part: m.parts[v], Source: v, Tags: m.retag(v)})
	case n < 69 && len(m.versions) > 0:
		m.putGraph(m.anyVersion())
	case n < 72:
		m.fold()
	case n < 82 && len(m.versions) > 0:
		v := m.anyVersion()
		m.add(backend.Change{Kind: backend.Drop, Part: m.parts[v], Source: v})
		delete(m.versions, v)
	case n < 83:
		sub := pick(m.rng, modelQueries.parts).Sub
		m.add(backend.Change{Kind: backend.DropSub, Part: backend.Partition{Sub: sub}})
		for v, p := range m.parts {
			if p.Sub == sub {
				delete(m.versions, v)
			}
		}
	case n < 86 && len(m.versions) > 0:
		m.putVectors(m.anyVersion())
	case n < 87:
		m.add(backend.Change{Kind: backend.DropVectors, Lane: backend.Lane(1 + m.rng.IntN(3))})
	case n < 89:
		sh := pick(m.rng, m.Indexes())
		m.note("one index follows")
		m.followOne(sh)
	case n < 91:
		m.note("flush")
		for _, sh := range m.Indexes() {
			require.NoError(m.t, sh.Flush(ctx))
		}
	case n < 93:
		m.note("reopen")
		m.reopen()
	case n < 94:
		m.note("reset one index")
		require.NoError(m.t, pick(m.rng, m.Indexes()).Reset(ctx))
	default:
		m.check()
	}
}

// retag replaces the tags of a version and returns the new ones.
func (m *indexModel) retag(v int64) []uint64 {
	m.tags[v] = randomTags(m.rng)
	return m.tags[v]
}

func (m *indexModel) nextSource() int64 { m.source++; return m.source }

func (m *indexModel) anyVersion() int64 {
	// The choice must depend on the seed alone, and a range over the map would not.
	for {
		if v := 1 + m.rng.Int64N(m.source); m.versions[v] != nil {
			return v
		}
	}
}

func randomTags(rng *rand.Rand) []uint64 {
	var tags []uint64
	for tag := range uint64(4) {
		if rng.IntN(3) == 0 {
			tags = append(tags, tag)
		}
	}
	return tags
}

// add appends a change to the feed. Indexes apply it later, in followOne.
func (m *indexModel) add(c backend.Change) {
	m.seq++
	c.Seq = m.seq
	m.feed = append(m.feed, c)
	m.note("%d: %s of version %d in %v", c.Seq, kinds([]backend.Change{c})[0], c.Source, c.Part)
}

func (m *indexModel) put(v int64) {
	part, known := m.parts[v]
	if !known {
		part = pick(m.rng, modelQueries.parts)
		m.parts[v] = part
	}
	c := backend.Change{Kind: backend.PutChunks, Part: part, Source: v, SourceID: fmt.Sprint("s", v), Tags: randomTags(m.rng)}
	if m.rng.IntN(3) == 0 {
		c.Lane = backend.Lane(1 + m.rng.IntN(3))
	}
	m.tags[v] = c.Tags
	if m.rng.IntN(3) > 0 {
		m.now = m.now.Add(time.Duration(m.rng.IntN(40)) * time.Minute)
		c.Time = m.now
	}
	if m.rng.IntN(3) == 0 {
		c.Session = fmt.Sprint("session", m.rng.IntN(3))
	}
	if m.rng.IntN(2) == 0 {
		c.Title = Sentence(m.rng)
	}
	chunks := []int64{}
	for i := range 1 + m.rng.IntN(4) {
		m.chunk++
		chunks = append(chunks, m.chunk)
		text := Text(m.rng, 1+m.rng.IntN(2))
		row := backend.Row{Chunk: m.chunk, Ordinal: i, Key: fmt.Sprint("key", m.chunk), Text: text}
		if m.rng.IntN(8) > 0 {
			row.Vector = Vector(text, dim)
		}
		if m.rng.IntN(2) == 0 {
			row.Extra = []byte(`{"k":["on 8 May","lantern"],"s":"Anna","q":true}`)
		}
		c.Rows = append(c.Rows, row)
	}
	m.versions[v] = chunks
	m.add(c)
}

// putVectors adds a change that fills a lane of a version, one time in six with vectors of another length.
func (m *indexModel) putVectors(v int64) {
	c := backend.Change{Kind: backend.PutVectors, Part: m.parts[v], Source: v, SourceID: fmt.Sprint("s", v), Lane: backend.Lane(1 + m.rng.IntN(3)), Tags: m.tags[v]}
	n := dim
	if m.rng.IntN(6) == 0 {
		n = dim / 2
	}
	for i, chunk := range m.versions[v] {
		row := backend.Row{Chunk: chunk, Ordinal: i}
		if m.rng.IntN(6) > 0 {
			row.Vector = Vector(Text(m.rng, 1), n)
		}
		c.Rows = append(c.Rows, row)
	}
	m.add(c)
}

func (m *indexModel) putGraph(v int64) {
	c := backend.Change{Kind: backend.PutGraph, Part: m.parts[v], Source: v}
	for _, chunk := range m.versions[v] {
		for k := range int64(6) {
			if m.rng.IntN(3) == 0 {
				// Two keys have one entity, as after a merge.
				c.Mentions = append(c.Mentions, backend.MentionRef{Chunk: chunk, Entity: entityOf(m.parts[v], k/2), Key: fmt.Sprint("k", k), Weight: float32(1 + m.rng.IntN(3))})
			}
		}
	}
	m.add(c)
}

// fold adds a change that makes the mentions of an entity those of another, unless an index under test gets them from the feed.
func (m *indexModel) fold() {
	for _, sh := range m.Indexes() {
		if f, ok := sh.(backend.Folder); !ok || !f.FoldsEntities() {
			return
		}
	}
	part := pick(m.rng, modelQueries.parts)
	m.add(backend.Change{Kind: backend.FoldEntity, Part: part, From: entityOf(part, m.rng.Int64N(3)), Into: entityOf(part, m.rng.Int64N(4))})
}

// entityOf returns the Num of an entity. Like a Store's, Nums of different partitions differ.
func entityOf(p backend.Partition, n int64) int64 {
	for i, part := range modelQueries.parts {
		if part == p {
			return int64(i)*100 + n + 1
		}
	}
	return 0
}

func (m *indexModel) followOne(sh backend.Index) {
	m.t.Helper()
	var rest []backend.Change
	for _, c := range m.feed {
		if c.Seq > sh.Applied() {
			rest = append(rest, c)
		}
	}
	for len(rest) > 0 {
		n := 1 + m.rng.IntN(len(rest))
		require.NoError(m.t, sh.Apply(m.t.Context(), rest[:n]))
		require.Equal(m.t, rest[n-1].Seq, sh.Applied())
		rest = rest[n:]
	}
}

func (m *indexModel) check() {
	m.t.Helper()
	m.note("check")
	for _, sh := range m.Indexes() {
		m.followOne(sh)
	}
	m.followOne(m.x.Indexes()[0])
	compareIndexes(m.t, m.IndexSet, m.x.IndexSet, modelQueries, same(m.chunk, m.source), fmt.Sprintf("after change %d", m.seq))
}
