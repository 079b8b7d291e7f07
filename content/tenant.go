package content

import "time"

// TenantSpec describes a tenant to create.
type TenantSpec struct {
	ID         string  // 1 to 128 characters of A-Z a-z 0-9 . _ -, starting with a letter or digit
	Embeddings bool    // the tenant holds vectors supplied by the caller, and nothing else
	Dimension  int     // length of those vectors, 1 to 4096; default 1536
	Schema     []Field // tenant-level metadata fields
	// Instructions guide the extraction from items without instructions of their own; see Tenant.SetInstructions.
	Instructions string
}

// TenantState is the state of a tenant.
type TenantState string

// States of a tenant.
const (
	TenantProvisioning TenantState = "provisioning"
	TenantReady        TenantState = "ready"
	TenantFailed       TenantState = "failed"
)

// TenantInfo describes a tenant.
type TenantInfo struct {
	Org, ID      string
	UID          string // stable identifier, never the name
	State        TenantState
	Error        string // why provisioning failed
	CreatedAt    time.Time
	Embeddings   bool
	Dimension    int
	Schema       []Field // with all defaults filled in
	Instructions string  // see Tenant.SetInstructions
}

// Ready reports whether items can be put into the tenant.
func (i TenantInfo) Ready() bool { return i.State == TenantReady }

// StoreStats counts one class of content over all sub-tenants of a tenant.
type StoreStats struct {
	Chunks    int // chunks that recall can return
	Sources   int // items
	Dimension int // length of the vectors
}

// TenantStats has the exact counts of a tenant's items.
type TenantStats struct {
	Knowledge, Memory, Raw StoreStats
	Subs                   []SubStats
	States                 map[Status]int // newest versions of items by state
}

// SubStats counts the items of a sub-tenant.
type SubStats struct {
	Name                   string
	Knowledge, Memory, Raw int
}
