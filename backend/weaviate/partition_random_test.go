package weaviate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// randomChange returns a change of one of two partitions.
func randomChange(rng *rand.Rand, seq uint64) backend.Change {
	source := 1 + rng.Int64N(12)
	c := backend.Change{Seq: seq, Part: backend.Partition{Class: backend.Knowledge, Sub: fmt.Sprint(source % 2)}, Source: source}
	rows := func(texts bool) {
		for j := range 1 + rng.Int64N(3) {
			r := backend.Row{Chunk: source*10 + rng.Int64N(2) + 2*j, Ordinal: int(j)}
			if texts {
				r.Text = "lantern " + backendtest.Text(rng, 1+rng.IntN(3))
			}
			if rng.IntN(5) > 0 {
				r.Vector = backendtest.Vector(fmt.Sprint(seq, j), testDim)
			}
			c.Rows = append(c.Rows, r)
		}
	}
	switch n := rng.IntN(40); {
	case n < 18:
		c.Kind = backend.PutChunks
		rows(true)
	case n < 26:
		c.Kind = backend.Drop
	case n < 31:
		c.Kind, c.Tags = backend.PutTags, []uint64{rng.Uint64N(3)}
	case n < 36:
		c.Kind = backend.PutVectors
		rows(false)
	case n < 37:
		c.Kind = backend.DropSub
	case n < 38:
		c.Kind = backend.DropVectors
	default:
		c.Kind = backend.Mark
	}
	return c
}

// cachedState describes all usable cached contents of an index, and reads those that it finds nothing of.
func cachedState(t *testing.T, ix *index) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, sub := range []string{"0", "1"} {
		part := backend.Partition{Class: backend.Knowledge, Sub: sub}
		untilCached(t, ix, func() (bool, error) {
			return ix.useTerms(t.Context(), part, func(p *partitionTerms) {
				of := map[int64]map[string]int32{}
				tags := map[int64][]uint64{}
				length := 0
				for i, c := range p.chunks {
					if c.length == removedChunk {
						continue
					}
					of[int64(i)] = map[string]int32{}
					tags[c.source] = append([]uint64{}, p.tags[c.source]...)
					length += c.length
					out[fmt.Sprint(sub, " chunk ", c.chunk)] = []any{c.source, c.length, tags[c.source], of[int64(i)]}
				}
				room, removed := 0, len(p.chunks)-len(of)
				for term, list := range p.postings {
					room += cap(list.data)
					for at, tf := range list.all() {
						if n := of[int64(at)]; n != nil {
							n[term] += tf
						}
					}
				}
				out[sub+" all"] = []any{p.count(), length}
				assert.Equal(t, []any{length, room, removed, len(tags)}, []any{p.length, p.room, p.removed, len(p.tags)}, "sums")
			})
		})
		untilCached(t, ix, func() (bool, error) {
			return ix.useVectors(t.Context(), partitionKey{of: ix, part: part, dim: testDim}, func(v *partitionVectors) {
				for i, c := range v.chunks {
					out[fmt.Sprint(sub, " vector ", c.chunk)] = []any{c.source, append([]uint64{}, v.tags[c.source]...), slices.Clone(v.row(i))}
				}
			})
		})
	}
	return out
}

// untilCached calls f until it finds what it needs in memory. In between it waits for reads in the background.
func untilCached(t *testing.T, ix *index, f func() (bool, error)) {
	t.Helper()
	for range 100 {
		ok, err := f()
		require.NoError(t, err)
		if ok {
			return
		}
		ix.fills.running.Wait()
		ix.fills.hurry()
	}
	t.Fatal("the partition is not cached")
}

// hurry lets partitions be read again at once.
func (f *fills) hurry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.next)
}

// hurryUnlessUnfit lets partitions be read again at once, except for contents that did not fit.
func (f *fills) hurryUnlessUnfit() {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.next, func(_ partitionKey, p pause) bool { return !p.unfit })
}

// TestCacheEqualsFreshRead lets two processes, of which one leads, apply random changes, replay them, go back in the feed
// and take the lead in turn, while searches fill their caches. In the end of each round the cached terms and vectors of
// both must equal those that a third one reads anew. That is done with partitions that are read as a whole, and with such that are read in the
// background, a few objects at a time.
func TestCacheEqualsFreshRead(t *testing.T) {
	t.Parallel()
	t.Run("small", func(t *testing.T) { testCacheEqualsFreshRead(t, func(*partitionCache) {}) })
	t.Run("large", func(t *testing.T) {
		testCacheEqualsFreshRead(t, func(c *partitionCache) { c.small, c.list, c.page = 0, 7, 2 })
	})
}

func testCacheEqualsFreshRead(t *testing.T, prepare func(*partitionCache)) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	prefix := prefixOf(t.Name())
	var sets [2]backend.IndexSet
	var ixs [2]*index
	for i := range sets {
		_, sets[i], ixs[i] = openAs(t, prefix, urls, i == 0, Options{})
		prepare(ixs[i].x.partitions)
	}
	x, _, fresh := openAs(t, prefix, urls, false, Options{}) // reads everything anew
	prepare(x.partitions)
	var feed []backend.Change
	lead, kept, again := 0, 0, 0
	search := func(i int) {
		ixs[i].fills.hurry()
		for _, sub := range []string{"0", "1"} {
			part := backend.Partition{Class: backend.Knowledge, Sub: sub}
			_, err := sets[i].Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: part, Text: "lantern", K: 100})
			assert.NoError(t, err)
			for range 2 {
				_, err = sets[i].Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: part, Vector: backendtest.Vector("lantern", testDim), K: 100})
				assert.NoError(t, err)
			}
		}
	}
	// local lets the indexes of a process that are not in the cluster apply the feed.
	local := func(i int, upto int) {
		for _, s := range sets[i].Indexes()[1:] {
			if changes := after(feed[:upto], s.Applied()); len(changes) > 0 {
				require.NoError(t, s.Apply(t.Context(), changes))
			}
		}
	}
	catchUp := func(i int) {
		if rng.IntN(4) > 0 {
			local(i, len(feed))
		}
		if i == lead {
			at := ixs[i].Applied()
			from := at - min(at, rng.Uint64N(4)) // some again
			if some := after(feed, from); len(some) > 0 {
				require.NoError(t, ixs[i].Apply(t.Context(), some))
			}
			return
		}
		require.NoError(t, ixs[i].Refresh(t.Context()))
	}
	for round := range rounds {
		for range 2 + rng.IntN(6) {
			switch n := rng.IntN(20); {
			case n < 10:
				for range 1 + rng.IntN(4) {
					feed = append(feed, randomChange(rng, uint64(len(feed)+1)))
				}
				var beside sync.WaitGroup
				for i := range sets {
					if rng.IntN(2) == 0 {
						beside.Go(func() { search(i) })
					}
				}
				catchUp(lead)
				if rng.IntN(2) == 0 {
					catchUp(1 - lead)
				}
				beside.Wait()
			case n < 16:
				search(rng.IntN(2))
			case n < 17: // as after the end of a process that left work unfinished
				x := ixs[lead]
				x.mu.Lock()
				x.rewind(point{x.applied.Load() - min(x.applied.Load(), 3), 0}, x.applied.Load())
				x.mu.Unlock()
			case n < 18:
				require.NoError(t, ixs[lead].Lead(t.Context(), nil))
				lead = 1 - lead
				require.NoError(t, ixs[lead].Lead(t.Context(), alwaysLeads(true)))
			default:
				local(rng.IntN(2), len(feed)-min(len(feed), rng.IntN(3)))
			}
		}
		catchUp(lead)
		for i := range sets {
			local(i, len(feed))
			catchUp(i)
			require.Equal(t, uint64(len(feed)), ixs[i].Applied())
			for _, e := range ixs[i].x.partitions.all(ixs[i]) {
				if e.content != nil && !e.dead && e.upto >= ixs[i].Applied() {
					kept++
				}
			}
			for {
				began, got := time.Now(), cachedState(t, ixs[i])
				require.NoError(t, fresh.Refresh(t.Context()))
				fresh.forget()
				want := cachedState(t, fresh)
				if assert.ObjectsAreEqual(want, got) {
					break
				}
				// A process may read beside a rewrite of another one, and notices that after countsTTL at the latest.
				mended := slices.ContainsFunc(ixs[:], func(ix *index) bool { return began.Sub(ix.repaired.last()) < countsTTL })
				require.True(t, mended, "process %d, round %d, change %d: want %v, got %v", i, round, len(feed), want, got)
				again++
			}
		}
	}
	t.Logf("%d changes, %d contents were compared, %d rounds again", len(feed), kept, again)
	assert.Greater(t, kept, rounds/2, "nothing stays in the cache")
}
