package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// scripted is a provider of two folders. The token "wrong" is refused, "down" fails, and
// the resource "slow" syncs until it is stopped, and says that it began.
type scripted struct{ entered chan struct{} }

func (scripted) Describe() contextmem.ProviderInfo {
	return contextmem.ProviderInfo{Name: "scripted", Category: "files", ConnectorType: "files", ObjectTypes: []string{"file"}, AuthTypes: []string{contextmem.AuthToken}, Beta: true,
		CredentialSchema: json.RawMessage(`{"type":"object","required":["token"],"properties":{"token":{"type":"string"}}}`), SetupGuide: "Make a token.",
		Searchable: []contextmem.ProviderField{{Name: "title", DataType: "string", Description: "name"}},
		Filterable: []contextmem.ProviderField{{Name: "kind", DataType: "string", FilterKey: "additional_metadata.kind", Description: "kind"}}}
}

func (scripted) Check(_ context.Context, c contextmem.Credentials) error {
	switch c["token"] {
	case "wrong":
		return fmt.Errorf("%w: no such token", contextmem.ErrBadCredentials)
	case "down":
		return errors.New("connection refused")
	}
	return nil
}

func (scripted) Discover(_ context.Context, _ contextmem.Credentials, cursor string, limit int) ([]contextmem.ProviderResource, string, error) {
	all := []contextmem.ProviderResource{{ID: "r1", Name: "One", Type: "folder"}, {ID: "r2", Name: "Two", Type: "folder", Metadata: map[string]any{"size": 2}}}
	from := 0
	if cursor != "" {
		from, _ = strconv.Atoi(cursor)
	}
	to := min(from+limit, len(all))
	next := ""
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[from:to], next, nil
}

func (s scripted) Sync(ctx context.Context, r contextmem.SyncRequest) (*contextmem.SyncPage, error) {
	if r.ResourceID == "slow" {
		select {
		case s.entered <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &contextmem.SyncPage{Cursor: "c1"}, nil
}

// connect makes a connector, and waits until it has synced or is stuck.
func (f *fixture) connect(t testing.TB, slow bool) {
	t.Helper()
	org := f.svc.Org(contextmem.DefaultOrg)
	c, err := org.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: "scripted", Name: "Ours", Tenant: "acme", Credentials: contextmem.Credentials{"token": "abc"}})
	require.NoError(t, err)
	f.vars["connector"] = c.ID
	id := "r1"
	if slow {
		id = "slow"
	}
	_, err = org.AddResources(t.Context(), c.ID, []contextmem.ConnectorResource{{ResourceID: id, Type: "folder", Name: "One"}})
	require.NoError(t, err)
	if slow {
		<-f.entered
		return
	}
	require.Eventually(t, func() bool {
		c, err := org.Connector(t.Context(), c.ID)
		require.NoError(t, err)
		return c.Cycles >= 1 && c.SyncStatus == contextmem.SyncIdle
	}, time.Minute, time.Millisecond)
}
