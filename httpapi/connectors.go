package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// catalogRow is a provider in the catalog.
type catalogRow struct {
	Provider  string `json:"provider"`
	Category  string `json:"category"`
	Supported bool   `json:"supported"`
	MoveIt    bool   `json:"moveit_support"`
	Alpha     bool   `json:"is_alpha"`
	Beta      bool   `json:"is_beta"`
	Rank      *int   `json:"rank"`
}

func (c *call) catalog() []catalogRow {
	infos := c.api.svc.Providers()
	out := make([]catalogRow, len(infos))
	for i, p := range infos {
		out[i] = catalogRow{Provider: p.Name, Category: p.Category, Supported: true, Alpha: p.Alpha, Beta: p.Beta}
	}
	return out
}

func connectorCatalog(c *call) (any, error) {
	return struct {
		Connectors []catalogRow `json:"connectors"`
	}{c.catalog()}, nil
}

// providerBody describes a provider.
type providerBody struct {
	Provider   string          `json:"provider"`
	Type       string          `json:"connector_type"`
	Objects    []string        `json:"indexed_object_types"`
	AuthTypes  []string        `json:"auth_types"`
	Searchable []providerField `json:"searchable_fields"`
	Filterable []providerField `json:"filterable_fields"`
	Guide      string          `json:"setup_guide"`
	Min        int64           `json:"min_sync_interval_seconds"`
	Max        int64           `json:"max_sync_interval_seconds"`
	Default    int64           `json:"default_sync_interval_seconds"`
	Schema     json.RawMessage `json:"credential_schema,omitempty"`
}

// providerField describes a field of a provider's items. Only fields that can be used in filters have a key.
type providerField struct {
	Name        string  `json:"name"`
	Type        string  `json:"data_type"`
	Description string  `json:"description"`
	Key         *string `json:"filter_key,omitempty"`
}

func providerFields(fs []contextmem.ProviderField, filterable bool) []providerField {
	out := make([]providerField, len(fs))
	for i, f := range fs {
		out[i] = providerField{Name: f.Name, Type: f.DataType, Description: f.Description}
		if filterable {
			out[i].Key = &fs[i].FilterKey
		}
	}
	return out
}

func connectorProviders(c *call) (any, error) {
	id, err := c.in.string("id")
	if err != nil {
		return nil, err
	}
	if id == "" {
		return struct {
			Providers []catalogRow `json:"providers"`
		}{c.catalog()}, nil
	}
	for _, p := range c.api.svc.Providers() {
		if p.Name == strings.ToLower(id) {
			return providerBody{p.Name, p.ConnectorType, orNone(p.ObjectTypes), p.AuthTypes, providerFields(p.Searchable, false), providerFields(p.Filterable, true), p.SetupGuide,
				seconds(p.MinInterval), seconds(p.MaxInterval), seconds(p.DefaultInterval), p.CredentialSchema}, nil
		}
	}
	return nil, &contextmem.Error{Kind: fault.KindNotFound, Err: errors.New("provider not found")}
}

// discoveredRow is a resource offered by a provider.
type discoveredRow struct {
	ID         string         `json:"id"`
	ResourceID string         `json:"resource_id"`
	Name       string         `json:"name"`
	Type       string         `json:"resource_type"`
	Metadata   map[string]any `json:"metadata"`
}

type discoveryAnswer struct {
	Provider  string          `json:"provider"`
	Connector string          `json:"connector_id,omitempty"`
	Resources []discoveredRow `json:"resources"`
	Next      string          `json:"next_cursor"`
	HasMore   bool            `json:"has_more"`
}

func discoveryJSON(provider, connector string, rs []contextmem.ProviderResource, next string) discoveryAnswer {
	a := discoveryAnswer{provider, connector, make([]discoveredRow, len(rs)), next, next != ""}
	for i, r := range rs {
		a.Resources[i] = discoveredRow{r.ID, r.ID, r.Name, r.Type, orEmpty(r.Metadata)}
	}
	return a
}

// discoveryPage is a page of a provider's resources.
type discoveryPage struct {
	Cursor string `json:"cursor"`
	Limit  *int   `json:"limit" range:"1,"`
}

// discoverWith previews resources. The cursor and the limit may be in the query string.
func discoverWith(c *call) (any, error) {
	var q struct {
		Provider    string `json:"provider" need:"text"`
		AuthType    string `json:"auth_type"`
		Credentials texts  `json:"credentials"`
		discoveryPage
	}
	if err := c.read(&q); err != nil {
		return nil, err
	}
	if !c.in.has("credentials") {
		return nil, bad(fault.KindInvalid, "credentials", "is required")
	}
	r := contextmem.DiscoverRequest{Provider: q.Provider, AuthType: q.AuthType, Credentials: contextmem.Credentials(q.Credentials), Cursor: q.Cursor}
	if q.Limit != nil {
		r.Limit = *q.Limit
	}
	rs, next, err := c.org.DiscoverWith(c.ctx, r)
	if err != nil {
		return nil, err
	}
	return discoveryJSON(r.Provider, "", rs, next), nil
}

func discover(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	var q discoveryPage
	if err := c.read(&q); err != nil {
		return nil, err
	}
	limit := 100
	if q.Limit != nil {
		limit = *q.Limit
	}
	rs, next, err := c.org.Discover(c.ctx, x.ID, q.Cursor, limit)
	if err != nil {
		return nil, err
	}
	return discoveryJSON(x.Provider, x.ID, rs, next), nil
}

// syncState is the state of a connector's syncs.
type syncState struct {
	ID          string `json:"connector_id"`
	Provider    string `json:"provider"`
	Status      string `json:"status"`
	Lifecycle   string `json:"lifecycle"`
	SyncStatus  string `json:"sync_status"`
	Interval    int64  `json:"sync_interval_seconds"`
	LastAttempt string `json:"last_attempted_sync_at"`
	LastSuccess string `json:"last_successful_sync_at"`
	NextSync    string `json:"next_sync_at"`
	LastError   string `json:"last_error"`
	NeedsReauth bool   `json:"needs_reauth"`
	ReauthAt    string `json:"needs_reauth_at"`
	ReauthWhy   string `json:"needs_reauth_reason"`
	Cycles      int    `json:"sync_cycles_completed"`
	Dispatched  int    `json:"documents_dispatched"`
	Resources   int    `json:"active_resource_count"`
}

func syncStateOf(x *contextmem.Connector) syncState {
	return syncState{x.ID, x.Provider, string(x.Status), string(x.Status), x.SyncStatus, seconds(x.Interval), wire.Time(x.LastAttempt), wire.Time(x.LastSuccess), wire.Time(x.NextSync),
		x.LastError, x.NeedsReauth, wire.Time(x.NeedsReauthAt), x.NeedsReauthReason, x.Cycles, x.Dispatched, x.Resources}
}

// connectorBody is a connector. Its credentials are never shown.
type connectorBody struct {
	syncState
	scoped
	OrgID         string `json:"org_id"`
	UserID        string `json:"user_id"`
	AccountScope  string `json:"provider_account_scope"`
	Name          string `json:"name"`
	AuthType      string `json:"auth_type"`
	CredentialRef string `json:"credential_ref"`
	DeploymentID  string `json:"deployment_id"`
	Collection    string `json:"collection"`
	SubTenant     string `json:"sub_tenant_id"`
	Plan          string `json:"plan"`
	SyncEngine    string `json:"sync_engine"`
	Min           int64  `json:"min_sync_interval_seconds"`
	Max           int64  `json:"max_sync_interval_seconds"`
	CreatedAt     string `json:"created_at"`
	UpdatedAt     string `json:"updated_at"`
	Updated       *bool  `json:"credentials_updated,omitempty"`
}

func connectorJSON(x contextmem.Connector) connectorBody {
	return connectorBody{syncState: syncStateOf(&x), scoped: scoped{Database: x.Tenant, TenantID: x.Tenant}, OrgID: x.Org, UserID: x.UserID, AccountScope: x.AccountScope, Name: x.Name,
		AuthType: x.AuthType, CredentialRef: x.CredentialRef, DeploymentID: x.DeploymentID, Collection: x.Sub, SubTenant: x.Sub, Plan: x.Plan, SyncEngine: x.SyncEngine,
		Min: seconds(x.MinInterval), Max: seconds(x.MaxInterval), CreatedAt: wire.Time(x.CreatedAt), UpdatedAt: wire.Time(x.UpdatedAt)}
}

// ours returns the connector of the path, if the key has access to its tenant and to the tenants of its resources.
func (c *call) ours() (contextmem.Connector, error) {
	x, err := c.org.Connector(c.ctx, c.r.PathValue("connector_id"))
	if err != nil {
		return x, err
	}
	return x, c.mayTouch(x)
}

// mayTouch returns an error if the connector delivers to a tenant to which the key has no access.
func (c *call) mayTouch(x contextmem.Connector) error {
	if len(c.who.Key.Tenants) == 0 {
		return nil
	}
	if _, err := c.tenantNamed(x.Tenant); err != nil {
		return err
	}
	rs, err := c.org.Resources(c.ctx, x.ID)
	for _, r := range rs {
		if err == nil && r.TenantOverride != "" {
			_, err = c.tenantNamed(r.TenantOverride)
		}
	}
	return err
}

// connectorRequest creates a connector.
type connectorRequest struct {
	Provider     string `json:"provider" need:"text"`
	Name         string `json:"name"`
	Database     string `json:"database"`
	Collection   string `json:"collection"`
	AccountScope string `json:"provider_account_scope"`
	AuthType     string `json:"auth_type"`
	DeploymentID string `json:"deployment_id"`
	Plan         string `json:"plan"`
	SyncEngine   string `json:"sync_engine"`
	UserID       string `json:"user_id"`
	Credentials  texts  `json:"credentials"`
	Interval     int    `json:"sync_interval_seconds"`
}

func createConnector(c *call) (any, error) {
	var r connectorRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if r.Database != "" || len(c.who.Key.Tenants) > 0 {
		if _, err := c.tenantNamed(r.Database); err != nil {
			return nil, err
		}
	}
	x, err := c.org.CreateConnector(c.ctx, contextmem.ConnectorSpec{Provider: r.Provider, Name: r.Name, Tenant: r.Database, Sub: r.Collection, AccountScope: r.AccountScope,
		AuthType: r.AuthType, DeploymentID: r.DeploymentID, Plan: r.Plan, SyncEngine: r.SyncEngine, UserID: r.UserID, Credentials: contextmem.Credentials(r.Credentials),
		Interval: time.Duration(r.Interval) * time.Second})
	if err != nil {
		return nil, err
	}
	return connectorJSON(x), nil
}

func listConnectors(c *call) (any, error) {
	provider, err := c.in.string("provider")
	if err != nil {
		return nil, err
	}
	xs, err := c.org.Connectors(c.ctx, provider)
	if err != nil {
		return nil, err
	}
	rows := []connectorBody{}
	for _, x := range xs {
		switch err := c.mayTouch(x); {
		case err == nil:
			rows = append(rows, connectorJSON(x))
		case !errors.Is(err, contextmem.ErrForbidden):
			return nil, err
		}
	}
	return struct {
		Connectors []connectorBody `json:"connectors"`
	}{rows}, nil
}

func getConnector(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	return connectorJSON(x), nil
}

func connectorStatus(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	rs, err := c.org.Resources(c.ctx, x.ID)
	if err != nil {
		return nil, err
	}
	return struct {
		syncState
		Resources []resourceBody `json:"resources"`
	}{syncStateOf(&x), resourceRows(rs)}, nil
}

func pauseConnector(c *call) (any, error) { return c.change(c.org.PauseConnector) }

func resumeConnector(c *call) (any, error) { return c.change(c.org.ResumeConnector) }

// change changes the connector of the path.
func (c *call) change(do func(context.Context, string) (contextmem.Connector, error)) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	if x, err = do(c.ctx, x.ID); err != nil {
		return nil, err
	}
	return connectorJSON(x), nil
}

// connectorEdit changes the fields that it contains.
type connectorEdit struct {
	Interval    *int    `json:"sync_interval_seconds"`
	Name        *string `json:"name"`
	Status      *string `json:"status"`
	Credentials texts   `json:"credentials"`
}

func editConnector(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	var r connectorEdit
	if err := c.read(&r); err != nil {
		return nil, err
	}
	e := contextmem.ConnectorEdit{Name: r.Name, Status: (*contextmem.ConnectorStatus)(r.Status), Credentials: contextmem.Credentials(r.Credentials)}
	if r.Interval != nil {
		d := time.Duration(*r.Interval) * time.Second
		e.Interval = &d
	}
	if e.Interval == nil && e.Name == nil && e.Status == nil && e.Credentials == nil {
		return nil, bad(fault.KindInvalid, "body", "needs at least one of sync_interval_seconds, credentials, name and status")
	}
	if x, err = c.org.EditConnector(c.ctx, x.ID, e); err != nil {
		return nil, err
	}
	b, updated := connectorJSON(x), e.Credentials != nil
	b.Updated = &updated
	return b, nil
}

// setCredentials reads the credentials from the body itself or from its member "credentials".
func setCredentials(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	ms := c.in.members
	if inner, ok := ms.get("credentials"); ok && inner.typeName() == "object" {
		if ms, err = inner.members("credentials"); err != nil {
			return nil, err
		}
	}
	creds := contextmem.Credentials{}
	for k, v := range ms.all() {
		if creds[k], err = v.string("credentials." + cut(k)); err != nil {
			return nil, err
		}
	}
	if len(creds) == 0 {
		return nil, bad(fault.KindInvalid, "credentials", "is required")
	}
	if _, err := c.org.EditConnector(c.ctx, x.ID, contextmem.ConnectorEdit{Credentials: creds}); err != nil {
		return nil, err
	}
	return struct {
		ID      string `json:"connector_id"`
		Updated bool   `json:"updated"`
	}{x.ID, true}, nil
}

// deleteConnector deletes a connector. It keeps the ingested items unless delete_objects is true.
func deleteConnector(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	var r struct {
		WithObjects bool `json:"delete_objects"`
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if err := c.org.DeleteConnector(c.ctx, x.ID, r.WithObjects); err != nil {
		return nil, err
	}
	return struct {
		ID      string `json:"connector_id"`
		Deleted bool   `json:"deleted"`
	}{x.ID, true}, nil
}

func syncConnector(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	run, err := c.org.SyncNow(c.ctx, x.ID)
	if err != nil {
		return nil, err
	}
	return struct {
		ID       string `json:"connector_id"`
		Workflow string `json:"workflow_id"`
		Run      string `json:"run_id"`
	}{x.ID, "sync-" + x.ID, run}, nil
}
