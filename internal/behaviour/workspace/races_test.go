package workspace_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func file(id, text, dept string, acl ...string) contextmem.KnowledgeBatch {
	return contextmem.KnowledgeBatch{Files: []contextmem.File{{
		ID: id, Name: id + ".txt", Data: []byte(text), ACL: acl, Metadata: map[string]any{"dept": dept},
	}}}
}

func addFile(t *testing.T, s contextmem.Sub, b contextmem.KnowledgeBatch) {
	t.Helper()
	_, err := s.AddKnowledge(t.Context(), b)
	require.NoError(t, err)
	servicetest.Done(t, s, b.Files[0].ID)
}

// visibleTexts returns the texts that a principal finds, and the document that he can fetch.
func visibleTexts(t *testing.T, s contextmem.Sub, principal, id string) string {
	t.Helper()
	r, err := s.Recall(t.Context(), contextmem.Recall{Query: "salary", Principals: []string{principal}})
	require.NoError(t, err)
	out := strings.Join(servicetest.Texts(r), " ")
	f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: id, Principals: []string{principal}})
	if err == nil {
		return out + f.Text
	}
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	return out
}

func TestEditKeepsConcurrentChanges(t *testing.T) {
	t.Parallel()
	edit := func(h *servicetest.PausableStore, metadata map[string]any) (func(), *error) {
		var err error
		return func() {
			_, err = h.Tn.Sub("").EditMetadata(h.T.Context(), contextmem.EditMetadataRequest{ID: "f", Metadata: metadata})
		}, &err
	}
	plain, embedded := map[string]any{"kind": "letter"}, map[string]any{"topic": "money"}
	fetch := func(h *servicetest.PausableStore) (string, map[string]any) {
		f, err := h.Tn.Sub("").Fetch(h.T.Context(), contextmem.FetchRequest{ID: "f"})
		require.NoError(h.T, err)
		r, err := h.Tn.Sub("").Recall(h.T.Context(), contextmem.Recall{Query: "salary"})
		require.NoError(h.T, err)
		require.NotEmpty(h.T, r.Chunks)
		return f.Text, r.Chunks[0].Metadata
	}
	for name, c := range map[string]struct {
		metadata map[string]any
		method   string
	}{"plain field": {plain, "Store.UpdateMetadata"}, "embedding field": {embedded, "Store.Accept"}} {
		t.Run("access of a newer version, "+name, func(t *testing.T) {
			t.Parallel()
			h := servicetest.OpenPausable(t, contextmem.TenantSpec{Schema: servicetest.RaceSchema})
			s := h.Tn.Sub("")
			addFile(t, s, file("f", "The salary list of the old office.", "a", "bob", "ann"))
			write, err := edit(h, c.metadata)
			h.PauseBefore(c.method, write, func() { addFile(t, s, file("f", "The salary of Ann is a secret.", "b", "ann")) })
			require.NoError(t, *err)
			assert.NotContains(t, visibleTexts(t, s, "bob", "f"), "secret", "only Ann may see it")
			assert.Contains(t, visibleTexts(t, s, "ann", "f"), "secret")
			text, m := fetch(h)
			assert.Equal(t, "The salary of Ann is a secret.", text, "the newer content stays")
			want := map[string]any{"dept": "b"}
			for k, v := range c.metadata {
				want[k] = v
			}
			assert.Equal(t, want, m, "both the newer metadata and the edit hold")
		})
		t.Run("a deleted item stays deleted, "+name, func(t *testing.T) {
			t.Parallel()
			h := servicetest.OpenPausable(t, contextmem.TenantSpec{Schema: servicetest.RaceSchema})
			s := h.Tn.Sub("")
			addFile(t, s, file("f", "The salary list.", "a"))
			write, err := edit(h, c.metadata)
			h.PauseBefore(c.method, write, func() {
				_, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"f"}})
				require.NoError(t, err)
			})
			require.ErrorIs(t, *err, contextmem.ErrNotFound)
			_, ferr := s.Fetch(t.Context(), contextmem.FetchRequest{ID: "f"})
			require.ErrorIs(t, ferr, contextmem.ErrNotFound)
		})
	}
}

func TestDeleteVectorsKeepsConcurrentChanges(t *testing.T) {
	t.Parallel()
	vector := func(id string, x float32) contextmem.Vector {
		return contextmem.Vector{ChunkID: id, Vector: []float32{x, 1}}
	}
	put := func(h *servicetest.PausableStore, vs ...contextmem.Vector) {
		h.T.Helper()
		_, err := h.Tn.Sub("").InsertVectors(h.T.Context(), contextmem.InsertVectorsRequest{Upsert: true, Sources: []contextmem.VectorSource{{SourceID: "s", Vectors: vs}}})
		require.NoError(h.T, err)
	}
	ids := func(h *servicetest.PausableStore) (out []string) {
		h.T.Helper()
		hits, err := h.Tn.Sub("").SearchVectors(h.T.Context(), contextmem.SearchVectorsRequest{Vector: []float32{1, 1}})
		require.NoError(h.T, err)
		for _, x := range hits {
			out = append(out, x.ChunkID)
		}
		slices.Sort(out)
		return out
	}
	for name, c := range map[string]struct {
		selection contextmem.VectorSelection
		method    string
		deleted   int
		left      []string
	}{
		"by chunk":                         {contextmem.VectorSelection{ChunkIDs: []string{"c1"}}, "Store.Place", 1, []string{"c2", "new"}},
		"by chunk that goes":               {contextmem.VectorSelection{ChunkIDs: []string{"c3"}}, "Store.Place", 0, []string{"c1", "c2", "new"}},
		"by source":                        {contextmem.VectorSelection{SourceID: "s"}, "Store.Delete", 3, nil},
		"by all chunks, of which one goes": {contextmem.VectorSelection{ChunkIDs: []string{"c1", "c2", "c3"}}, "Store.Delete", 2, []string{"new"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := servicetest.OpenPausable(t, contextmem.TenantSpec{Embeddings: true, Dimension: 2})
			put(h, vector("c1", 1), vector("c2", 2), vector("c3", 3))
			var n int
			var err error
			h.PauseBefore(c.method, func() { n, err = h.Tn.Sub("").DeleteVectors(t.Context(), c.selection) },
				func() { put(h, vector("c1", 5), vector("c2", 6), vector("new", 7)) })
			require.NoError(t, err)
			assert.Equal(t, c.left, ids(h))
			assert.Equal(t, c.deleted, n)
		})
	}
}

// TestEditsAndUpserts makes concurrent edits, upserts and deletions of a few items over a real store. Each version has
// its number in its text, its metadata and its access list. The three must always agree, and no principal may find a
// hidden item.
func TestEditsAndUpserts(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	tn := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme", Schema: servicetest.RaceSchema})
	s := tn.Sub("")
	const items, rounds = 3, 25
	reader := func(n int) string { return []string{"ann", "bob"}[n%2] }
	version := func(id string, n int) contextmem.KnowledgeBatch {
		return file(id, fmt.Sprintf("The salary is for %s in version v%d.", reader(n), n), fmt.Sprint("v", n), reader(n))
	}
	var writers, others sync.WaitGroup
	over := make(chan struct{})
	for i := range items {
		id := fmt.Sprint("f", i)
		addFile(t, s, version(id, 0))
		writers.Go(func() {
			for n := 1; n <= rounds; n++ {
				_, err := s.AddKnowledge(t.Context(), version(id, n))
				assert.NoError(t, err)
				if n%8 == 0 {
					_, err := s.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{id}})
					assert.NoError(t, err)
					_, err = s.Fetch(t.Context(), contextmem.FetchRequest{ID: id})
					assert.ErrorIs(t, err, contextmem.ErrNotFound, "an edit brought it back")
				}
			}
		})
		for e, metadata := range []map[string]any{{"kind": "letter"}, {"topic": "money"}} {
			others.Go(func() {
				for k := 0; ; k++ {
					select {
					case <-over:
						return
					default:
					}
					m := map[string]any{}
					for name := range metadata {
						m[name] = fmt.Sprint(metadata[name], k)
					}
					_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: id, Metadata: m})
					if err != nil && !errors.Is(err, contextmem.ErrNotFound) {
						assert.NoError(t, err, "edit %d", e)
						return
					}
				}
			})
		}
	}
	others.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			default:
			}
			who := reader(n)
			r, err := s.Recall(t.Context(), contextmem.Recall{Query: "salary", Principals: []string{who}})
			if !assert.NoError(t, err) {
				return
			}
			for _, c := range r.Chunks {
				assert.Contains(t, c.Text, "for "+who, "he may not see it")
				assert.Contains(t, c.Text, fmt.Sprintf("version %v.", c.Metadata["dept"]), "metadata of another version")
			}
		}
	})
	writers.Wait()
	close(over)
	others.Wait()
	for i := range items {
		id := fmt.Sprint("f", i)
		servicetest.Done(t, s, id)
		f, err := s.Fetch(t.Context(), contextmem.FetchRequest{ID: id})
		require.NoError(t, err)
		assert.Equal(t, string(version(id, rounds).Files[0].Data), f.Text)
		assert.NotContains(t, visibleTexts(t, s, reader(rounds+1), id), fmt.Sprint("v", rounds))
	}
}

// TestDeleteMatchingBesideChanges checks that an item that changes between the look for what matches and its deletion is deleted if it
// still matches, and stays if it does not.
func TestDeleteMatchingBesideChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit map[string]any
		r    content.Matching
		want int
	}{
		"of a session, another key":     {map[string]any{"note": "x"}, content.Matching{Session: "one"}, 1},
		"of a session, another session": {map[string]any{"session_id": "two"}, content.Matching{Session: "one"}, 0},
		"by a filter, another key":      {map[string]any{"note": "x"}, content.Matching{Filters: contextmem.Filters{Additional: map[string]any{"session_id": "one"}}}, 1},
		"by a filter, another value":    {map[string]any{"session_id": "two"}, content.Matching{Filters: contextmem.Filters{Additional: map[string]any{"session_id": "one"}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := servicetest.OpenPausable(t, contextmem.TenantSpec{})
			s := h.Tn.Sub("anna")
			servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Oslo.", Additional: map[string]any{"session_id": "one"}})
			c.r.Class = contextmem.ClassMemory
			h.PauseBefore("Store.Delete", func() {
				n, err := s.DeleteMatching(t.Context(), c.r)
				assert.NoError(t, err)
				assert.Equal(t, c.want, n)
			}, func() {
				_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Additional: c.edit})
				require.NoError(t, err)
			})
			p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
			require.NoError(t, err)
			require.Len(t, p.Sources, 1-c.want)
		})
	}
}

// TestDeleteMatchingIsOneTransaction checks that a deletion by a filter or a session deletes all that match in one transaction, also those that
// change meanwhile, so that one that is cut off has deleted all or nothing.
func TestDeleteMatchingIsOneTransaction(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]content.Matching{
		"of a session": {Session: "one"},
		"by a filter":  {Filters: contextmem.Filters{Additional: map[string]any{"session_id": "one"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := servicetest.OpenPausable(t, contextmem.TenantSpec{})
			s := h.Tn.Sub("anna")
			const n = 600
			var all []contextmem.Memory
			for i := range n {
				all = append(all, contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("Box %d is red.", i), Additional: map[string]any{"session_id": "one"}})
			}
			for batch := range slices.Chunk(all, 300) {
				_, err := s.Remember(t.Context(), batch...)
				require.NoError(t, err)
			}
			r.Class = contextmem.ClassMemory
			before := h.Plan.Calls("Store.Delete")
			h.PauseBefore("Store.Delete", func() {
				gone, err := s.DeleteMatching(t.Context(), r)
				assert.NoError(t, err)
				assert.Equal(t, n-1, gone)
			}, func() {
				for id, edit := range map[string]map[string]any{"m1": {"note": "x"}, "m2": {"session_id": "two"}} {
					_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: id, Additional: edit})
					require.NoError(t, err)
				}
				servicetest.Remember(t, s, contextmem.Memory{ID: "m3", Text: "Box 3 is green.", Additional: map[string]any{"session_id": "one"}})
			})
			assert.Equal(t, before+1, h.Plan.Calls("Store.Delete"))
			p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
			require.NoError(t, err)
			require.Len(t, p.Sources, 1)
			assert.Equal(t, "m2", p.Sources[0].ID)
		})
	}
}
