package graph_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// typedGraph returns a graph of one relation between entities of the given types.
func typedGraph(from, fromType, to, toType string) content.SuppliedGraph {
	return content.SuppliedGraph{Entities: map[string]content.SuppliedEntity{"a": {Name: from, Type: fromType}, "b": {Name: to, Type: toType}},
		Relations: []content.SuppliedRelation{{Source: "a", Target: "b", Predicate: "runs_on", Context: from + " runs on " + to}}}
}

// addTyped adds a document with a graph and an access list. nil: everybody may read it.
func addTyped(t *testing.T, s contextmem.Sub, id string, g content.SuppliedGraph, who ...string) {
	t.Helper()
	_, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: id, Name: id + ".txt", Data: []byte(g.Relations[0].Context + "."), ACL: who}},
		Graphs: map[string]content.SuppliedGraph{id: g}})
	require.NoError(t, err)
	servicetest.Done(t, s, id)
}

// TestHiddenTypes checks that an entity's type is the one stated by documents visible to the principal.
func TestHiddenTypes(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		addTyped(t, s, "hidden", typedGraph("Falcon", "WEAPON", "Zorblax", "CARTEL"), "boss")
		addTyped(t, s, "open", typedGraph("Falcon", "SERVICE", "Quux", "MACHINE"))
		addTyped(t, s, "untyped", typedGraph("Zorblax", "", "Quux", ""))
		guest, boss := []string{"guest"}, []string{"boss"}
		for _, c := range []struct {
			principals      []string
			falcon, zorblax string
		}{{nil, "WEAPON", "CARTEL"}, {boss, "WEAPON", "CARTEL"}, {guest, "SERVICE", "CONCEPT"}} {
			want := map[string]string{"falcon": c.falcon, "zorblax": c.zorblax, "quux": "MACHINE"}
			got := map[string]string{}
			note := func(es ...contextmem.Entity) {
				for _, e := range es {
					require.Contains(t, []string{"", e.Type}, got[e.Name], "one type in one answer")
					got[e.Name] = e.Type
				}
			}
			page, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Principals: c.principals})
			require.NoError(t, err)
			for _, g := range page.Groups {
				note(g.Source, g.Target)
			}
			require.Equal(t, want, got, "relations of %v", c.principals)
			for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
				res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: "What do Falcon and Zorblax run on?", GraphContext: true, Mode: mode, Principals: c.principals})
				require.NoError(t, err)
				require.NotEmpty(t, res.Graph.ChunkRelations)
				require.NotEmpty(t, res.Graph.QueryPaths)
				for _, p := range slices.Concat(res.Graph.ChunkRelations, res.Graph.QueryPaths) {
					for _, x := range p.Triplets {
						require.Equal(t, want[x.Source.Name], x.Source.Type, "%s for %v", x.Source.Name, c.principals)
						require.Equal(t, want[x.Target.Name], x.Target.Type, "%s for %v", x.Target.Name, c.principals)
					}
				}
			}
			clear(got)
			listed, err := s.ListEntities(t.Context(), facts.EntityRequest{Class: contextmem.ClassKnowledge, Principals: c.principals})
			require.NoError(t, err)
			note(listed.Entities...)
			require.Equal(t, want, got, "entities of %v", c.principals)
			listed, err = s.ListEntities(t.Context(), facts.EntityRequest{Class: contextmem.ClassKnowledge, Principals: c.principals, Type: "WEAPON"})
			require.NoError(t, err)
			require.Equal(t, c.falcon == "WEAPON", len(listed.Entities) > 0, "by type, for %v", c.principals)
		}
	})
}

// TestHiddenEntities checks that an entity is listed to a principal if a visible document mentions it, under the names
// in visible documents.
func TestHiddenEntities(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		servicetest.AddDocuments(t, s, contextmem.File{ID: "open", Data: []byte("Bob Lind works at Zorblax Industries.")}, contextmem.File{ID: "moved", Data: []byte("Bob Lind moved to Oslo.")},
			contextmem.File{ID: "secret", Data: []byte("Project Falcon is led by Clara Roth of Zorblax Industries."), ACL: []string{"boss"}},
			contextmem.File{ID: "alias", Data: []byte("Robert Kilimanjaro, also known as Bob Lind, lives in Bergen."), ACL: []string{"boss"}})
		list := func(limit int, principals ...string) map[string]int {
			out := map[string]int{}
			r := facts.EntityRequest{Class: contextmem.ClassKnowledge, Limit: limit, Principals: principals}
			for {
				page, err := s.ListEntities(t.Context(), r)
				require.NoError(t, err)
				for _, e := range page.Entities {
					require.NotContains(t, out, e.Name)
					out[e.Name] = e.Mentions
				}
				if r.Cursor = page.Next; r.Cursor == "" {
					return out
				}
				require.Contains(t, out, r.Cursor, "a cursor names nothing hidden")
			}
		}
		all, boss, guest := list(100), list(100, "boss"), list(100, "guest")
		require.Equal(t, all, boss)
		require.Equal(t, boss, list(1, "boss"))
		require.Equal(t, guest, list(1, "guest"))
		names := slices.Sorted(maps.Keys(guest))
		require.Equal(t, []string{"bob lind", "oslo", "zorblax industries"}, names)
		require.Equal(t, 2, guest["bob lind"])
		require.Equal(t, 1, guest["zorblax industries"])
		require.Contains(t, boss, "robert kilimanjaro")
		require.NotContains(t, boss, "bob lind", "it is another name of his")
		_, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{Class: contextmem.ClassKnowledge, IDs: []string{"open", "moved"}})
		require.NoError(t, err)
		require.Empty(t, list(100, "guest"))
	})
}
