package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// told is what one item says.
type told struct {
	id      string
	keys    []string
	aliases []backend.Alias
	facts   []backend.Relation
}

// tell ingests items and returns their versions.
func tell(t testing.TB, s *store, items ...told) (nums []int64) {
	t.Helper()
	for _, x := range items {
		accepted, err := s.Accept(t.Context(), []backend.Incoming{{
			Source: backend.Source{Part: testPart, ID: x.id, Kind: "text", MediaType: "text/plain", CreatedAt: testTime, UpdatedAt: testTime, Tags: []uint64{backend.Everybody}},
			Blobs:  []backend.Blob{{Kind: backend.Original, Data: []byte(x.id)}},
		}})
		require.NoError(t, err)
		num := accepted[0].Num
		_, err = s.Claim(t.Context(), x.id, testTime, testTime.Add(time.Minute), 1, 0)
		require.NoError(t, err)
		ok, err := s.Index(t.Context(), []backend.Indexed{{Num: num, Token: x.id, Chunks: []backend.Chunk{{Key: x.id, Text: "text of " + x.id}}}})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, ok)
		fin := backend.Finished{Num: num, Token: x.id, State: backend.Completed, Relations: x.facts, Aliases: x.aliases}
		for _, key := range x.keys {
			fin.Mentions = append(fin.Mentions, backend.Mention{Key: key, Name: key, Type: "person", Weight: 1})
		}
		ok, err = s.Finish(t.Context(), []backend.Finished{fin})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, ok)
		nums = append(nums, num)
	}
	return nums
}

// graphOf returns the entities, merges and facts of a store as lines.
func graphOf(t testing.TB, s *store) (out []string) {
	t.Helper()
	ctx := t.Context()
	es, err := s.ListEntities(ctx, backend.EntityQuery{Part: testPart, Limit: 100, Folded: true})
	require.NoError(t, err)
	for _, e := range es {
		out = append(out, fmt.Sprintf("entity %s, %s, %d mentions", e.Key, e.Name, e.Mentions))
	}
	roots, err := s.ListEntities(ctx, backend.EntityQuery{Part: testPart, Limit: 100})
	require.NoError(t, err)
	for _, e := range roots {
		out = append(out, "root "+e.Key)
	}
	merges, err := s.Merges(ctx, testPart, 0, 100)
	require.NoError(t, err)
	for _, m := range merges {
		if !m.Undone {
			out = append(out, "merge of "+m.From+" into "+m.Into)
		}
	}
	facts, err := s.Relations(ctx, backend.RelationQuery{Part: testPart, AllTime: true, Limit: 100})
	require.NoError(t, err)
	for _, f := range facts {
		out = append(out, fmt.Sprintf("fact %s %s %s, until %v, superseded %v", f.FromKey, f.Predicate, f.Object, f.KnownTo, f.SupersededBy != 0))
	}
	stats, err := s.Stats(ctx, testPart.Class)
	require.NoError(t, err)
	return append(out, fmt.Sprintf("%+v", stats))
}

func livesIn(key, city string, day int) backend.Relation {
	return backend.Relation{FromKey: key, Predicate: "lives in", Raw: "lives in", Object: city, Functional: true, Confidence: 1, KnownFrom: testTime.AddDate(0, 0, day)}
}

// TestDamagedItemLeavesNothingInTheGraph damages an item in several ways and deletes it. The graph is then as if the item had never been stored.
func TestDamagedItemLeavesNothingInTheGraph(t *testing.T) {
	t.Parallel()
	others := []told{
		{id: "ann", keys: []string{"ann", "annie", "nan", "ann"}, facts: []backend.Relation{livesIn("ann", "Rome", 0), livesIn("ann", "Oslo", 4)}},
		{id: "bob", keys: []string{"bob", "rob"}, facts: []backend.Relation{livesIn("bob", "Bern", 1)}},
	}
	bad := told{
		id: "bad", keys: []string{"ann", "annie", "nan", "bob", "eve"}, aliases: []backend.Alias{{From: "annie", Into: "ann", Reason: "so said", At: testTime}, {From: "nan", Into: "annie", Reason: "so said", At: testTime}},
		facts: []backend.Relation{livesIn("ann", "Kyiv", 2), livesIn("bob", "Lima", 5), {FromKey: "bob", Predicate: "likes", Raw: "likes", Object: "tea", Retracts: true, Confidence: 1, KnownFrom: testTime.AddDate(0, 0, 9)}},
	}
	likes := told{id: "tea", keys: []string{"bob"}, facts: []backend.Relation{{FromKey: "bob", Predicate: "likes", Raw: "likes", Object: "tea", Confidence: 1, KnownFrom: testTime}}}
	_, clean := openTest(t)
	tell(t, clean, others...)
	tell(t, clean, likes)
	want := graphOf(t, clean)
	for name, sql := range map[string]string{
		"unharmed":                      "",
		"its row":                       "UPDATE sources SET tags = x'0011' WHERE num = ?",
		"type in its row":               "UPDATE sources SET state = 'x' WHERE num = ?",
		"its mentions":                  "UPDATE mentions SET data = x'00' WHERE source = ?",
		"mentions gone":                 "DELETE FROM mentions WHERE source = ?",
		"a mentioned entity":            "DELETE FROM entity_sources WHERE source = ? AND entity = (SELECT num FROM entities WHERE key = 'bob')",
		"its facts":                     "UPDATE relations SET predicate = 7 WHERE source = ?",
		"its row, numbers of its facts": "UPDATE sources SET tags = x'0011' WHERE num = ?1; UPDATE relations SET num = num + 1000 WHERE source = ?1",
		"its row and the alias":         "UPDATE sources SET tags = x'0011' WHERE num = ?1; UPDATE stated_aliases SET source = 99 WHERE source = ?1",
		"its row, counters of entities": "UPDATE sources SET tags = x'0011' WHERE num = ?1; UPDATE entities SET uses = uses + 7, mentions = 'x' WHERE ?1",
		"its row, a root":               "UPDATE sources SET tags = x'0011' WHERE num = ?1; UPDATE entities SET root = 99 WHERE key = 'bob' AND ?1",
		"its row, counts of chunks":     "UPDATE sources SET tags = x'0011' WHERE num = ?1; UPDATE counters SET chunks = 1, items = 1 WHERE id > 0 AND ?1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d, s := reopenTest(t, dir)
			tell(t, s, others...)
			num := tell(t, s, likes, bad)[1]
			require.NoError(t, s.change(t.Context(), func(tx *tx) error {
				for _, part := range splitSQL(sql) {
					if err := tx.c.do(part, num); err != nil {
						return err
					}
				}
				return nil
			}))
			require.NoError(t, d.Close())
			_, s = reopenTest(t, dir)
			_, err := s.Delete(t.Context(), testPart, []string{"bad"}, backend.DeleteOptions{})
			require.NoError(t, err)
			require.Equal(t, want, graphOf(t, s))
			found := verified(t, s)
			require.Empty(t, found)
			// Nothing is left once the others are deleted too.
			_, err = s.Delete(t.Context(), testPart, []string{"ann", "bob", "tea"}, backend.DeleteOptions{})
			require.NoError(t, err)
			require.Zero(t, countRows(t, s, "entities"))
			require.Zero(t, countRows(t, s, "relations"))
			require.Zero(t, countRows(t, s, "aliases"))
		})
	}
}

func splitSQL(sql string) (out []string) {
	for _, part := range strings.Split(sql, ";") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func verified(t testing.TB, s *store) (found []string) {
	t.Helper()
	_, err := s.Verify(t.Context(), func(f backend.Finding) { found = append(found, f.What) })
	require.NoError(t, err)
	return found
}

// TestMergesInAChainCanBeUndone deletes a damaged item beside a chain of merges whose middle nothing mentions. Each merge can then be undone.
func TestMergesInAChainCanBeUndone(t *testing.T) {
	t.Parallel()
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			_, s := openTest(t)
			tell(t, s, told{id: "a", keys: []string{"a", "a"}}, told{id: "b", keys: []string{"b"}}, told{id: "c", keys: []string{"c"}})
			bad := tell(t, s, told{id: "bad", keys: []string{"b", "x"}})[0]
			merges := make([]int64, 2)
			for i, keys := range [][2]string{{"a", "b"}, {"b", "c"}} {
				num, err := s.MergeEntities(t.Context(), testPart, keys[0], keys[1], "same", testTime)
				require.NoError(t, err)
				merges[i] = num
			}
			_, err := s.Delete(t.Context(), testPart, []string{"b"}, backend.DeleteOptions{})
			require.NoError(t, err)
			damage(t, s, fmt.Sprintf("UPDATE sources SET state = 'x' WHERE num = %d", bad))
			_, err = s.Delete(t.Context(), testPart, []string{"bad"}, backend.DeleteOptions{})
			require.NoError(t, err)
			require.Empty(t, verified(t, s))
			for _, i := range order {
				require.NoError(t, s.UndoMerge(t.Context(), merges[i]))
				require.Empty(t, verified(t, s))
			}
			graph := graphOf(t, s)
			require.Subset(t, graph, []string{"entity a, a, 2 mentions", "entity c, c, 1 mentions", "root a", "root c"})
			require.Len(t, graph, 5)
		})
	}
}

// TestExpiryOfAVersionWithoutPartition checks that an expired version is removed although the row of its partition is gone, and that
// expiry says that nothing is left to be removed.
func TestExpiryOfAVersionWithoutPartition(t *testing.T) {
	t.Parallel()
	for _, newest := range []bool{true, false} {
		for what, sql := range map[string]string{
			"partition gone": "DELETE FROM parts", "another partition": "UPDATE sources SET part = 77",
			"class of another type": "UPDATE parts SET class = 'x'", "id of another type": "UPDATE sources SET id = 7", "expiry of another type": "UPDATE sources SET expires = '7' WHERE num = 1",
		} {
			t.Run(fmt.Sprint(what, ", newest: ", newest), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				d, s := reopenTest(t, dir)
				for i := range 3 {
					at := testTime.Add(time.Minute)
					if i == 2 {
						at = testTime.Add(time.Hour)
					}
					_, err := s.Place(t.Context(), []backend.Placed{{
						Incoming: backend.Incoming{Source: backend.Source{Part: testPart, ID: fmt.Sprint(i), CreatedAt: testTime, UpdatedAt: testTime, ExpiresAt: at}},
						Chunks:   []backend.Chunk{{Key: fmt.Sprint("k", i), Text: "text"}},
					}})
					require.NoError(t, err)
				}
				if !newest {
					damage(t, s, "UPDATE sources SET newest = 0 WHERE num = 1")
				}
				damage(t, s, sql)
				require.NoError(t, d.Close())
				_, s = reopenTest(t, dir)
				n := 0
				for range 4 {
					m, next, err := s.Expire(t.Context(), testTime.Add(2*time.Minute), 1)
					require.NoError(t, err)
					n += m
					require.False(t, m == 0 && !next.IsZero() && !next.After(testTime.Add(2*time.Minute)), "nothing was removed, and %v is due", next)
				}
				if what != "expiry of another type" {
					require.Equal(t, 2, n)
					require.EqualValues(t, 1, countRows(t, s, "sources"))
				}
				m, next, err := s.Expire(t.Context(), testTime.Add(2*time.Hour), 10)
				require.NoError(t, err)
				require.Positive(t, m)
				require.Zero(t, next)
			})
		}
	}
}
