package servicetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/connector"
)

// ScriptedProvider is a provider whose answers a test sets.
type ScriptedProvider struct {
	mu     sync.Mutex
	sync   func(ctx context.Context, r connector.SyncRequest) (*connector.Page, error)
	Checks func(c connector.Credentials) error
	calls  []connector.SyncRequest
	times  []time.Time
	auth   []string
}

func (p *ScriptedProvider) Describe() connector.Info {
	return connector.Info{Name: "script", AuthTypes: append([]string{connector.AuthOAuth}, p.auth...),
		CredentialSchema: json.RawMessage(`{"type":"object","required":["token"],"properties":{"token":{"type":"string"},"account":{"type":"string"}},"additionalProperties":false}`)}
}

func (p *ScriptedProvider) Check(_ context.Context, c connector.Credentials) error {
	if p.Checks != nil {
		return p.Checks(c)
	}
	return nil
}

func (p *ScriptedProvider) Discover(_ context.Context, _ connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	if cursor == "bad" {
		return nil, "", errors.New("gateway said no to secret-token")
	}
	return []connector.Resource{{ID: fmt.Sprint("r", limit), Name: "R", Type: "folder"}}, "next", nil
}

func (p *ScriptedProvider) Sync(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
	p.mu.Lock()
	p.calls, p.times = append(p.calls, r), append(p.times, time.Now())
	f := p.sync
	p.mu.Unlock()
	if f == nil {
		return &connector.Page{Cursor: r.Cursor + "."}, nil
	}
	return f(ctx, r)
}

func (p *ScriptedProvider) Answer(f func(ctx context.Context, r connector.SyncRequest) (*connector.Page, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sync = f
}

func (p *ScriptedProvider) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls)
}

func (p *ScriptedProvider) Call(i int) connector.SyncRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[i]
}

func (p *ScriptedProvider) At(i int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.times[i]
}

func Doc(id, text string) connector.Object {
	return connector.Object{ExternalID: id, File: &contextmem.File{Name: id + ".txt", Data: []byte(text)}}
}

// InBubble runs f in a synctest bubble with a service over the provider and a tenant "acme".
func InBubble(t *testing.T, f func(t *testing.T, svc *contextmem.Service, acme contextmem.Tenant, p *ScriptedProvider)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &ScriptedProvider{auth: []string{connector.AuthToken}}
		svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Providers: []connector.Provider{p}})
		require.NoError(t, err)
		f(t, svc, Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}), p)
		require.NoError(t, svc.Close())
	})
}
