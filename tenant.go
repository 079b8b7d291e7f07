package contextmem

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"regexp"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// DefaultOrg is the organisation that Service itself stands for.
const DefaultOrg = "default"

// Organisation owns tenants, keys, a webhook and connectors. Tenant ids are
// unique inside it; what another organisation owns is simply absent. It is a
// cheap handle that does no I/O, safe for concurrent use.
type Organisation struct {
	svc *Service
	id  string
}

// ID returns the organisation's id.
func (o Organisation) ID() string { return o.id }

// Tenant returns a handle on a tenant of the organisation. Nothing is looked up:
// a call on the handle fails with ErrNotFound when there is no such tenant.
func (o Organisation) Tenant(id string) Tenant {
	return Tenant{Sub{svc: o.svc, org: o.id, tenant: id}}
}

// Tenant is a handle on an isolated workspace. Its data methods work on the
// default sub-tenant; [Tenant.Sub] names another. It does no I/O and is safe for
// concurrent use.
type Tenant struct{ defaultSub }

type defaultSub = Sub

// Sub is a handle on one partition of a tenant, typically one end user, team or
// customer. It comes into being with the first item put into it. It does no I/O and is
// safe for concurrent use.
type Sub struct {
	svc              *Service
	org, tenant, sub string
}

// Sub returns the handle of a sub-tenant. An empty name, the tenant's own id,
// and (unless a partition of that name holds data) "default" all mean the
// default sub-tenant.
func (t Tenant) Sub(name string) Sub {
	return Sub{svc: t.svc, org: t.org, tenant: t.tenant, sub: name}
}

// TenantSpec describes a tenant to create.
type TenantSpec struct {
	ID         string  // 1 to 128 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit
	Embeddings bool    // the tenant holds vectors supplied by the caller, and nothing else
	Dimension  int     // length of those vectors, 1 to 4096; default 1536
	Schema     []Field // tenant-level metadata fields
}

// TenantState is where a tenant stands.
type TenantState string

// States of a tenant.
const (
	TenantProvisioning TenantState = "provisioning"
	TenantReady        TenantState = "ready"
	TenantFailed       TenantState = "failed"
)

// TenantInfo describes a tenant.
type TenantInfo struct {
	Org, ID    string
	UID        string // stable identifier, never the name
	State      TenantState
	Error      string // why provisioning failed
	CreatedAt  time.Time
	Embeddings bool
	Dimension  int
	Schema     []Field // with all defaults filled in
}

// Ready tells whether items can be put into the tenant.
func (i TenantInfo) Ready() bool { return i.State == TenantReady }

// StoreStats counts one class of content over all sub-tenants of a tenant.
type StoreStats struct {
	Chunks    int // chunks that recall can return
	Sources   int // items
	Dimension int // length of the vectors
}

// TenantStats counts what a tenant holds. The numbers are exact.
type TenantStats struct {
	Knowledge, Memory, Raw StoreStats
	Subs                   []SubStats
}

// SubStats counts the items of a sub-tenant.
type SubStats struct {
	Name                   string
	Knowledge, Memory, Raw int
}

var (
	tenantIDRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	errTenantID  = errors.New("must be 1 to 128 letters, digits, '.', '_' or '-', starting with a letter or digit")
)

// checkOrg refuses an id of an organisation that can't be stored; organisations need no creation.
func checkOrg(op, id string) error {
	if id == "" {
		return fieldError(op, KindInvalid, "", "org_id", "is required")
	}
	return checkText(op, "org_id", id, maxOrgBytes)
}

func checkTenantID(op, id string) error {
	if id == "" {
		return fieldError(op, KindInvalid, "", "tenant_id", "is required")
	}
	if !tenantIDRule.MatchString(id) {
		return &Error{Op: op, Kind: KindInvalid, Resource: ResourceTenant, ID: shortID(id), Field: "tenant_id", Err: errTenantID}
	}
	return nil
}

// CreateTenant registers a tenant and provisions it in the background, which
// takes milliseconds; [Tenant.WaitReady] waits. ErrExists when the id is taken.
func (o Organisation) CreateTenant(ctx context.Context, spec TenantSpec) (TenantInfo, error) {
	const op = "create tenant"
	if err := cmp.Or(checkOrg(op, o.id), checkTenantID(op, spec.ID)); err != nil {
		return TenantInfo{}, err
	}
	schema, err := completeSchema(op, "schema", nil, spec.Schema)
	if err != nil {
		return TenantInfo{}, err
	}
	if spec.Embeddings && spec.Dimension == 0 {
		spec.Dimension = defaultEmbeddingsD
	}
	if spec.Dimension < 0 || spec.Dimension > 4096 {
		return TenantInfo{}, fieldError(op, KindInvalid, ResourceTenant, "embeddings_dimension", "%d is outside 1 to 4096", spec.Dimension)
	}
	if !spec.Embeddings {
		spec.Dimension = 0
	}
	if err := o.svc.begin(); err != nil {
		return TenantInfo{}, err
	}
	defer o.svc.end()
	return o.svc.createTenant(ctx, o.id, spec, schema)
}

// Tenants yields the organisation's tenants by id; failed ones too, deleted ones not.
func (o Organisation) Tenants(ctx context.Context) iter.Seq2[TenantInfo, error] {
	return func(yield func(TenantInfo, error) bool) {
		after := ""
		for {
			page, err := o.ListTenants(ctx, after, 500)
			if err != nil {
				yield(TenantInfo{}, err)
				return
			}
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
			}
			if len(page) < 500 {
				return
			}
			after = page[len(page)-1].ID
		}
	}
}

// ListTenants returns up to limit tenants (1 to 1000, default 100) with ids after the given one.
func (o Organisation) ListTenants(ctx context.Context, after string, limit int) ([]TenantInfo, error) {
	const op = "list tenants"
	if limit == 0 {
		limit = 100
	}
	if limit < 1 || limit > 1000 {
		return nil, fieldError(op, KindInvalid, "", "limit", "%d is outside 1 to 1000", limit)
	}
	if err := o.svc.begin(); err != nil {
		return nil, err
	}
	defer o.svc.end()
	ts, err := o.svc.reg.Tenants(ctx, o.id, after, limit)
	if err != nil {
		return nil, wrap(op, ResourceTenant, "", err)
	}
	out := make([]TenantInfo, len(ts))
	for i, t := range ts {
		r, err := decodeTenant(t)
		if err != nil {
			return nil, wrap(op, ResourceTenant, t.ID, err)
		}
		out[i] = r.info()
	}
	return out, nil
}

// ID returns the tenant's id.
func (t Tenant) ID() string { return t.tenant }

// Info describes the tenant.
func (t Tenant) Info(ctx context.Context) (TenantInfo, error) {
	if err := t.svc.begin(); err != nil {
		return TenantInfo{}, err
	}
	defer t.svc.end()
	r, err := t.svc.tenantRecord(ctx, "tenant", t.org, t.tenant)
	if err != nil {
		return TenantInfo{}, err
	}
	return r.info(), nil
}

// WaitReady waits until the tenant is provisioned, or fails.
func (t Tenant) WaitReady(ctx context.Context) error {
	const op = "wait for tenant"
	if err := t.svc.begin(); err != nil {
		return err
	}
	defer t.svc.end()
	for {
		changed := t.svc.tenantChanged()
		r, err := t.svc.tenantRecord(ctx, op, t.org, t.tenant)
		if err != nil {
			return err
		}
		switch r.rec.State {
		case backend.TenantReady:
			return nil
		case backend.TenantFailed:
			return &Error{Op: op, Kind: KindInternal, Resource: ResourceTenant, ID: shortID(t.tenant), Err: errors.New("provisioning failed: " + r.rec.Error)}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.svc.life.Done():
			return &Error{Op: op, Kind: KindClosed, Err: ErrClosed}
		case <-changed:
		}
	}
}

// Delete removes the tenant and everything in it. The name is free at once;
// the data goes in the background. A repeated call is ErrNotFound.
func (t Tenant) Delete(ctx context.Context) error {
	if err := t.svc.begin(); err != nil {
		return err
	}
	defer t.svc.end()
	return t.svc.deleteTenant(ctx, t.org, t.tenant)
}

// Stats counts what the tenant holds.
func (t Tenant) Stats(ctx context.Context) (TenantStats, error) {
	const op = "tenant stats"
	var out TenantStats
	ws, err := t.svc.open(ctx, op, t.org, t.tenant)
	if err != nil {
		return out, err
	}
	defer ws.release()
	dim := t.svc.embedder.Dim()
	for _, c := range []struct {
		class backend.Class
		to    *StoreStats
		dim   int
	}{{backend.Knowledge, &out.Knowledge, dim}, {backend.Memory, &out.Memory, dim}, {backend.Raw, &out.Raw, ws.rec.data.Dimension}} {
		s, err := ws.store.Stats(ctx, c.class)
		if err != nil {
			return out, wrap(op, ResourceTenant, t.tenant, err)
		}
		*c.to = StoreStats{Chunks: s.Chunks, Sources: s.Sources, Dimension: c.dim}
	}
	subs, err := ws.store.Subs(ctx)
	if err != nil {
		return out, wrap(op, ResourceTenant, t.tenant, err)
	}
	for _, s := range subs {
		out.Subs = append(out.Subs, SubStats{Name: s.Sub, Knowledge: s.Knowledge, Memory: s.Memory, Raw: s.Raw})
	}
	return out, nil
}

// Subs lists the sub-tenants that hold items, by name.
func (t Tenant) Subs(ctx context.Context) ([]string, error) {
	const op = "list sub-tenants"
	ws, err := t.svc.open(ctx, op, t.org, t.tenant)
	if err != nil {
		return nil, err
	}
	defer ws.release()
	subs, err := ws.store.Subs(ctx)
	if err != nil {
		return nil, wrap(op, ResourceTenant, t.tenant, err)
	}
	names := make([]string, len(subs))
	for i, s := range subs {
		names[i] = s.Sub
	}
	return names, nil
}

// Schema returns the tenant's metadata fields with all defaults filled in.
func (t Tenant) Schema(ctx context.Context) ([]Field, error) {
	i, err := t.Info(ctx)
	return i.Schema, err
}

// AddSchemaFields adds metadata fields and returns those added, completed.
// Existing fields can't be changed: an existing name is ErrConflict. A new Match
// field filters every item that carries it, at once; Dense and Sparse apply to
// items ingested or edited from then on.
func (t Tenant) AddSchemaFields(ctx context.Context, fields []Field) ([]Field, error) {
	const op = "add schema fields"
	if len(fields) == 0 {
		return nil, fieldError(op, KindInvalid, ResourceSchema, "add_fields", "needs at least one entry")
	}
	if err := t.svc.begin(); err != nil {
		return nil, err
	}
	defer t.svc.end()
	r, err := t.svc.tenantRecord(ctx, op, t.org, t.tenant)
	if err != nil {
		return nil, err
	}
	added, err := completeSchema(op, "add_fields", r.data.Schema, fields)
	if err != nil {
		return nil, err
	}
	data := r.data
	data.Schema = append(slices.Clone(r.data.Schema), added...)
	if err := t.svc.updateTenant(ctx, r, data); err != nil {
		return nil, wrap(op, ResourceSchema, t.tenant, err)
	}
	return added, nil
}

// Tenant returns the handle of the sub-tenant's tenant.
func (s Sub) Tenant() Tenant { return Tenant{Sub{svc: s.svc, org: s.org, tenant: s.tenant}} }

// Name returns the name of the sub-tenant as given; empty is the default one.
func (s Sub) Name() string { return s.sub }

// Delete removes the sub-tenant with everything in it: items vanish from reads
// at once. ErrNotFound when it holds nothing.
func (s Sub) Delete(ctx context.Context) error { return s.svc.deleteSub(ctx, s) }
