package httpapi

import (
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// tenantRequest creates a tenant.
type tenantRequest struct {
	ID         string `json:"tenant_id" also:"database"`
	Embeddings bool   `json:"is_embeddings_tenant"`
	Dimension  *int   `json:"embeddings_dimension"`
}

// createTenant creates the tenant that the request names.
func (c *call) createTenant(r *tenantRequest, schema schemaEntries) error {
	spec := contextmem.TenantSpec{ID: r.ID, Embeddings: r.Embeddings, Schema: schema}
	if r.Dimension != nil {
		if spec.Dimension = *r.Dimension; spec.Dimension < 1 {
			return bad(fault.KindInvalid, "embeddings_dimension", "must be between 1 and 4096")
		}
	}
	_, err := c.org.CreateTenant(c.ctx, spec)
	return err
}

// createdAnswer is the response to a started creation.
type createdAnswer struct {
	Status   string `json:"status"`
	TenantID string `json:"tenant_id"`
	Message  string `json:"message"`
}

// v1TenantRequest is the body of /tenants/create.
type v1TenantRequest struct {
	tenantRequest
	Schema schemaEntries `json:"tenant_metadata_schema" also:"database_metadata_schema"`
}

func v1CreateTenant(c *call, t contextmem.Tenant) (any, error) {
	var r v1TenantRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if err := c.createTenant(&r.tenantRequest, r.Schema); err != nil {
		return nil, err
	}
	return createdAnswer{"accepted", t.ID(), "Tenant creation accepted. Poll /tenants/infra/status until every flag is true."}, nil
}

func v1InfraStatus(c *call, t contextmem.Tenant) (any, error) {
	i, err := t.Info(c.ctx)
	if err != nil {
		return nil, err
	}
	type infra struct {
		Scheduler bool   `json:"scheduler_status"`
		Graph     bool   `json:"graph_status"`
		Vectors   []bool `json:"vectorstore_status"` // memories, knowledge
	}
	ready := i.Ready()
	return struct {
		TenantID string `json:"tenant_id"`
		OrgID    string `json:"org_id"`
		Message  string `json:"message"`
		Infra    infra  `json:"infra"`
	}{i.ID, i.Org, statusMessage(i), infra{ready, ready, []bool{ready, ready}}}, nil
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
	return createdAnswer{"deletion_scheduled", t.ID(), "Tenant deletion scheduled"}, nil
}

// storeStats holds the counts of one store of a tenant.
type storeStats struct {
	Rows       int `json:"row_count"`
	Dimensions int `json:"dimensions"`
	Sources    int `json:"source_count"`
}

// stats returns the counts of a tenant's two stores. Raw vectors count as knowledge.
func (c *call) stats(t contextmem.Tenant) (knowledge, memory storeStats, err error) {
	s, err := t.Stats(c.ctx)
	if err != nil {
		return knowledge, memory, err
	}
	if s.Raw.Dimension > 0 {
		s.Knowledge = s.Raw
	}
	return storeStats{s.Knowledge.Chunks, s.Knowledge.Dimension, s.Knowledge.Sources}, storeStats{s.Memory.Chunks, s.Memory.Dimension, s.Memory.Sources}, nil
}

func v1Monitor(c *call, t contextmem.Tenant) (any, error) {
	knowledge, memory, err := c.stats(t)
	if err != nil {
		return nil, err
	}
	return struct {
		TenantID string     `json:"tenant_id"`
		Normal   storeStats `json:"normal_collection"`
		Memory   storeStats `json:"memory_collection"`
		Message  string     `json:"message"`
	}{t.ID(), knowledge, memory, "Tenant statistics retrieved"}, nil
}

func v1SubTenants(c *call, t contextmem.Tenant) (any, error) {
	subs, err := t.Subs(c.ctx)
	if err != nil {
		return nil, err
	}
	return struct {
		IDs     []string `json:"sub_tenant_ids"`
		Message string   `json:"message"`
	}{orNone(subs), "Sub-tenants retrieved"}, nil
}

// visibleTenants lists the tenants to which the key has access.
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
	type failure struct {
		TenantID string `json:"tenant_id"`
		Error    string `json:"error"`
	}
	ids, failures := []string{}, []failure{}
	for _, t := range ok {
		ids = append(ids, t.ID)
	}
	for _, t := range failed {
		failures = append(failures, failure{t.ID, t.Error})
	}
	return struct {
		IDs     []string  `json:"tenant_ids"`
		Failed  []failure `json:"failed_tenant_ids"`
		Message string    `json:"message"`
	}{ids, failures, "Tenants retrieved"}, nil
}

// keyRequest is the body of /api-keys/create_api_key.
type keyRequest struct {
	Owner  string             `json:"owner"`
	Scopes []contextmem.Scope `json:"scopes"`
	Env    string             `json:"env" default:"live" oneof:"live,test"`
	Prefix string             `json:"prefix"`
}

// v1CreateKey creates a key with at most the permissions of the caller's key.
func v1CreateKey(c *call) (any, error) {
	var r keyRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	for _, name := range [...]string{"databases", "expires_in_seconds"} {
		if c.in.members.place(name) >= 0 { // ignored like other unknown members, it would leave a key without its restriction
			return nil, bad(fault.KindInvalid, name, "is not a field of this request: POST /ext/keys makes such keys")
		}
	}
	spec := contextmem.KeySpec{Owner: r.Owner, Scopes: r.Scopes, Tenants: c.who.Key.Tenants, Env: r.Env, Prefix: r.Prefix}
	if len(spec.Scopes) == 0 {
		spec.Scopes = c.who.Key.Scopes
	}
	for _, s := range spec.Scopes {
		if !c.who.Key.Allows(s) {
			return nil, &contextmem.Error{Kind: fault.KindForbidden, Err: errScope}
		}
	}
	if !c.who.Key.ExpiresAt.IsZero() {
		spec.TTL = time.Until(c.who.Key.ExpiresAt)
	}
	k, text, err := c.org.CreateKey(c.ctx, spec)
	if err != nil {
		return nil, err
	}
	return struct {
		ID        string             `json:"api_key_id"`
		Owner     string             `json:"owner"`
		Scopes    []contextmem.Scope `json:"scopes"`
		Env       string             `json:"env"`
		Key       string             `json:"full_api_key"`
		CreatedAt string             `json:"created_at"`
	}{k.ID, k.Owner, append([]contextmem.Scope{}, k.Scopes...), k.Env, text, wire.Time(k.CreatedAt)}, nil
}

type constError string

func (e constError) Error() string { return string(e) }

const errScope = constError("a key can't make one with more scopes than it has")
