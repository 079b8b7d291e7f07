package inmem

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// rule states the beliefs of package backend directly: it looks at all later rivals of a relation.
func rule(g *graph, r *relation, all []*relation) (by, rival *relation) {
	same := func(x *relation) bool { return g.root(x.FromKey) == g.root(r.FromKey) && x.Predicate == r.Predicate }
	for _, x := range all {
		switch {
		case !same(x) || x == r || r.Retracts:
		case before(x, r) < 0 && r.Functional && x.competes() && (rival == nil || before(rival, x) < 0):
			rival = x
		case before(x, r) > 0 && (by == nil || before(x, by) < 0):
			if x.Retracts && g.root(x.ToKey) == g.root(r.ToKey) && x.Object == r.Object || x.competes() && r.Functional {
				by = x
			}
		}
	}
	if by != nil && by.KnownFrom.IsZero() && r.KnownFrom.IsZero() {
		by = nil
	}
	return by, rival
}

// TestBeliefsDoNotDependOnHistory adds and removes relations and merges in random order, and compares each belief with the rule.
func TestBeliefsDoNotDependOnHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 7))
			d := newStoreData()
			p := d.part(backend.Partition{Class: backend.Memory, Sub: "s"})
			g := &p.graph
			key := func() string { return fmt.Sprint("k", rng.IntN(4)) }
			var versions []*version
			retired := 0
			for range 300 {
				switch n := rng.IntN(20); {
				case n < 3 && len(versions) > 0:
					i := rng.IntN(len(versions))
					d.clearGraph(versions[i])
					versions = slices.Delete(versions, i, i+1)
				case n == 3:
					if a, b := g.find(key()), g.find(key()); a != nil && b != nil && a != b {
						d.merge(p, a, b, "", time.Time{})
					}
				case n == 4:
					if i := slices.IndexFunc(d.merges, func(m *merge) bool { return !m.Undone }); i >= 0 {
						d.unmerge(d.merges[i])
					}
				default:
					d.last.version++
					d.last.chunk++
					v := &version{src: backend.Source{Num: d.last.version}, part: p}
					v.chunks = []*chunk{{Chunk: backend.Chunk{Num: d.last.chunk}, of: v}}
					in := backend.Relation{FromKey: key(), Predicate: fmt.Sprint("p", rng.IntN(2)), Functional: rng.IntN(2) == 0, Retracts: rng.IntN(4) == 0}
					if in.Object = fmt.Sprint(rng.IntN(3)); rng.IntN(2) == 0 {
						in.ToKey, in.Object = key(), ""
					}
					if rng.IntN(5) > 0 {
						in.KnownFrom = time.Unix(int64(rng.IntN(6)), 0)
						in.Asserted = time.Unix(int64(rng.IntN(6)), 0)
					}
					d.addGraph(v, &backend.Finished{Relations: []backend.Relation{in}})
					versions = append(versions, v)
				}
				var all []*relation
				for _, v := range versions {
					all = append(all, v.relations...)
				}
				require.Len(t, g.relations, len(all))
				for _, r := range all {
					by, rival := rule(g, r, all)
					require.Same(t, by, r.by, "seed %d: what retires relation %d", seed, r.Num)
					require.Same(t, rival, r.rival, "seed %d: rival of relation %d", seed, r.Num)
					if by != nil {
						retired++
						require.Equal(t, by.Num, r.SupersededBy)
						require.False(t, r.KnownTo.Before(by.KnownFrom) || r.KnownTo.Before(r.KnownFrom))
					}
				}
			}
			require.NotZero(t, retired)
			for _, v := range versions {
				d.clearGraph(v)
			}
			require.Empty(t, g.rivals)
			require.Empty(t, g.entities)
			require.Empty(t, g.relations)
		})
	}
}
