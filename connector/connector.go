package connector

import "time"

// Spec describes a connector to create.
type Spec struct {
	Provider     string // required
	Name         string // label; default: the provider's name
	Tenant, Sub  string // default destination of objects; without a tenant every resource needs an override
	AccountScope string // external account; unique among a provider's connectors, unless empty
	AuthType     string // default: the provider's first AuthType
	Credentials  Credentials
	DeploymentID string
	Plan         string
	SyncEngine   string        // "" or "classic"
	Interval     time.Duration // between syncs; 0: the provider's default; a value outside its bounds is refused
	UserID       string
}

// Status is the lifecycle of a connector.
type Status string

// Lifecycle states. Refused is set when the provider refuses the credentials. It ends when new credentials are stored or
// a sync succeeds.
const (
	Active  Status = "active"
	Paused  Status = "paused"
	Refused Status = "error"
)

// States of Connector.SyncStatus.
const (
	SyncIdle    = "idle"
	SyncRunning = "running"
	SyncError   = "error" // the latest sync failed
)

// Connector syncs objects of a provider into a tenant.
type Connector struct {
	ID, Org, UserID                    string
	Provider, Name                     string
	AccountScope, AuthType             string
	Tenant, Sub                        string
	CredentialRef                      string // opaque; empty without credentials
	DeploymentID, Plan, SyncEngine     string
	Status                             Status
	SyncStatus                         string
	Interval, MinInterval, MaxInterval time.Duration
	LastAttempt, LastSuccess           time.Time
	NextSync                           time.Time // zero while paused, or while it waits for credentials
	LastError                          string    // of the latest sync; empty: none
	NeedsReauth                        bool      // AuthOAuth only: the provider refused the credentials
	NeedsReauthAt                      time.Time
	NeedsReauthReason                  string
	Cycles                             int // complete syncs
	Dispatched                         int // objects handed to ingestion, repeated ones included
	Resources                          int // active ones
	CreatedAt, UpdatedAt               time.Time
}

// Edit changes a connector; nil fields stay.
type Edit struct {
	Name        *string
	Status      *Status        // Active or Paused; pausing stops a sync that runs
	Interval    *time.Duration // 0: the default; outside the bounds is refused; the next sync is one interval from now
	Credentials Credentials    // merged by key and checked; a refusal of the old ones is forgotten
}

// Sync modes of a resource.
const (
	SyncRescan  = "rescan"   // the first sync reads what is there
	SyncNewOnly = "new_only" // only what changes from now on; after the tenant was deleted and made again, from then on
)

// States of a resource.
const (
	ResourceActive = "active"
	ResourcePaused = "paused"
	ResourceFailed = "error" // the latest sync of it failed; it is tried again
)

// SyncedResource is a resource that a connector syncs. Its settings are given to
// AddResources; the fields below them are kept by the service and ignored there.
type SyncedResource struct {
	ResourceID       string // from Discover; required, at most 1024 bytes
	Type, Name       string
	Paused           bool
	Filters          map[string]any // handed to the provider
	Metadata         map[string]any // under the tenant-level metadata of every object; provider and connector_id are set over it
	Additional       map[string]any // under the document-level metadata of every object; what the provider gives wins
	ProviderMetadata map[string]any
	TenantOverride   string // empty: the connector's; what was ingested moves when an object is next seen
	SubOverride      string
	SyncMode         string        // default SyncRescan
	LookbackDays     int           // the first sync reads nothing older, 0 to 36500; 0: everything
	BackfillInterval time.Duration // pause between chunks of the first sync, at most 7 days; 0: none
	ACL              []string      // of objects that have none of their own
	Instructions     string        // guide extraction by a language model

	ConnectorID    string
	Status         string
	Cursor         string    // last position; not empty: the first sync has begun
	BackfillOldest time.Time // how far back the first sync reads; zero: it is complete
	BackfillStatus string    // "running" until the first sync is complete
	BackfillNext   time.Time // when the next chunk is due
	LastStatus     string    // "", "ok", "partial" (some objects were refused) or "error"
	LastError      string
	LastRows       int // objects of the latest sync
}

// DiscoverRequest asks a provider for resources without a connector.
type DiscoverRequest struct {
	Provider    string // required
	AuthType    string // one of the provider's; default: its first
	Credentials Credentials
	Cursor      string // from the previous page
	Limit       int    // as in Discover
}
