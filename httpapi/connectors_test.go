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
	"github.com/contextmem/contextmem/connector"
)

// scripted is a provider of two folders. The token "wrong" is refused, and "down" fails. The resource "slow" reports
// that its sync began, and syncs until it is stopped.
type scripted struct{ entered chan struct{} }

func (scripted) Describe() connector.Info {
	return connector.Info{Name: "scripted", Category: "files", ConnectorType: "files", ObjectTypes: []string{"file"}, AuthTypes: []string{connector.AuthToken}, Beta: true,
		CredentialSchema: json.RawMessage(`{"type":"object","required":["token"],"properties":{"token":{"type":"string"}}}`), SetupGuide: "Make a token.",
		Searchable: []connector.Field{{Name: "title", DataType: "string", Description: "name"}},
		Filterable: []connector.Field{{Name: "kind", DataType: "string", FilterKey: "additional_metadata.kind", Description: "kind"}}}
}

func (scripted) Check(_ context.Context, c connector.Credentials) error {
	switch c["token"] {
	case "wrong":
		return fmt.Errorf("%w: no such token", connector.ErrBadCredentials)
	case "down":
		return errors.New("connection refused")
	}
	return nil
}

func (scripted) Discover(_ context.Context, _ connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	all := []connector.Resource{{ID: "r1", Name: "One", Type: "folder"}, {ID: "r2", Name: "Two", Type: "folder", Metadata: map[string]any{"size": 2}}}
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

func (s scripted) Sync(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
	if r.ResourceID == "slow" {
		select {
		case s.entered <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &connector.Page{Cursor: "c1"}, nil
}

// connect creates a connector, and waits until it has synced or is blocked in a sync.
func (f *fixture) connect(t testing.TB, slow bool) {
	t.Helper()
	org := f.svc.Org(contextmem.DefaultOrg)
	c, err := org.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: "scripted", Name: "Ours", Tenant: "acme", Credentials: connector.Credentials{"token": "abc"}})
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
