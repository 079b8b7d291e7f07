package weaviate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/testtool"
)

// largeFeed makes changes of a partition whose terms do not fit into the cache of a test, and has an exhaustive index of them.
type largeFeed struct {
	rng    *rand.Rand
	word   *rand.Zipf
	part   backend.Partition
	feed   []backend.Change
	oracle backend.IndexSet
}

// largeCache is the size of a cache into which the dictionary of a largeFeed fits, and recent chunks, but not its terms.
const largeCache = 1_200_000

func newLargeFeed(t *testing.T) *largeFeed {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	oracle, err := inmem.New().OpenIndexes(t.Context(), backendtest.UID("oracle"))
	require.NoError(t, err)
	return &largeFeed{rng: rng, word: rand.NewZipf(rng, 1.1, 5, 4000), part: backend.Partition{Class: backend.Knowledge, Sub: "a"}, oracle: oracle}
}

func (l *largeFeed) sentence(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("word", l.word.Uint64())
	}
	return strings.Join(words, " ")
}

// add adds a change to the feed and to the exhaustive index.
func (l *largeFeed) add(t *testing.T, c backend.Change) backend.Change {
	t.Helper()
	c.Seq, c.Part = uint64(len(l.feed)+1), l.part
	l.feed = append(l.feed, c)
	require.NoError(t, l.oracle.Indexes()[0].Apply(t.Context(), []backend.Change{c}))
	return c
}

// put adds a source of one chunk.
func (l *largeFeed) put(t *testing.T, source int64, text string) {
	t.Helper()
	l.add(t, backend.Change{Kind: backend.PutChunks, Source: source, Rows: []backend.Row{{Chunk: source, Text: text}}})
}

// fill adds sources up to n.
func (l *largeFeed) fill(t *testing.T, n int64) {
	t.Helper()
	l.fillFrom(t, 1, n)
}

// fillFrom adds sources from first up to last.
func (l *largeFeed) fillFrom(t *testing.T, first, last int64) {
	t.Helper()
	for source := first; source <= last; source++ {
		l.put(t, source, l.sentence(25))
	}
}

// apply lets a set apply what it lacks. A set that does not lead hears of it.
func (l *largeFeed) apply(t *testing.T, set backend.IndexSet, leads bool) {
	t.Helper()
	for i, s := range set.Indexes() {
		if i == 0 && !leads {
			continue
		}
		applyAll(t, s, l.feed)
	}
	if ix := set.Indexes()[0].(*index); !leads {
		require.Eventually(t, func() bool { return ix.Refresh(t.Context()) == nil && ix.Applied() == uint64(len(l.feed)) }, slowly, 20*time.Millisecond)
	}
}

// strong is a text that is among the best for question.
const question, strong = "word0 word1 word2 word3 word4 word5", "word0 word1 word2 word3 word4 word5 word0 word1 word2 word3"

// requireCounts compares the statistics of terms with those of the exhaustive index.
func (l *largeFeed) requireCounts(t *testing.T, set backend.IndexSet, msg string) {
	t.Helper()
	counts := func(of backend.IndexSet) (out []int) {
		terms, docs, _, err := of.Keywords().Terms(t.Context(), l.part, question+" never")
		require.NoError(t, err)
		for _, f := range terms {
			out = append(out, f.DF)
		}
		return append(out, docs)
	}
	require.Equal(t, counts(l.oracle), counts(set), msg)
}

// requireOnEachNode checks that each node by itself finds the chunks of some changes by their sources, and by a word that all have.
func (l *largeFeed) requireOnEachNode(t *testing.T, ix *index, some []backend.Change) {
	t.Helper()
	want := map[string]bool{}
	for _, c := range some {
		want[number(c.Source)] = true
	}
	a := searchRequest{collection: ix.x.schema.chunks(), tenant: ix.uid, limit: maxResults, fields: propSource}
	for _, n := range ix.x.cluster.nodes {
		for _, w := range []where{anyOf(propSource, slices.Collect(maps.Keys(want))), equal(propWords, wordOf(spaceOf(l.part), "word0"))} {
			a.where = w
			found, err := ix.x.cluster.get(t.Context(), route{only: n}, a)
			require.NoError(t, err)
			got := map[string]bool{}
			for _, o := range found {
				if source := o.text(propSource); want[source] {
					got[source] = true
				}
			}
			require.Len(t, got, len(want), "node %d, by %s", n.place+1, w.path)
		}
	}
}

// openLarge opens an index for a largeFeed with small pages.
func openLarge(t *testing.T, prefix string, urls []string, leads bool, client *http.Client) (backend.IndexSet, *index) {
	t.Helper()
	x, set, ix := openAs(t, prefix, urls, leads, Options{CacheBytes: largeCache, Client: client, Retry: slowly})
	x.partitions.small, x.partitions.list, x.partitions.page = 100, 1000, 100
	x.partitions.settle = testSettle
	return set, ix
}

// testSettle is partitionCache.settle of tests whose nodes write segments after a second.
const testSettle = 8 * time.Second

var flushesSoon = map[string]string{"PERSISTENCE_MEMTABLES_FLUSH_DIRTY_AFTER_SECONDS": "1"}

// hasDictionary reports whether the dictionary of a partition is kept.
func hasDictionary(ix *index, part backend.Partition) bool {
	return ix.x.partitions.find(partitionKey{of: ix, part: part, dim: dictionaryDim}) != nil
}

// selects reports whether the nodes select candidates.
func selects(t *testing.T, ix *index, part backend.Partition) bool {
	return ix.useRecent(t.Context(), part, func(*partitionRecent) {})
}

// requireSelects waits until the nodes select candidates.
func requireSelects(t *testing.T, set backend.IndexSet, part backend.Partition) {
	t.Helper()
	ix := set.Indexes()[0].(*index)
	require.Eventually(t, func() bool {
		_, err := set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: part, Text: question, K: 100})
		ix.fills.running.Wait()
		ix.fills.hurryUnlessUnfit()
		return err == nil && hasDictionary(ix, part) && selects(t, ix, part)
	}, slowly, 100*time.Millisecond)
}

// killingTransport is an HTTP transport that kills the node to which a search goes.
type killingTransport struct {
	w    *testtool.Weaviate
	left atomic.Int64 // searches until then; 0: it kills nothing
	died chan int     // receives the killed node
}

func (k *killingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/graphql") && k.left.Load() > 0 && k.left.Add(-1) == 0 {
		for i := range k.w.URLs() {
			if k.w.URL(i) == "http://"+r.URL.Host {
				k.w.Kill(i)
				k.died <- i
			}
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestNodesDieBesideDictionary kills one of three nodes, that which is being asked, while a dictionary is read. It is read from the others. What is put
// while the node is away, which is longer than chunks are kept as recent, is on each node afterwards, and is found at once, also by that which has just come back:
// none of them selects then.
func TestNodesDieBesideDictionary(t *testing.T) {
	t.Parallel()
	w, err := testtool.StartWeaviate(serverProgram(t), t.TempDir(), 3, flushesSoon)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	urls := []string{w.URL(0), w.URL(1), w.URL(2)} // searches by GraphQL pass the transport
	kill := &killingTransport{w: w, died: make(chan int, 1)}
	set, ix := openLarge(t, "Killed", urls, true, &http.Client{Transport: kill})
	useRealWriteDelay(ix.x, set)
	l := newLargeFeed(t)
	l.fill(t, 3000)
	l.apply(t, set, true)
	requireConfirmed(t, ix)
	ix.forget()
	ix.fills.hurry()
	_, err = set.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: l.part, Text: question, K: 100}) // begins to read
	require.NoError(t, err)
	kill.left.Store(12)
	l.requireExact(t, set, "while a node dies")
	killed := <-kill.died
	ix.fills.running.Wait()
	require.True(t, hasDictionary(ix, l.part), "the dictionary was not read")
	l.requireCounts(t, set, "a node is away")
	requireSelects(t, set, l.part)
	for i := range int64(200) { // more than a node selects
		l.put(t, 10_000+i, strong+" "+l.sentence(10))
	}
	for i := range int64(10) {
		l.add(t, backend.Change{Kind: backend.Drop, Source: 1 + i})
	}
	l.apply(t, set, true)
	l.requireExact(t, set, "without a node")
	for range 2 { // the chunks are recent no more
		time.Sleep(testSettle + time.Second)
		l.put(t, 5000+int64(len(l.feed)), l.sentence(25))
		l.apply(t, set, true)
	}
	ix.x.partitions.settle = time.Minute // none selects until the end of the test
	require.NoError(t, w.Start(killed))
	require.NoError(t, w.Ready(killed))
	requireConfirmed(t, ix)
	l.requireOnEachNode(t, ix, l.feed[3000:3200])
	for i := range urls {
		ix.x.cluster.turn.Store(int64((killed + i) % len(urls)))
		l.requireExact(t, set, fmt.Sprintf("by node %d, %d had died", (killed+i)%len(urls)+1, killed+1))
	}
}

// TestDictionaryBesideAnotherProcess lets one process put and delete, and another search with a dictionary. No search may return what
// was deleted before it began, and each must return what was put before and stayed. In the end both answer like an exhaustive search.
func TestDictionaryBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	w, err := testtool.StartWeaviate(serverProgram(t), t.TempDir(), 1, flushesSoon)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	prefix := prefixOf(t.Name())
	writer, _ := openLarge(t, prefix, w.URLs(), true, nil)
	reader, ix := openLarge(t, prefix, w.URLs(), false, nil)
	l := newLargeFeed(t)
	l.fill(t, 3000)
	l.apply(t, writer, true)
	l.apply(t, reader, false)
	requireSelects(t, reader, l.part)

	// Sources above 20,000 come and go. Each has a word of its own, and words of the question.
	changes := 300
	if testing.Short() {
		changes = 150
	}
	var mu sync.Mutex
	put, gone := map[int64]uint64{}, map[int64]uint64{} // by source: the number of the change
	rng := rand.New(rand.NewPCG(21, 22))
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := range changes {
			source := 20_000 + rng.Int64N(300)
			mu.Lock()
			_, there := put[source]
			seq := uint64(len(l.feed) + 1)
			if there && gone[source] == 0 {
				l.add(t, backend.Change{Kind: backend.Drop, Source: source})
				gone[source] = seq
			} else if !there {
				l.put(t, source, fmt.Sprintf("%s own%d %s", strong, source, l.sentence(5)))
				put[source] = seq
			}
			some := after(l.feed, seq-1)
			mu.Unlock()
			if len(some) > 0 && !assert.NoError(t, writer.Indexes()[0].Apply(t.Context(), some), "change %d", n) {
				return
			}
		}
	})
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	selected, searches := 0, 0
	for ended := false; !ended; searches++ {
		select {
		case <-done:
			ended = true
		default:
		}
		mu.Lock()
		feed := l.feed
		mu.Unlock()
		for _, s := range reader.Indexes()[1:] {
			if some := after(feed, s.Applied()); len(some) > 0 {
				require.NoError(t, s.Apply(t.Context(), some))
			}
		}
		require.NoError(t, ix.Refresh(t.Context()))
		at := ix.Applied()
		if selects(t, ix, l.part) {
			selected++
		}
		hits := must(t)(reader.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: l.part, Text: question, K: 500}))
		mu.Lock()
		found := map[int64]bool{}
		for _, h := range hits {
			found[h.Source] = true
			require.False(t, gone[h.Source] > 0 && gone[h.Source] <= at, "source %d was deleted by change %d, before %d", h.Source, gone[h.Source], at)
		}
		for source, seq := range put {
			if seq <= at && gone[source] == 0 {
				require.True(t, found[source], "source %d was put by change %d, before %d", source, seq, at)
			}
		}
		mu.Unlock()
	}
	t.Logf("%d searches, in %d of them the node selected", searches, selected)
	assert.Positive(t, selected)
	for range 2 {
		l.apply(t, writer, true)
		l.apply(t, reader, false)
		for name, set := range map[string]backend.IndexSet{"writer": writer, "reader": reader} {
			l.requireExact(t, set, name+" in the end")
			requireSelects(t, set, l.part)
			l.requireExact(t, set, name+" in the end, with a dictionary")
		}
		l.put(t, 40_000+int64(len(l.feed)), strong)
	}
}

// TestDictionaryOfRemovedContent removes in several ways what a dictionary is of, while it is kept, and puts something else in its
// place. Searches return that alone.
func TestDictionaryOfRemovedContent(t *testing.T) {
	t.Parallel()
	w, err := testtool.StartWeaviate(serverProgram(t), t.TempDir(), 1, flushesSoon)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	for _, c := range []struct {
		name   string
		remove func(t *testing.T, l *largeFeed, writer backend.IndexSet)
	}{
		{"partition dropped", func(t *testing.T, l *largeFeed, _ backend.IndexSet) {
			l.add(t, backend.Change{Kind: backend.DropSub})
		}},
		{"sources dropped", func(t *testing.T, l *largeFeed, _ backend.IndexSet) {
			for source := range int64(2000) {
				l.add(t, backend.Change{Kind: backend.Drop, Source: source + 1})
			}
		}},
		{"index built anew", func(t *testing.T, l *largeFeed, writer backend.IndexSet) {
			require.NoError(t, writer.Indexes()[0].Reset(t.Context()))
			other := newLargeFeed(t)
			l.feed, l.oracle = nil, other.oracle
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name != "partition dropped" {
				t.Skip("takes long")
			}
			t.Parallel()
			prefix := prefixOf(t.Name())
			writer, _ := openLarge(t, prefix, w.URLs(), true, nil)
			reader, ix := openLarge(t, prefix, w.URLs(), false, nil)
			l := newLargeFeed(t)
			l.fill(t, 2000)
			l.apply(t, writer, true)
			l.apply(t, reader, false)
			for _, set := range []backend.IndexSet{writer, reader} {
				requireSelects(t, set, l.part)
			}
			before := len(l.feed)
			c.remove(t, l, writer)
			for i := range int64(300) {
				l.put(t, 3000+i, strong+" "+l.sentence(5))
			}
			if len(l.feed) < before { // the local indexes are built anew too
				for _, s := range append(writer.Indexes()[1:], reader.Indexes()[1:]...) {
					require.NoError(t, s.Reset(t.Context()))
				}
				require.NoError(t, ix.Refresh(t.Context()))
				require.Zero(t, ix.Applied())
			}
			l.apply(t, writer, true)
			l.apply(t, reader, false)
			for name, set := range map[string]backend.IndexSet{"writer": writer, "reader": reader} {
				l.requireExact(t, set, name)
				set.Indexes()[0].(*index).fills.running.Wait()
				l.requireExact(t, set, name+" again")
			}
		})
	}
}
