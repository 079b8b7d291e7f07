package recall_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestRecallOnEmptyTenant(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, &contextmem.Options{Reranker: reversingReranker{}, FeedbackBoosts: true})
	raw := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "raw", Embeddings: true, Dimension: 3})
	for _, s := range []contextmem.Sub{acme.Sub(""), acme.Sub("nobody"), raw.Sub("")} {
		for _, class := range []contextmem.Class{0, contextmem.ClassMemory, contextmem.ClassAll} {
			for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking, contextmem.ModeAuto} {
				res, err := s.Recall(t.Context(), contextmem.Recall{Query: "where is the kettle?", Class: class, Mode: mode, Alpha: contextmem.AutoAlpha(), RecencyBias: 1, GraphContext: true,
					Apps: true, RelatedChunks: 3, Temporal: &contextmem.Temporal{}})
				require.NoError(t, err)
				require.Empty(t, res.Chunks)
				require.NotNil(t, res.Graph)
				require.NotNil(t, res.Temporal)
			}
		}
		res, err := s.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Query: "kettle"})
		require.NoError(t, err)
		require.Empty(t, res.Chunks)
	}
}

// reversingReranker reverses the order of texts.
type reversingReranker struct{}

func (reversingReranker) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	out := make([]float64, len(texts))
	for i := range out {
		out[i] = float64(i)
	}
	return out, nil
}

// panickingReranker is a reranker that panics.
type panickingReranker struct{}

func (panickingReranker) Rerank(context.Context, string, []string) ([]float64, error) { panic("no") }

func TestRerankerThatPanicsDegrades(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{Reranker: panickingReranker{}})
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", Mode: contextmem.ModeThinking})
	require.NoError(t, err)
	require.Len(t, res.Chunks, 1)
	require.True(t, slices.ContainsFunc(res.Warnings, func(w fault.Warning) bool { return w.Code == "degraded" }))
}

// panickingEmbedder is an embedder that panics for queries.
type panickingEmbedder struct{ *static.Embedder }

func (panickingEmbedder) EmbedQuery(context.Context, string) ([]float32, error) { panic("no") }

func TestEmbedderThatPanicsFailsTheCall(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{Embedder: panickingEmbedder{static.New()}})
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	_, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
	require.Error(t, err)
	require.Equal(t, []string{"m"}, servicetest.RecallIDs(t, s, contextmem.Recall{Query: "kettle", Alpha: contextmem.FixedAlpha(0)}), "keywords need no embedder")
}

func TestFilters(t *testing.T) {
	t.Parallel()
	svc, _ := servicetest.Open(t, nil)
	tn := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "f", Schema: []contextmem.Field{{Name: "dept", Match: true}, {Name: "year", Type: content.Int32, Match: true},
		{Name: "live", Type: content.Bool, Match: true}, {Name: "price", Type: content.Double, Match: true}, {Name: "note"}}})
	s := tn.Sub("a")
	type m = map[string]any
	servicetest.Remember(t, s,
		contextmem.Memory{ID: "1", Title: "Left Kettle", Text: "The kettle is on the left shelf.", Metadata: m{"dept": "kitchen", "year": 2020, "live": true, "price": .5, "note": "x"}, Additional: m{"tag": "red", "n": 1}},
		contextmem.Memory{ID: "2", Title: "Right Kettle", Text: "The kettle is on the right shelf.", Metadata: m{"dept": "cellar", "year": 2021, "live": false, "price": 2.0}, Additional: m{"tag": "blue", "n": 2.5}},
		contextmem.Memory{ID: "3", Text: "The kettle is in the attic.", Metadata: m{"dept": "2020"}, Additional: m{"tag": []any{"red", "blue"}, "n": "1"}})
	for name, c := range map[string]struct {
		q    contextmem.Recall
		want []string
	}{
		"none":              {contextmem.Recall{}, []string{"1", "2", "3"}},
		"string":            {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"dept": "kitchen"}}}, []string{"1"}},
		"case":              {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"dept": "Kitchen"}}}, []string{}},
		"typed":             {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"dept": 2020}}}, []string{}},
		"string of digits":  {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"dept": "2020"}}}, []string{"3"}},
		"number":            {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"year": 2020}}}, []string{"1"}},
		"number as float":   {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"year": 2020.0}}}, []string{"1"}},
		"double":            {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"price": float32(.5)}}}, []string{"1"}},
		"double as integer": {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"price": 2}}}, []string{"2"}},
		"bool":              {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"live": false}}}, []string{"2"}},
		"list":              {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"dept": []any{"kitchen", "cellar", "moon"}}}}, []string{"1", "2"}},
		"empty list":        {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"dept": []any{}}}}, []string{}},
		"and":               {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"dept": "kitchen", "year": 2021}}}, []string{}},
		"document":          {contextmem.Recall{Filters: contextmem.Filters{Additional: m{"tag": "blue"}}}, []string{"2"}},
		"document list":     {contextmem.Recall{Filters: contextmem.Filters{Additional: m{"tag": []any{"blue", "red"}}}}, []string{"1", "2"}},
		"document number":   {contextmem.Recall{Filters: contextmem.Filters{Additional: m{"n": 1}}}, []string{"1"}},
		"document float":    {contextmem.Recall{Filters: contextmem.Filters{Additional: m{"n": 2.5}}}, []string{"2"}},
		"both layers":       {contextmem.Recall{Filters: contextmem.Filters{Metadata: m{"dept": "kitchen"}, Additional: m{"tag": "blue"}}}, []string{}},
		"ids":               {contextmem.Recall{IDs: []string{"3", "2", "none"}}, []string{"2", "3"}},
		"no ids":            {contextmem.Recall{IDs: []string{}}, []string{}},
		"titles":            {contextmem.Recall{Titles: []string{" left KETTLE "}}, []string{"1"}},
		"ids and filter":    {contextmem.Recall{IDs: []string{"2"}, Filters: contextmem.Filters{Metadata: m{"dept": "kitchen"}}}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
				c.q.Query, c.q.Mode = "where is the kettle?", mode
				require.Equal(t, c.want, servicetest.RecallIDs(t, s, c.q), "%s %s", name, mode)
			}
		})
	}
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", Filters: contextmem.Filters{Metadata: m{"note": "y", "zz": 1}}})
	require.NoError(t, err)
	require.Len(t, res.Chunks, 3, "ignored")
	require.Len(t, res.Warnings, 2)
	for _, w := range res.Warnings {
		require.Equal(t, "ignored_filter", w.Code)
	}
	// A field that is declared later filters what is there.
	_, err = tn.AddSchemaFields(t.Context(), []contextmem.Field{{Name: "late", Match: true}})
	require.NoError(t, err)
	require.Empty(t, servicetest.RecallIDs(t, s, contextmem.Recall{Query: "kettle", Filters: contextmem.Filters{Metadata: m{"late": "x"}}}))
}

// TestManyDocumentFieldsAreAllFilters filters by each field of an item with many fields.
func TestManyDocumentFieldsAreAllFilters(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	add := map[string]any{}
	for i := range 100 {
		add[fmt.Sprintf("k%d", i)] = i
	}
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "The kettle is on the shelf.", Additional: add})
	for k, v := range add {
		require.Equal(t, []string{"m"}, servicetest.RecallIDs(t, s, contextmem.Recall{Query: "kettle", Filters: contextmem.Filters{Additional: map[string]any{k: v}}}), k)
	}
}

func TestPrincipals(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	data := []byte("The kettle is on the shelf.")
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{
		{ID: "open", Name: "a.txt", Data: data}, {ID: "ann", Name: "b.txt", Data: data, ACL: []string{"ann@example.com"}}, {ID: "team", Name: "c.txt", Data: data, ACL: []string{"group:x:1", "bob@example.com"}}}})
	require.NoError(t, err)
	servicetest.Done(t, acme.Sub(""), res.IDs()...)
	for _, c := range []struct{ who, want []string }{{nil, []string{"ann", "open", "team"}}, {[]string{"ann@example.com"}, []string{"ann", "open"}},
		{[]string{"nobody"}, []string{"open"}}, {[]string{"group:x:1", "ann@example.com"}, []string{"ann", "open", "team"}}} {
		require.Equal(t, c.want, servicetest.RecallIDs(t, acme.Sub(""), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: "kettle", Principals: c.who}))
		p, err := acme.List(t.Context(), contextmem.ListRequest{Principals: c.who})
		require.NoError(t, err)
		require.Equal(t, len(c.want), p.Total)
		for _, id := range []string{"ann", "open", "team"} {
			_, err := acme.Fetch(t.Context(), contextmem.FetchRequest{ID: id, Principals: c.who})
			if slices.Contains(c.want, id) {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, contextmem.ErrNotFound)
			}
		}
	}
	// An edit keeps who may see the item.
	_, err = acme.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "ann", Additional: map[string]any{"a": 1}})
	require.NoError(t, err)
	require.Equal(t, []string{"open"}, servicetest.RecallIDs(t, acme.Sub(""), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: "kettle", Principals: []string{"nobody"}}))
}

func TestAlphaIsExact(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "word", Text: "The kettle is on the shelf."}, contextmem.Memory{ID: "sense", Text: "A pot for boiling water stands in the kitchen."})
	for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
		t.Run(string(mode), func(t *testing.T) {
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", Alpha: contextmem.FixedAlpha(0), Mode: mode})
			require.NoError(t, err)
			require.Equal(t, 0.0, res.Alpha)
			for _, c := range res.Chunks {
				require.Zero(t, c.Explain.Semantic, "%s", c.SourceID)
			}
			require.Equal(t, "word", res.Chunks[0].SourceID)
			res, err = s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", Alpha: contextmem.FixedAlpha(1), Mode: mode})
			require.NoError(t, err)
			require.Equal(t, 1.0, res.Alpha)
			for _, c := range res.Chunks {
				require.Zero(t, c.Explain.Keyword, "%s", c.SourceID)
			}
			require.Len(t, res.Chunks, 2)
		})
	}
}

func TestSubsWithWeights(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	for _, n := range []string{"a", "b", "c"} {
		servicetest.Remember(t, acme.Sub(n), contextmem.Memory{ID: n, Text: "The kettle is on the shelf."})
	}
	res, err := acme.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "where is the kettle?", Subs: map[string]float64{"a": 1, "b": 4, "nobody": 2}})
	require.NoError(t, err)
	require.Len(t, res.Chunks, 2)
	require.Equal(t, "b", res.Chunks[0].SourceID)
	require.Equal(t, "b", res.Chunks[0].Sub)
	require.InDelta(t, res.Chunks[0].Score/4, res.Chunks[1].Score, 1e-9)
	require.Len(t, res.Sources, 2)
}

func TestRelatedChunks(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{ChunkBytes: 120, ChunkMaxBytes: 200, ChunkOverlapBytes: -1})
	var b strings.Builder
	for i, w := range []string{"apples", "barges", "candles", "dragons", "engines"} {
		fmt.Fprintf(&b, "Paragraph %d is about %s and goes on for a while so that it makes a chunk of its own in this document.\n\n", i, w)
	}
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "d", Name: "d.txt", Data: []byte(b.String())}}})
	require.NoError(t, err)
	servicetest.Done(t, acme.Sub(""), res.IDs()...)
	hit, err := acme.Recall(t.Context(), contextmem.Recall{Query: "candles", MaxResults: 1, RelatedChunks: 1, Alpha: contextmem.FixedAlpha(0)})
	require.NoError(t, err)
	require.Len(t, hit.Chunks, 3)
	require.Contains(t, hit.Chunks[0].Text, "candles")
	require.False(t, hit.Chunks[0].Related)
	seen := map[string]bool{}
	for _, c := range hit.Chunks[1:] {
		require.True(t, c.Related)
		require.Nil(t, c.Explain)
		require.True(t, strings.Contains(c.Text, "barges") || strings.Contains(c.Text, "dragons"), c.Text)
		require.False(t, seen[c.ID])
		seen[c.ID] = true
	}
	require.Len(t, hit.Sources, 1)
}

func TestRecencyPrefersTheNew(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	now := time.Now()
	servicetest.Remember(t, s, contextmem.Memory{ID: "old", Text: "The kettle is on the shelf.", Time: now.AddDate(-2, 0, 0)}, contextmem.Memory{ID: "new", Text: "The kettle is on a shelf now.", Time: now.AddDate(0, 0, -1)},
		contextmem.Memory{ID: "future", Text: "The kettle will be on the shelf.", Time: now.AddDate(5, 0, 0)})
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle on the shelf", RecencyBias: 1})
	require.NoError(t, err)
	require.Len(t, res.Chunks, 3)
	require.Equal(t, "old", res.Chunks[2].SourceID)
	require.Less(t, res.Chunks[2].Score, 1e-6, "two years are 24 half-lives")
	for _, c := range res.Chunks {
		require.False(t, math.IsNaN(c.Score))
	}
}

func TestFloodControl(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{ChunkBytes: 100, ChunkMaxBytes: 160, ChunkOverlapBytes: -1})
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, "The kettle of shelf number %d is the kettle that everybody calls the kettle.\n\n", i)
	}
	files := []contextmem.File{{ID: "flood", Name: "flood.txt", Data: []byte(b.String())}}
	for i := range 5 {
		files = append(files, contextmem.File{ID: fmt.Sprintf("s%d", i), Name: fmt.Sprintf("s%d.txt", i), Data: fmt.Appendf(nil, "One may find a kettle in house %d too.", i)})
	}
	res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: files})
	require.NoError(t, err)
	servicetest.Done(t, acme.Sub(""), res.IDs()...)
	hit, err := acme.Recall(t.Context(), contextmem.Recall{Query: "kettle", MaxResults: 6})
	require.NoError(t, err)
	require.Len(t, hit.Chunks, 6)
	n := 0
	for _, c := range hit.Chunks {
		if c.SourceID == "flood" {
			n++
		}
	}
	require.Equal(t, 3, n)
	alone, err := acme.Recall(t.Context(), contextmem.Recall{Query: "kettle", MaxResults: 6, IDs: []string{"flood"}})
	require.NoError(t, err)
	require.Len(t, alone.Chunks, 6, "a source alone is not held back")
}

func TestForcefulRelations(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	rel := func(ids ...string) *contextmem.ForcefulRelations {
		return &contextmem.ForcefulRelations{IDs: ids, Properties: map[string]any{"why": "x"}}
	}
	res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{
		{ID: "kettle", Text: "The kettle is on the shelf.", ForcefulRelations: rel("late", "stove")}, {ID: "stove", Text: "Gas is paid by Ole."},
		{ID: "back", Text: "Quarterly numbers look fine.", ForcefulRelations: rel("kettle")}}})
	require.NoError(t, err)
	require.Equal(t, 1, res.Items[0].ForcefulRelationsCreated)
	require.Contains(t, res.Items[0].ForcefulRelationsError, `"late"`)
	require.Equal(t, 1, res.Items[2].ForcefulRelationsCreated)
	servicetest.Done(t, s, res.IDs()...)
	q := contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", Mode: contextmem.ModeThinking, MaxResults: 1, Alpha: contextmem.FixedAlpha(0)}
	linked := func() []string {
		r, err := s.Recall(t.Context(), q)
		require.NoError(t, err)
		require.NotEmpty(t, r.Chunks)
		ids := []string{}
		for _, key := range r.Chunks[0].ExtraContextIDs {
			require.Contains(t, r.Additional, key)
			ids = append(ids, r.Additional[key].SourceID)
		}
		slices.Sort(ids)
		return ids
	}
	require.Equal(t, []string{"back", "stove"}, linked())
	servicetest.Remember(t, s, contextmem.Memory{ID: "late", Text: "Spoons arrive on Monday."})
	require.Equal(t, []string{"back", "late", "stove"}, linked(), "it came later")
	g, err := s.Subgraph(t.Context(), contextmem.SubgraphRequest{Class: contextmem.ClassMemory, SourceID: "stove"})
	require.NoError(t, err)
	require.Len(t, g.Members, 4)
	require.Equal(t, "stove", g.Members[0].Source.ID)
	require.Equal(t, 2, g.MaxDepthReached)
	g, err = s.Subgraph(t.Context(), contextmem.SubgraphRequest{Class: contextmem.ClassMemory, SourceID: "stove", MaxSources: 2})
	require.NoError(t, err)
	require.Len(t, g.Members, 2)
	require.True(t, g.Truncated)
	g, err = s.Subgraph(t.Context(), contextmem.SubgraphRequest{Class: contextmem.ClassMemory, SourceID: "nobody"})
	require.NoError(t, err)
	require.Empty(t, g.Members)
	_, err = s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"stove"}})
	require.NoError(t, err)
	require.Equal(t, []string{"back", "late"}, linked())
	q.SkipForcefulRelations = true
	require.Empty(t, linked())
	q.SkipForcefulRelations, q.Mode, q.ForcefulRelations = false, contextmem.ModeFast, true
	r, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, r.Additional)
	require.True(t, slices.ContainsFunc(r.Warnings, func(w fault.Warning) bool { return w.Code == "ignored_flag" }))
	other, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "a.txt", Data: []byte("A file."), ForcefulRelations: rel("kettle")}}})
	require.NoError(t, err)
	require.Zero(t, other.Items[0].ForcefulRelationsCreated)
	require.Contains(t, other.Items[0].ForcefulRelationsError, "other store")
}
