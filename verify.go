package contextmem

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/verify"
)

// VerifyReport is what [Service.Verify] has found.
type VerifyReport struct {
	At       time.Time     // when it began
	Took     time.Duration // until it ended
	Tenants  int           // tenants looked at
	Rows     int64         // stored rows whose checksums were compared
	Indexed  int64         // chunks of the stores that the indexes were asked for
	Bytes    int64         // bytes of index files whose checksums were compared
	Problems []Problem     // at most 1000 of a tenant
	Found    int           // problems, with those that Problems leaves out
}

// OK reports whether nothing was found.
func (r *VerifyReport) OK() bool { return r.Found == 0 }

// Problem is something in a deployment that is not as it was stored.
type Problem struct {
	Org, Tenant, UID string // of which tenant; empty: of the registry
	Where            string // "registry", "store", "feed" or "index"
	Sub              string // sub-tenant, where it is of one
	Class            Class  // 0: of none
	ItemID           string // the item to ingest again or to delete; empty: none is known
	What             string // never content
}

// Verify looks for damage in everything that is stored: it compares the checksums of all rows and of all index files, checks
// the structure of each store, walks through its change feed and asks the indexes for every chunk. The service can be
// used meanwhile. It reads everything, so it takes its time, and repairs nothing: damaged items are left out of recalls, and
// come back when they are ingested again; an index that is damaged is built anew by itself. The error says that it could
// not go on; damage is not an error. It needs a backend that says what it keeps, as that of [Open] does.
func (s *Service) Verify(ctx context.Context) (*VerifyReport, error) {
	const op = "verify"
	var out *VerifyReport
	err := s.call(func() error {
		ctx, cancel := s.gate.Bind(ctx)
		defer cancel()
		r, err := (&verify.Engine{Set: s.set}).Run(ctx)
		if err != nil {
			return fault.Wrap(op, "", "", err)
		}
		out = &VerifyReport{At: r.At, Took: r.Took, Tenants: r.Tenants, Rows: r.Rows, Indexed: r.Indexed, Bytes: r.Bytes, Found: r.Found}
		for _, p := range r.Problems {
			out.Problems = append(out.Problems, Problem{Org: p.Tenant.Org, Tenant: p.Tenant.ID, UID: p.Tenant.UID, Where: p.Where,
				Sub: p.Finding.Part.Sub, Class: Class(p.Finding.Part.Class), ItemID: p.Finding.ItemID, What: p.Finding.What})
		}
		return nil
	})
	return out, err
}
