package sqlite

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// TestLoadedEntities checks that entities that were looked up together are found without another query, each once, that a key without an entity is
// told, and that a name that is damaged is not trusted.
func TestLoadedEntities(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	const n = 2*refsAtOnce + 5
	key := func(i int) string { return fmt.Sprint("key", i) }
	require.NoError(t, s.change(t.Context(), func(x *tx) error {
		r := rows{x}
		var all []storerules.NewEntity
		for i := range n {
			all = append(all, storerules.NewEntity{Num: int64(i + 1), Use: &storerules.Use{EntityKey: storerules.EntityKey{Part: 1, Key: key(i)}, Name: "Name", Named: true, Root: int64(i + 1), Uses: 1}})
		}
		require.NoError(t, r.AddEntities(all))
		require.NoError(t, x.c.script("UPDATE entities SET name = 'Other' WHERE num = 3"))
		require.NoError(t, r.LoadEntities(1, 2*n, key))
		require.NoError(t, x.c.script("DELETE FROM entities"))
		for i := range 2 * n {
			ref, err := r.Entity(1, key(i))
			require.NoError(t, err)
			if i >= n {
				require.Zero(t, ref)
				continue
			}
			require.Equal(t, storerules.EntityRef{Num: int64(i + 1), Named: i != 2}, ref)
		}
		require.Empty(t, x.loaded, "what Entity returned is in the cache")
		require.NoError(t, r.LoadEntities(2, 1, key))
		other, err := r.Entity(2, key(0))
		require.NoError(t, err)
		require.Zero(t, other, "another partition")
		x.entities.Purge()
		return nil
	}))
}

// TestGraphsOfTwoPartitions checks that the entities of several graphs that one call stores are counted in the partition of each graph, also if
// some exist and some items are lost.
func TestGraphsOfTwoPartitions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	rng := rand.New(rand.NewPCG(4, 4))
	parts := []backend.Partition{testPart, {Class: testPart.Class, Sub: "another"}}
	want := map[backend.Partition]map[string]int{parts[0]: {}, parts[1]: {}}
	const n = 60
	for round := range 2 {
		var in []backend.Incoming
		var ix []backend.Indexed
		var fin []backend.Finished
		for i := range n {
			a, b, c := memory(rng, round*n+i)
			a.Part, b.Token, c.Token = parts[i/7%2], "w", "w"
			c.Mentions, c.Relations, c.Aliases = nil, nil, nil
			for k := range 3 {
				key := fmt.Sprint("key", (i+k*k*round)%23)
				c.Mentions = append(c.Mentions, backend.Mention{Key: key, Name: key, Weight: 1})
			}
			c.Relations = []backend.Relation{{FromKey: c.Mentions[0].Key, ToKey: fmt.Sprint("end", i%5), Predicate: "knows", Confidence: .5, KnownFrom: testTime}}
			if i%11 == 3 {
				c.Token = "lost"
			} else {
				for _, m := range c.Mentions {
					want[a.Part][m.Key]++
				}
			}
			in, ix, fin = append(in, a), append(ix, b), append(fin, c)
		}
		out, err := s.Accept(ctx, in)
		require.NoError(t, err)
		_, err = s.Claim(ctx, "w", testTime, testTime.Add(time.Minute), n, 0)
		require.NoError(t, err)
		for i := range out {
			ix[i].Num, fin[i].Num = out[i].Num, out[i].Num
		}
		_, err = s.Index(ctx, ix)
		require.NoError(t, err)
		ok, err := s.Finish(ctx, fin)
		require.NoError(t, err)
		for i := range ok {
			require.Equal(t, i%11 != 3, ok[i])
		}
	}
	for part, counts := range want {
		for key, n := range counts {
			es, err := s.OwnEntities(ctx, part, []string{key})
			require.NoError(t, err)
			require.NotNil(t, es[0], key)
			require.Equal(t, n, es[0].Mentions, key)
		}
	}
	check(t, s)
}
