package httpapi

import (
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
)

const (
	defaultLookbackDays = 30
	maxSeconds          = 1 << 31
)

func providerFields(fs []contextmem.ProviderField, filterable bool) []map[string]any {
	out := make([]map[string]any, len(fs))
	for i, f := range fs {
		out[i] = map[string]any{"name": f.Name, "data_type": f.DataType, "description": f.Description}
		if filterable {
			out[i]["filter_key"] = f.FilterKey
		}
	}
	return out
}

func (c *call) catalog() []map[string]any {
	infos := c.api.svc.Providers()
	out := make([]map[string]any, len(infos))
	for i, p := range infos {
		out[i] = map[string]any{"provider": p.Name, "category": p.Category, "supported": true, "moveit_support": false, "is_alpha": p.Alpha, "is_beta": p.Beta, "rank": nil}
	}
	return out
}

func connectorCatalog(c *call) (any, error) {
	return map[string]any{"connectors": c.catalog()}, nil
}

func connectorProviders(c *call) (any, error) {
	id, err := c.in.str("id")
	if err != nil {
		return nil, err
	}
	if id == "" {
		return map[string]any{"providers": c.catalog()}, nil
	}
	for _, p := range c.api.svc.Providers() {
		if p.Name != strings.ToLower(id) {
			continue
		}
		m := map[string]any{"provider": p.Name, "connector_type": p.ConnectorType, "indexed_object_types": orNone(p.ObjectTypes), "auth_types": p.AuthTypes,
			"searchable_fields": providerFields(p.Searchable, false), "filterable_fields": providerFields(p.Filterable, true), "setup_guide": p.SetupGuide,
			"min_sync_interval_seconds": seconds(p.MinInterval), "max_sync_interval_seconds": seconds(p.MaxInterval), "default_sync_interval_seconds": seconds(p.DefaultInterval)}
		if len(p.CredentialSchema) > 0 {
			m["credential_schema"] = p.CredentialSchema
		}
		return m, nil
	}
	return nil, &contextmem.Error{Kind: contextmem.KindNotFound, Err: errors.New("provider not found")}
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// credentials reads an object of strings.
func credentials(m map[string]any) (contextmem.Credentials, error) {
	if m == nil {
		return nil, nil
	}
	out := make(contextmem.Credentials, len(m))
	for k, v := range m {
		s, err := toString("credentials."+k, v)
		if err != nil {
			return nil, err
		}
		out[k] = s
	}
	return out, nil
}

func (c *call) credentials() (contextmem.Credentials, error) {
	m, err := c.in.object("credentials")
	if err != nil {
		return nil, err
	}
	return credentials(m)
}

func (c *call) discoverLimit() (int, error) {
	n, err := c.in.integer("limit", 100)
	if err == nil && n < 1 {
		err = bad(contextmem.KindInvalid, "limit", "must be at least 1")
	}
	return n, err
}

func discoveryJSON(provider, connector string, rs []contextmem.ProviderResource, next string) map[string]any {
	rows := make([]map[string]any, len(rs))
	for i, r := range rs {
		rows[i] = map[string]any{"id": r.ID, "resource_id": r.ID, "name": r.Name, "resource_type": r.Type, "metadata": orEmpty(r.Metadata)}
	}
	m := map[string]any{"provider": provider, "resources": rows, "next_cursor": next, "has_more": next != ""}
	if connector != "" {
		m["connector_id"] = connector
	}
	return m
}

// discoverWith previews resources. The cursor and the limit may stand in the query string.
func discoverWith(c *call) (any, error) {
	var r contextmem.DiscoverRequest
	var err error
	if r.Provider, err = c.in.required("provider"); err != nil {
		return nil, err
	}
	if r.AuthType, err = c.in.str("auth_type"); err != nil {
		return nil, err
	}
	if !c.in.fields.has("credentials") {
		return nil, bad(contextmem.KindInvalid, "credentials", "is required")
	}
	if r.Credentials, err = c.credentials(); err != nil {
		return nil, err
	}
	if r.Cursor, err = c.in.str("cursor"); err != nil {
		return nil, err
	}
	if limit := c.in.fields.get("limit"); limit != nil {
		if r.Limit, err = toInt("limit", limit, true); err != nil {
			return nil, err
		}
		if r.Limit < 1 {
			return nil, bad(contextmem.KindInvalid, "limit", "must be at least 1")
		}
	}
	rs, next, err := c.org.DiscoverWith(c.ctx, r)
	if err != nil {
		return nil, err
	}
	return discoveryJSON(r.Provider, "", rs, next), nil
}

func connectorJSON(x contextmem.Connector) map[string]any {
	return map[string]any{"connector_id": x.ID, "org_id": x.Org, "user_id": x.UserID, "provider": x.Provider, "provider_account_scope": x.AccountScope, "name": x.Name,
		"auth_type": x.AuthType, "credential_ref": x.CredentialRef, "deployment_id": x.DeploymentID, "database": x.Tenant, "collection": x.Sub, "tenant_id": x.Tenant,
		"sub_tenant_id": x.Sub, "plan": x.Plan, "status": string(x.Status), "lifecycle": string(x.Status), "sync_status": x.SyncStatus, "sync_engine": x.SyncEngine,
		"sync_interval_seconds": seconds(x.Interval), "min_sync_interval_seconds": seconds(x.MinInterval), "max_sync_interval_seconds": seconds(x.MaxInterval),
		"last_attempted_sync_at": timeText(x.LastAttempt), "last_successful_sync_at": timeText(x.LastSuccess), "next_sync_at": timeText(x.NextSync),
		"last_error": x.LastError, "needs_reauth": x.NeedsReauth, "needs_reauth_at": timeText(x.NeedsReauthAt), "needs_reauth_reason": x.NeedsReauthReason,
		"sync_cycles_completed": x.Cycles, "documents_dispatched": x.Dispatched, "active_resource_count": x.Resources,
		"created_at": timeText(x.CreatedAt), "updated_at": timeText(x.UpdatedAt)}
}

func resourceJSON(r contextmem.ConnectorResource) map[string]any {
	provided := map[string]any{}
	for k, v := range r.ProviderMetadata {
		provided[k] = v
	}
	if r.LastStatus != "" {
		provided["health"] = map[string]any{"last_status": r.LastStatus, "last_row_count": r.LastRows, "last_error": r.LastError}
	}
	filters := map[string]any{}
	for k, v := range r.Filters {
		filters[k] = v
	}
	if r.LookbackDays > 0 {
		filters["lookback_days"] = r.LookbackDays
	}
	m := map[string]any{"connector_id": r.ConnectorID, "resource_id": r.ResourceID, "resource_type": r.Type, "display_name": r.Name, "name": r.Name, "status": r.Status,
		"filters": filters, "metadata": orEmpty(r.Metadata), "additional_metadata": orEmpty(r.Additional), "provider_metadata": provided, "provider_cursor": r.Cursor,
		"database_override": r.TenantOverride, "collection_override": r.SubOverride, "tenant_id_override": r.TenantOverride, "sub_tenant_id_override": r.SubOverride,
		"backfill_oldest": timeText(r.BackfillOldest), "backfill_next_chunk_at": timeText(r.BackfillNext), "backfill_chunk_interval_seconds": seconds(r.BackfillInterval),
		"sync_mode": r.SyncMode, "acl": orNone(r.ACL), "instructions": r.Instructions}
	if r.BackfillStatus != "" {
		m["backfill_status"] = r.BackfillStatus
	}
	return m
}

// ours returns the connector of the path, when the key may touch its tenant and those of its resources.
func (c *call) ours() (contextmem.Connector, error) {
	x, err := c.org.Connector(c.ctx, c.r.PathValue("connector_id"))
	if err != nil {
		return x, err
	}
	if len(c.who.Key.Tenants) == 0 {
		return x, nil
	}
	if _, err := c.tenantNamed(x.Tenant); err != nil {
		return x, err
	}
	rs, err := c.org.Resources(c.ctx, x.ID)
	for _, r := range rs {
		if err == nil && r.TenantOverride != "" {
			_, err = c.tenantNamed(r.TenantOverride)
		}
	}
	return x, err
}

func (c *call) interval() (time.Duration, error) {
	n, err := c.in.integer("sync_interval_seconds", 0)
	return time.Duration(n) * time.Second, err
}

func createConnector(c *call) (any, error) {
	var spec contextmem.ConnectorSpec
	var err error
	if spec.Provider, err = c.in.required("provider"); err != nil {
		return nil, err
	}
	for name, to := range map[string]*string{"name": &spec.Name, "database": &spec.Tenant, "collection": &spec.Sub, "provider_account_scope": &spec.AccountScope,
		"auth_type": &spec.AuthType, "deployment_id": &spec.DeploymentID, "plan": &spec.Plan, "sync_engine": &spec.SyncEngine, "user_id": &spec.UserID} {
		if *to, err = c.in.str(name); err != nil {
			return nil, err
		}
	}
	if spec.Credentials, err = c.credentials(); err != nil {
		return nil, err
	}
	if spec.Interval, err = c.interval(); err != nil {
		return nil, err
	}
	if spec.Tenant != "" || len(c.who.Key.Tenants) > 0 {
		if _, err := c.tenantNamed(spec.Tenant); err != nil {
			return nil, err
		}
	}
	x, err := c.org.CreateConnector(c.ctx, spec)
	if err != nil {
		return nil, err
	}
	return connectorJSON(x), nil
}

func listConnectors(c *call) (any, error) {
	provider, err := c.in.str("provider")
	if err != nil {
		return nil, err
	}
	xs, err := c.org.Connectors(c.ctx, provider)
	if err != nil {
		return nil, err
	}
	rows := make([]map[string]any, 0, len(xs))
	for _, x := range xs {
		if c.who.Key.AllowsTenant(x.Tenant) {
			rows = append(rows, connectorJSON(x))
		}
	}
	return map[string]any{"connectors": rows}, nil
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
	all := connectorJSON(x)
	out := map[string]any{}
	for _, k := range []string{"connector_id", "provider", "status", "lifecycle", "sync_status", "sync_interval_seconds", "last_attempted_sync_at", "last_successful_sync_at",
		"next_sync_at", "last_error", "needs_reauth", "needs_reauth_at", "needs_reauth_reason", "sync_cycles_completed", "documents_dispatched", "active_resource_count"} {
		out[k] = all[k]
	}
	return out, nil
}

func editConnector(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	var e contextmem.ConnectorEdit
	if c.in.fields.has("sync_interval_seconds") {
		d, err := c.interval()
		if err != nil {
			return nil, err
		}
		e.Interval = &d
	}
	if c.in.fields.has("name") {
		s, err := c.in.str("name")
		if err != nil {
			return nil, err
		}
		e.Name = &s
	}
	if c.in.fields.has("status") {
		s, err := c.in.str("status")
		if err != nil {
			return nil, err
		}
		st := contextmem.ConnectorStatus(s)
		e.Status = &st
	}
	if e.Credentials, err = c.credentials(); err != nil {
		return nil, err
	}
	if e.Interval == nil && e.Name == nil && e.Status == nil && e.Credentials == nil {
		return nil, bad(contextmem.KindInvalid, "body", "needs at least one of sync_interval_seconds, credentials, name and status")
	}
	if x, err = c.org.EditConnector(c.ctx, x.ID, e); err != nil {
		return nil, err
	}
	m := connectorJSON(x)
	m["credentials_updated"] = e.Credentials != nil
	return m, nil
}

// setCredentials takes the credentials as the body, or under "credentials".
func setCredentials(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	m := c.in.fields.object()
	if _, ok := m["credentials"].(map[string]any); ok {
		m, _ = c.in.object("credentials")
	}
	creds, err := credentials(m)
	if err != nil {
		return nil, err
	}
	if len(creds) == 0 {
		return nil, bad(contextmem.KindInvalid, "credentials", "is required")
	}
	if _, err := c.org.EditConnector(c.ctx, x.ID, contextmem.ConnectorEdit{Credentials: creds}); err != nil {
		return nil, err
	}
	return map[string]any{"connector_id": x.ID, "updated": true}, nil
}

// deleteConnector keeps what was ingested, unless delete_objects is true.
func deleteConnector(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	withObjects, err := c.in.boolean("delete_objects", false)
	if err != nil {
		return nil, err
	}
	if err := c.org.DeleteConnector(c.ctx, x.ID, withObjects); err != nil {
		return nil, err
	}
	return map[string]any{"connector_id": x.ID, "deleted": true}, nil
}

func discover(c *call) (any, error) {
	x, err := c.ours()
	if err != nil {
		return nil, err
	}
	limit, err := c.discoverLimit()
	if err != nil {
		return nil, err
	}
	cursor, err := c.in.str("cursor")
	if err != nil {
		return nil, err
	}
	rs, next, err := c.org.Discover(c.ctx, x.ID, cursor, limit)
	if err != nil {
		return nil, err
	}
	return discoveryJSON(x.Provider, x.ID, rs, next), nil
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
	return map[string]any{"connector_id": x.ID, "workflow_id": "sync-" + x.ID, "run_id": run}, nil
}
