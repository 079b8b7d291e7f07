package contextmem

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/connect"
	"github.com/contextmem/contextmem/internal/intake"
)

// Types of connectors. They are declared in package connector, so that providers need not import this package.
type (
	// Provider reads objects from an external system: connector.Provider.
	Provider = connector.Provider
	// ProviderInfo describes a provider: connector.Info.
	ProviderInfo = connector.Info
	// ProviderField is a field of a provider's objects: connector.Field.
	ProviderField = connector.Field
	// ProviderResource is something that can be synced: connector.Resource.
	ProviderResource = connector.Resource
	// Credentials holds the credentials of a connector, by the field names of the provider's schema: connector.Credentials.
	Credentials = connector.Credentials
	// DiscoverRequest asks a provider for resources without a connector: connector.DiscoverRequest.
	DiscoverRequest = connector.DiscoverRequest
	// Connector syncs objects of a provider into a tenant: connector.Connector.
	Connector = connector.Connector
	// ConnectorSpec describes a connector to make: connector.Spec.
	ConnectorSpec = connector.Spec
	// ConnectorEdit changes a connector: connector.Edit.
	ConnectorEdit = connector.Edit
	// ConnectorStatus is the lifecycle of a connector: connector.Status.
	ConnectorStatus = connector.Status
	// ConnectorResource is a resource that a connector syncs: connector.SyncedResource.
	ConnectorResource = connector.SyncedResource
)

// Lifecycle states of a connector; see package connector.
const (
	ConnectorActive = connector.Active
	ConnectorPaused = connector.Paused
	ConnectorError  = connector.Refused
)

// States of Connector.SyncStatus, sync modes and states of a resource; see package connector.
const (
	SyncIdle       = connector.SyncIdle
	SyncRunning    = connector.SyncRunning
	SyncError      = connector.SyncError
	SyncRescan     = connector.SyncRescan
	SyncNewOnly    = connector.SyncNewOnly
	ResourceActive = connector.ResourceActive
	ResourcePaused = connector.ResourcePaused
	ResourceFailed = connector.ResourceFailed
)

// Providers lists the providers that connectors can use, by name.
func (s *Service) Providers() []ProviderInfo {
	if s.connectors == nil {
		return nil
	}
	return s.connectors.Providers()
}

// DiscoverWith previews resources without a connector. It does not store the credentials.
// It returns the cursor of the next page, empty at the end. It returns fault.ErrUpstream if the provider fails.
func (o Organisation) DiscoverWith(ctx context.Context, r DiscoverRequest) (rs []ProviderResource, next string, err error) {
	err = o.svc().call(func() error {
		rs, next, err = o.svc().connectors.DiscoverWith(ctx, r)
		return err
	})
	return rs, next, err
}

// CreateConnector makes a connector after the provider has accepted its credentials. It returns fault.ErrConflict if another
// connector of the provider has the same non-empty AccountScope, and fault.ErrUpstream if the provider cannot be reached.
func (o Organisation) CreateConnector(ctx context.Context, spec ConnectorSpec) (Connector, error) {
	return called(o.svc(), func() (Connector, error) { return o.svc().connectors.Create(ctx, o.id, spec) })
}

// Connectors lists the organisation's connectors of a provider, sorted by id. An empty provider lists the connectors of all providers.
func (o Organisation) Connectors(ctx context.Context, provider string) ([]Connector, error) {
	return called(o.svc(), func() ([]Connector, error) { return o.svc().connectors.List(ctx, o.id, provider) })
}

// Connector returns one connector.
func (o Organisation) Connector(ctx context.Context, id string) (Connector, error) {
	return called(o.svc(), func() (Connector, error) { return o.svc().connectors.Get(ctx, o.id, id) })
}

// EditConnector changes a connector.
func (o Organisation) EditConnector(ctx context.Context, id string, e ConnectorEdit) (Connector, error) {
	return called(o.svc(), func() (Connector, error) { return o.svc().connectors.Edit(ctx, o.id, id, e) })
}

// PauseConnector stops the syncs of a connector, including a running one, until [Organisation.ResumeConnector] is called.
func (o Organisation) PauseConnector(ctx context.Context, id string) (Connector, error) {
	status := ConnectorPaused
	return o.EditConnector(ctx, id, ConnectorEdit{Status: &status})
}

// ResumeConnector starts a sync of a paused connector at once. The sync continues where the earlier one stopped.
func (o Organisation) ResumeConnector(ctx context.Context, id string) (Connector, error) {
	status := ConnectorActive
	return o.EditConnector(ctx, id, ConnectorEdit{Status: &status})
}

// DeleteConnector removes a connector with its resources and credentials. It removes the ingested
// items only if withObjects is set. A running sync is stopped first.
func (o Organisation) DeleteConnector(ctx context.Context, id string, withObjects bool) error {
	return o.svc().call(func() error { return o.svc().connectors.Delete(ctx, o.id, id, withObjects) })
}

// Discover lists resources that the connector could sync. limit is 1 to 100; a larger limit, or 0, means 100.
func (o Organisation) Discover(ctx context.Context, id, cursor string, limit int) (rs []ProviderResource, next string, err error) {
	err = o.svc().call(func() error {
		rs, next, err = o.svc().connectors.Discover(ctx, o.id, id, cursor, limit)
		return err
	})
	return rs, next, err
}

// AddResources adds or changes resources of a connector, all or none. Changed resources keep their cursors. New resources are
// synced soon. It returns the resources as stored.
func (o Organisation) AddResources(ctx context.Context, id string, rs []ConnectorResource) ([]ConnectorResource, error) {
	return called(o.svc(), func() ([]ConnectorResource, error) { return o.svc().connectors.AddResources(ctx, o.id, id, rs) })
}

// Resources lists the resources of a connector, sorted by id.
func (o Organisation) Resources(ctx context.Context, id string) ([]ConnectorResource, error) {
	return called(o.svc(), func() ([]ConnectorResource, error) { return o.svc().connectors.Resources(ctx, o.id, id) })
}

// DeleteResource stops syncing a resource. The items ingested from it remain.
func (o Organisation) DeleteResource(ctx context.Context, id, resource string) error {
	return o.svc().call(func() error { return o.svc().connectors.DeleteResource(ctx, o.id, id, resource) })
}

// SyncNow starts a sync of a connector in the background and returns the run's id. It returns fault.ErrConflict while another
// sync of the connector is running or the connector is paused.
func (o Organisation) SyncNow(ctx context.Context, id string) (string, error) {
	return called(o.svc(), func() (string, error) { return o.svc().connectors.SyncNow(ctx, o.id, id) })
}

// newConnectors returns the connector engine.
func (s *Service) newConnectors() (*connect.Engine, error) {
	return connect.New(connect.Config{Registry: s.reg, Sealer: s.secrets, Tenants: connectorHost{s}, Items: connectorHost{s}, Providers: s.opts.Providers, Leases: s.leases, Synced: s.synced,
		Logger: s.opts.Logger, Supported: s.parsers.Supported, MaxFileBytes: s.opts.MaxFileBytes, MaxItems: s.opts.MaxItems,
		Parse: func(ctx context.Context, in connector.ParseInput) (*connector.Document, error) {
			return s.parsers.Parse(ctx, in, document.Limits{MaxInput: s.opts.MaxFileBytes, Timeout: s.opts.ParseTimeout})
		}})
}

// connectorHost adapts the service to the interfaces that the connector engine calls.
type connectorHost struct{ svc *Service }

// TenantUID implements connect.Tenants.
func (h connectorHost) TenantUID(ctx context.Context, op, org, tenant string) (string, error) {
	t, err := h.svc.set.Record(ctx, op, org, tenant)
	if err != nil {
		return "", err
	}
	return t.UID, nil
}

func (h connectorHost) sub(at connect.Place) Sub {
	return Sub{scope{from: from{h.svc}, org: at.Org, tenant: at.Tenant, sub: at.Sub}}
}

// Add implements connect.Items. Metadata that the tenant's schema does not declare is kept.
func (h connectorHost) Add(ctx context.Context, at connect.Place, files []content.File, apps []content.AppItem, instructions string) ([]error, error) {
	const op = "sync"
	ref, err := h.svc.set.Open(ctx, op, at.Org, at.Tenant)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	items, err := h.svc.intake.Knowledge(ctx, op, ref, at.Sub, intake.Knowledge{Files: files, Apps: apps, Lenient: true, Instructions: instructions})
	if err != nil {
		return nil, err
	}
	refused := make([]error, len(items))
	for i, it := range items {
		refused[i] = it.Err
	}
	return refused, nil
}

// Exists implements connect.Items.
func (h connectorHost) Exists(ctx context.Context, at connect.Place, id string) (bool, error) {
	st, err := h.sub(at).Status(ctx, id)
	if err != nil {
		return false, err
	}
	return !st[0].Unknown, nil
}

// Delete implements connect.Items.
func (h connectorHost) Delete(ctx context.Context, at connect.Place, ids []string) error {
	_, err := h.sub(at).DeleteItems(ctx, DeleteItemsRequest{IDs: ids, Class: ClassKnowledge})
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	return err
}
