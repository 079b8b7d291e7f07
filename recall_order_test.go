package contextmem

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/recall"
)

// TestSourceCount compares the table with a map, for few sources and for many.
func TestSourceCount(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var c sourceCount
		want := map[int64]int{}
		for range n {
			num := rng.Int64N(int64(1+n/(1+n%3))) << rng.IntN(50)
			want[num]++
			require.Equal(t, want[num], c.add(num))
		}
	}
}

// TestUnflood: of ten places a source may hold four, of five three; what it has over that
// comes behind the others, in order.
func TestUnflood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sources string // by rank; a letter is a source
		n       int
		want    string // ranks, in the new order
	}{
		{"aaaabb", 10, "012345"},
		{"aaaaabab", 10, "01235746"},
		{"aaaaabab", 5, "01257346"},
		{"aaaaaa", 3, "012345"}, // none waits
		{"abababab", 6, "01234567"},
		{"aab", 1, "012"},
		{"", 10, ""},
	} {
		hits := make([]*scopeHit, len(c.sources))
		rank := map[*scopeHit]byte{}
		for i := range hits {
			hits[i] = &scopeHit{Scored: recall.Scored{Chunk: int64(i), Source: int64(c.sources[i])}}
			rank[hits[i]] = byte('0' + i)
		}
		var got []byte
		for _, h := range unflood(hits, c.n) {
			got = append(got, rank[h])
		}
		require.Equal(t, c.want, string(got), "%s, %d", c.sources, c.n)
	}
}

// TestUnfloodRandom holds, over random lists, that unflood moves hits and never loses one,
// keeps the order of those within their share and of those over it, and lets no source
// beyond its share stand before another that waits.
func TestUnfloodRandom(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		n, kinds := 1+rng.IntN(20), 1+rng.IntN(12)
		share := max(3, (n+2)/3)
		hits := make([]*scopeHit, rng.IntN(60))
		count := map[int64]int{}
		var within, over []int64
		for i := range hits {
			s := int64(1 + rng.IntN(kinds))
			hits[i] = &scopeHit{Scored: recall.Scored{Chunk: int64(i), Source: s}}
			if count[s]++; count[s] > share {
				over = append(over, int64(i))
			} else {
				within = append(within, int64(i))
			}
		}
		got := []int64{}
		for _, h := range unflood(hits, n) {
			got = append(got, h.Chunk)
		}
		require.Equal(t, append(within, over...), append([]int64(nil), got...))
	}
}

// TestBest compares the hits that a recall looks at with all of its hits put in order, where
// documents flood, memories have expired, and several sub-tenants are asked.
func TestBest(t *testing.T) {
	t.Parallel()
	svc, err := Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	rng := rand.New(rand.NewPCG(3, 9))
	phrase := func() string {
		words := []string{"kettle", "harbour", "lantern", "bilge", "anchor", "rope", "crane", "ferry"}
		return words[rng.IntN(len(words))] + " and " + words[rng.IntN(len(words))]
	}
	subs := map[string]float64{"": 1, "north": .8, "south": .7}
	for name := range subs {
		s := svc.Tenant("acme").Sub(name)
		var batch MemoryBatch
		for i := range 40 {
			m := Memory{ID: fmt.Sprint(name, "m", i), Text: fmt.Sprintf("Note %d of %s: the %s were seen.", i, name, phrase())}
			if i%3 == 0 {
				m.TTL = 30 * time.Minute
			}
			batch.Memories = append(batch.Memories, m)
		}
		_, err := s.AddMemories(t.Context(), batch)
		require.NoError(t, err)
		var files KnowledgeBatch
		for i := range 6 {
			var text strings.Builder
			for range 1 + 30*(i%2) {
				fmt.Fprintf(&text, "The %s stand by the %s. %s\n\n", phrase(), phrase(), strings.Repeat("Nothing else was written on this page of the log. ", 12))
			}
			files.Files = append(files.Files, File{ID: fmt.Sprint(name, "k", i), Name: fmt.Sprint("log", i, ".txt"), Data: []byte(text.String())})
		}
		_, err = s.AddKnowledge(t.Context(), files)
		require.NoError(t, err)
	}
	require.NoError(t, svc.Drain(t.Context()))

	few, whole, flooded, gone := 0, 0, 0, 0
	for range 200 {
		q := Recall{Query: phrase(), Class: []Class{ClassMemory, ClassKnowledge, ClassAll}[rng.IntN(3)], MaxResults: 1 + rng.IntN(18)}
		if rng.IntN(3) == 0 {
			q.Subs = subs
		}
		r := beginRecall(t.Context(), t, svc.Tenant("acme").Sub(""), q, time.Hour)
		want := q.MaxResults + 2 + rng.IntN(3)
		ids := func(hits []*scopeHit) (ids []string) {
			for _, h := range hits {
				ids = append(ids, h.row.Key)
			}
			return ids
		}
		some, err := r.best(t.Context(), want)
		require.NoError(t, err)
		got := ids(some)
		looked := len(r.hits)
		if all := r.gather(r.most); looked < len(r.hits) {
			few++
		} else if all {
			whole++
		}
		if floods(r.hits, q.MaxResults) {
			flooded++
		}
		r.hits = unflood(r.hits, q.MaxResults)
		every, err := r.hydrate(t.Context(), len(r.hits))
		require.NoError(t, err)
		if len(every) < len(r.hits) {
			gone++
		}
		require.GreaterOrEqual(t, len(got), min(len(every), want))
		require.Equal(t, ids(every[:len(got)]), got, "%+v", q)
	}
	require.Greater(t, min(few, whole, flooded, gone), 10, "%d, %d, %d, %d", few, whole, flooded, gone)
}

// beginRecall returns a recall that has searched, as of some time from now.
func beginRecall(ctx context.Context, t *testing.T, sub Sub, q Recall, later time.Duration) *recallRun {
	t.Helper()
	require.NoError(t, q.complete("recall"))
	h, err := sub.svc.open(ctx, "recall", sub.org, sub.tenant)
	require.NoError(t, err)
	t.Cleanup(h.release)
	scopes, err := sub.scopes(ctx, h, q.Class, q.Subs, nil)
	require.NoError(t, err)
	r := &recallRun{svc: sub.svc, held: h, q: q, scopes: scopes, now: time.Now().Add(later), res: &Result{memory: new(resultMemory)}}
	require.NoError(t, r.search(ctx))
	return r
}
