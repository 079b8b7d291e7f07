package httpapi

import (
	"time"

	"github.com/contextmem/contextmem"
)

func (c *call) tenantSpec(schemaField string) (contextmem.TenantSpec, error) {
	var spec contextmem.TenantSpec
	var err error
	if spec.ID, err = c.in.required(c.scopeField()); err != nil {
		return spec, err
	}
	if _, err := c.tenantNamed(spec.ID); err != nil {
		return spec, err
	}
	if spec.Embeddings, err = c.in.boolean("is_embeddings_tenant", false); err != nil {
		return spec, err
	}
	if spec.Dimension, err = c.in.integer("embeddings_dimension", 0); err != nil {
		return spec, err
	}
	if c.in.fields.has("embeddings_dimension") && spec.Dimension < 1 {
		return spec, bad(contextmem.KindInvalid, "embeddings_dimension", "must be between 1 and 4096")
	}
	spec.Schema, err = schemaFields(schemaField, c.in.fields.get(schemaField))
	return spec, err
}

func v1CreateTenant(c *call) (any, error) {
	spec, err := c.tenantSpec("tenant_metadata_schema")
	if err != nil {
		return nil, err
	}
	if _, err := c.org.CreateTenant(c.ctx, spec); err != nil {
		return nil, err
	}
	return map[string]any{"status": "accepted", "tenant_id": spec.ID, "message": "Tenant creation accepted. Poll /tenants/infra/status until every flag is true."}, nil
}

func v1InfraStatus(c *call, t contextmem.Tenant) (any, error) {
	i, err := t.Info(c.ctx)
	if err != nil {
		return nil, err
	}
	return map[string]any{"tenant_id": i.ID, "org_id": i.Org, "message": statusMessage(i),
		"infra": map[string]any{"scheduler_status": i.Ready(), "graph_status": i.Ready(), "vectorstore_status": []bool{i.Ready(), i.Ready()}}}, nil
}

func statusMessage(i contextmem.TenantInfo) string {
	switch i.State {
	case contextmem.TenantReady:
		return "Infrastructure is ready"
	case contextmem.TenantFailed:
		return "Provisioning failed; create it again"
	}
	return "Infrastructure is being provisioned"
}

func v1DeleteTenant(c *call, t contextmem.Tenant) (any, error) {
	if err := t.Delete(c.ctx); err != nil {
		return nil, err
	}
	return map[string]any{"tenant_id": t.ID(), "status": "deletion_scheduled", "message": "Tenant deletion scheduled"}, nil
}

func storeStats(s contextmem.StoreStats) map[string]any {
	return map[string]any{"row_count": s.Chunks, "dimensions": s.Dimension, "source_count": s.Sources}
}

// stats are the numbers of a tenant's two stores; raw vectors stand where knowledge does.
func (c *call) stats(t contextmem.Tenant) (knowledge, memory map[string]any, err error) {
	s, err := t.Stats(c.ctx)
	if err != nil {
		return nil, nil, err
	}
	if s.Raw.Dimension > 0 {
		s.Knowledge = s.Raw
	}
	return storeStats(s.Knowledge), storeStats(s.Memory), nil
}

func v1Monitor(c *call, t contextmem.Tenant) (any, error) {
	knowledge, memory, err := c.stats(t)
	if err != nil {
		return nil, err
	}
	return map[string]any{"tenant_id": t.ID(), "normal_collection": knowledge, "memory_collection": memory, "message": "Tenant statistics retrieved"}, nil
}

func v1SubTenants(c *call, t contextmem.Tenant) (any, error) {
	subs, err := t.Subs(c.ctx)
	if err != nil {
		return nil, err
	}
	return map[string]any{"sub_tenant_ids": orNone(subs), "message": "Sub-tenants retrieved"}, nil
}

// visibleTenants lists the tenants that the key may touch.
func (c *call) visibleTenants() (ok []contextmem.TenantInfo, failed []contextmem.TenantInfo, err error) {
	for t, err := range c.org.Tenants(c.ctx) {
		if err != nil {
			return nil, nil, err
		}
		switch {
		case !c.who.Key.AllowsTenant(t.ID):
		case t.State == contextmem.TenantFailed:
			failed = append(failed, t)
		default:
			ok = append(ok, t)
		}
	}
	return ok, failed, nil
}

func v1TenantIDs(c *call) (any, error) {
	ok, failed, err := c.visibleTenants()
	if err != nil {
		return nil, err
	}
	ids, bad := []string{}, []map[string]any{}
	for _, t := range ok {
		ids = append(ids, t.ID)
	}
	for _, t := range failed {
		bad = append(bad, map[string]any{"tenant_id": t.ID, "error": t.Error})
	}
	return map[string]any{"tenant_ids": ids, "failed_tenant_ids": bad, "message": "Tenants retrieved"}, nil
}

func v1CreateKey(c *call) (any, error) {
	var spec contextmem.KeySpec
	var err error
	if spec.Owner, err = c.in.str("owner"); err != nil {
		return nil, err
	}
	scopes, err := c.in.strings("scopes")
	if err != nil {
		return nil, err
	}
	for _, s := range scopes {
		spec.Scopes = append(spec.Scopes, contextmem.Scope(s))
	}
	if len(spec.Scopes) == 0 { // a key can't hand out more than it has
		spec.Scopes = c.who.Key.Scopes
	}
	for _, s := range spec.Scopes {
		if !c.who.Key.Allows(s) {
			return nil, &contextmem.Error{Kind: contextmem.KindForbidden, Err: errScope}
		}
	}
	spec.Tenants = c.who.Key.Tenants
	if spec.Env, err = c.in.choice("env", "live", "live", "test"); err != nil {
		return nil, err
	}
	if spec.Prefix, err = c.in.str("prefix"); err != nil {
		return nil, err
	}
	if !c.who.Key.ExpiresAt.IsZero() {
		spec.TTL = time.Until(c.who.Key.ExpiresAt)
	}
	k, text, err := c.org.CreateKey(c.ctx, spec)
	if err != nil {
		return nil, err
	}
	shown := []string{}
	for _, s := range k.Scopes {
		shown = append(shown, string(s))
	}
	return map[string]any{"api_key_id": k.ID, "owner": k.Owner, "scopes": shown, "env": k.Env, "full_api_key": text, "created_at": timeText(k.CreatedAt)}, nil
}

type constError string

func (e constError) Error() string { return string(e) }

const errScope = constError("a key can't make one with more scopes than it has")
