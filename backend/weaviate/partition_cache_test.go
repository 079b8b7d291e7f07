package weaviate

import (
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// graphqlCounter counts GraphQL queries.
type graphqlCounter struct{ n atomic.Int64 }

func (g *graphqlCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		g.n.Add(1)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestSmallPartitionIsReadOnce checks that only the first search after a change reads the terms of a small partition.
func TestSmallPartitionIsReadOnce(t *testing.T) {
	var seen graphqlCounter
	x, set := openSet(t, prefixOf(t.Name()), []string{sharedServer(t).URL(0)}, Options{Client: &http.Client{Transport: &seen}})
	feed := testFeed(30)
	last := feed[len(feed)-1]
	ask := func(text string) int {
		hits, err := set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: testPart, Text: text, K: 5000})
		require.NoError(t, err)
		return len(hits)
	}
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed))
	before := ask("lantern")
	require.Positive(t, before)
	reads := seen.n.Load()
	requireTerms := func(docs int) {
		_, n, _, err := set.Keywords().Terms(t.Context(), testPart, "number3 shelf5 nothing")
		require.NoError(t, err)
		assert.Equal(t, docs, n)
	}
	requireTerms(before)
	assert.Positive(t, ask("number5 shelf6 lantern"))
	assert.Zero(t, ask("nothing"))
	assert.Equal(t, reads, seen.n.Load(), "the partition was read again")
	requireMatchesFeed(t, set, feed, "as the feed says")

	require.NoError(t, set.Indexes()[0].Apply(t.Context(), []backend.Change{{Seq: last.Seq + 1, Kind: backend.Drop, Part: testPart, Source: 1}}))
	reads = seen.n.Load()
	assert.Equal(t, before-3, ask("lantern"))
	assert.Greater(t, seen.n.Load(), reads)
	assert.Equal(t, 1, x.partitions.lru.Len())
	require.NoError(t, set.Close())
	assert.Zero(t, x.partitions.lru.Len())
	assert.Zero(t, x.partitions.bytes, "partitions of a closed workspace are still cached")
}

// TestPartitionCacheIsBounded checks that the least recently used partition is evicted, and that a partition larger
// than the limit is not cached.
func TestPartitionCacheIsBounded(t *testing.T) {
	s, of := newPartitionCache(), &index{}
	for _, sp := range []space{"a", "b", "c"} {
		s.put(partitionKey{of, sp}, &partition{bytes: maxPartitionCacheBytes/2 - 1})
		require.LessOrEqual(t, s.bytes, maxPartitionCacheBytes)
	}
	assert.Nil(t, s.get(partitionKey{of, "a"}, 0))
	assert.NotNil(t, s.get(partitionKey{of, "c"}, 0))
	assert.Nil(t, s.get(partitionKey{of, "c"}, 1), "entry of an earlier turn")
	s.put(partitionKey{of, "b"}, &partition{bytes: maxPartitionCacheBytes + 1})
	assert.Nil(t, s.get(partitionKey{of, "b"}, 0))
	assert.Zero(t, s.bytes)
}

func TestGRPCAndGraphQLFindTheSame(t *testing.T) {
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

// TestPartitionCacheExpires checks that a cached partition is read again after countsTTL, since it may have been read
// while another process had deleted objects in order to store them again.
func TestPartitionCacheExpires(t *testing.T) {
	urls := sharedServer(t).URLs()
	prefix, feed := prefixOf(t.Name()), testFeed(2)
	_, set := openSet(t, prefix, urls, Options{})
	require.NoError(t, set.Indexes()[0].Apply(t.Context(), feed))
	_, other := openSet(t, prefix, urls, Options{})
	there := func() (n int) {
		hits, err := set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: testPart, Text: "lantern", K: 10})
		require.NoError(t, err)
		n = len(hits)
		_, err = set.Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: testPart, Vector: feed[0].Rows[0].Vector[1:], K: 10})
		if err != nil { // there are vectors of another length
			n++
		}
		return n
	}
	x := other.Indexes()[0].(*index)
	require.NoError(t, x.removeAll(t.Context(), x.toAllReplicas(nil), anyOf(propSource, []string{number(1), number(2)})))
	require.Zero(t, there())
	require.NoError(t, x.execute(t.Context(), x.toAllReplicas(nil), planOf(feed)[0]))
	require.Zero(t, there(), "from the cache")
	require.Eventually(t, func() bool { return there() == 7 }, 2*countsTTL, 100*time.Millisecond)
}
