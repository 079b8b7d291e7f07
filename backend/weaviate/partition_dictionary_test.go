package weaviate

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
)

// dictionaryText returns a text of common words and, mostly, a word of its own.
func dictionaryText(rng *rand.Rand, n int64) string {
	words := []string{fmt.Sprint("own", n)}
	if n%5 == 0 {
		words = nil
	}
	for range 8 {
		words = append(words, fmt.Sprint("word", min(rng.IntN(60), rng.IntN(60))))
	}
	return strings.Join(words, " ")
}

// TestDictionaryCountsLikeTerms compares a dictionary with the terms of the same chunks: some are read as terms, some by the
// dictionary, some are put while it reads, of which it finds some, and some afterwards. Only removed chunks are counted by the dictionary alone.
func TestDictionaryCountsLikeTerms(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	part, foreign := backend.Partition{Class: backend.Knowledge, Sub: "a"}, backend.Partition{Class: backend.Knowledge, Sub: "b"}
	all := newPartitionTerms(part)
	put := func(part backend.Partition, n int64) *plan {
		return planOf([]backend.Change{{Kind: backend.PutChunks, Part: part, Source: n, Rows: []backend.Row{{Chunk: n, Text: dictionaryText(rng, n)}}}})[0]
	}
	names := []string{"never"}
	for i := range 3000 {
		names = append(names, fmt.Sprint("own", i+1), fmt.Sprint("word", i%60))
	}
	var d *partitionDictionary
	compare := func() {
		t.Helper()
		want, got := all.counts(names), d.counts(names)
		require.Equal(t, want, got)
		require.Zero(t, got.df["never"])
	}
	first := newPartitionTerms(part)
	next := int64(0)
	read := func(n int64, of readContent, apply func(*plan) bool) {
		for range n {
			next++
			p := put(part, next)
			require.True(t, all.apply(p))
			v := p.puts[next]
			if of != nil {
				c := cachedChunk{chunk: next, source: next}
				switch of := of.(type) {
				case *partitionTerms:
					require.NoError(t, of.add(c, nil, v.bagOf(0)))
				case *partitionDictionary:
					require.NoError(t, of.addObject(c, nil, object{props: map[string]any{propBag: v.bagOf(0)}}))
				}
			}
			if apply != nil {
				require.True(t, apply(p))
			}
		}
	}
	read(700, first, nil)
	d = dictionaryOf(first)
	compare()
	read(700, d, nil)
	read(100, d, func(p *plan) bool { return d.apply(p) })   // put and read
	read(100, nil, func(p *plan) bool { return d.apply(p) }) // put, and not read
	compare()
	d.readEnded()
	read(1000, nil, func(p *plan) bool { return d.apply(p) })
	compare()
	require.True(t, d.apply(put(foreign, 5000)))
	compare()
	require.Equal(t, 2600, d.count())
	assert.Less(t, d.size(), 20*len(all.postings)+45*len(all.chunks)+1000)
	assert.Less(t, 2*d.size(), all.size())

	gone := planOf([]backend.Change{{Kind: backend.Drop, Part: part, Source: 7}})[0]
	require.True(t, all.apply(gone))
	require.True(t, d.apply(gone))
	require.Equal(t, all.count()+1, d.count())
	require.Equal(t, 1, d.counts([]string{"own7"}).df["own7"])
	require.Zero(t, all.counts([]string{"own7"}).df["own7"])

	require.True(t, d.apply(planOf([]backend.Change{{Kind: backend.DropSub, Part: foreign}})[0]))
	require.False(t, d.apply(planOf([]backend.Change{{Kind: backend.DropSub, Part: part}})[0]))
}

// TestDictionaryIsReadIfTermsAreTooLarge searches partitions whose terms do not fit into the cache. The dictionary is read in their
// place, and the cluster counts no words any more, not even those that no chunk has. Counts follow what is put, in this partition alone, and
// are read anew before too many chunks were removed. A dictionary that does not fit is not kept.
func TestDictionaryIsReadIfTermsAreTooLarge(t *testing.T) {
	t.Parallel()
	const chunks = 1500
	for _, c := range []struct {
		name  string
		bytes int
		fits  bool
	}{{"fits", 280_000, true}, {"too large", 20_000, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, seen := t.Context(), &graphqlCounter{}
			x, set := openSet(t, prefixOf(t.Name()), sharedServer(t).URLs(), Options{CacheBytes: c.bytes, Client: &http.Client{Transport: seen}})
			x.partitions.small, x.partitions.list, x.partitions.page = 100, 400, 100
			ix := set.Indexes()[0].(*index)
			require.NoError(t, ix.Lead(ctx, alwaysLeads(true)))
			want, err := inmem.New().OpenIndexes(ctx, backendtest.UID("oracle"))
			require.NoError(t, err)
			seq := uint64(0)
			apply := func(some ...backend.Change) {
				t.Helper()
				for i := range some {
					seq++
					some[i].Seq = seq
				}
				for _, s := range append(set.Indexes(), want.Indexes()[0]) {
					require.NoError(t, s.Apply(ctx, some))
				}
			}
			rng := rand.New(rand.NewPCG(7, 8))
			parts := []backend.Partition{{Class: backend.Knowledge, Sub: "a"}, {Class: backend.Knowledge, Sub: "b"}}
			put := func(part backend.Partition, n int64, text string) backend.Change {
				return backend.Change{Kind: backend.PutChunks, Part: part, Source: n, Rows: []backend.Row{{Chunk: n, Text: text}}}
			}
			for i := int64(1); i <= 2*chunks; i += 500 {
				var some []backend.Change
				for n := i; n < i+500; n++ {
					some = append(some, put(parts[n%2], n, dictionaryText(rng, n)))
				}
				apply(some...)
			}
			terms := func(of backend.IndexSet, part backend.Partition, text string) []any {
				t.Helper()
				found, docs, average, err := of.Keywords().Terms(ctx, part, text)
				require.NoError(t, err)
				out := []any{docs, fmt.Sprintf("%.3f", average)}
				for _, f := range found {
					out = append(out, f.Term, f.DF)
				}
				return out
			}
			requireSame := func(part backend.Partition, texts ...string) {
				t.Helper()
				for _, text := range texts {
					require.Equal(t, terms(want, part, text), terms(set, part, text), text)
				}
			}
			cached := func(part backend.Partition, dim int) bool {
				return x.partitions.find(partitionKey{of: ix, part: part, dim: dim}) != nil
			}
			texts := []string{"word1 word2 own7", "word3 never", "own8 own9 own10 word59", "nothing there"}
			for _, part := range parts {
				requireSame(part, texts[0])
			}
			ix.fills.running.Wait()
			asked := seen.n.Load()
			for _, part := range parts {
				require.False(t, cached(part, 0))
				require.Equal(t, c.fits, cached(part, dictionaryDim), "kept %d", x.partitions.kept())
				requireSame(part, texts...)
			}
			require.LessOrEqual(t, x.partitions.kept(), c.bytes)
			if !c.fits {
				require.Greater(t, seen.n.Load(), asked)
				return
			}
			apply(put(parts[0], 10_000, "word1 novelty"), put(parts[1], 10_001, "word1 abroad"))
			requireSame(parts[0], "word1 novelty", "abroad")
			requireSame(parts[1], "word1 abroad", "novelty")
			require.Equal(t, asked, seen.n.Load(), "the cluster was asked")

			// Removed chunks.
			for i := range int64(chunks / driftShare) {
				apply(backend.Change{Kind: backend.Drop, Part: parts[1], Source: 2*i + 1})
				got, all := terms(set, parts[1], "word1"), terms(want, parts[1], "word1")
				require.LessOrEqual(t, got[0].(int)-all[0].(int), int(i)+1)
				require.LessOrEqual(t, got[3].(int)-all[3].(int), int(i)+1)
			}
			ix.fills.hurryUnlessUnfit()
			terms(set, parts[1], "word1") // at more than half of what may be wrong it is read anew
			ix.fills.running.Wait()
			asked = seen.n.Load()
			requireSame(parts[1], append(texts, "own1 own3 word1")...)
			require.Equal(t, asked, seen.n.Load(), "the cluster was asked")
		})
	}
}
