package content

import "time"

// VerifyReport is what Service.Verify has found.
type VerifyReport struct {
	At       time.Time     // when it began
	Took     time.Duration // until it ended
	Tenants  int           // number of tenants checked
	Rows     int64         // stored rows whose checksums were compared
	Indexed  int64         // chunks of the stores that the indexes were asked for
	Bytes    int64         // bytes of index files whose checksums were compared
	Problems []Problem     // at most 1000 of a tenant
	Found    int           // number of problems, including those that Problems leaves out
}

// OK reports whether nothing was found.
func (r *VerifyReport) OK() bool { return r.Found == 0 }

// Problem is something in a deployment that is not as it was stored.
type Problem struct {
	Org, Tenant, UID string // of which tenant; empty: of the registry
	Where            string // "registry", "store", "feed" or "index"
	Sub              string // sub-tenant of the problem; empty: none
	Class            Class  // 0: of none
	ItemID           string // the item to ingest again or to delete; empty: none is known
	What             string // never content
}
