package delivery_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func objects(cursor string, more bool, os ...connector.Object) *connector.Page {
	return &connector.Page{Objects: os, Cursor: cursor, More: more}
}

var token = connector.Credentials{"token": "secret-token"}

// connect creates a connector with the resources and waits until it is idle.
func connect(t *testing.T, svc *contextmem.Service, spec contextmem.ConnectorSpec, rs ...contextmem.ConnectorResource) contextmem.Connector {
	t.Helper()
	spec.Provider = "script"
	if spec.Tenant == "" {
		spec.Tenant = "acme"
	}
	if spec.Credentials == nil {
		spec.Credentials = token
	}
	c, err := svc.CreateConnector(t.Context(), spec)
	require.NoError(t, err)
	if len(rs) > 0 {
		_, err = svc.AddResources(t.Context(), c.ID, rs)
		require.NoError(t, err)
	}
	return awaitIdle(t, svc, c.ID)
}

// awaitIdle waits until nothing moves in the bubble and returns the connector.
func awaitIdle(t *testing.T, svc *contextmem.Service, id string) contextmem.Connector {
	t.Helper()
	synctest.Wait()
	c, err := svc.Connector(t.Context(), id)
	require.NoError(t, err)
	return c
}

func resource(t *testing.T, svc *contextmem.Service, id string) contextmem.ConnectorResource {
	t.Helper()
	rs, err := svc.Resources(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, rs, 1)
	return rs[0]
}

func listSources(t *testing.T, s contextmem.Sub) map[string]contextmem.SourceInfo {
	t.Helper()
	out := map[string]contextmem.SourceInfo{}
	for x, err := range s.Sources(t.Context(), contextmem.ListRequest{}) {
		require.NoError(t, err)
		out[x.Additional["external_id"].(string)] = x
	}
	return out
}

var r1 = contextmem.ConnectorResource{ResourceID: "r1", Type: "folder", Name: "R"}

func TestConnectorSyncsOnSchedule(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, p *servicetest.ScriptedProvider) {
		p.Answer(func(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
			switch r.Cursor {
			case "":
				return objects("1", true, servicetest.Doc("a", "The lighthouse keeper rings a bell."), servicetest.Doc("b", "Salt is kept in the cellar.")), nil
			case "1":
				return objects("2", false, servicetest.Doc("c", "Ferries leave at noon.")), nil
			case "2":
				page := objects("3", false, servicetest.Doc("a", "The lighthouse keeper rings a bell."), servicetest.Doc("b", "Salt is kept in the attic."))
				page.Deleted = []string{"c", "never-there"}
				return page, nil
			}
			return objects(r.Cursor, false), nil
		})
		c := connect(t, svc, contextmem.ConnectorSpec{AccountScope: "acc", Sub: "team"}, r1)
		first := time.Now()
		require.Equal(t, 2, p.Count())
		require.Equal(t, token, p.Call(0).Credentials)
		require.Equal(t, contextmem.SyncIdle, c.SyncStatus)
		require.Empty(t, c.LastError)
		require.Equal(t, 3, c.Dispatched)
		require.Equal(t, 1, c.Resources)
		require.Equal(t, time.Hour, c.Interval)
		require.True(t, c.NextSync.Equal(first.Add(time.Hour)))
		require.NoError(t, svc.Drain(t.Context()))
		got := listSources(t, acme.Sub("team"))
		require.Len(t, got, 3)
		require.Equal(t, "script", got["a"].Metadata["provider"])
		require.Equal(t, c.ID, got["a"].Metadata["connector_id"])
		require.Equal(t, "acc", got["a"].Additional["provider_account_scope"])
		require.Equal(t, "r1", got["a"].Additional["resource_id"])

		time.Sleep(time.Hour - time.Second)
		synctest.Wait()
		require.Equal(t, 2, p.Count())
		time.Sleep(2 * time.Second)
		c = awaitIdle(t, svc, c.ID)
		require.Equal(t, 3, p.Count())
		require.Equal(t, 4, c.Dispatched, "only what changed is ingested")
		require.NoError(t, svc.Drain(t.Context()))
		again := listSources(t, acme.Sub("team"))
		require.Len(t, again, 2)
		require.Equal(t, got["b"].ID, again["b"].ID)
		res, err := acme.Sub("team").Recall(t.Context(), contextmem.Recall{Query: "where is the salt kept?"})
		require.NoError(t, err)
		require.Contains(t, strings.Join(servicetest.Texts(res), " "), "attic")
		require.NotContains(t, strings.Join(servicetest.Texts(res), " "), "Ferries")
		require.Equal(t, "3", resource(t, svc, c.ID).Cursor)

		// What somebody removed by hand comes back when it is seen again.
		_, err = acme.Sub("team").DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{again["a"].ID}})
		require.NoError(t, err)
		p.Answer(func(context.Context, connector.SyncRequest) (*connector.Page, error) {
			return objects("4", false, servicetest.Doc("a", "The lighthouse keeper rings a bell.")), nil
		})
		_, err = svc.SyncNow(t.Context(), c.ID)
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, svc.Drain(t.Context()))
		require.Len(t, listSources(t, acme.Sub("team")), 2)
	})
}

func TestConnectorCompleteListingRemovesTheRest(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, p *servicetest.ScriptedProvider) {
		p.Answer(func(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
			if r.Cursor != "" { // the second sync
				page := objects("2", false, servicetest.Doc("d", "A new boat came."))
				if r.ResourceID == "r1" {
					page.Complete, page.Present = true, []string{"b", "never-there"}
				}
				return page, nil
			}
			return objects("1", false, servicetest.Doc("a", "The lighthouse keeper rings a bell."), servicetest.Doc("b", "Salt is kept in the cellar."), servicetest.Doc("c", "Ferries leave at noon.")), nil
		})
		c := connect(t, svc, contextmem.ConnectorSpec{}, r1, contextmem.ConnectorResource{ResourceID: "r2"})
		require.NoError(t, svc.Drain(t.Context()))
		count := func() map[string]int {
			got := map[string]int{}
			for x, err := range acme.Sub("").Sources(t.Context(), contextmem.ListRequest{}) {
				require.NoError(t, err)
				got[x.Additional["resource_id"].(string)+x.Additional["external_id"].(string)]++
			}
			return got
		}
		require.Len(t, count(), 6)
		_, err := svc.SyncNow(t.Context(), c.ID)
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, svc.Drain(t.Context()))
		require.Equal(t, map[string]int{"r1b": 1, "r1d": 1, "r2a": 1, "r2b": 1, "r2c": 1, "r2d": 1}, count(), "other resources keep theirs")
	})
}

// TestConnectorRefillsARemadeTenant checks that a tenant that is deleted and created again gets all objects of its
// connector again, not only later changes.
func TestConnectorRefillsARemadeTenant(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, p *servicetest.ScriptedProvider) {
		p.Answer(func(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
			if r.Cursor == "" {
				return objects("1", false, servicetest.Doc("a", "The lighthouse keeper rings a bell."), servicetest.Doc("b", "Salt is kept in the cellar.")), nil
			}
			return objects(r.Cursor+"1", false), nil
		})
		other := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "other"})
		c := connect(t, svc, contextmem.ConnectorSpec{}, r1, contextmem.ConnectorResource{ResourceID: "r2", TenantOverride: "other"})
		require.NoError(t, svc.Drain(t.Context()))
		require.Len(t, listSources(t, acme.Sub("")), 2)
		require.NoError(t, acme.Delete(t.Context()))
		run := func() {
			_, err := svc.SyncNow(t.Context(), c.ID)
			require.NoError(t, err)
			synctest.Wait()
		}
		run()
		require.Contains(t, awaitIdle(t, svc, c.ID).LastError, "not found")
		servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		run()
		require.Empty(t, awaitIdle(t, svc, c.ID).LastError)
		require.NoError(t, svc.Drain(t.Context()))
		require.Len(t, listSources(t, acme.Sub("")), 2)
		require.Len(t, listSources(t, other.Sub("")), 2)
		rs, err := svc.Resources(t.Context(), c.ID)
		require.NoError(t, err)
		require.Equal(t, "1", rs[0].Cursor)
		require.Equal(t, "111", rs[1].Cursor, "the other resource went on")
		before := p.Count()
		run()
		require.Equal(t, "1", p.Call(before).Cursor, "it starts anew once")
	})
}

func TestConnectorMetadataAndOverrides(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, p *servicetest.ScriptedProvider) {
		other := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "other", Schema: []contextmem.Field{{Name: "area", Type: content.Varchar}, {Name: "year", Type: content.Int32}}})
		good := servicetest.Doc("good", "The orchard has nine trees.")
		good.File.Metadata = map[string]any{"area": "north", "stray": "kept"}
		good.File.Additional = map[string]any{"note": "theirs"}
		bad := servicetest.Doc("bad", "The meadow floods in spring.")
		bad.File.Metadata = map[string]any{"year": "not a number"}
		p.Answer(func(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
			return objects(r.Cursor+"x", false, bad, good, connector.Object{ExternalID: "neither"},
				connector.Object{ExternalID: "zip", File: &contextmem.File{Name: "a.7z", Data: []byte("7z")}},
				connector.Object{ExternalID: "reader", File: &contextmem.File{Name: "r.txt", Open: func() (io.ReadCloser, error) {
					return io.NopCloser(strings.NewReader("A stream of words.")), nil
				}}}), nil
		})
		r := r1
		r.TenantOverride, r.SubOverride = "other", "garden"
		r.Metadata = map[string]any{"area": "south", "provider": "mine", "connector_id": "mine"}
		r.Additional = map[string]any{"note": "ours", "team": "blue"}
		c := connect(t, svc, contextmem.ConnectorSpec{}, r)
		require.Empty(t, c.LastError)
		got := resource(t, svc, c.ID)
		require.Equal(t, "partial", got.LastStatus)
		require.Contains(t, got.LastError, `object "neither"`)
		require.NotContains(t, got.LastError, "not a number")
		require.NoError(t, svc.Drain(t.Context()))
		items := listSources(t, other.Sub("garden"))
		require.Len(t, items, 2)
		m := items["good"].Metadata
		require.Equal(t, "north", m["area"])
		require.Equal(t, "kept", m["stray"])
		require.Equal(t, "script", m["provider"])
		require.Equal(t, c.ID, m["connector_id"])
		require.Equal(t, "theirs", items["good"].Additional["note"])
		require.Equal(t, "blue", items["good"].Additional["team"])
		require.Equal(t, "south", items["reader"].Metadata["area"])

		// Routed elsewhere, an object moves when it is seen again.
		r.TenantOverride, r.SubOverride = "", ""
		_, err := svc.AddResources(t.Context(), c.ID, []contextmem.ConnectorResource{r})
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, svc.Drain(t.Context()))
		require.Empty(t, listSources(t, other.Sub("garden")))
		require.Len(t, listSources(t, acme.Sub("")), 3, "without a schema the third one fits too")
		require.Equal(t, "x", p.Call(p.Count()-1).Cursor, "cursors survive")
	})
}

func TestConnectorCursorWaitsForObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &servicetest.ScriptedProvider{}
		var fail atomic.Bool
		fail.Store(true)
		p.Answer(func(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
			return objects(r.Cursor+"x", false, connector.Object{ExternalID: "a", File: &contextmem.File{Name: "a.txt", Open: func() (io.ReadCloser, error) {
				if fail.Load() {
					return nil, errors.New("connection reset")
				}
				return io.NopCloser(strings.NewReader("Honey is sold by weight.")), nil
			}}}), nil
		})
		be := neverClosed{inmem.New()}
		o := &contextmem.Options{Providers: []connector.Provider{p}}
		svc, err := contextmem.New(t.Context(), be, o)
		require.NoError(t, err)
		acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		c := connect(t, svc, contextmem.ConnectorSpec{}, r1)
		require.Equal(t, "connection reset", c.LastError)
		require.Empty(t, resource(t, svc, c.ID).Cursor)
		fail.Store(false)
		require.NoError(t, svc.Close())

		// What became due while the service was down runs after its start.
		time.Sleep(2 * time.Hour)
		svc, err = contextmem.New(t.Context(), be, o)
		require.NoError(t, err)
		c = awaitIdle(t, svc, c.ID)
		require.Equal(t, 2, p.Count())
		require.Empty(t, p.Call(1).Cursor)
		require.Equal(t, token, p.Call(1).Credentials)
		require.Empty(t, c.LastError)
		require.Equal(t, "x", resource(t, svc, c.ID).Cursor)
		require.NoError(t, svc.Drain(t.Context()))
		require.Len(t, listSources(t, svc.Tenant(acme.ID()).Sub("")), 1)

		// Nothing at rest shows the credentials.
		for _, kind := range []string{"connector", "connres", "connobj"} {
			rs, err := be.Registry().AllRecords(t.Context(), kind, "", "", 100)
			require.NoError(t, err)
			require.NotEmpty(t, rs)
			for _, r := range rs {
				require.NotContains(t, string(r.Data), "secret-token")
			}
		}
		require.NoError(t, svc.Close())
	})
}

func errorOf[T any](_ T, err error) error { return err }
