package backendtest

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// faultyRegistry wraps the registry of a backend.
type faultyRegistry struct {
	real backend.Registry
	plan *Plan
}

func (f *faultyRegistry) CreateTenant(ctx context.Context, t backend.Tenant, limit int) error {
	return f.plan.do(ctx, []string{"Registry.CreateTenant"}, func() error { return f.real.CreateTenant(ctx, t, limit) })
}

func (f *faultyRegistry) Tenant(ctx context.Context, org, id string) (backend.Tenant, error) {
	return get(ctx, f.plan, "Registry.Tenant", func() (backend.Tenant, error) { return f.real.Tenant(ctx, org, id) })
}

func (f *faultyRegistry) TenantByUID(ctx context.Context, uid string) (backend.Tenant, error) {
	return get(ctx, f.plan, "Registry.TenantByUID", func() (backend.Tenant, error) { return f.real.TenantByUID(ctx, uid) })
}

func (f *faultyRegistry) Tenants(ctx context.Context, org, after string, limit int) ([]backend.Tenant, error) {
	return get(ctx, f.plan, "Registry.Tenants", func() ([]backend.Tenant, error) { return f.real.Tenants(ctx, org, after, limit) })
}

func (f *faultyRegistry) UpdateTenant(ctx context.Context, t backend.Tenant) (int64, error) {
	return get(ctx, f.plan, "Registry.UpdateTenant", func() (int64, error) { return f.real.UpdateTenant(ctx, t) })
}

func (f *faultyRegistry) DeletingTenants(ctx context.Context, limit int) ([]backend.Tenant, error) {
	return get(ctx, f.plan, "Registry.DeletingTenants", func() ([]backend.Tenant, error) { return f.real.DeletingTenants(ctx, limit) })
}

func (f *faultyRegistry) ForgetTenant(ctx context.Context, uid string) error {
	return f.plan.do(ctx, []string{"Registry.ForgetTenant"}, func() error { return f.real.ForgetTenant(ctx, uid) })
}

func (f *faultyRegistry) SetWake(ctx context.Context, uid string, at time.Time) error {
	return f.plan.do(ctx, []string{"Registry.SetWake"}, func() error { return f.real.SetWake(ctx, uid, at) })
}

func (f *faultyRegistry) Awake(ctx context.Context, now time.Time, limit int) ([]backend.Tenant, error) {
	return get(ctx, f.plan, "Registry.Awake", func() ([]backend.Tenant, error) { return f.real.Awake(ctx, now, limit) })
}

func (f *faultyRegistry) WriteRecords(ctx context.Context, writes []backend.RecordWrite) error {
	return f.plan.do(ctx, []string{"Registry.WriteRecords"}, func() error { return f.real.WriteRecords(ctx, writes) })
}

func (f *faultyRegistry) Record(ctx context.Context, kind, org, id string) (backend.Record, error) {
	return get(ctx, f.plan, "Registry.Record", func() (backend.Record, error) { return f.real.Record(ctx, kind, org, id) })
}

func (f *faultyRegistry) Records(ctx context.Context, kind, org, after string, limit int) ([]backend.Record, error) {
	return get(ctx, f.plan, "Registry.Records", func() ([]backend.Record, error) { return f.real.Records(ctx, kind, org, after, limit) })
}

func (f *faultyRegistry) AllRecords(ctx context.Context, kind, afterOrg, afterID string, limit int) ([]backend.Record, error) {
	return get(ctx, f.plan, "Registry.AllRecords", func() ([]backend.Record, error) { return f.real.AllRecords(ctx, kind, afterOrg, afterID, limit) })
}

func (f *faultyRegistry) AddDeliveries(ctx context.Context, ds []backend.Delivery) error {
	return f.plan.do(ctx, []string{"Registry.AddDeliveries"}, func() error { return f.real.AddDeliveries(ctx, ds) })
}

func (f *faultyRegistry) ClaimDeliveries(ctx context.Context, c backend.DeliveryClaim) ([]backend.Delivery, error) {
	return get(ctx, f.plan, "Registry.ClaimDeliveries", func() ([]backend.Delivery, error) {
		return f.real.ClaimDeliveries(ctx, c)
	})
}

func (f *faultyRegistry) FinishDelivery(ctx context.Context, d backend.Delivery) error {
	return f.plan.do(ctx, []string{"Registry.FinishDelivery"}, func() error { return f.real.FinishDelivery(ctx, d) })
}

func (f *faultyRegistry) RequeueDelivery(ctx context.Context, org, id string, now time.Time) error {
	return f.plan.do(ctx, []string{"Registry.RequeueDelivery"}, func() error { return f.real.RequeueDelivery(ctx, org, id, now) })
}

func (f *faultyRegistry) Delivery(ctx context.Context, org, id string) (backend.Delivery, error) {
	return get(ctx, f.plan, "Registry.Delivery", func() (backend.Delivery, error) { return f.real.Delivery(ctx, org, id) })
}

func (f *faultyRegistry) Deliveries(ctx context.Context, q backend.DeliveryQuery) ([]backend.Delivery, error) {
	return get(ctx, f.plan, "Registry.Deliveries", func() ([]backend.Delivery, error) { return f.real.Deliveries(ctx, q) })
}

func (f *faultyRegistry) NextDelivery(ctx context.Context) (time.Time, error) {
	return get(ctx, f.plan, "Registry.NextDelivery", func() (time.Time, error) { return f.real.NextDelivery(ctx) })
}

func (f *faultyRegistry) PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error) {
	return get(ctx, f.plan, "Registry.PruneDeliveries", func() (int, error) { return f.real.PruneDeliveries(ctx, before, limit) })
}
