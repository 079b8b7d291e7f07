package contextmem

import (
	"context"
	"io"
)

// Export writes everything that was put into the tenant as lines of JSON, in the format that docs/export.md describes:
// items of every sub-tenant with their content, merges of entities, what feedback taught, and the vectors of an
// embeddings tenant. The tenant can be used meanwhile: what was acknowledged before the call and not deleted since is in
// the file; what is written meanwhile may be. The memory used does not grow with the tenant. After an error the file is
// not whole, and [Organisation.ImportTenant] refuses it.
func (t Tenant) Export(ctx context.Context, w io.Writer) error {
	const op = "export tenant"
	ref, err := t.svc.set.Open(ctx, op, t.org, t.tenant)
	if err != nil {
		return err
	}
	defer ref.Release()
	return t.svc.transfer.Export(ctx, op, ref, w)
}

// ImportTenant makes a tenant with the given id of what [Tenant.Export] wrote, and returns when all of its items are
// processed. Times and ids of items stay as they were. Until it returns the tenant is provisioning for everybody else.
// When the file is cut off or malformed, which the error says with the number of the line, when ctx ends, or when the process
// dies, the tenant is deleted. fault.ErrExists when the id is taken.
func (o Organisation) ImportTenant(ctx context.Context, id string, r io.Reader) (TenantInfo, error) {
	return called(o.svc, func() (TenantInfo, error) {
		return tenantInfo(o.svc.transfer.Import(ctx, "import tenant", o.id, id, r))
	})
}
