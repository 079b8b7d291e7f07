package graph_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/lexical"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// plainGraph returns the graph context expected of a fast recall, computed from all relations of a collection: ids of
// relations with scores, best first. The question names entities by the given names.
func plainGraph(question string, names []string, res *contextmem.Result, all []contextmem.RelationGroup) (chunks, paths []contextmem.Path) {
	type proof struct {
		contextmem.Evidence
		num      int
		from, to string
	}
	var rels []proof
	for _, g := range all {
		for _, e := range g.Relations {
			p := proof{Evidence: e, from: g.Source.Name, to: g.Target.Name}
			_, err := fmt.Sscanf(e.ID, "rel_%d", &p.num)
			if err != nil {
				panic(err)
			}
			if !e.Superseded {
				rels = append(rels, p)
			}
		}
	}
	slices.SortFunc(rels, func(a, b proof) int { return cmp.Compare(a.num, b.num) })
	score := map[string]float64{}
	for _, c := range res.Chunks {
		score[c.ID] = c.Score
	}
	words := func(text string) map[string]bool {
		set := map[string]bool{}
		for _, t := range lexical.Analyze(nil, text) {
			set[t.Term] = true
		}
		return set
	}
	asked := words(question)
	for _, p := range rels { // every relation of an entity holds its name
		for _, name := range names {
			if p.from == name || p.to == name {
				maps.DeleteFunc(asked, func(w string, _ bool) bool { return words(name)[w] })
			}
		}
	}
	for _, p := range rels {
		returned, ok := score[p.ChunkID]
		if ok {
			chunks = append(chunks, contextmem.Path{GroupID: p.ID, Score: returned * p.Confidence, ChunkIDs: []string{p.ChunkID}})
		}
		from, to := slices.Contains(names, p.from), slices.Contains(names, p.to)
		if !from && !to {
			continue
		}
		w := p.Confidence
		if p.Canonical == "related_to" {
			w *= .5
		}
		if ok {
			w *= 1 + returned
		}
		held := 0.0
		for word := range words(strings.ReplaceAll(p.Canonical, "_", " ") + ". " + p.Context) {
			if asked[word] {
				held++
			}
		}
		w *= 1 + held/max(1, float64(len(asked)))
		if from && to {
			w *= 2
		}
		paths = append(paths, contextmem.Path{GroupID: p.ID, Score: w, ChunkIDs: []string{p.ChunkID}})
	}
	best := func(a, b contextmem.Path) int { return cmp.Compare(b.Score, a.Score) }
	slices.SortStableFunc(chunks, best)
	slices.SortStableFunc(paths, best)
	count := map[string]int{}
	chunks = slices.DeleteFunc(chunks, func(p contextmem.Path) bool { count[p.ChunkIDs[0]]++; return count[p.ChunkIDs[0]] > 8 })
	return chunks[:min(len(chunks), 60)], paths[:min(len(paths), 20)]
}

// TestGraphContextMatchesExhaustiveScoring checks that the graph context is that of scoring all relations.
func TestGraphContextMatchesExhaustiveScoring(t *testing.T) {
	t.Parallel()
	who, did, what := []string{"Maria", "Tom", "Aisha", "Jonas", "Priya"}, []string{"repaired", "inspected", "painted", "ordered"}, []string{"bilge pump", "anchor chain", "radar mast"}
	var memories []contextmem.Memory
	var files []contextmem.File
	for i := range 45 {
		text := fmt.Sprintf("On day %d %s %s the %s and lives in Porto. %[2]s Reed met %[5]s Lind in Oslo.", i, who[i%5], did[i%4], what[i%3], who[(i+1)%5])
		memories = append(memories, contextmem.Memory{ID: fmt.Sprint("m", i), Text: text})
		files = append(files, contextmem.File{ID: fmt.Sprint("k", i), Data: []byte(text)})
	}
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.AddDocuments(t, s, files...)
		added, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: memories})
		require.NoError(t, err)
		servicetest.Done(t, s, added.IDs()...)
		for _, class := range []contextmem.Class{contextmem.ClassMemory, contextmem.ClassKnowledge} {
			all, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Class: class})
			require.NoError(t, err)
			require.False(t, all.Truncated)
			shown := 0
			for question, names := range map[string][]string{
				"What did Maria repair on day 4?":                    {"maria"},
				"Where did Tom Reed meet Aisha Lind, and why there?": {"tom reed", "aisha lind"},
				"Does Jonas live in Porto?":                          {"jonas", "porto"},
				"Who met whom in Oslo?":                              {"oslo"},
				"Is it quiet?":                                       nil,
			} {
				for range 2 { // the second time from what is remembered
					res, err := s.Recall(t.Context(), contextmem.Recall{Query: question, Class: class, GraphContext: true})
					require.NoError(t, err)
					checkGraph(t, res)
					chunks, paths := plainGraph(question, names, res, all.Groups)
					require.Equal(t, chunks, plainPaths(res.Graph.ChunkRelations), question)
					require.Equal(t, paths, plainPaths(res.Graph.QueryPaths), question)
					shown += len(paths)
				}
			}
			require.Greater(t, shown, 60)
		}
	})
}

// plainPaths returns the paths of single relations in the form of plainGraph.
func plainPaths(paths []contextmem.Path) (out []contextmem.Path) {
	for _, p := range paths {
		out = append(out, contextmem.Path{GroupID: p.Triplets[0].Relation.ID, Score: p.Score, ChunkIDs: slices.Clone(p.ChunkIDs)})
	}
	return out
}
