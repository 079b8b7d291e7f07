package sqlite

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// readEverything returns the results of cached reads of a sample, and the results of reading the database directly.
func readEverything(t *testing.T, s *store, chunks, entities []int64) (remembered, read []any) {
	t.Helper()
	keep := func(to *[]any, v any, err error) {
		require.NoError(t, err)
		*to = append(*to, v)
	}
	a, err := s.Chunks(t.Context(), chunks, testTime)
	keep(&remembered, a, err)
	b, err := s.readChunks(t.Context(), chunks, testTime)
	keep(&read, b, err)
	for range 2 { // the second time from the cache
		x, err := s.ChunkTexts(t.Context(), append([]int64{1 << 40}, chunks...), testTime)
		require.NoError(t, err)
		require.Len(t, x, len(b))
		for i, row := range b {
			require.Equal(t, backend.ChunkText{Num: row.Num, Text: row.Text}, x[i])
		}
	}
	c, err := s.Entities(t.Context(), entities)
	keep(&remembered, c, err)
	d, err := s.readEntities(t.Context(), entities)
	keep(&read, d, err)
	for _, q := range []backend.RelationQuery{
		{Chunks: chunks, Limit: 1000}, {Chunks: chunks[:5], Limit: 3}, {Chunks: chunks, AllTime: true, Limit: 1000},
		{Chunks: chunks, KnownAt: testTime.Add(10 * time.Second), Limit: 1000}, {Chunks: chunks, AsOf: testTime, Limit: 1000},
		{Chunks: []int64{chunks[0], chunks[0], 1 << 40}, Limit: 100}, {Entities: entities[:4], Limit: 7}, {Entities: entities[:1], Limit: 1000},
		{Entities: entities, Limit: 20}, {Entities: entities[:3], AllTime: true, Limit: 50}, {Chunks: chunks, Entities: entities[:2], Limit: 50},
		{Chunks: chunks, After: 5, Limit: 10}, {Chunks: chunks}, {Limit: 9}, {Entities: entities[:30], AllTime: true, Limit: 1000}, {Entities: entities[:30], Limit: 1000},
		{Entities: entities[5:25], AllTime: true, Limit: 7}, {Entities: entities[5:12], AllTime: true, Limit: 5}, {Entities: entities[:3], AllTime: true, AsOf: testTime, Limit: 50},
	} {
		q.Part = testPart
		e, err := s.Relations(t.Context(), q)
		keep(&remembered, withoutWords(t, e), err)
		f, err := s.readRelations(t.Context(), q)
		keep(&read, f, err)
		q.Part.Sub = "nobody"
		e, err = s.Relations(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, e, "relations of another partition")
	}
	return remembered, read
}

// fakeWords returns fixed words in place of the cached words of a relation.
func fakeWords(predicate, text string) []uint64 {
	return []uint64{uint64(len(predicate)), uint64(len(predicate) + len(text))}
}

// withoutWords returns relations as stored, without their cached words. It checks that these are correct.
func withoutWords(t *testing.T, rels []*backend.Relation) []*backend.Relation {
	t.Helper()
	out := slices.Clone(rels)
	for i, r := range rels {
		if r.Words != nil {
			require.Equal(t, fakeWords(r.Predicate, r.Context), r.Words)
			c := *r
			c.Words, out[i] = nil, &c
		}
	}
	return out
}

// Checks that cached values equal stored ones after every kind of change.
func TestCacheIsCurrent(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	s.SetWordHash(fakeWords)
	r := rand.New(rand.NewPCG(1, 2))
	ctx := t.Context()
	nums := ingest(t, s, r, 0, 40)
	srcs, err := s.SourcesByNum(ctx, []int64{nums[0].Num, nums[1].Num, nums[2].Num, nums[3].Num})
	require.NoError(t, err)
	var chunks, entities []int64
	for n := range int64(45) { // some that are not there, some twice
		chunks = append(chunks, n+1)
		entities = append(entities, n/2+1)
	}
	chunks = append(chunks, 3, 4)
	check := func(what string) {
		t.Helper()
		for range 2 { // the second time nothing is read
			remembered, read := readEverything(t, s, chunks, entities)
			require.Equal(t, read, remembered, what)
		}
	}
	check("new items")
	known, err := s.Relations(ctx, backend.RelationQuery{Part: testPart, Entities: entities[:4], Limit: 7})
	require.NoError(t, err)
	require.NotEmpty(t, known[0].Words, "of entities the words are remembered too")
	for _, change := range []struct {
		what string
		run  func() error
	}{
		{"metadata", func() error {
			_, err := s.UpdateMetadata(ctx, testPart, srcs[0].ID, newestOf(t, s, testPart, srcs[0].ID), []byte(`{"mood":"bad"}`), nil, nil, []uint64{7}, testTime)
			return err
		}},
		{"merge", func() error {
			_, err := s.MergeEntities(ctx, testPart, "robert", "anna", "one person", testTime)
			return err
		}},
		{"undone merge", func() error { return s.UndoMerge(ctx, 1) }},
		{"delete", func() error {
			_, err := s.Delete(ctx, testPart, []string{srcs[1].ID}, backend.DeleteOptions{})
			return err
		}},
		{"new version", func() error {
			in, ix, fin := memory(r, 2)
			in.ID = srcs[2].ID
			in.ExpiresAt = testTime.Add(time.Hour)
			acc, err := s.Accept(ctx, []backend.Incoming{in})
			require.NoError(t, err)
			_, err = s.Claim(ctx, "w", testTime, testTime.Add(time.Hour), 1, 0)
			require.NoError(t, err)
			ix.Num, ix.Token, fin.Num, fin.Token = acc[0].Num, "w", acc[0].Num, "w"
			fin.Relations[0].Functional = true
			_, err = s.Index(ctx, []backend.Indexed{ix})
			require.NoError(t, err)
			check("a new version that is indexed")
			_, err = s.Finish(ctx, []backend.Finished{fin})
			return err
		}},
		{"new items", func() error { ingest(t, s, r, 40, 44); return nil }},
		{"expiry", func() error {
			_, _, err := s.Expire(ctx, testTime.Add(2*time.Hour), 10)
			return err
		}},
		{"delete of all", func() error {
			_, err := s.DeleteSub(ctx, testPart.Sub, 100)
			return err
		}},
	} {
		require.NoError(t, change.run(), change.what)
		check(change.what)
	}
}

// Checks that a cached chunk disappears at its expiry, even without a commit since it was read.
func TestCacheExpires(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	in, ix, _ := memory(rand.New(rand.NewPCG(3, 4)), 0)
	in.ExpiresAt = testTime.Add(time.Hour)
	acc, err := s.Accept(t.Context(), []backend.Incoming{in})
	require.NoError(t, err)
	_, err = s.Claim(t.Context(), "w", testTime, testTime.Add(time.Hour), 1, 0)
	require.NoError(t, err)
	ix.Num, ix.Token = acc[0].Num, "w"
	_, err = s.Index(t.Context(), []backend.Indexed{ix})
	require.NoError(t, err)
	for _, c := range []struct {
		at   time.Time
		live int
	}{{testTime, 1}, {in.ExpiresAt.Add(-time.Microsecond), 1}, {in.ExpiresAt, 0}, {testTime, 1}} {
		xs, err := s.ChunkTexts(t.Context(), []int64{1}, c.at)
		require.NoError(t, err)
		assert.Len(t, xs, c.live, c.at)
		hs, err := s.Chunks(t.Context(), []int64{1}, c.at)
		require.NoError(t, err)
		assert.Len(t, hs, c.live, c.at)
		s.cache.empty() // then the text is cached without the chunk
		for range 2 {
			xs, err = s.ChunkTexts(t.Context(), []int64{1}, c.at)
			require.NoError(t, err)
			assert.Len(t, xs, c.live, c.at)
		}
	}
}

// Checks, under concurrent reads and writes, that a read that starts after a change was
// acknowledged sees it: the cache returns nothing deleted and nothing outdated.
func TestCacheIsNeverStale(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	const workers, each = 4, 15
	acc := ingest(t, s, rand.New(rand.NewPCG(7, 8)), 0, workers*each)
	var nums []int64
	for _, a := range acc {
		nums = append(nums, a.Num)
	}
	srcs, err := s.SourcesByNum(t.Context(), nums)
	require.NoError(t, err)
	var all []int64
	for n := range int64(len(srcs)) {
		all = append(all, n+1) // a memory is a chunk
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			ctx := context.Background()
			for n := w; n < len(srcs); n += workers {
				own := func() *backend.Hydrated {
					hs, err := s.Chunks(ctx, all, testTime)
					assert.NoError(t, err)
					for _, h := range hs {
						if h.Source == srcs[n].Num {
							return h
						}
					}
					return nil
				}
				for v := range 3 {
					metadata := fmt.Sprintf(`{"v":%d}`, v)
					_, err := s.UpdateMetadata(ctx, testPart, srcs[n].ID, newestOf(t, s, testPart, srcs[n].ID), []byte(metadata), nil, nil, nil, testTime)
					assert.NoError(t, err)
					for range 3 {
						if h := own(); assert.NotNil(t, h) {
							assert.Equal(t, metadata, string(h.Src.Metadata))
						}
					}
				}
				_, err := s.Delete(ctx, testPart, []string{srcs[n].ID}, backend.DeleteOptions{})
				assert.NoError(t, err)
				assert.Nil(t, own(), "a deleted chunk came back")
			}
		})
	}
	wg.Wait()
}

func TestCacheBounds(t *testing.T) {
	t.Parallel()
	m := newCache(100 * (cacheOverhead + 40))
	for n := range int64(500) {
		m.put(2, newCacheKey(cachedEntity, 0, n+1), n, 40)
		m.get(2, cachedEntity, 0, []int64{1}, func(int, any) {}) // what is used stays
		require.LessOrEqual(t, m.used, m.limit)
	}
	assert.Len(t, m.items, 100)
	var got []any
	m.get(2, cachedEntity, 0, []int64{1, 6, 500}, func(i int, v any) { got = append(got, i, v) })
	assert.Equal(t, []any{0, int64(0), 2, int64(499)}, got)
	m.put(2, newCacheKey(cachedEntity, 0, 1000), 0, m.limit) // one value never takes all
	assert.Len(t, m.items, 100)
	m.put(0, newCacheKey(cachedEntity, 0, 1001), 0, 40) // of an older version
	m.get(0, cachedEntity, 0, []int64{1}, func(int, any) { t.Error("a value of another version") })
	assert.Len(t, m.items, 100)
	m.get(4, cachedEntity, 0, []int64{1}, func(int, any) { t.Error("a value of an older version") })
	assert.Empty(t, m.items)
	assert.Zero(t, m.used)
	for _, num := range []int64{0, -1, 1 << 47, math.MaxInt64} { // no numbers of rows
		m.put(4, newCacheKey(cachedEntity, 0, num), 0, 40)
	}
	assert.Empty(t, m.items)
	keys := map[cacheKey]bool{}
	for _, kind := range []cacheKind{cachedChunk, cachedEntity, cachedChunkFacts, cachedEntityRelation, cachedEntityHistory, cachedText} {
		for _, limit := range []int{0, 1, maxRememberedFacts} {
			for _, num := range []int64{1, 2, 1<<47 - 1} {
				keys[newCacheKey(kind, limit, num)] = true
			}
		}
	}
	assert.Len(t, keys, 6*3*3)
}

// Checks that merging lists gives the same result as collecting, sorting and selecting.
func TestMergeFacts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		rels := make([]*backend.Relation, rng.IntN(30))
		for i := range rels {
			rels[i] = &backend.Relation{Num: int64(i + 1)}
			if rng.IntN(3) == 0 {
				rels[i].KnownTo = testTime
			}
			if rng.IntN(6) == 0 {
				rels[i].ValidFrom = testTime
			}
		}
		q := &backend.RelationQuery{Limit: 1 + rng.IntN(30), Dated: rng.IntN(2) == 0, AllTime: rng.IntN(2) == 0}
		lists := make([]*factList, 1+rng.IntN(6))
		spread := rng.IntN(2) == 0 // else each list holds neighbours
		var want []*backend.Relation
		for i := range lists {
			lists[i] = &factList{}
			if i > 0 && rng.IntN(5) == 0 {
				lists[i] = lists[i-1]
				continue
			}
			for j, r := range rels {
				if spread && rng.IntN(len(lists)) == 0 || !spread && j/6 == i {
					lists[i].rels = append(lists[i].rels, r)
					lists[i].dated = lists[i].dated || !r.ValidFrom.IsZero()
					if storerules.Believed(r, q) && !slices.Contains(want, r) {
						want = append(want, r)
					}
				}
			}
		}
		rng.Shuffle(len(lists), func(i, j int) { lists[i], lists[j] = lists[j], lists[i] })
		slices.SortFunc(want, func(a, b *backend.Relation) int { return int(a.Num - b.Num) })
		require.Equal(t, want[:min(len(want), q.Limit)], mergeFacts(lists, q))
	}
}
