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
	NextSync                           time.Time // zero while paused or while the connector waits for credentials
	LastError                          string    // of the latest sync; empty: no error
	NeedsReauth                        bool      // AuthOAuth only: the provider refused the credentials
	NeedsReauthAt                      time.Time
	NeedsReauthReason                  string
	Cycles                             int // completed syncs
	Dispatched                         int // objects passed to ingestion, including repeated ones
	Resources                          int // active resources
	CreatedAt, UpdatedAt               time.Time
}

// Edit changes a connector. A nil field leaves its value unchanged.
type Edit struct {
	Name        *string
	Status      *Status        // Active or Paused; Paused stops a running sync
	Interval    *time.Duration // 0: the default; a value outside the bounds is refused; the next sync starts one interval from now
	Credentials Credentials    // merged by key and checked; clears an earlier refusal
}

// Sync modes of a resource.
const (
	SyncRescan  = "rescan"   // the first sync reads the existing objects
	SyncNewOnly = "new_only" // only changes from now on, or from the re-creation of a deleted tenant on
)

// States of a resource.
const (
	ResourceActive = "active"
	ResourcePaused = "paused"
	ResourceFailed = "error" // the latest sync of the resource failed; the scheduler retries it
)

// SyncedResource is a resource that a connector syncs. AddResources takes the first group of fields, the settings. The service
// maintains the second group, and AddResources ignores it.
type SyncedResource struct {
	ResourceID       string // from Discover; required, at most 1024 bytes
	Type, Name       string
	Paused           bool
	Filters          map[string]any // passed to the provider
	Metadata         map[string]any // default tenant-level metadata of every object; the service sets provider and connector_id
	Additional       map[string]any // default document-level metadata of every object; the provider's values take precedence
	ProviderMetadata map[string]any
	TenantOverride   string // empty: the connector's tenant; an ingested object moves when a sync next reads it
	SubOverride      string
	SyncMode         string        // default SyncRescan
	LookbackDays     int           // the first sync skips objects older than this, 0 to 36500; 0: reads everything
	BackfillInterval time.Duration // pause between chunks of the first sync, at most 7 days; 0: none
	ACL              []string      // of objects without an ACL of their own
	Instructions     string        // guides extraction by a language model

	ConnectorID    string
	Status         string
	Cursor         string    // latest position; not empty once the first sync has begun
	BackfillOldest time.Time // lower time bound of the first sync; zero once it is complete
	BackfillStatus string    // "running" until the first sync is complete
	BackfillNext   time.Time // when the next chunk is due
	LastStatus     string    // "", "ok", "partial" (some objects were refused) or "error"
	LastError      string
	LastRows       int // objects in the latest sync
}

// DiscoverRequest asks a provider for resources, without a connector.
type DiscoverRequest struct {
	Provider    string // required
	AuthType    string // one of the provider's AuthTypes; default: the first
	Credentials Credentials
	Cursor      string // next of the previous page; empty: the first page
	Limit       int    // as limit in Discover
}
