package shared

import (
	"context"

	"github.com/contextmem/contextmem"
)

// Erase erases items of a sub-tenant; see [contextmem.Sub.Erase]. It is not repeated when the owner ends meanwhile.
func (d *Deployment) Erase(ctx context.Context, tenant, sub string, q contextmem.EraseRequest) (r contextmem.EraseReceipt, err error) {
	err = d.do(ctx, true, func(s *seat) (err error) {
		if s.svc != nil {
			r, err = s.svc.Tenant(tenant).Sub(sub).Erase(ctx, q)
		} else {
			r, err = s.client.Tenant(tenant).Sub(sub).Erase(ctx, q)
		}
		return err
	})
	return r, err
}

// EraseTenant erases items in all sub-tenants of a tenant; see [contextmem.Tenant.Erase]. It is not repeated when the owner ends meanwhile.
func (d *Deployment) EraseTenant(ctx context.Context, tenant string, q contextmem.EraseRequest) (r contextmem.EraseReceipt, err error) {
	err = d.do(ctx, true, func(s *seat) (err error) {
		if s.svc != nil {
			r, err = s.svc.Tenant(tenant).Erase(ctx, q)
		} else {
			r, err = s.client.Tenant(tenant).Erase(ctx, q)
		}
		return err
	})
	return r, err
}

// VerifyReceipt returns nil if the deployment made a receipt and the receipt is unchanged; see [contextmem.Service.VerifyReceipt].
func (d *Deployment) VerifyReceipt(ctx context.Context, r contextmem.EraseReceipt) error {
	return d.do(ctx, false, func(s *seat) error {
		if s.svc != nil {
			return s.svc.VerifyReceipt(r)
		}
		return s.client.VerifyReceipt(ctx, r)
	})
}
