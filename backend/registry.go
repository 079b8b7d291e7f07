package backend

import (
	"context"
	"time"
)

// TenantState is the state of a tenant.
type TenantState string

// States of a tenant. A tenant in TenantDeleting has no name any more: only
// DeletingTenants shows it, and its id can be taken again.
const (
	TenantProvisioning TenantState = "provisioning"
	TenantReady        TenantState = "ready"
	TenantFailed       TenantState = "failed"
	TenantDeleting     TenantState = "deleting"
)

// Tenant is the registry's record of a workspace.
type Tenant struct {
	Org, ID   string
	UID       string // names the workspace, 32 hexadecimal characters; unique in the deployment for all time
	State     TenantState
	Error     string // why provisioning failed, else empty
	CreatedAt time.Time
	Data      []byte    // the caller's record (schema, kind of tenant, embedding identity)
	Rev       int64     // rises with every change
	Wake      time.Time // when the workspace next needs attention; zero: never
}

// Record is a small document of the deployment: a key, a registration, a
// connector, a feedback entry.
type Record struct {
	Kind, Org, ID string
	Rev           int64 // assigned at each write, starts at 1
	Data          []byte
}

// RecordWrite is one write of a batch. IfRev -1 writes whatever is there, 0 only
// when nothing is there (else [ErrExists]), n only when the record is at
// revision n (else [ErrConflict], or [ErrNotFound] when it is gone).
type RecordWrite struct {
	Record
	Delete bool
	IfRev  int64
}

// DeliveryStatus is the state of a webhook delivery.
type DeliveryStatus string

// States of a delivery.
const (
	DeliveryPending           DeliveryStatus = "pending"
	DeliverySweeping          DeliveryStatus = "sweeping"
	DeliveryDelivered         DeliveryStatus = "delivered"
	DeliveryFailed            DeliveryStatus = "failed"
	DeliveryPermanentlyFailed DeliveryStatus = "permanently_failed"
)

// Delivery is the delivery of a webhook event to a receiver.
type Delivery struct {
	Num            int64 // assigned by the registry, rising; the order of listing
	ID, Org        string
	URL            string // the address registered when it was created
	Event          string
	ItemID         string
	Database       string // tenant id
	TenantUID      string
	Collection     string
	IndexingStatus string
	Status         DeliveryStatus
	Attempts       int // that ended
	ErrorCode      string
	ErrorMessage   string
	LastError      string // error of the last failed attempt; never a body
	LastStatusCode int
	Payload        []byte // the exact bytes that are signed and sent
	CreatedAt      time.Time
	UpdatedAt      time.Time
	NextAttempt    time.Time // due time while pending or failed
	LeaseUntil     time.Time // while sweeping
	Token          string    // identifies the holder of the lease
}

// DeliveryQuery asks for a page of deliveries, newest first.
type DeliveryQuery struct {
	Org    string
	Status DeliveryStatus // empty: all
	Before int64          // only those with a smaller Num; 0: from the newest
	Limit  int
}

// Registry keeps the data that belongs to a deployment and not to one tenant.
type Registry interface {
	Tenants
	Records
	Deliveries
}

// Tenants is the part of a [Registry] that knows the tenants, and when each next
// needs attention.
type Tenants interface {
	// CreateTenant adds t. [ErrExists] when org and id are taken by a tenant that
	// is neither failed nor deleting; a failed one becomes deleting, so that its
	// workspace is removed like that of any other. [ErrFull] when org would then have
	// over limit tenants that are not deleting; a limit of 0 is none.
	CreateTenant(ctx context.Context, t Tenant, limit int) error
	// Tenant finds a tenant that is not deleting by its name.
	Tenant(ctx context.Context, org, id string) (Tenant, error)
	// TenantByUID finds a tenant in any state.
	TenantByUID(ctx context.Context, uid string) (Tenant, error)
	// Tenants lists the tenants of org that are not deleting, by id, from the
	// first id after the given one.
	Tenants(ctx context.Context, org, after string, limit int) ([]Tenant, error)
	// UpdateTenant stores State, Error and Data of t; t.Rev must be the stored
	// revision, else [ErrConflict]. It returns the new revision.
	UpdateTenant(ctx context.Context, t Tenant) (int64, error)
	// DeletingTenants lists tenants whose removal is not finished.
	DeletingTenants(ctx context.Context, limit int) ([]Tenant, error)
	// ForgetTenant drops the record of a tenant that is deleting.
	ForgetTenant(ctx context.Context, uid string) error
	// SetWake stores when a workspace next needs attention. It does not change
	// Rev. A zero time clears it.
	SetWake(ctx context.Context, uid string, at time.Time) error
	// Awake lists tenants (not deleting) with a Wake at or before now, earliest first.
	Awake(ctx context.Context, now time.Time, limit int) ([]Tenant, error)
}

// Records is the part of a [Registry] that keeps small documents.
type Records interface {
	// WriteRecords applies all writes or none.
	WriteRecords(ctx context.Context, writes []RecordWrite) error
	// Record reads one record.
	Record(ctx context.Context, kind, org, id string) (Record, error)
	// Records lists the records of a kind in org by id, from the first id after
	// the given one.
	Records(ctx context.Context, kind, org, after string, limit int) ([]Record, error)
	// AllRecords lists the records of a kind over all organisations by (org, id),
	// from the first after the given pair.
	AllRecords(ctx context.Context, kind, afterOrg, afterID string, limit int) ([]Record, error)
}

// Deliveries is the part of a [Registry] that stores deliveries of webhook events and
// leases them to senders.
type Deliveries interface {
	// AddDeliveries adds the deliveries with new IDs and ignores the others, so that an
	// event handed over twice makes one record.
	AddDeliveries(ctx context.Context, ds []Delivery) error
	// ClaimDeliveries takes deliveries that are due (pending or
	// failed with NextAttempt at or before c.Now, or sweeping with a lapsed lease), as many and in the order that
	// [DeliveryClaim.Choose] says, and sets them sweeping with the lease and token. It counts no attempt: a lease
	// that was cut off used none up.
	ClaimDeliveries(ctx context.Context, c DeliveryClaim) ([]Delivery, error)
	// FinishDelivery stores Status, Attempts, Error*, Last*, NextAttempt and UpdatedAt of d when
	// it is still sweeping under d.Token, else [ErrConflict].
	FinishDelivery(ctx context.Context, d Delivery) error
	// RequeueDelivery makes a failed or permanently failed delivery pending and
	// due at now; [ErrConflict] in any other state.
	RequeueDelivery(ctx context.Context, org, id string, now time.Time) error
	// Delivery reads one delivery of org.
	Delivery(ctx context.Context, org, id string) (Delivery, error)
	// Deliveries lists deliveries of an organisation.
	Deliveries(ctx context.Context, q DeliveryQuery) ([]Delivery, error)
	// NextDelivery returns the earliest time at which ClaimDeliveries can find
	// something, or the zero time when nothing waits.
	NextDelivery(ctx context.Context) (time.Time, error)
	// PruneDeliveries drops delivered and permanently failed ones last updated
	// before the given time, at most limit, and returns how many.
	PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
}
