package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func TestDuplicateIDsInOneCall(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the left shelf."}, {ID: "m", Text: "The kettle is in the cellar."}}})
	require.NoError(t, err)
	require.Equal(t, 2, res.Accepted)
	require.NoError(t, svc.Drain(t.Context()))
	r, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
	require.NoError(t, err)
	require.Equal(t, []string{"The kettle is in the cellar."}, servicetest.Texts(r), "the last one counts")
	p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	require.Equal(t, 1, p.Total)
}

func TestListPages(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("a")
	var ms []contextmem.Memory
	for i := range 23 {
		ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("m%02d", i), Text: fmt.Sprintf("Note %d.", i), Title: fmt.Sprintf("T%d", i%2), Additional: map[string]any{"odd": i%2 == 1}})
	}
	servicetest.Remember(t, s, ms...)
	seen := map[string]bool{}
	for page := 1; ; page++ {
		p, err := s.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory, Page: page, PageSize: 5})
		require.NoError(t, err)
		require.Equal(t, 23, p.Total)
		require.Equal(t, 5, p.Pages())
		for _, x := range p.Sources {
			require.False(t, seen[x.ID])
			seen[x.ID] = true
			require.NotEmpty(t, x.Content)
		}
		if page > p.Pages() {
			require.Empty(t, p.Sources)
			break
		}
	}
	require.Len(t, seen, 23)
	for name, c := range map[string]struct {
		r    contextmem.ListRequest
		want int
	}{
		"title":    {contextmem.ListRequest{Fields: contextmem.SourceFilter{Title: "T1"}}, 11},
		"document": {contextmem.ListRequest{Filters: contextmem.Filters{Additional: map[string]any{"odd": true}}}, 11},
		"ids":      {contextmem.ListRequest{IDs: []string{"m01", "m02", "none"}}, 2},
		"no ids":   {contextmem.ListRequest{IDs: []string{}}, 0},
		"both":     {contextmem.ListRequest{IDs: []string{"m01", "m02"}, Fields: contextmem.SourceFilter{Title: "T0"}}, 1},
		"none":     {contextmem.ListRequest{Fields: contextmem.SourceFilter{URL: "https://example.com"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.r.Class = contextmem.ClassMemory
			p, err := s.List(t.Context(), c.r)
			require.NoError(t, err)
			require.Equal(t, c.want, p.Total, name)
		})
	}
	n := 0
	for x, err := range s.Sources(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory, PageSize: 4}) {
		require.NoError(t, err)
		require.NotEmpty(t, x.ID)
		n++
	}
	require.Equal(t, 23, n)
}

func TestPresigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		be := inmem.New()
		svc, err := contextmem.New(t.Context(), be, &contextmem.Options{PublicURL: "https://mem.example.com/"})
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		res, err := acme.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "f", Name: "f.txt", Data: []byte("The kettle.")}}})
		require.NoError(t, err)
		servicetest.Done(t, acme.Sub(""), res.IDs()...)
		f, err := acme.Fetch(t.Context(), contextmem.FetchRequest{ID: "f", Mode: contextmem.FetchURL, Expiry: time.Minute})
		require.NoError(t, err)
		require.Empty(t, f.Text)
		token, ok := strings.CutPrefix(f.URL, "https://mem.example.com"+contextmem.PresignedPath)
		require.True(t, ok, f.URL)
		got, err := svc.OpenPresigned(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, "The kettle.", got.Text)
		for i := range len(token) {
			b := []byte(token)
			b[i] ^= 1
			_, err := svc.OpenPresigned(t.Context(), string(b))
			require.ErrorIs(t, err, contextmem.ErrForbidden, "byte %d", i)
		}
		for _, bad := range []string{"", token[1:], token + "A", strings.Repeat("A", 1<<20)} {
			_, err := svc.OpenPresigned(t.Context(), bad)
			require.ErrorIs(t, err, contextmem.ErrForbidden)
		}
		other, err := contextmem.New(t.Context(), inmem.New(), nil)
		require.NoError(t, err)
		_, err = other.OpenPresigned(t.Context(), token)
		require.ErrorIs(t, err, contextmem.ErrForbidden, "another key")
		require.NoError(t, other.Close())
		time.Sleep(time.Minute)
		_, err = svc.OpenPresigned(t.Context(), token)
		require.ErrorIs(t, err, contextmem.ErrForbidden, "expired")
		f, err = acme.Fetch(t.Context(), contextmem.FetchRequest{ID: "f", Mode: contextmem.FetchBoth})
		require.NoError(t, err)
		require.Equal(t, "The kettle.", f.Text)
		_, err = acme.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"f"}})
		require.NoError(t, err)
		_, err = svc.OpenPresigned(t.Context(), strings.TrimPrefix(f.URL, "https://mem.example.com"+contextmem.PresignedPath))
		require.ErrorIs(t, err, contextmem.ErrNotFound)
	})
}
