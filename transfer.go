package contextmem

import (
	"context"
	"io"

	"github.com/contextmem/contextmem/internal/workspace"
)

// Export writes the contents of the tenant as lines of JSON, in the format that docs/export.md describes: the
// items of every sub-tenant with their content, merges of entities, boosts from feedback, and the vectors of an
// embeddings tenant. The tenant can be used meanwhile. Writes acknowledged before the call are in the file unless deleted
// since; writes during the call may be. The memory used does not grow with the tenant. After an error the file is
// incomplete, and [Organisation.ImportTenant] refuses it.
func (t Tenant) Export(ctx context.Context, w io.Writer) error {
	const op = "export tenant"
	ref, err := t.svc().set.Open(ctx, op, t.org, t.tenant)
	if err != nil {
		return err
	}
	defer ref.Release()
	return t.svc().transfer.Export(ctx, op, ref, w)
}

// ImportTenant makes a tenant with the given id from a file that [Tenant.Export] wrote. It returns when all items are
// processed. Items keep their times and ids. Until it returns, other callers see the tenant as being provisioned.
// The tenant is deleted if the file is truncated or malformed (the error has the number of the line), if ctx ends, or if the
// process dies. It returns fault.ErrExists if the id is taken.
func (o Organisation) ImportTenant(ctx context.Context, id string, r io.Reader) (TenantInfo, error) {
	return called(o.svc(), func() (TenantInfo, error) {
		return workspace.InfoOf(o.svc().transfer.Import(ctx, "import tenant", o.id, id, r))
	})
}
