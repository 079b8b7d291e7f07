package ingest_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestRawVectors(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "raw", Embeddings: true, Dimension: 2}).Sub("a")
	ctx := t.Context()
	in := contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{
		{SourceID: "x", Metadata: map[string]any{"c": "red"}, Vectors: []contextmem.Vector{{ChunkID: "x1", Vector: []float32{3, 0}}, {ChunkID: "x2", Vector: []float32{0, 5}}}},
		{SourceID: "y", Metadata: map[string]any{"c": "blue"}, Vectors: []contextmem.Vector{{ChunkID: "y1", Vector: []float32{1e-30, 1e-30}}, {ChunkID: "y2", Vector: []float32{-1e38, 0}}}}}}
	keys, err := s.InsertVectors(ctx, in)
	require.NoError(t, err)
	require.Equal(t, []string{"x1", "x2", "y1", "y2"}, keys)
	_, err = s.InsertVectors(ctx, in)
	require.ErrorIs(t, err, contextmem.ErrExists)
	_, err = s.InsertVectors(ctx, contextmem.InsertVectorsRequest{Upsert: true, Sources: []contextmem.VectorSource{{SourceID: "z", Vectors: []contextmem.Vector{{ChunkID: "x1", Vector: []float32{1, 1}}}}}})
	require.ErrorIs(t, err, contextmem.ErrExists, "a chunk id of another source")
	hits, err := s.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{7, 0}, WithVectors: true})
	require.NoError(t, err)
	require.Len(t, hits, 4)
	for i, want := range []struct {
		id    string
		score float64
	}{{"x1", 1}, {"y1", math.Sqrt2 / 2}, {"x2", 0}, {"y2", -1}} {
		t.Run(want.id, func(t *testing.T) {
			require.Equal(t, want.id, hits[i].ChunkID)
			require.InDelta(t, want.score, hits[i].Score, 1e-2)
			require.InDelta(t, 1-hits[i].Score, hits[i].Distance, 1e-9)
			require.InDelta(t, 1, math.Hypot(float64(hits[i].Vector[0]), float64(hits[i].Vector[1])), 1e-6)
		})
	}
	hits, err = s.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{7, 0}, Metadata: map[string]any{"c": "blue"}})
	require.NoError(t, err)
	require.Len(t, hits, 2)
	n, err := s.DeleteVectors(ctx, contextmem.VectorSelection{ChunkIDs: []string{"x1", "y1", "none"}})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	hits, err = s.FilterVectors(ctx, contextmem.VectorSelection{SourceID: "x"}, 0)
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Equal(t, "x2", hits[0].ChunkID)
	n, err = s.DeleteVectors(ctx, contextmem.VectorSelection{SourceID: "x"})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	hits, err = s.SearchVectors(ctx, contextmem.SearchVectorsRequest{Vector: []float32{7, 0}})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Equal(t, "y2", hits[0].ChunkID)
}

// TestRequestID checks that a recall has the given request id, under which feedback finds it.
func TestRequestID(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "1", Text: "The kettle is on the left shelf."})
	for name, ask := range map[string]func(id string) (*contextmem.Result, error){
		"recall": func(id string) (*contextmem.Result, error) {
			return s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", RequestID: id})
		},
		"text": func(id string) (*contextmem.Result, error) {
			return s.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Class: contextmem.ClassMemory, Query: "kettle", RequestID: id})
		},
	} {
		t.Run(name, func(t *testing.T) {
			own, given := contextmem.NewRequestID(), ""
			for _, id := range []string{own, ""} {
				res, err := ask(id)
				require.NoError(t, err)
				require.Len(t, res.RequestID, len(own), name)
				require.NotEqual(t, given, res.RequestID, name)
				given = res.RequestID
				if id != "" {
					require.Equal(t, id, given, name)
				}
				f, err := svc.AddFeedback(t.Context(), contextmem.Feedback{RequestID: given, Text: "so"})
				require.NoError(t, err)
				require.True(t, f.Known, name)
			}
		})
	}
}

// TestAppThreads checks that in thinking mode the app lane adds the conversation of a hit, even if nothing in it
// resembles the question.
func TestAppThreads(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	mail := func(id, thread, body string) contextmem.AppItem {
		return contextmem.AppItem{ID: id, Kind: content.AppEmail, Provider: "post", ExternalID: id + "@x", ThreadID: thread, Fields: map[string]any{"subject": "Re: " + id, "body": body}}
	}
	apps := []contextmem.AppItem{mail("ask", "t1", "When does the lighthouse tour to Skagen begin?"), mail("reply", "t1", "Half past nine, at berth four. Bring a jumper.")}
	for i := range 60 {
		apps = append(apps, mail(fmt.Sprint("other", i), fmt.Sprint("o", i), fmt.Sprintf("The tour of hall %d begins after lunch; the lighthouse keeper is number %d on the list.", i, i)))
	}
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Apps: apps})
	require.NoError(t, err)
	servicetest.Done(t, acme.Sub(""), res.IDs()...)
	ask := func(mode contextmem.Mode, apps bool) (*contextmem.Result, int) {
		hit, err := acme.Recall(t.Context(), contextmem.Recall{Query: "lighthouse tour to Skagen", Mode: mode, Apps: apps, MaxResults: 10})
		require.NoError(t, err)
		require.Equal(t, "ask", hit.Chunks[0].SourceID)
		return hit, slices.IndexFunc(hit.Chunks, func(c contextmem.Chunk) bool { return c.SourceID == "reply" })
	}
	_, at := ask(contextmem.ModeThinking, false)
	require.Negative(t, at)
	_, at = ask(contextmem.ModeFast, true)
	require.Negative(t, at)
	hit, at := ask(contextmem.ModeThinking, true)
	require.Positive(t, at)
	require.Positive(t, hit.Chunks[at].Explain.App)
}

func TestAppItems(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	app := func(id, ext string, kind content.AppKind, fields map[string]any) contextmem.AppItem {
		return contextmem.AppItem{ID: id, Kind: kind, Provider: "desk", ExternalID: ext, Fields: fields}
	}
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Apps: []contextmem.AppItem{
		app("child", "DESK-2", content.AppTicket, map[string]any{"title": "Lid", "description": "The lid of the kettle is loose.", "parent_id": "DESK-1", "status": "open"}),
		{ID: "bad", Kind: "fax", Fields: map[string]any{"body": "x"}},
		{ID: "mismatch", Kind: content.AppEmail, Fields: map[string]any{"kind": "message", "body": "x"}},
		{ID: "empty", Kind: content.AppMessage},
		app("parent", "DESK-1", content.AppTicket, map[string]any{"title": "Kettle", "description": "The kettle is broken.", "assignee": "Ole"}),
		{ID: "mail", Kind: content.AppEmail, Provider: "post", ExternalID: "m1", Fields: map[string]any{"subject": "Lunch", "body": "Soup today.", "from": map[string]any{"email": "ann@example.com"}}},
		{ID: "custom", Fields: map[string]any{"data": map[string]any{"tea_kind": "oolong", "n": []any{1, true}}}},
	}})
	require.NoError(t, err)
	require.Equal(t, 3, res.Failed)
	require.Equal(t, 4, res.Accepted)
	for i, id := range []string{"child", "bad", "mismatch", "empty", "parent", "mail", "custom"} {
		t.Run(id, func(t *testing.T) {
			require.Equal(t, id, res.Items[i].ID)
			if i >= 1 && i <= 3 {
				require.ErrorIs(t, res.Items[i].Err, contextmem.ErrUnprocessed)
				require.Equal(t, contextmem.StatusFailed, res.Items[i].Status)
			}
		})
	}
	require.Equal(t, []string{"child", "parent", "mail", "custom"}, res.IDs())
	servicetest.Done(t, acme.Sub(""), res.IDs()...)
	g, err := acme.Subgraph(t.Context(), contextmem.SubgraphRequest{SourceID: "parent"})
	require.NoError(t, err)
	require.Len(t, g.Members, 2)
	require.Equal(t, "child", g.Members[1].Relation)
	require.Equal(t, []contextmem.SubgraphEdge{{Source: "child", Target: "parent", Predicate: "child_of"}}, g.Edges)
	hit, err := acme.Recall(t.Context(), contextmem.Recall{Query: "what about DESK-2?", Apps: true})
	require.NoError(t, err)
	require.Equal(t, "child", hit.Chunks[0].SourceID)
	require.Positive(t, hit.Chunks[0].Explain.App)
	hit, err = acme.Recall(t.Context(), contextmem.Recall{Query: "oolong", Alpha: contextmem.FixedAlpha(0)})
	require.NoError(t, err)
	require.Equal(t, "custom", hit.Chunks[0].SourceID)
	for _, f := range []contextmem.SourceFilter{{AppExternalID: "DESK-2"}, {AppParentExternalID: "DESK-1"}, {AppKind: "email"}, {AppProvider: "post"}} {
		t.Run(f.Title, func(t *testing.T) {
			p, err := acme.List(t.Context(), contextmem.ListRequest{Fields: f})
			require.NoError(t, err)
			require.Equal(t, 1, p.Total, "%+v", f)
		})
	}
	// Links to items that are counted in one call and arrive in another.
	links := &contextmem.ForcefulRelations{}
	for i := range 300 {
		links.Links = append(links.Links, content.Link{Provider: "desk", ExternalID: fmt.Sprintf("DESK-%d", i)})
	}
	links.Links = append(links.Links, content.Link{ExternalID: "no provider"})
	res, err = acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Apps: []contextmem.AppItem{{ID: "hub", Kind: content.AppMessage, Fields: map[string]any{"body": "All of them."}, ForcefulRelations: links}}})
	require.NoError(t, err)
	require.Equal(t, 2, res.Items[0].ForcefulRelationsCreated)
	require.Contains(t, res.Items[0].ForcefulRelationsError, "298 related items")
	require.Contains(t, res.Items[0].ForcefulRelationsError, "1 links name neither")
}

// TestSuppliedIdentifiers checks that entities of supplied graphs are distinguished by namespace and identifier, not by
// name.
func TestSuppliedIdentifiers(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	add := func(id, text, name, namespace, identifier string) {
		t.Helper()
		res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: text}}, Graphs: map[string]content.SuppliedGraph{id: {
			Entities:  map[string]content.SuppliedEntity{"p": {Name: name, Type: "PERSON", Namespace: namespace, Identifier: identifier}, "thing": {Name: "Thing of " + id}},
			Relations: []content.SuppliedRelation{{Source: "p", Target: "thing", Predicate: "owns", Context: text}}}}})
		require.NoError(t, err)
		require.Equal(t, 1, res.Accepted, "%+v", res.Items)
		servicetest.Done(t, s, res.IDs()...)
	}
	add("m1", "Bill Gates bought a boat.", "Bill Gates", "crm", "17")
	add("m2", "William H. Gates owns a shed.", "William H. Gates", "crm", "17")
	add("m3", "Jo Smith has a kettle.", "Jo Smith", "crm", "21")
	add("m4", "Jo Smith has a toaster.", "Jo Smith", "crm", "22")
	add("m5", "Bill sold a car.", "Bill", "erp", "17")
	page, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	things := map[string][]string{} // by id of the owner
	named := map[string]contextmem.Entity{}
	for _, g := range page.Groups {
		things[g.Source.ID] = append(things[g.Source.ID], g.Target.Name)
		named[g.Target.Name] = g.Source
	}
	t.Run("one identifier is one entity", func(t *testing.T) {
		require.ElementsMatch(t, []string{"thing of m1", "thing of m2"}, things[named["thing of m1"].ID])
		require.Equal(t, "crm", named["thing of m1"].Namespace)
		require.Equal(t, "17", named["thing of m1"].Identifier)
	})
	t.Run("different identifiers never fold", func(t *testing.T) {
		require.NotEqual(t, named["thing of m3"].ID, named["thing of m4"].ID)
		require.Equal(t, []string{"21", "22"}, []string{named["thing of m3"].Identifier, named["thing of m4"].Identifier})
		require.NotEqual(t, named["thing of m1"].ID, named["thing of m5"].ID)
	})
	t.Run("a name finds the entity while it is the only one", func(t *testing.T) {
		es, err := s.Entities(t.Context(), facts.LookupRequest{Class: contextmem.ClassMemory, Names: []string{"Bill Gates", "William H. Gates", "Jo Smith"}})
		require.NoError(t, err)
		require.NotNil(t, es[0])
		require.NotNil(t, es[1])
		require.Equal(t, named["thing of m1"].ID, es[0].ID)
		require.Equal(t, es[0].ID, es[1].ID)
		require.NotNil(t, es[2])
		require.Empty(t, es[2].Identifier, "two have the name")
	})
	t.Run("a restricted caller sees no key", func(t *testing.T) {
		p, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory, Principals: []string{"ann"}})
		require.NoError(t, err)
		require.NotEmpty(t, p.Groups)
		for _, g := range p.Groups {
			require.NotContains(t, g.Source.Name, "\x1f")
		}
	})
	t.Run("merges show identifiers", func(t *testing.T) {
		page, err := s.Merges(t.Context(), facts.MergesRequest{Class: contextmem.ClassMemory})
		require.NoError(t, err)
		ms := page.Merges
		require.NotEmpty(t, ms)
		require.Equal(t, "17", ms[0].Into)
		require.True(t, ms[0].Stated)
	})
	t.Run("too long", func(t *testing.T) {
		_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m9", Text: "x"}}, Graphs: map[string]content.SuppliedGraph{"m9": {
			Entities: map[string]content.SuppliedEntity{"p": {Name: "p", Identifier: strings.Repeat("x", 501)}}}}})
		var fe *contextmem.Error
		require.ErrorAs(t, err, &fe)
		require.Equal(t, "Graphs.m9.Entities.p.Identifier", fe.Field)
	})
}

func TestSuppliedGraph(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	graph := content.SuppliedGraph{Entities: map[string]content.SuppliedEntity{"k": {Name: "Kettle", Type: "THING"}, "unused": {Name: "Spoon"}}}
	for i := range 25 {
		h := fmt.Sprintf("e%d", i)
		graph.Entities[h] = content.SuppliedEntity{Name: "Part " + h}
		graph.Relations = append(graph.Relations, content.SuppliedRelation{Source: "k", Target: h, Predicate: "has_part", Context: "The kettle has " + h + "."})
	}
	res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle has many parts.", Additional: map[string]any{"who": "ann"}}},
		Graphs: map[string]content.SuppliedGraph{"m": graph}})
	require.NoError(t, err)
	servicetest.Done(t, s, res.IDs()...)
	seen := map[string]bool{}
	r := contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory, Limit: 4}
	for pages := 0; ; pages++ {
		require.Less(t, pages, 10)
		p, err := s.GraphRelations(t.Context(), r)
		require.NoError(t, err)
		require.LessOrEqual(t, len(p.Groups), 4)
		for _, g := range p.Groups {
			require.Equal(t, "kettle", g.Source.Name)
			require.Equal(t, "THING", g.Source.Type)
			for _, e := range g.Relations {
				require.False(t, seen[e.ID], "repeated")
				require.Equal(t, "byog", e.Origin)
				require.Equal(t, "has_part", e.Canonical)
				seen[e.ID] = true
			}
		}
		require.Equal(t, p.Truncated, p.Next != 0)
		if r.Cursor = p.Next; r.Cursor == 0 {
			break
		}
	}
	require.Len(t, seen, 25, "none skipped")
	q := contextmem.Recall{Class: contextmem.ClassMemory, Query: "parts of the kettle", GraphContext: true, Mode: contextmem.ModeThinking}
	hit, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	require.NotEmpty(t, hit.Graph.ChunkRelations)
	require.NotEmpty(t, hit.Graph.ChunkGroups[hit.Chunks[0].ID])
	q.Filters.Additional = map[string]any{"who": "bob"}
	hit, err = s.Recall(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, hit.Graph.ChunkRelations, "the evidence is filtered out")
	require.Empty(t, hit.Graph.QueryPaths)
	// Without a graph the stored one is kept; another one replaces it.
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle has many good parts."})
	p, err := s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory, SourceID: "m"})
	require.NoError(t, err)
	require.Len(t, p.Groups, 25)
	_, err = s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"m"}})
	require.NoError(t, err)
	p, err = s.GraphRelations(t.Context(), contextmem.GraphRelationsRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	require.Empty(t, p.Groups)
}

func TestInferKeepsBoth(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", UserName: "Ann", Infer: true, Pairs: []contextmem.Pair{{User: "I prefer green tea over coffee. I live in Lisbon.", Assistant: "Noted."}}})
	f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: "m"})
	require.NoError(t, err)
	require.Contains(t, f.Text, "I prefer green tea over coffee.")
	require.Contains(t, f.Inferred, "Lisbon")
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "where does Ann live, Lisbon?", PerSource: 2, GraphContext: true, Temporal: &contextmem.Temporal{}})
	require.NoError(t, err)
	inferred := map[bool]int{}
	for _, c := range res.Chunks {
		inferred[c.Inferred]++
	}
	require.Positive(t, inferred[true])
	require.Positive(t, inferred[false])
}
