package recall_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestHiddenDocumentsRetireNothing checks that current facts follow from the documents visible to the principal: in the
// graph of a recall, in listings and in dated facts.
func TestHiddenDocumentsRetireNothing(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.AddDocuments(t, s, contextmem.File{ID: "open", Data: []byte("Anna Lind works at Zorblax since March 2019."), Time: servicetest.OnDay("2020-01-01")},
			contextmem.File{ID: "hidden", Data: []byte("Anna Lind works at Quux since May 2021."), Time: servicetest.OnDay("2022-01-01"), ACL: []string{"boss"}},
			contextmem.File{ID: "later", Data: []byte("Anna Lind works at Fizzle since June 2023."), Time: servicetest.OnDay("2024-01-01"), ACL: []string{"clerk"}})
		zorblax, quux, fizzle := "anna lind works_at zorblax", "anna lind works_at quux", "anna lind works_at fizzle"
		for _, c := range []struct {
			name       string
			principals []string
			q          contextmem.Recall
			believed   []string
		}{
			{"everything", nil, contextmem.Recall{}, []string{fizzle}},
			{"one", []string{"guest"}, contextmem.Recall{}, []string{zorblax}},
			{"two", []string{"boss"}, contextmem.Recall{}, []string{quux}},
			{"two others", []string{"clerk"}, contextmem.Recall{}, []string{fizzle}},
			{"all", []string{"boss", "clerk"}, contextmem.Recall{}, []string{fizzle}},
			{"one, as of", []string{"guest"}, contextmem.Recall{AsOf: servicetest.OnDay("2024-06-01")}, []string{zorblax}},
			{"two, as of", []string{"clerk"}, contextmem.Recall{AsOf: servicetest.OnDay("2022-06-01")}, []string{zorblax}},
			{"all, as of", []string{"boss", "clerk"}, contextmem.Recall{AsOf: servicetest.OnDay("2022-06-01")}, []string{quux}},
			{"filtered, not hidden", []string{"boss", "clerk"}, contextmem.Recall{IDs: []string{"open"}}, nil},
		} {
			for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
				t.Run(c.name+" "+string(mode), func(t *testing.T) {
					q := c.q
					q.Query, q.GraphContext, q.Mode, q.Principals = "Where does Anna Lind work?", true, mode, c.principals
					res, err := s.Recall(t.Context(), q)
					require.NoError(t, err)
					for _, paths := range [][]contextmem.Path{res.Graph.ChunkRelations, res.Graph.QueryPaths} {
						var works []string
						for _, p := range paths {
							if p.Triplets[0].Relation.Canonical == "works_at" && len(p.Triplets) == 1 {
								works = append(works, servicetest.PathText(p))
								require.False(t, p.Triplets[0].Relation.Superseded && q.AsOf.IsZero())
							}
						}
						require.Equal(t, c.believed, works)
					}
				})
			}
		}
		for _, c := range []struct {
			principals []string
			superseded map[string]bool
		}{
			{nil, map[string]bool{"zorblax": true, "quux": true, "fizzle": false}},
			{[]string{"guest"}, map[string]bool{"zorblax": false}},
			{[]string{"boss"}, map[string]bool{"zorblax": true, "quux": false}},
			{[]string{"clerk"}, map[string]bool{"zorblax": true, "fizzle": false}},
		} {
			page, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Principals: c.principals})
			require.NoError(t, err)
			got := map[string]bool{}
			for _, g := range page.Groups {
				for _, r := range g.Relations {
					if r.Canonical == "works_at" {
						got[g.Target.Name] = r.Superseded
					}
				}
			}
			require.Equal(t, c.superseded, got)
			res, err := s.Recall(t.Context(), contextmem.Recall{Query: "Where did Anna Lind work?", Principals: c.principals, Temporal: &contextmem.Temporal{Mode: "range"}})
			require.NoError(t, err)
			got = map[string]bool{}
			for _, f := range res.Temporal.Facts {
				if f.Relation == "works_at" {
					got[f.Object] = f.Status == "superseded"
				}
			}
			require.Equal(t, c.superseded, got, "dated")
		}
	})
}

// TestHiddenDocumentsAsIfAbsent checks that a principal sees what a sub-tenant without the hidden documents would show.
func TestHiddenDocumentsAsIfAbsent(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		rng := rand.New(rand.NewPCG(4, 2))
		all, seen := tn.Sub("all"), tn.Sub("seen")
		who, where := []string{"Anna Lind", "Boris Gray", "Clara Roth"}, []string{"Zorblax", "Quux", "Fizzle"}
		for i := range 60 {
			text := fmt.Sprintf("%s works at %s.", who[rng.IntN(3)], where[rng.IntN(3)])
			switch rng.IntN(5) {
			case 0:
				text = fmt.Sprintf("%s no longer works at %s.", who[rng.IntN(3)], where[rng.IntN(3)])
			case 1:
				text = fmt.Sprintf("%s works at %s since March %d.", who[rng.IntN(3)], where[rng.IntN(3)], 2010+rng.IntN(10))
			}
			f := contextmem.File{ID: fmt.Sprintf("f%02d", i), Data: []byte(text), Time: servicetest.OnDay("2020-01-01").AddDate(0, 0, rng.IntN(1000))}
			if rng.IntN(2) == 0 {
				servicetest.AddDocuments(t, seen, f)
			} else {
				f.ACL = []string{"boss"}
			}
			servicetest.AddDocuments(t, all, f)
		}
		told := func(s contextmem.Sub, principals []string) (out []string) {
			page, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Principals: principals})
			require.NoError(t, err)
			for _, g := range page.Groups {
				for _, r := range g.Relations {
					out = append(out, fmt.Sprintln(g.Source.Name, g.Source.Type, r.Canonical, g.Target.Name, g.Target.Type, r.Context, r.Timestamp, r.Superseded))
				}
			}
			for _, at := range []time.Time{{}, servicetest.OnDay("2012-06-01"), servicetest.OnDay("2020-06-01"), servicetest.OnDay("2021-06-01"), servicetest.OnDay("2022-06-01")} {
				for _, known := range []time.Time{{}, servicetest.OnDay("2020-09-01"), servicetest.OnDay("2021-09-01")} {
					res, err := s.Recall(t.Context(), contextmem.Recall{Query: "Does Anna Lind, Boris Gray or Clara Roth work at Zorblax, Quux or Fizzle?", MaxResults: 100, GraphContext: true, Principals: principals, AsOf: at, KnownAt: known})
					require.NoError(t, err)
					for _, p := range res.Graph.ChunkRelations {
						out = append(out, fmt.Sprintln(at, known, servicetest.PathText(p), p.Context, p.Triplets[0].Relation.Timestamp))
					}
				}
			}
			slices.Sort(out)
			return out
		}
		want := told(seen, nil)
		require.Greater(t, len(want), 50)
		require.Equal(t, want, told(all, []string{"guest"}))
		require.Equal(t, want, told(seen, []string{"guest"}))
		require.Equal(t, told(all, nil), told(all, []string{"boss"}))
	})
}
