package backend

import (
	"context"
	"time"
)

// TenantState is the state of a tenant.
type TenantState string

// States of a tenant. A tenant in TenantDeleting no longer has a name: only
// DeletingTenants lists it, and another tenant can get its id.
const (
	TenantProvisioning TenantState = "provisioning"
	TenantReady        TenantState = "ready"
	TenantFailed       TenantState = "failed"
	TenantDeleting     TenantState = "deleting"
)

// Tenant is the registry's record of a workspace.
type Tenant struct {
	Org, ID   string
	UID       string // name of the workspace, 32 hexadecimal characters; unique in the deployment, never reused
	State     TenantState
	Error     string // why provisioning failed, else empty
	CreatedAt time.Time
	Data      []byte    // the caller's record (schema, kind of tenant, embedding identity)
	Rev       int64     // revision, higher after each change
	Wake      time.Time // when the workspace next needs attention; zero: never
}

// Record is a small document of the deployment: a key, a registration, a
// connector, a feedback entry.
type Record struct {
	Kind, Org, ID string
	Rev           int64 // assigned at each write, starts at 1
	Data          []byte
}

// RecordWrite is one write of a batch. With IfRev -1 the write is unconditional. With IfRev
// 0 the record must not exist (else [ErrExists]). With a larger IfRev the record must have
// this revision (else [ErrConflict], or [ErrNotFound] when the record is missing).
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
	Num            int64 // assigned by the Registry, ascending; lists are in descending order of it
	ID, Org        string
	URL            string // the address registered when it was created
	Event          string
	ItemID         string
	Database       string // tenant id
	TenantUID      string
	Collection     string
	IndexingStatus string
	Status         DeliveryStatus
	Attempts       int // number of attempts that ended
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

// Registry stores the data that belongs to a deployment and not to one tenant.
type Registry interface {
	Tenants
	Records
	Deliveries
}

// Tenants is the part of a [Registry] that stores the tenants, and when each next needs
// attention.
type Tenants interface {
	// CreateTenant adds t. It returns [ErrExists] when a tenant that is neither failed nor
	// deleting has the same org and id. A failed tenant with them becomes deleting, so that
	// its workspace is removed. CreateTenant returns [ErrFull] when org would then have
	// more than limit tenants that are not deleting. A limit of 0 means no limit.
	CreateTenant(ctx context.Context, t Tenant, limit int) error
	// Tenant returns the tenant of org with an id that is not deleting.
	Tenant(ctx context.Context, org, id string) (Tenant, error)
	// TenantByUID returns a tenant in any state.
	TenantByUID(ctx context.Context, uid string) (Tenant, error)
	// Tenants lists the tenants of org that are not deleting and have ids above after, by
	// id, at most limit.
	Tenants(ctx context.Context, org, after string, limit int) ([]Tenant, error)
	// UpdateTenant stores State, Error and Data of t, and returns the new revision. It
	// returns [ErrConflict] when t.Rev is not the stored revision.
	UpdateTenant(ctx context.Context, t Tenant) (int64, error)
	// DeletingTenants lists tenants whose removal is not finished.
	DeletingTenants(ctx context.Context, limit int) ([]Tenant, error)
	// ForgetTenant removes the record of a tenant that is deleting.
	ForgetTenant(ctx context.Context, uid string) error
	// SetWake sets the Wake of a tenant: the time at which its workspace next needs
	// attention. A zero time clears it. SetWake does not change Rev.
	SetWake(ctx context.Context, uid string, at time.Time) error
	// Awake lists tenants that are not deleting and have a Wake at or before now, earliest first.
	Awake(ctx context.Context, now time.Time, limit int) ([]Tenant, error)
}

// Records is the part of a [Registry] that stores small documents.
type Records interface {
	// WriteRecords applies all writes or none.
	WriteRecords(ctx context.Context, writes []RecordWrite) error
	// Record returns one record.
	Record(ctx context.Context, kind, org, id string) (Record, error)
	// Records lists the records of a kind in org with ids above after, by id, at most
	// limit.
	Records(ctx context.Context, kind, org, after string, limit int) ([]Record, error)
	// AllRecords lists the records of a kind in all organisations, by (org, id), above the
	// pair (afterOrg, afterID), at most limit.
	AllRecords(ctx context.Context, kind, afterOrg, afterID string, limit int) ([]Record, error)
}

// Deliveries is the part of a [Registry] that stores deliveries of webhook events and
// leases them to senders.
type Deliveries interface {
	// AddDeliveries adds the deliveries with new IDs and ignores the others, so that adding
	// an event twice makes one delivery.
	AddDeliveries(ctx context.Context, ds []Delivery) error
	// ClaimDeliveries claims deliveries that are due, and sets them sweeping with the lease and
	// the token. Due are pending and failed deliveries with NextAttempt at or before c.Now, and
	// sweeping ones whose lease has ended. [DeliveryClaim.Choose] chooses and orders them.
	// ClaimDeliveries does not change Attempts, so that an interrupted lease is no attempt.
	ClaimDeliveries(ctx context.Context, c DeliveryClaim) ([]Delivery, error)
	// FinishDelivery stores Status, Attempts, Error*, Last*, NextAttempt and UpdatedAt of d. It
	// returns [ErrConflict] when the delivery is no longer sweeping under d.Token.
	FinishDelivery(ctx context.Context, d Delivery) error
	// RequeueDelivery makes a failed or permanently failed delivery pending and due at now.
	// It returns [ErrConflict] in any other state.
	RequeueDelivery(ctx context.Context, org, id string, now time.Time) error
	// Delivery returns one delivery of org.
	Delivery(ctx context.Context, org, id string) (Delivery, error)
	// Deliveries lists deliveries of an organisation.
	Deliveries(ctx context.Context, q DeliveryQuery) ([]Delivery, error)
	// NextDelivery returns the earliest time at which a delivery can be claimed, or the
	// zero time when no delivery waits.
	NextDelivery(ctx context.Context) (time.Time, error)
	// PruneDeliveries removes delivered and permanently failed deliveries that were last
	// updated before the given time, at most limit, and returns how many it removed.
	PruneDeliveries(ctx context.Context, before time.Time, limit int) (int, error)
}
