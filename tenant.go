package contextmem

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/paging"
	"github.com/contextmem/contextmem/internal/search"
	"github.com/contextmem/contextmem/internal/workspace"
)

// defaultDimension is the length of vectors of an embeddings tenant that names none.
const defaultDimension = 1536

// maxInstructions bounds the instructions of a tenant, in bytes.
const maxInstructions = 64 << 10

// DefaultOrg is the id of the organisation that Service embeds.
const DefaultOrg = "default"

// Organisation owns tenants, keys, a webhook and connectors. Tenant ids are
// unique inside it; the tenants of other organisations are not visible. It is a
// cheap handle that does no I/O, safe for concurrent use.
type Organisation struct {
	from
	id string
}

// from is the service that made a handle.
type from struct{ s *Service }

// nowhere is the service of handles that none made, such as Tenant{}: it refuses every call.
var nowhere = &Service{set: new(workspace.Set), search: &search.Engine{Set: new(workspace.Set)}}

func (f from) svc() *Service { return cmp.Or(f.s, nowhere) }

// ID returns the organisation's id.
func (o Organisation) ID() string { return o.id }

// Tenant returns a handle on a tenant of the organisation. Nothing is looked up:
// a call on the handle fails with fault.ErrNotFound when there is no such tenant.
func (o Organisation) Tenant(id string) Tenant {
	return Tenant{scope{from: o.from, org: o.id, tenant: id}}
}

// Tenant is a handle on an isolated workspace. Its data methods work on the
// default sub-tenant; [Tenant.Sub] names another. It does no I/O and is safe for
// concurrent use.
type Tenant struct{ scope }

// Sub is a handle on one partition of a tenant, typically one end user, team or
// customer. The partition is created with its first item. The handle does no I/O and is
// safe for concurrent use.
type Sub struct{ scope }

// scope is a partition that data methods work on. It is embedded by Tenant and by Sub, where the documentation shows its methods.
type scope struct {
	from
	org, tenant, sub string
}

// Sub returns the handle of a sub-tenant. An empty name, the tenant's own id,
// and (unless a partition of that name holds data) "default" all mean the
// default sub-tenant.
func (t Tenant) Sub(name string) Sub {
	return Sub{scope{from: t.from, org: t.org, tenant: t.tenant, sub: name}}
}

// Tenants are described in package content.
type (
	// TenantSpec describes a tenant to create: content.TenantSpec.
	TenantSpec = content.TenantSpec
	// TenantState is the lifecycle state of a tenant: content.TenantState.
	TenantState = content.TenantState
	// TenantInfo describes a tenant: content.TenantInfo.
	TenantInfo = content.TenantInfo
	// StoreStats counts one class of content over all sub-tenants of a tenant: content.StoreStats.
	StoreStats = content.StoreStats
	// TenantStats counts the contents of a tenant: content.TenantStats.
	TenantStats = content.TenantStats
	// SubStats counts the items of a sub-tenant: content.SubStats.
	SubStats = content.SubStats
)

// States of a tenant.
const (
	TenantProvisioning = content.TenantProvisioning
	TenantReady        = content.TenantReady
	TenantFailed       = content.TenantFailed
)

// CreateTenant registers a tenant and provisions it in the background, which
// takes milliseconds; [Tenant.WaitReady] waits for it. It returns fault.ErrExists if the id is taken.
func (o Organisation) CreateTenant(ctx context.Context, spec TenantSpec) (TenantInfo, error) {
	const op = "create tenant"
	if err := cmp.Or(workspace.CheckOrg(op, o.id), workspace.CheckTenantID(op, "ID", spec.ID)); err != nil {
		return TenantInfo{}, err
	}
	if err := fault.CheckText(op, "Instructions", spec.Instructions, maxInstructions); err != nil {
		return TenantInfo{}, err
	}
	schema, err := metadata.CompleteSchema(op, "Schema", nil, spec.Schema)
	if err != nil {
		return TenantInfo{}, err
	}
	if spec.Embeddings && spec.Dimension == 0 {
		spec.Dimension = defaultDimension
	}
	if spec.Dimension < 0 || spec.Dimension > 4096 {
		return TenantInfo{}, fault.Fieldf(op, fault.KindInvalid, fault.Tenant, "Dimension", "%d is outside 1 to 4096", spec.Dimension)
	}
	if !spec.Embeddings {
		spec.Dimension = 0
	}
	return called(o.svc(), func() (TenantInfo, error) {
		return workspace.InfoOf(o.svc().set.Create(ctx, o.id, spec.ID, workspace.Data{Embeddings: spec.Embeddings, Dimension: spec.Dimension, Schema: schema, Instructions: spec.Instructions}))
	})
}

// Tenants yields the organisation's tenants sorted by id, including failed ones but not deleted ones.
func (o Organisation) Tenants(ctx context.Context) iter.Seq2[TenantInfo, error] {
	return paging.All("", func(after string) (page []TenantInfo, next string, err error) {
		if page, err = o.ListTenants(ctx, after, 500); len(page) == 500 {
			next = page[len(page)-1].ID
		}
		return page, next, err
	})
}

// ListTenants returns up to limit tenants (1 to 1000, default 100) whose ids come after the given id.
func (o Organisation) ListTenants(ctx context.Context, after string, limit int) ([]TenantInfo, error) {
	const op = "list tenants"
	if limit = cmp.Or(limit, 100); limit < 1 || limit > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "limit", "%d is outside 1 to 1000", limit)
	}
	if err := o.svc().gate.Enter(); err != nil {
		return nil, err
	}
	defer o.svc().gate.Leave()
	ts, err := o.svc().reg.Tenants(ctx, o.id, after, limit)
	if err != nil {
		return nil, fault.Wrap(op, fault.Tenant, "", err)
	}
	out := make([]TenantInfo, len(ts))
	for i, t := range ts {
		if out[i], err = workspace.InfoOf(workspace.DecodeRecord(t)); err != nil {
			return nil, fault.Wrap(op, fault.Tenant, t.ID, err)
		}
	}
	return out, nil
}

// ID returns the tenant's id.
func (t Tenant) ID() string { return t.tenant }

// Info describes the tenant.
func (t Tenant) Info(ctx context.Context) (TenantInfo, error) {
	return called(t.svc(), func() (TenantInfo, error) {
		return workspace.InfoOf(t.svc().set.Record(ctx, "tenant", t.org, t.tenant))
	})
}

// WaitReady waits until the tenant is provisioned, or fails.
func (t Tenant) WaitReady(ctx context.Context) error {
	return t.svc().call(func() error { return t.svc().set.WaitReady(ctx, "wait for tenant", t.org, t.tenant) })
}

// Delete removes the tenant and everything in it. The id can be used again at once;
// the data is removed in the background. A repeated call returns fault.ErrNotFound.
func (t Tenant) Delete(ctx context.Context) error {
	return t.svc().call(func() error { return t.svc().set.Delete(ctx, t.org, t.tenant) })
}

// Stats counts the contents of the tenant.
func (t Tenant) Stats(ctx context.Context) (TenantStats, error) {
	const op = "tenant stats"
	return opened(ctx, t.scope, op, func(ref *workspace.Ref) (TenantStats, error) {
		out, err := documents.Stats(ctx, ref, t.svc().embedder.Dim())
		return out, fault.Wrap(op, fault.Tenant, t.tenant, err)
	})
}

// Subs lists the sub-tenants that hold items, sorted by name.
func (t Tenant) Subs(ctx context.Context) ([]string, error) {
	const op = "list sub-tenants"
	return opened(ctx, t.scope, op, func(ref *workspace.Ref) ([]string, error) {
		subs, err := ref.Store.Subs(ctx)
		names := make([]string, len(subs))
		for i, s := range subs {
			names[i] = s.Sub
		}
		return names, fault.Wrap(op, fault.Tenant, t.tenant, err)
	})
}

// Schema returns the tenant's metadata fields with all defaults filled in.
func (t Tenant) Schema(ctx context.Context) ([]Field, error) {
	i, err := t.Info(ctx)
	return i.Schema, err
}

// AddSchemaFields adds metadata fields and returns those added, completed.
// Existing fields can't be changed: an existing name is fault.ErrConflict. A new Match
// field filters every item that carries it, at once; Dense and Sparse apply to
// items ingested or edited from then on.
func (t Tenant) AddSchemaFields(ctx context.Context, fields []Field) ([]Field, error) {
	const op = "add schema fields"
	if len(fields) == 0 {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Schema, "Fields", "needs at least one entry")
	}
	var added []Field
	err := t.edit(ctx, op, func(r *workspace.Record) (err error) {
		if added, err = metadata.CompleteSchema(op, "Fields", r.Data.Schema, fields); err != nil {
			return err
		}
		data := r.Data
		data.Schema = append(slices.Clone(r.Data.Schema), added...)
		return fault.Wrap(op, fault.Schema, t.tenant, t.svc().set.Update(ctx, r, data))
	})
	return added, err
}

// SetInstructions replaces the instructions of the tenant, at most 64 KiB; empty: none. They guide the extraction from files, app items and inferred
// memories that are ingested later and have no instructions of their own. Memory.Instructions does the same for one memory.
func (t Tenant) SetInstructions(ctx context.Context, text string) error {
	const op = "set instructions"
	if err := fault.CheckText(op, "Instructions", text, maxInstructions); err != nil {
		return err
	}
	return t.edit(ctx, op, func(r *workspace.Record) error {
		data := r.Data
		data.Instructions = text
		return t.svc().set.Update(ctx, r, data)
	})
}

// Rename changes the id of the tenant at once. Use the returned handle afterwards; calls on t find no tenant. Running calls complete
// normally. It returns fault.ErrExists if the id is taken. It returns fault.ErrConflict while a key or a connector refers to the tenant
// by its id, and with backends whose registry does not implement backend.TenantRenamer.
func (t Tenant) Rename(ctx context.Context, id string) (Tenant, error) {
	const op = "rename tenant"
	err := t.edit(ctx, op, func(r *workspace.Record) error {
		if err := t.svc().unnamed(ctx, op, t.org, t.tenant); err != nil {
			return err
		}
		return t.svc().set.Rename(ctx, op, r, id)
	})
	return Organisation{t.from, t.org}.Tenant(id), err
}

// unnamed returns an error if a key or a connector refers to the tenant.
func (s *Service) unnamed(ctx context.Context, op, org, tenant string) error {
	by := ""
	keys, err := s.keys.List(ctx, op, org)
	for _, k := range keys {
		if slices.Contains(k.Tenants, tenant) {
			by = "a key is restricted to it"
		}
	}
	if err == nil && by == "" {
		var named bool
		if named, err = s.connectors.Names(ctx, org, tenant); named {
			by = "a connector puts items into it"
		}
	}
	if err == nil && by != "" {
		return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Tenant, ID: fault.ShortID(tenant), Err: errors.New(by)}
	}
	return fault.Wrap(op, fault.Tenant, tenant, err)
}

// edit changes the record of the tenant; see workspace.Set.Edit.
func (t Tenant) edit(ctx context.Context, op string, change func(r *workspace.Record) error) error {
	return t.svc().call(func() error { return t.svc().set.Edit(ctx, op, t.org, t.tenant, change) })
}

// Tenant returns the handle of the sub-tenant's tenant.
func (s Sub) Tenant() Tenant { return Tenant{scope{from: s.from, org: s.org, tenant: s.tenant}} }

// Name returns the name of the sub-tenant as given; empty is the default one.
func (s Sub) Name() string { return s.sub }

// Delete removes the sub-tenant with everything in it: items vanish from reads
// at once. It returns fault.ErrNotFound if the sub-tenant holds nothing.
func (s Sub) Delete(ctx context.Context) error {
	const op = "delete sub-tenant"
	_, err := entered(ctx, s.scope, op, func(ref *workspace.Ref, name string) (struct{}, error) {
		return struct{}{}, s.svc().documents.DeleteSub(ctx, op, ref, name)
	})
	return err
}

// enter opens the tenant of a sub-tenant and finds the name that its partitions are kept under.
func (s scope) enter(ctx context.Context, op string) (*workspace.Ref, string, error) {
	ref, err := s.svc().set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, "", err
	}
	name, err := ref.ResolveSub(ctx, s.tenant, s.sub)
	if err != nil {
		ref.Release()
		return nil, "", fault.Wrap(op, fault.Sub, s.sub, err)
	}
	return ref, name, nil
}

// Reembed makes new vectors for every item of the tenant with the service's
// embedder, while the tenant stays in use. Until all vectors are made, Recall uses the old vectors if
// Options.PreviousEmbedders has their embedder, else keywords alone, with an entry in
// Result.Warnings. Then Recall switches to the new vectors in
// one step. Items can be added, edited and deleted meanwhile. If a call
// is interrupted, a repeated call continues where it stopped, also after a restart.
// Reembed returns the number of items embedded by this call.
func (t Tenant) Reembed(ctx context.Context) (int, error) {
	const op = "reembed"
	return called(t.svc(), func() (int, error) {
		n, err := t.svc().set.Reembed(ctx, op, t.org, t.tenant)
		return n, fault.Wrap(op, fault.Tenant, t.tenant, err)
	})
}
