package graph_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// pathTexts renders paths in order.
func pathTexts(ps []contextmem.Path) []string {
	var out []string
	for _, p := range ps {
		out = append(out, servicetest.PathText(p))
	}
	return out
}

// checkGraph checks invariants of every graph context: paths are scored and sorted, name their evidence, and the groups
// are those of the relations of returned chunks.
func checkGraph(t *testing.T, res *contextmem.Result) {
	t.Helper()
	returned := map[string]contextmem.Chunk{}
	for _, c := range res.Chunks {
		returned[c.ID] = c
	}
	groups := map[string][]string{}
	for _, list := range [][]contextmem.Path{res.Graph.QueryPaths, res.Graph.ChunkRelations} {
		require.True(t, slices.IsSortedFunc(list, func(a, b contextmem.Path) int {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}))
		for _, p := range list {
			require.Positive(t, p.Score)
			require.NotEmpty(t, p.Triplets)
			var chunks []string
			for _, x := range p.Triplets {
				require.NotEmpty(t, x.Relation.ChunkID)
				require.Equal(t, x.Source.ID, x.Relation.SourceID)
				require.Contains(t, p.Context, x.Relation.Context)
				require.NotEmpty(t, x.Relation.Raw)
				require.Positive(t, x.Relation.Confidence)
				if !slices.Contains(chunks, x.Relation.ChunkID) {
					chunks = append(chunks, x.Relation.ChunkID)
				}
			}
			require.Equal(t, chunks, p.ChunkIDs)
		}
	}
	for i, p := range res.Graph.ChunkRelations {
		require.Equal(t, fmt.Sprint("p_", i), p.GroupID)
		require.Contains(t, returned[p.ChunkIDs[0]].Text, p.Context, "evidence stands in the chunk")
		groups[p.ChunkIDs[0]] = append(groups[p.ChunkIDs[0]], p.GroupID)
	}
	require.Equal(t, groups, res.Graph.ChunkGroups)
}

func TestGraphContext(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.AddDocuments(t, s, contextmem.File{ID: "one", Data: []byte("Anna Lind works at Zorblax.")}, contextmem.File{ID: "two", Data: []byte("Zorblax was founded in Porto by Boris Gray.")},
			contextmem.File{ID: "three", Data: []byte("The kettle is on the shelf.")})
		for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
			res, err := s.Recall(t.Context(), contextmem.Recall{Query: "Where does Anna Lind work?", Mode: mode, GraphContext: true, MaxResults: 1})
			require.NoError(t, err)
			checkGraph(t, res)
			require.Equal(t, "one", res.Chunks[0].SourceID)
			require.Equal(t, []string{"anna lind works_at zorblax"}, pathTexts(res.Graph.ChunkRelations))
			require.Equal(t, "Anna Lind works at Zorblax.", res.Graph.ChunkRelations[0].Context)
			require.Equal(t, "works at", res.Graph.ChunkRelations[0].Triplets[0].Relation.Raw)
			require.Equal(t, "PERSON", res.Graph.ChunkRelations[0].Triplets[0].Source.Type)
			require.Equal(t, []string{"p_0"}, res.Graph.ChunkGroups[res.Chunks[0].ID])
			require.Equal(t, "anna lind works_at zorblax", servicetest.PathText(res.Graph.QueryPaths[0]))
			chained := slices.IndexFunc(res.Graph.QueryPaths, func(p contextmem.Path) bool { return len(p.Triplets) == 2 })
			if mode == contextmem.ModeFast {
				require.Negative(t, chained)
				require.Empty(t, res.Graph.Synthesis)
				continue
			}
			require.Positive(t, chained)
			require.Equal(t, "Anna Lind works at Zorblax. Zorblax was founded in Porto by Boris Gray.", res.Graph.QueryPaths[chained].Context, "the evidence sentences, joined")
			require.Len(t, res.Graph.QueryPaths[chained].ChunkIDs, 2)
			require.Contains(t, res.Graph.Synthesis, "anna lind works at zorblax")
		}
		res, err := s.Recall(t.Context(), contextmem.Recall{Query: "Where is the kettle?", GraphContext: true, MaxResults: 1})
		require.NoError(t, err)
		checkGraph(t, res)
		require.NotNil(t, res.Graph.QueryPaths)
		res, err = s.Recall(t.Context(), contextmem.Recall{Query: "Where does Anna Lind work?"})
		require.NoError(t, err)
		require.Nil(t, res.Graph)
	})
}

func TestGraphContextOfMemories(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "I work at Zorblax."}, contextmem.Memory{Text: "I live in Porto."}, contextmem.Memory{Text: "Clara lives in Oslo."})
		for query, want := range map[string]string{"where do i work": "user works_at zorblax", "Where does the user live?": "user lives_in porto", "where does clara live": "clara lives_in oslo"} {
			res, err := c.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: query, GraphContext: true})
			require.NoError(t, err)
			checkGraph(t, res)
			require.NotEmpty(t, res.Graph.QueryPaths, query)
			require.Equal(t, want, servicetest.PathText(res.Graph.QueryPaths[0]), query)
		}
	})
}

func TestGraphContextKeepsCollectionsApart(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		servicetest.AddDocuments(t, tn.Sub("a"), contextmem.File{ID: "one", Data: []byte("Anna Lind works at Zorblax.")})
		servicetest.AddDocuments(t, tn.Sub("b"), contextmem.File{ID: "one", Data: []byte("Anna Lind lives in Porto.")})
		ask := func(q contextmem.Recall) (relations, paths []string) {
			q.Query, q.GraphContext, q.Mode = "What do we know about Anna Lind?", true, contextmem.ModeThinking
			res, err := tn.Sub("a").Recall(t.Context(), q)
			require.NoError(t, err)
			checkGraph(t, res)
			relations, paths = pathTexts(res.Graph.ChunkRelations), pathTexts(res.Graph.QueryPaths)
			slices.Sort(relations)
			slices.Sort(paths)
			return relations, paths
		}
		works, lives := "anna lind works_at zorblax", "anna lind lives_in porto"
		relations, paths := ask(contextmem.Recall{})
		require.Equal(t, []string{works}, relations)
		require.Equal(t, []string{works}, paths, "nothing of the other collection")
		relations, paths = ask(contextmem.Recall{Subs: map[string]float64{"a": 1, "b": 1}})
		require.Equal(t, []string{lives, works}, relations)
		require.Equal(t, []string{lives, works}, paths, "no chain leads from one collection to the other")
	})
}

func TestGraphContextWithFilters(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.AddDocuments(t, s, contextmem.File{ID: "open", Data: []byte("Anna Lind works at Zorblax.")},
			contextmem.File{ID: "secret", Data: []byte("Zorblax was founded by Boris Gray."), ACL: []string{"boss"}, Additional: map[string]any{"shelf": "top"}})
		ask := func(q contextmem.Recall) []string {
			q.Query, q.GraphContext, q.Mode = "Where does Anna Lind work, and who founded Zorblax?", true, contextmem.ModeThinking
			res, err := s.Recall(t.Context(), q)
			require.NoError(t, err)
			checkGraph(t, res)
			var got []string
			for _, p := range append(res.Graph.QueryPaths, res.Graph.ChunkRelations...) {
				for _, x := range p.Triplets {
					got = append(got, x.Source.Name+" "+x.Relation.Canonical+" "+x.Target.Name)
				}
			}
			require.NotContains(t, res.Graph.Synthesis, "\n\n")
			if !slices.ContainsFunc(res.Chunks, func(c contextmem.Chunk) bool { return c.SourceID == "secret" }) {
				require.NotContains(t, strings.ToLower(res.Graph.Synthesis), "boris")
			}
			slices.Sort(got)
			return slices.Compact(got)
		}
		works, founded := "anna lind works_at zorblax", "boris gray founded zorblax"
		require.Equal(t, []string{works, founded}, ask(contextmem.Recall{}))
		require.Equal(t, []string{works, founded}, ask(contextmem.Recall{Principals: []string{"boss"}}))
		require.Equal(t, []string{works}, ask(contextmem.Recall{Principals: []string{"guest"}}), "access")
		require.Equal(t, []string{works}, ask(contextmem.Recall{IDs: []string{"open"}}), "ids")
		require.Equal(t, []string{works}, ask(contextmem.Recall{Titles: []string{"open.txt"}}), "titles")
		require.Equal(t, []string{founded}, ask(contextmem.Recall{Filters: contextmem.Filters{Additional: map[string]any{"shelf": "top"}}}), "metadata")
		_, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassKnowledge, IDs: []string{"secret"}})
		require.NoError(t, err)
		require.Equal(t, []string{works}, ask(contextmem.Recall{}), "deleted")
	})
}

// TestGraphContextOfAFamousEntity checks an entity with more relations than one call reads: those of the returned
// chunks are still shown, and hidden ones do not crowd out others.
func TestGraphContextOfAFamousEntity(t *testing.T) {
	t.Parallel()
	_, tn := servicetest.Open(t, nil)
	s := tn.Sub("a")
	var files []contextmem.File
	for i := range 230 {
		files = append(files, contextmem.File{ID: fmt.Sprint("f", i), Data: fmt.Appendf(nil, "Anna Lind visited Town%dia.", i), ACL: []string{"staff"}})
	}
	files = append(files, contextmem.File{ID: "last", Data: []byte("Anna Lind works at Zorblax.")})
	servicetest.AddDocuments(t, s, files...)
	for _, principals := range [][]string{nil, {"guest"}} {
		res, err := s.Recall(t.Context(), contextmem.Recall{Query: "Where does Anna Lind work?", GraphContext: true, MaxResults: 5, Principals: principals})
		require.NoError(t, err)
		checkGraph(t, res)
		require.Equal(t, "anna lind works_at zorblax", servicetest.PathText(res.Graph.QueryPaths[0]))
		if principals != nil {
			require.Len(t, res.Graph.QueryPaths, 1)
		}
	}
}

// TestGraphContextOfTheBestChunks checks that the best chunks have their relations even if those of other chunks rank
// higher.
func TestGraphContextOfTheBestChunks(t *testing.T) {
	t.Parallel()
	_, tn := servicetest.Open(t, nil)
	subs := map[string]float64{}
	for i := range 9 {
		name := fmt.Sprint("s", i)
		subs[name] = .01
		servicetest.AddDocuments(t, tn.Sub(name), contextmem.File{ID: "d", Data: []byte("Anna Lind lives in Porto. Anna Lind works at Zorblax. Anna Lind visited Oslo. Anna Lind met Boris Gray. Anna Lind bought a kettle. " +
			"Anna Lind studied at Harbor College. Anna Lind founded Quuxly. Anna Lind moved to Lisbon.")})
	}
	subs["z"] = 1
	servicetest.AddDocuments(t, tn.Sub("z"), contextmem.File{ID: "d", Data: []byte("Anna Lind owns the Grey River Mill.")})
	res, err := tn.Sub("a").Recall(t.Context(), contextmem.Recall{Query: "What does Anna Lind own?", GraphContext: true, MaxResults: 10, Subs: subs})
	require.NoError(t, err)
	checkGraph(t, res)
	require.Equal(t, "z", res.Chunks[0].Sub)
	require.NotEmpty(t, res.Graph.ChunkGroups[res.Chunks[0].ID])
	require.Equal(t, res.Chunks[0].ID, res.Graph.ChunkRelations[0].ChunkIDs[0])
}

// TestGraphContextAsOf checks that the graph of a recall describes the same time as its chunks.
func TestGraphContextAsOf(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		c := servicetest.NewStory(t, tn, contextmem.Memory{Text: "Clara lives in Lisbon.", Time: servicetest.OnDay("2020-03-01")}, contextmem.Memory{Text: "Clara moved to Porto.", Time: servicetest.OnDay("2022-03-01")})
		paths := func(asOf, knownAt time.Time) []string {
			res, err := c.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "Where does Clara live?", GraphContext: true, AsOf: asOf, KnownAt: knownAt})
			require.NoError(t, err)
			checkGraph(t, res)
			return pathTexts(res.Graph.QueryPaths)
		}
		require.Equal(t, []string{"clara lives_in porto"}, paths(time.Time{}, time.Time{}))
		require.Equal(t, []string{"clara lives_in lisbon"}, paths(servicetest.OnDay("2021-01-01"), time.Time{}))
		require.Equal(t, []string{"clara lives_in lisbon"}, paths(time.Time{}, servicetest.OnDay("2021-01-01")))
	})
}

// factReader is an extractor that reads a text of three parts as a fact: subject, predicate and object.
type factReader struct{}

func (factReader) Name() string { return "facts 1" }

func (factReader) Extract(_ context.Context, ins []extract.Input) ([]extract.Output, error) {
	out := make([]extract.Output, len(ins))
	for i, in := range ins {
		f := strings.Split(in.Text, " / ")
		out[i].Facts = []extract.Fact{{Subject: f[0], Predicate: f[1], Object: f[2], Kind: extract.KindFact, Text: in.Text, Confidence: .9, Evidence: in.Text, End: len(in.Text)}}
	}
	return out, nil
}

// Checks that the two relations of a chain have an entity in common. A fact with a long object leads to no entity.
func TestGraphContextChainsOverEntities(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{Extractor: factReader{}})
	maps, lakes := strings.Repeat("old maps ", 12)+"on the wall", strings.Repeat("cold lakes ", 12)+"in the hills"
	var ms []contextmem.Memory
	for _, text := range []string{"Ada Lind / likes / " + maps, "Ada Lind / knows / Clara Gray", "Clara Gray / likes / " + lakes, "Clara Gray / works_at / Zorblax"} {
		ms = append(ms, contextmem.Memory{Text: text, Infer: true})
	}
	c := servicetest.NewStory(t, acme, ms...)
	res, err := c.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "What does Ada Lind like?", Mode: contextmem.ModeThinking, GraphContext: true})
	require.NoError(t, err)
	checkGraph(t, res)
	require.ElementsMatch(t, []string{
		"ada lind likes " + maps,
		"ada lind knows clara gray",
		"ada lind knows clara gray; clara gray likes " + lakes,
		"ada lind knows clara gray; clara gray works_at zorblax",
	}, pathTexts(res.Graph.QueryPaths))
}
