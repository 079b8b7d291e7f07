package ingest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestListCursors pages through a list in both directions while items are added and deleted.
func TestListCursors(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s, ctx := tn.Sub("u"), t.Context()
		var ms []contextmem.Memory
		for i := range 7 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprint("m", i), Text: "The kettle is on."})
		}
		servicetest.Remember(t, s, ms...)
		list := func(r contextmem.ListRequest) (ids []string, p *contextmem.SourcePage) {
			r.Class, r.PageSize = contextmem.ClassMemory, 3
			p, err := s.List(ctx, r)
			require.NoError(t, err)
			for _, x := range p.Sources {
				ids = append(ids, x.ID)
			}
			return ids, p
		}
		ids, first := list(contextmem.ListRequest{})
		assert.Equal(t, []string{"m0", "m1", "m2"}, ids)
		assert.Equal(t, []any{7, 1, ""}, []any{first.Total, first.Page, first.Previous})
		servicetest.Remember(t, s, contextmem.Memory{ID: "new", Text: "It boils."})
		_, err := s.DeleteItems(ctx, contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: []string{"m2", "m4"}})
		require.NoError(t, err)
		ids, second := list(contextmem.ListRequest{After: first.Next})
		assert.Equal(t, []string{"m3", "m5", "m6"}, ids)
		assert.Equal(t, []any{6, 0, ""}, []any{second.Total, second.Page, second.Next})
		ids, back := list(contextmem.ListRequest{Before: second.Previous})
		assert.Equal(t, []string{"new", "m0", "m1"}, ids)
		assert.Equal(t, "", back.Previous)
		ids, _ = list(contextmem.ListRequest{After: back.Next})
		assert.Equal(t, []string{"m3", "m5", "m6"}, ids)
		_, third := list(contextmem.ListRequest{Page: 2})
		assert.Equal(t, []any{"", second.Previous}, []any{third.Next, third.Previous})
		var all []string
		for x, err := range s.Sources(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, PageSize: 2, Page: 3}) {
			require.NoError(t, err)
			all = append(all, x.ID)
		}
		assert.Equal(t, []string{"new", "m0", "m1", "m3", "m5", "m6"}, all)
		for _, r := range []contextmem.ListRequest{{After: "?"}, {Before: "YQ"}, {After: "YSBi", Before: "YSBi"}, {After: "YSBi", Page: 1}, {Before: "ISBi"}} {
			r.Class = contextmem.ClassMemory
			_, err := s.List(ctx, r)
			require.ErrorIs(t, err, contextmem.ErrInvalid, r)
		}
	})
}
