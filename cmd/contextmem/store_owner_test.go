package main

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector"
)

// slowProvider is a provider that counts its concurrent syncs.
type slowProvider struct{ now, most, runs atomic.Int64 }

func (*slowProvider) Describe() connector.Info {
	return connector.Info{Name: "slowly", Category: "files", ConnectorType: "files", ObjectTypes: []string{"file"}, AuthTypes: []string{connector.AuthToken},
		CredentialSchema: json.RawMessage(`{"type":"object","required":["token"],"properties":{"token":{"type":"string"}}}`), SetupGuide: "Make a token."}
}

func (*slowProvider) Check(context.Context, connector.Credentials) error { return nil }

func (*slowProvider) Discover(context.Context, connector.Credentials, string, int) ([]connector.Resource, string, error) {
	return []connector.Resource{{ID: "r", Name: "R", Type: "folder"}}, "", nil
}

func (p *slowProvider) Sync(ctx context.Context, _ connector.SyncRequest) (*connector.Page, error) {
	n := p.now.Add(1)
	defer p.now.Add(-1)
	for most := p.most.Load(); n > most && !p.most.CompareAndSwap(most, n); most = p.most.Load() {
	}
	p.runs.Add(1)
	select {
	case <-time.After(500 * time.Millisecond):
	case <-ctx.Done():
	}
	return &connector.Page{Cursor: "c"}, ctx.Err()
}

// TestConnectorHasOneOwner checks that one process at a time syncs a connector, whichever was asked.
func TestConnectorHasOneOwner(t *testing.T) {
	withCgo(t)
	if testing.Short() {
		t.Skip("starts a database")
	}
	pg := postgresServer(t)
	require.NoError(t, pg.CreateDatabase("owner", ""))
	p := &slowProvider{}
	first := openOn(t, pg.URL("owner"), p)
	ctx := t.Context()
	_, err := first.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	require.NoError(t, first.Tenant("acme").WaitReady(ctx))
	c, err := first.CreateConnector(ctx, contextmem.ConnectorSpec{Provider: "slowly", Name: "Ours", Tenant: "acme", Credentials: connector.Credentials{"token": "abc"}})
	require.NoError(t, err)
	_, err = first.AddResources(ctx, c.ID, []contextmem.ConnectorResource{{ResourceID: "r", Name: "R"}})
	require.NoError(t, err)
	second := openOn(t, pg.URL("owner"), p) // which looks at every connector at its start
	for range 3 {
		for _, svc := range []*contextmem.Service{first, second} {
			_, err := svc.SyncNow(ctx, c.ID)
			if err != nil {
				require.ErrorIs(t, err, contextmem.ErrConflict, "one is running here")
			}
		}
		time.Sleep(300 * time.Millisecond)
	}
	require.Eventually(t, func() bool { return p.runs.Load() >= 3 && p.now.Load() == 0 }, time.Minute, 20*time.Millisecond, "what both were asked for is done in the end")
	assert.EqualValues(t, 1, p.most.Load())
}
