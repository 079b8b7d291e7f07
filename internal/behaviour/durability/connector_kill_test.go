package durability_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// childSync is set for a child process that syncs a connector and kills itself at the given write of the registry.
const childSync = "CONTEXTMEM_TEST_CHILD_SYNC"

// pagedProvider is a provider of 60 objects in 6 pages. Two further pages change 10 of them and delete 10.
type pagedProvider struct{}

const (
	providerPageSize = 10
	providerPages    = 6
)

func objectText(id, version string) string {
	return fmt.Sprintf("Book %s on the shelf is edition %s.", id, version)
}

func (pagedProvider) Describe() connector.Info { return connector.Info{Name: "shelf"} }

func (pagedProvider) Check(context.Context, connector.Credentials) error { return nil }

func (pagedProvider) Discover(context.Context, connector.Credentials, string, int) ([]connector.Resource, string, error) {
	return nil, "", nil
}

// Sync implements connector.Provider. The cursor is the number of the next page.
func (pagedProvider) Sync(_ context.Context, r connector.SyncRequest) (*connector.Page, error) {
	n := 0
	if r.Cursor != "" {
		n, _ = strconv.Atoi(r.Cursor)
	}
	page := &connector.Page{Cursor: strconv.Itoa(n + 1), More: n <= providerPages}
	for i := range providerPageSize {
		switch {
		case n < providerPages:
			id := fmt.Sprintf("b%02d", n*providerPageSize+i)
			page.Objects = append(page.Objects, servicetest.Doc(id, objectText(id, "one")))
		case n == providerPages:
			id := fmt.Sprintf("b%02d", i)
			page.Objects = append(page.Objects, servicetest.Doc(id, objectText(id, "two")))
		case n == providerPages+1:
			page.Deleted = append(page.Deleted, fmt.Sprintf("b%02d", providerPageSize+i))
		}
	}
	return page, nil
}

// killingBackend is a backend whose registry kills the process at the n-th write of records.
type killingBackend struct {
	backend.Backend
	registry *killingRegistry
}

func (d *killingBackend) Registry() backend.Registry { return d.registry }

type killingRegistry struct {
	backend.Registry
	left  atomic.Int64
	after bool // the write is done first
}

// WriteRecords implements backend.Registry.
func (d *killingRegistry) WriteRecords(ctx context.Context, ws []backend.RecordWrite) error {
	if d.left.Add(-1) != 0 {
		return d.Registry.WriteRecords(ctx, ws)
	}
	if d.after {
		if err := d.Registry.WriteRecords(ctx, ws); err != nil {
			return err
		}
	}
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		return err
	}
	select {} // until the signal arrives
}

// openPagedProvider opens a deployment with the provider, whose registry kills the process at the write number left. 0:
// never.
func openPagedProvider(ctx context.Context, dir string, left int, after bool) (*contextmem.Service, error) {
	stores, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	indexers, err := local.Open(dir, nil)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	be := backend.Compose(stores, indexers)
	reg := &killingRegistry{Registry: be.Registry(), after: after}
	reg.left.Store(int64(left))
	svc, err := contextmem.New(ctx, &killingBackend{be, reg}, &contextmem.Options{Providers: []connector.Provider{pagedProvider{}}})
	if err != nil {
		err = errors.Join(err, be.Close())
	}
	return svc, err
}

// syncPagedProvider syncs until the process is killed or all pages are read.
func syncPagedProvider(dir, kill string) error {
	ctx := context.Background()
	var left int
	var after bool
	if _, err := fmt.Sscanf(kill, "%d %t", &left, &after); err != nil {
		return err
	}
	svc, err := openPagedProvider(ctx, dir, left, after)
	if err != nil {
		return err
	}
	cs, err := svc.Connectors(ctx, "")
	if err != nil {
		return err
	}
	id := cs[0].ID
	if _, err := svc.AddResources(ctx, id, []contextmem.ConnectorResource{{ResourceID: "s"}}); err != nil {
		return err
	}
	if _, err := svc.SyncNow(ctx, id); err != nil && !errors.Is(err, contextmem.ErrConflict) {
		return err
	}
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for range poll.C {
		c, err := svc.Connector(ctx, id)
		if err != nil {
			return err
		}
		if c.Cycles > 0 && c.SyncStatus == contextmem.SyncIdle {
			return svc.Close()
		}
	}
	return nil
}

// TestKillMidSync kills a process at each write of a sync in turn, also between a page and its cursor. In the end each
// object is there once.
func TestKillMidSync(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	svc, err := openPagedProvider(t.Context(), dir, 0, false)
	require.NoError(t, err)
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	_, err = svc.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: "shelf", Tenant: "acme"})
	require.NoError(t, err)
	require.NoError(t, svc.Close())
	exe, err := os.Executable()
	require.NoError(t, err)
	kills := 0
	for round := 0; ; round++ {
		require.Less(t, round, 100, "the sync makes no progress")
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), childDir+"="+dir, fmt.Sprintf("%s=%d %t", childSync, 1+round%9, round%2 == 0))
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		require.Empty(t, string(out), "it ended by itself")
		kills++
	}
	require.Greater(t, kills, 2) // on a busy machine a process comes further between two writes
	svc, err = openPagedProvider(t.Context(), dir, 0, false)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	require.NoError(t, svc.Drain(t.Context()))
	acme := svc.Tenant("acme")
	seen := map[string]string{}
	for x, err := range acme.Sources(t.Context(), contextmem.ListRequest{Content: true}) {
		require.NoError(t, err)
		id := x.Additional["external_id"].(string)
		require.NotContains(t, seen, id, "an object is there twice")
		seen[id] = x.Content
	}
	want := map[string]string{}
	for i := range providerPageSize * providerPages {
		id := fmt.Sprintf("b%02d", i)
		switch {
		case i < providerPageSize:
			want[id] = objectText(id, "two")
		case i >= 2*providerPageSize:
			want[id] = objectText(id, "one")
		}
	}
	require.Equal(t, want, seen)
	st, err := acme.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(want), st.Knowledge.Sources)
	require.Equal(t, len(want), st.Knowledge.Chunks)
}
