package weaviate

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// graphqlCounter counts GraphQL queries.
type graphqlCounter struct{ n atomic.Int64 }

func (g *graphqlCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		g.n.Add(1)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestSmallPartitionIsReadOnce checks that only the first searches of a small partition read it from the cluster, and that
// changes are made in what is cached.
func TestSmallPartitionIsReadOnce(t *testing.T) {
	t.Parallel()
	var seen graphqlCounter
	x, set := openSet(t, prefixOf(t.Name()), []string{sharedServer(t).URL(0)}, Options{Client: &http.Client{Transport: &seen}})
	ix := set.Indexes()[0].(*index)
	require.NoError(t, ix.Lead(t.Context(), alwaysLeads(true)))
	feed := testFeed(30)
	apply := func(changes ...backend.Change) {
		t.Helper()
		require.NoError(t, set.Indexes()[0].Apply(t.Context(), changes))
		feed = append(feed[:changes[0].Seq-1:changes[0].Seq-1], changes...)
	}
	next := func(c backend.Change) backend.Change {
		c.Seq, c.Part = uint64(len(feed)+1), testPart
		return c
	}
	ask := func(text string) int {
		hits, err := set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: testPart, Text: text, K: 5000})
		require.NoError(t, err)
		near, err := set.Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: testPart, Vector: feed[0].Rows[0].Vector, K: 5000})
		require.NoError(t, err)
		if len(hits) > 0 {
			require.Len(t, near, countChunks(feed))
		}
		return len(hits)
	}
	requireTerms := func(docs int) {
		t.Helper()
		_, n, _, err := set.Keywords().Terms(t.Context(), testPart, "number3 shelf5 nothing")
		require.NoError(t, err)
		assert.Equal(t, docs, n)
	}
	apply(feed...)
	for range 2 {
		require.Equal(t, countChunks(feed), ask("lantern"))
	}
	reads := seen.n.Load()
	requireTerms(countChunks(feed))
	assert.Positive(t, ask("number5 shelf6 lantern"))
	assert.Zero(t, ask("nothing"))
	assert.Equal(t, reads, seen.n.Load(), "the partition was read again")

	put := feed[0]
	put.Source, put.Rows = 500, []backend.Row{{Chunk: 5000, Text: "lantern of another shelf", Vector: backendtest.Vector("another", testDim)}}
	changes := []func() backend.Change{
		func() backend.Change { return next(backend.Change{Kind: backend.Drop, Source: 1}) },
		func() backend.Change { return next(put) },
		func() backend.Change {
			put.Rows = append(slices.Clone(put.Rows), backend.Row{Chunk: 5001, Text: "lantern", Vector: backendtest.Vector("one more", testDim)})
			return next(put)
		},
		func() backend.Change {
			return next(backend.Change{Kind: backend.PutTags, Source: 500, Tags: []uint64{1}})
		},
		func() backend.Change { return next(backend.Change{Kind: backend.Mark}) },
	}
	for _, change := range changes {
		apply(change())
		reads = seen.n.Load()
		assert.Equal(t, countChunks(feed), ask("lantern"))
		requireTerms(countChunks(feed))
		assert.Equal(t, reads, seen.n.Load(), "the partition was read again after change %d", len(feed))
	}
	requireMatchesFeed(t, set, feed, "as the feed says")
	assert.Positive(t, x.partitions.bytes)
	require.NoError(t, set.Close())
	assert.Zero(t, x.partitions.lru.Len())
	assert.Empty(t, x.partitions.of)
	assert.Zero(t, x.partitions.bytes, "partitions of a closed workspace are still cached")
}

// cacheTerms caches the terms of a partition of some size.
func cacheTerms(c *partitionCache, k partitionKey, bytes int) {
	t := newPartitionTerms(k.part)
	t.room = bytes
	c.end(c.begin(k), t)
}

// isCached reports whether a content that includes all changes up to need is cached.
func isCached(c *partitionCache, k partitionKey, need uint64) bool {
	e := c.find(k)
	return e != nil && e.use(need, func(cachedContent) {})
}

// TestPartitionCacheIsBounded checks that the least recently used content is evicted, that one larger than half of the limit is
// not cached, and that one that grows beyond that is removed. There is room only for a content that replaces unused ones.
func TestPartitionCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 20
		c, of := newPartitionCache(most), &index{}
		key := func(sub string) partitionKey {
			return partitionKey{of: of, part: backend.Partition{Class: backend.Memory, Sub: sub}}
		}
		assert.True(t, c.hasRoom(partitionKey{}, most))
		for _, sub := range []string{"a", "b", "c"} {
			cacheTerms(c, key(sub), most/2-100)
			require.LessOrEqual(t, c.bytes, most)
		}
		assert.False(t, isCached(c, key("a"), 0))
		assert.True(t, isCached(c, key("b"), 0))
		assert.True(t, isCached(c, key("c"), 0))
		assert.False(t, isCached(c, key("c"), 1), "it lacks a change")

		assert.False(t, c.hasRoom(partitionKey{}, 1000), "both are in use")
		time.Sleep(idleContent)
		assert.True(t, isCached(c, key("c"), 0))
		assert.True(t, c.hasRoom(partitionKey{}, 1000), "in place of b")
		assert.True(t, c.hasRoom(key("c"), most/2), "in place of c itself")
		assert.False(t, c.hasRoom(partitionKey{}, most/2+1000))

		grows := backend.Change{Seq: 1, Kind: backend.PutChunks, Source: 1, Part: key("b").part, Rows: []backend.Row{{Chunk: 1, Text: strings.Repeat("one two three ", 100)}}}
		c.advance(of, 0, 1, []backend.Change{grows}, true)
		assert.LessOrEqual(t, c.bytes, most)
		assert.False(t, isCached(c, key("b"), 0), "it grew")
		assert.True(t, isCached(c, key("c"), 1))
		cacheTerms(c, key("b"), most/2+100)
		assert.False(t, isCached(c, key("b"), 0))
		c.drop(of)
		assert.Zero(t, c.bytes)
		assert.Empty(t, c.of)
	})
}

// TestPartitionCacheFollowsTheFeed checks which changes a content includes: those that come while it is being read, but
// not those after a gap.
func TestPartitionCacheFollowsTheFeed(t *testing.T) {
	t.Parallel()
	c, of := newPartitionCache(defaultCacheBytes), &index{}
	of.applied.Store(10)
	k := partitionKey{of: of, part: testPart}
	put := func(seq uint64) []backend.Change {
		return []backend.Change{{Seq: seq, Kind: backend.PutChunks, Part: testPart, Source: int64(seq), Rows: []backend.Row{{Chunk: int64(seq), Text: "lantern"}}}}
	}
	docs := func(need uint64) (n int) {
		e := c.find(k)
		if e == nil || !e.use(need, func(of cachedContent) { n = of.count() }) {
			return -1
		}
		return n
	}
	read := c.begin(k)
	c.advance(of, 10, 11, put(11), true)
	c.end(read, newPartitionTerms(testPart))
	assert.Equal(t, 1, docs(11))
	c.advance(of, 10, 11, put(11), true)
	c.advance(of, 5, 9, put(9), true)
	assert.Equal(t, 1, docs(11), "again")
	c.advance(of, 10, 12, append(put(11), put(12)...), true)
	assert.Equal(t, 2, docs(12), "one of two again")
	assert.Equal(t, -1, docs(13))
	c.advance(of, 13, 14, put(14), true)
	assert.Equal(t, -1, docs(0), "change 13 is missing")

	retag := []backend.Change{{Seq: 12, Kind: backend.PutTags, Part: testPart, Source: 1}}
	for _, alone := range []bool{true, false} {
		of.applied.Store(11)
		first, second := c.begin(k), c.begin(k)
		c.end(first, newPartitionTerms(testPart))
		c.advance(of, 11, 12, retag, alone)
		assert.Equal(t, alone, docs(12) == 0, "it may lack what another process has stored again")
		c.end(second, newPartitionTerms(testPart))
		assert.Equal(t, alone, docs(12) == 0)
		c.dropReadSince(of, time.Now().Add(time.Hour))
		assert.Equal(t, alone, docs(12) == 0, "it was read before")
		c.dropReadSince(of, time.Now().Add(-time.Hour))
		assert.Equal(t, -1, docs(0))
	}
	read = c.begin(k)
	for n := range uint64(maxMissedRows) {
		c.advance(of, 11+n, 12+n, put(12+n), true)
	}
	assert.Empty(t, read.missed, "it has missed too much")
	c.end(read, newPartitionTerms(testPart))
	assert.Equal(t, -1, docs(0))
	read = c.begin(k)
	c.drop(of)
	c.end(read, newPartitionTerms(testPart))
	assert.Equal(t, -1, docs(0), "dropped while it was being read")
	assert.Empty(t, c.of)
}

func TestGRPCAndGraphQLFindTheSame(t *testing.T) {
	t.Parallel()
	w, prefix, feed := sharedServer(t), prefixOf(t.Name()), testFeed(30)
	x, set := openSet(t, prefix, w.URLs(), Options{})
	require.NotNil(t, x.cluster.nodes[0].searcher)
	_, other := openSet(t, prefix, []string{w.URL(0)}, Options{})
	for _, s := range []backend.IndexSet{set, other} {
		require.NoError(t, s.Indexes()[0].Apply(t.Context(), feed))
		requireMatchesFeed(t, s, feed, "as the feed says")
	}
	for _, q := range []backend.KeywordQuery{{Text: "lantern number5", Operator: backend.And}, {Text: `"lantern number5"`, Operator: backend.Phrase}} {
		q.Part, q.K = testPart, maxResults
		got, want := must(t)(set.Keywords().SearchKeywords(t.Context(), q)), must(t)(other.Keywords().SearchKeywords(t.Context(), q))
		require.NotEmpty(t, want)
		assert.Equal(t, want, got)
	}
}

func TestGRPCAddress(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h:8080": "", "http://h:8080?grpc=50051": "h:50051", "http://h:8080?grpc=g:1": "g:1", "http://[::1]:8080?grpc=2": "[::1]:2",
		"http://h:8080?grpc=": "-", "http://h:8080?x=1": "-", "http://h:8080?grpc=1&x=1": "-", "http://h:8080?grpc=1&grpc=2": "-", "http://h:8080?grpc=g:": "-",
	} {
		u, err := url.Parse(raw)
		require.NoError(t, err)
		got, err := grpcAddress(u)
		if want == "-" {
			require.Error(t, err, raw)
			continue
		}
		require.NoError(t, err, raw)
		assert.Equal(t, want, got)
	}
}

// TestPartitionCacheNoticesRewrites checks that a process reads a cached partition again after another one has deleted and stored
// objects again: it may have read the partition in between. It keeps what it has cached as long as there is no such rewrite.
func TestPartitionCacheNoticesRewrites(t *testing.T) {
	t.Parallel()
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(2)
	_, set := openSet(t, prefix, urls, Options{})
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed))
	_, other := openSet(t, prefix, urls, Options{})
	ix, x := set.Indexes()[0].(*index), other.Indexes()[0].(*index)
	there := func() int {
		hits, err := set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: testPart, Text: "lantern", K: 10})
		require.NoError(t, err)
		near, err := set.Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: testPart, Vector: feed[0].Rows[0].Vector, K: 10})
		require.NoError(t, err)
		return len(hits) + len(near)
	}
	all := 2 * countChunks(feed)
	rewrite := func() {
		x.mu.Lock()
		x.rewind(point{}, 2)
		x.mu.Unlock()
		require.NoError(t, x.Apply(t.Context(), feed))
	}
	rewrite() // so that the states of both processes are there
	_, err := ix.states(t.Context())
	require.NoError(t, err)
	content := func() *cached { return ix.x.partitions.find(partitionKey{of: ix, part: testPart}) }
	require.NoError(t, x.removeAll(t.Context(), x.toAllReplicas(nil), anyOf(propSource, []string{number(1), number(2)})))
	require.Eventually(t, func() bool { return there() == 0 }, slowly, 20*time.Millisecond)
	require.NoError(t, x.execute(t.Context(), x.toAllReplicas(nil), planOf(feed)[0]))
	kept := content()
	time.Sleep(countsTTL)
	require.Less(t, there(), all, "from the cache")
	require.Same(t, kept, content())

	rewrite()
	require.Eventually(t, func() bool { return there() == all }, slowly, 20*time.Millisecond)
	require.NotSame(t, kept, content())
}
