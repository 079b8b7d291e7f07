package notion_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/notion"
)

// always returns a provider that lists a database at the end of every round.
func always(f *fake) *notion.Provider {
	return notion.New(notion.Config{BaseURL: f.URL, PageSize: 4, ListEvery: time.Nanosecond})
}

func TestPagesThatLeaveADatabaseAreNoticed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := 1; i <= 10; i++ {
		f.pages[id(i)] = page{edited: day.Add(time.Duration(i) * time.Hour)}
	}
	_, _, _, cursor := drain(t, f, connector.SyncRequest{ResourceID: db, Type: "database"})
	r := connector.SyncRequest{ResourceID: db, Type: "database", Credentials: good, Cursor: cursor}
	delete(f.pages, id(2))
	f.pages[id(5)] = page{edited: day.Add(5 * time.Hour), archived: true}
	f.pages[id(20)] = page{edited: day.Add(20 * time.Hour)}

	later, err := open(f).Sync(t.Context(), r)
	require.NoError(t, err)
	assert.False(t, later.Complete, "not due yet")

	// A pause in the middle of the listing leaves it for later and keeps the rest.
	f.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/query") || f.sorted != "created_time" {
			return false
		}
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	p, err := always(f).Sync(t.Context(), r)
	require.NoError(t, err)
	assert.False(t, p.Complete)
	require.Len(t, p.Objects, 1)
	assert.Equal(t, id(20), p.Objects[0].ExternalID)
	f.refuse = nil

	r.Cursor = p.Cursor
	p, err = always(f).Sync(t.Context(), r)
	require.NoError(t, err)
	assert.True(t, p.Complete)
	assert.ElementsMatch(t, []string{id(1), id(3), id(4), id(6), id(7), id(8), id(9), id(10), id(20)}, p.Present)
	assert.Empty(t, p.Objects)
	assert.Empty(t, p.Deleted)

	// The search of a workspace proves nothing, and neither does a listing that does not go on.
	r.ResourceID, r.Type, r.Cursor = "workspace", "", ""
	for range 3 {
		p, err = always(f).Sync(t.Context(), r)
		require.NoError(t, err)
		assert.False(t, p.Complete)
		r.Cursor = p.Cursor
	}
	f.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
		if f.sorted == "created_time" {
			fmt.Fprint(w, `{"results":[],"has_more":true}`)
		}
		return f.sorted == "created_time"
	}
	r = connector.SyncRequest{ResourceID: db, Type: "database", Credentials: good, Cursor: cursor}
	p, err = always(f).Sync(t.Context(), r)
	require.NoError(t, err)
	assert.False(t, p.Complete)
}

// TestDeletedPageDisappears syncs a database into a service, deletes one of its pages, and syncs again.
func TestDeletedPageDisappears(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := 1; i <= 9; i++ {
		f.pages[id(i)] = page{edited: day.Add(time.Duration(i) * time.Hour)}
	}
	f.blocks[id(3)] = []map[string]any{{"id": id(50), "type": "paragraph", "paragraph": map[string]any{"rich_text": rich("The walrus statue stands beside the fountain.")}}}
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Providers: []connector.Provider{always(f)}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	acme := svc.Tenant("acme")
	require.NoError(t, acme.WaitReady(t.Context()))
	c, err := svc.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: notion.Name, Tenant: "acme", Credentials: good})
	require.NoError(t, err)
	_, err = svc.AddResources(t.Context(), c.ID, []contextmem.ConnectorResource{{ResourceID: db, Type: notion.TypeDatabase}})
	require.NoError(t, err)
	synced := func(cycles int) {
		t.Helper()
		require.Eventually(t, func() bool {
			c, err := svc.Connector(t.Context(), c.ID)
			require.NoError(t, err)
			require.Empty(t, c.LastError)
			return c.SyncStatus == contextmem.SyncIdle && c.Cycles >= cycles
		}, time.Minute, 10*time.Millisecond)
		require.NoError(t, svc.Drain(t.Context()))
	}
	total := func() int {
		p, err := acme.List(t.Context(), contextmem.ListRequest{})
		require.NoError(t, err)
		return p.Total
	}
	found := func() bool {
		res, err := acme.Recall(t.Context(), contextmem.Recall{Query: "where is the walrus statue?"})
		require.NoError(t, err)
		for _, ch := range res.Chunks {
			if strings.Contains(ch.Text, "walrus") {
				return true
			}
		}
		return false
	}
	synced(1)
	require.Equal(t, 9, total())
	require.True(t, found())
	f.mu.Lock()
	delete(f.pages, id(3))
	f.mu.Unlock()
	_, err = svc.SyncNow(t.Context(), c.ID)
	require.NoError(t, err)
	synced(2)
	require.Equal(t, 8, total())
	require.False(t, found())
}
