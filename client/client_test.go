package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/httpapi"
)

const key = "test-key"

// serve returns a service, and the address of a server over it whose handler is wrapped.
func serve(t *testing.T, wrap func(http.Handler) http.Handler) (*contextmem.Service, string) {
	t.Helper()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	h, err := httpapi.New(svc, httpapi.Options{Keys: map[string]string{key: contextmem.DefaultOrg}})
	require.NoError(t, err)
	if wrap != nil {
		h = wrap(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return svc, srv.URL
}

func dial(t *testing.T, url string) *client.Client {
	t.Helper()
	c, err := client.New(url, key, &client.Options{Pause: time.Millisecond})
	require.NoError(t, err)
	return c
}

// TestMemories makes the same calls through the interface, embedded and over REST. Both must give the same answers.
func TestMemories(t *testing.T) {
	t.Parallel()
	svc, url := serve(t, nil)
	c := dial(t, url)
	spec := contextmem.TenantSpec{ID: "acme", Schema: []contextmem.Field{{Name: "team", Match: true}}}
	require.NoError(t, c.CreateTenant(t.Context(), spec))
	require.NoError(t, c.Tenant("acme").WaitReady(t.Context()))
	for name, m := range map[string]contextmem.Memories{"embedded": svc.Tenant("acme").Sub("embedded"), "remote": c.Tenant("acme").Sub("remote")} {
		t.Run(name, func(t *testing.T) {
			versions(t, m)
			useMemories(t, m, name)
		})
	}
	subs, err := c.Tenant("acme").Subs(t.Context())
	require.NoError(t, err)
	want, err := svc.Tenant("acme").Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, want.Subs, subs)
}

// versions replaces a memory and restores it.
func versions(t *testing.T, m contextmem.Memories) {
	ctx := t.Context()
	for _, text := range []string{"I live in Oslo.", "I live in Lima. I sail."} {
		res, err := m.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "home", Text: text}}})
		require.NoError(t, err)
		require.NoError(t, contextmem.Settled(ctx, m, res))
	}
	it, err := m.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "home", Version: 1, Class: contextmem.ClassMemory})
	require.NoError(t, err)
	require.Equal(t, []any{"home", contextmem.StatusQueued}, []any{it.ID, it.Status})
	_, err = m.Wait(ctx, "home")
	require.NoError(t, err)
	h, err := m.History(ctx, content.HistoryRequest{ID: "home", Principals: []string{"anybody"}})
	require.NoError(t, err)
	require.Equal(t, contextmem.ClassMemory, h.Class)
	require.Len(t, h.Versions, 3)
	require.Equal(t, []any{3, "I live in Oslo."}, []any{h.Versions[0].Version, h.Versions[0].Text})
	v := h.Versions[1]
	require.Equal(t, []any{2, 3, content.ByRestore, "I live in Lima. I sail."}, []any{v.Version, v.ReplacedBy, v.Cause, v.Text})
	require.Equal(t, []content.Difference{{Kind: content.Removed, Text: "I live in Oslo."}, {Kind: content.Added, Text: "I live in Lima. I sail."}}, v.Changes)
	require.False(t, v.Stored.IsZero() || v.Replaced.IsZero())
	_, err = m.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "home", Version: 8})
	require.ErrorIs(t, err, fault.ErrNotFound)
	del, err := m.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"home"}, Class: contextmem.ClassMemory})
	require.NoError(t, err)
	require.Equal(t, 1, del.Deleted)
}

func useMemories(t *testing.T, m contextmem.Memories, sub string) {
	ctx := t.Context()
	when := time.Date(2024, 5, 3, 9, 30, 0, 0, time.UTC)
	added, err := m.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{
		{ID: "coffee", Text: "Alice takes her coffee black.", Time: when, Session: "breakfast", Metadata: map[string]any{"team": "red"}},
		{Pairs: []contextmem.Pair{{User: "Where is the printer?", Assistant: "On the second floor."}}, TTL: time.Hour},
	}})
	require.NoError(t, err)
	require.Equal(t, 2, added.Accepted)
	files, err := m.AddKnowledge(ctx, contextmem.KnowledgeBatch{
		Files: []contextmem.File{{ID: "oven", Name: "oven.md", Data: []byte("# Oven\n\nThe oven is cleaned on Mondays."), Title: "Oven manual", Kind: "manual", Time: when}},
		Apps:  []contextmem.AppItem{{ID: "mail-1", Kind: content.AppEmail, Provider: "mail", ExternalID: "x1", Fields: map[string]any{"subject": "Flour", "body": "The flour arrives on Tuesday."}}},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"oven", "mail-1"}, files.IDs())
	st, err := m.Wait(ctx, append(added.IDs(), files.IDs()...)...)
	require.NoError(t, err)
	for _, s := range st {
		require.Equal(t, contextmem.StatusCompleted, s.Status, "%s: %s %s", s.ID, s.ErrorCode, s.ErrorMessage)
	}

	res, err := m.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "how does Alice drink her coffee?", Alpha: contextmem.FixedAlpha(.5), GraphContext: true,
		Filters: contextmem.Filters{Metadata: map[string]any{"team": "red"}}, Temporal: &contextmem.Temporal{Now: when.AddDate(0, 0, 1)}})
	require.NoError(t, err)
	require.Len(t, res.Chunks, 1)
	hit := res.Chunks[0]
	require.Equal(t, "coffee", hit.SourceID)
	require.Equal(t, contextmem.ClassMemory, hit.Class)
	require.Equal(t, "Alice takes her coffee black.", hit.Text)
	require.Equal(t, sub, hit.Sub)
	require.Positive(t, hit.Explain.Keyword)
	require.InDelta(t, .5, res.Alpha, 1e-9)
	require.Equal(t, contextmem.ModeFast, res.Mode)
	require.NotNil(t, res.Graph)
	require.NotNil(t, res.Temporal)
	require.NotEmpty(t, res.RequestID)
	require.Len(t, res.Sources, 1)
	plain, err := m.Recall(ctx, contextmem.Recall{Query: "when does the flour come?"})
	require.NoError(t, err)
	require.Equal(t, "mail-1", plain.Chunks[0].SourceID)
	require.Nil(t, plain.Graph)
	require.Nil(t, plain.Temporal)

	page, err := m.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, PageSize: 1})
	require.NoError(t, err)
	require.Equal(t, 2, page.Total)
	require.Equal(t, 2, page.Pages())
	page, err = m.List(ctx, contextmem.ListRequest{IDs: []string{"oven"}})
	require.NoError(t, err)
	require.Len(t, page.Sources, 1)
	require.Equal(t, "Oven manual", page.Sources[0].Title)
	require.Equal(t, when, page.Sources[0].Timestamp)
	page, err = m.List(ctx, contextmem.ListRequest{Content: true, Fields: contextmem.SourceFilter{Kind: "manual"}})
	require.NoError(t, err)
	require.Len(t, page.Sources, 1)
	require.Contains(t, page.Sources[0].Content, "Mondays")

	f, err := m.Fetch(ctx, contextmem.FetchRequest{ID: "oven"})
	require.NoError(t, err)
	require.Contains(t, f.Text, "cleaned on Mondays")
	require.Equal(t, contextmem.ClassKnowledge, f.Class)
	require.ErrorIs(t, m.Retry(ctx, contextmem.ClassKnowledge, "oven"), contextmem.ErrConflict)

	told, err := m.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "home", Infer: true, UserName: "Alice", Time: when, Text: "I live in Lisbon. From now on, answer in Portuguese."}}})
	require.NoError(t, err)
	require.NoError(t, contextmem.Settled(ctx, m, told))
	known, err := m.Facts(ctx, facts.Request{Predicate: "lives_in", Limit: 5})
	require.NoError(t, err)
	require.Len(t, known.Facts, 1)
	home := known.Facts[0]
	require.Equal(t, []string{"home", "home"}, []string{home.SourceID, home.Slot})
	require.Equal(t, facts.Current, home.Status)
	require.Equal(t, when, home.Learnt)
	require.Contains(t, home.Evidence, "Lisbon")
	who, err := m.Profile(ctx, facts.ProfileRequest{Subject: home.Subject, Slots: []string{"home"}})
	require.NoError(t, err)
	require.Len(t, who.Slots, 1)
	require.Equal(t, []facts.Fact{home}, who.Slots[0].Facts)
	require.Equal(t, facts.One, who.Slots[0].Card)
	require.Len(t, who.Instructions, 1)
	told, err = m.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "move", Infer: true, UserName: "Alice", Time: when.AddDate(0, 1, 0), Text: "I moved to Porto."}}})
	require.NoError(t, err)
	require.NoError(t, contextmem.Settled(ctx, m, told))
	keeps := m.(interface {
		RestoreFact(context.Context, contextmem.Class, string) (*facts.Fact, error)
		RetireFact(context.Context, contextmem.Class, string) (*facts.Fact, error)
	})
	restored, err := keeps.RestoreFact(ctx, contextmem.ClassMemory, home.ID)
	require.NoError(t, err)
	require.Equal(t, []any{home.ID, facts.Current, false}, []any{restored.ID, restored.Status, restored.Restored.IsZero()})
	retired, err := keeps.RetireFact(ctx, 0, home.ID)
	require.NoError(t, err)
	require.Equal(t, []any{facts.Superseded, true}, []any{retired.Status, retired.Restored.IsZero()})
	_, err = keeps.RetireFact(ctx, 0, home.ID)
	require.ErrorIs(t, err, contextmem.ErrConflict)
	_, err = keeps.RestoreFact(ctx, contextmem.ClassAll, home.ID)
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	_, err = m.Facts(ctx, facts.Request{Limit: -1})
	require.ErrorIs(t, err, contextmem.ErrInvalid)

	again, err := m.AddMemories(ctx, contextmem.MemoryBatch{FailIfExists: true, Memories: []contextmem.Memory{{ID: "coffee", Text: "Alice takes milk."}}})
	require.NoError(t, err)
	require.ErrorIs(t, again.Items[0].Err, contextmem.ErrExists)

	del, err := m.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"coffee", "oven", "nothing"}})
	require.NoError(t, err)
	require.Equal(t, 2, del.Deleted)
	require.True(t, del.Items[0].Deleted && del.Items[1].Deleted && !del.Items[2].Deleted)
	require.ErrorIs(t, del.Items[2].Err, contextmem.ErrNotFound)
	del, err = m.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"nothing"}, KeepIndexing: true})
	require.NoError(t, err)
	require.ErrorIs(t, del.Items[0].Err, contextmem.ErrNotFound)
	_, err = m.Fetch(ctx, contextmem.FetchRequest{ID: "oven"})
	require.ErrorIs(t, err, contextmem.ErrNotFound)
}

// TestErrorsHaveKinds checks that errors of a server are those of the library.
func TestErrorsHaveKinds(t *testing.T) {
	t.Parallel()
	_, url := serve(t, nil)
	c := dial(t, url)
	m := c.Tenant("nobody").Sub("")
	_, err := m.Recall(t.Context(), contextmem.Recall{Query: "x"})
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	var fe *contextmem.Error
	require.ErrorAs(t, err, &fe)
	require.Equal(t, fault.Tenant, fe.Resource)
	_, err = m.Recall(t.Context(), contextmem.Recall{Query: " "})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	other, err := client.New(url, "wrong", nil)
	require.NoError(t, err)
	_, err = other.Tenants(t.Context())
	require.ErrorIs(t, err, contextmem.ErrUnauthorized)
	require.NotContains(t, err.Error(), "wrong")
	for name, call := range map[string]func() error{
		"Progress": func() error {
			_, err := m.AddMemories(t.Context(), contextmem.MemoryBatch{Progress: func(contextmem.ItemProgress) {}})
			return err
		},
		"RequestID": func() error {
			_, err := m.Recall(t.Context(), contextmem.Recall{Query: "x", RequestID: contextmem.NewRequestID()})
			return err
		},
		"Apps[0].Fault": func() error {
			_, err := m.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Apps: []contextmem.AppItem{{ID: "a", Fault: io.EOF}}})
			return err
		},
		"Class": func() error {
			_, err := m.Fetch(t.Context(), contextmem.FetchRequest{ID: "a", Class: contextmem.ClassMemory})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := call()
			require.ErrorIs(t, err, contextmem.ErrInvalid, name)
			require.ErrorAs(t, err, &fe)
			require.Equal(t, name, fe.Field)
		})
	}
	for _, s := range []string{"", "127.0.0.1:80", "ftp://x", "http://u:p@x", "http://x/?a=b"} {
		t.Run(s, func(t *testing.T) {
			_, err := client.New(s, key, nil)
			require.ErrorIs(t, err, contextmem.ErrInvalid, s)
		})
	}
}

// TestFileACL checks that a file sent with an access list is hidden from others from the start.
func TestFileACL(t *testing.T) {
	t.Parallel()
	svc, url := serve(t, nil)
	_, err := svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	m := dial(t, url).Tenant("acme").Sub("bob")
	res, err := m.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "plan", Name: "plan.txt", Data: []byte("The plan is kept in the safe."), ACL: []string{"ann@example.com"}}}})
	require.NoError(t, err)
	require.NoError(t, contextmem.Settled(t.Context(), m, res))
	for who, want := range map[string]int{"ann@example.com": 1, "eve@example.com": 0} {
		found, err := m.Recall(t.Context(), contextmem.Recall{Query: "where is the plan?", Principals: []string{who}})
		require.NoError(t, err)
		require.Len(t, found.Chunks, want, who)
		page, err := m.List(t.Context(), contextmem.ListRequest{Principals: []string{who}})
		require.NoError(t, err)
		require.Equal(t, want, page.Total, who)
	}
	_, err = m.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "bad", Name: "bad.txt", Data: []byte("x"), ACL: []string{""}}}})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	require.ErrorContains(t, err, `field "Files[0].ACL"`)
}

// TestRepeats checks that an addition whose answer is lost is sent again and stored once, and that requests that must
// not be repeated are not.
func TestRepeats(t *testing.T) {
	t.Parallel()
	var cut, busy atomic.Int32
	svc, url := serve(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case busy.Add(-1) >= 0:
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			case cut.Add(-1) >= 0:
				h.ServeHTTP(httptest.NewRecorder(), r) // it is done, and nobody hears of it
				panic(http.ErrAbortHandler)
			}
			h.ServeHTTP(w, r)
		})
	})
	_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	m := dial(t, url).Tenant("acme").Sub("bob")
	cut.Store(2)
	busy.Store(2)
	res, err := m.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "Bob cycles to work."}}})
	require.NoError(t, err)
	require.Equal(t, 1, res.Accepted)
	require.NoError(t, svc.Drain(t.Context()))
	page, err := m.List(t.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory})
	require.NoError(t, err)
	require.Equal(t, 1, page.Total)

	busy.Store(0)
	cut.Store(1)
	_, err = m.AddMemories(t.Context(), contextmem.MemoryBatch{FailIfExists: true, Memories: []contextmem.Memory{{ID: "b2", Text: "Bob swims."}}})
	require.ErrorIs(t, err, contextmem.ErrUnavailable)
	require.True(t, client.Lost(err))

	busy.Store(1 << 20)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	_, err = m.List(ctx, contextmem.ListRequest{})
	require.Error(t, err)
	require.False(t, errors.Is(err, contextmem.ErrNotFound))
}

// TestUnknownIDs: the error about an id that names no item speaks of no route.
func TestUnknownIDs(t *testing.T) {
	t.Parallel()
	svc, url := serve(t, nil)
	tenant, err := svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	_, err = dial(t, url).Tenant(tenant.ID).Sub("a").Fetch(t.Context(), contextmem.FetchRequest{ID: "nothing"})
	require.EqualError(t, err, "contextmem: fetch: source not found")
	require.ErrorIs(t, err, contextmem.ErrNotFound)
}

// TestWordsOfTheLibrary checks that a warning, a hint and an error of a server speak of tenants and sub-tenants, as those of an embedded service do.
func TestWordsOfTheLibrary(t *testing.T) {
	t.Parallel()
	svc, url := serve(t, nil)
	c := dial(t, url)
	require.NoError(t, c.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"}))
	require.NoError(t, c.Tenant("acme").WaitReady(t.Context()))
	_, err := svc.Tenant("acme").Sub("full").Remember(t.Context(), contextmem.Memory{ID: "a", Text: "I live in Lima."})
	require.NoError(t, err)
	said := func(m contextmem.Memories, none contextmem.Memories) []string {
		res, err := m.Recall(t.Context(), contextmem.Recall{Query: "home", Class: contextmem.ClassMemory})
		require.NoError(t, err)
		require.Len(t, res.Warnings, 1)
		at, err := m.Status(t.Context(), "a")
		require.NoError(t, err)
		_, err = none.Recall(t.Context(), contextmem.Recall{Query: "home"})
		var fe *fault.Error
		require.ErrorAs(t, err, &fe)
		return []string{res.Warnings[0].Message, at[0].Hint, fe.Err.Error()}
	}
	want := []string{"the sub-tenant searched holds nothing; other sub-tenants of this tenant that hold data: 1",
		`searched sub-tenant "empty"; an item with this id exists in another sub-tenant`, "tenant not found"}
	require.Equal(t, want, said(svc.Tenant("acme").Sub("empty"), svc.Tenant("none").Sub("empty")))
	require.Equal(t, want, said(c.Tenant("acme").Sub("empty"), c.Tenant("none").Sub("empty")))
}
