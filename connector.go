package contextmem

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Provider reads objects from an external system for connectors. Implementations are safe for concurrent use.
type Provider interface {
	// Describe says what the provider is. It does no I/O and always answers the same.
	Describe() ProviderInfo
	// Check validates credentials without storing them. It may ask the external system.
	// ErrBadCredentials and ErrReauth blame the caller, any other error the external system.
	Check(ctx context.Context, c Credentials) error
	// Discover lists resources that can be synced, a page at a time; next is empty at the end.
	Discover(ctx context.Context, c Credentials, cursor string, limit int) (resources []ProviderResource, next string, err error)
	// Sync reads what changed in a resource since cursor ("" for the first time),
	// at most about r.Limit objects. It returns the cursor to go on from; More says that the
	// caller should go on at once. A cursor is stored only after its objects are durable, so
	// an object may come again after a failure; one that comes unchanged costs little.
	// ErrReauth and *RateLimited steer the scheduler; any other error is tried again later.
	Sync(ctx context.Context, r SyncRequest) (*SyncPage, error)
}

// Errors with which a provider tells the scheduler what to do.
var (
	// ErrReauth: the external system no longer accepts the credentials (invalid_grant).
	ErrReauth = errors.New("credentials are no longer accepted")
	// ErrBadCredentials: the credentials do not fit the provider's schema.
	ErrBadCredentials = errors.New("credentials are not valid")
)

// RateLimited is an error of a provider that was told to come back later.
type RateLimited struct {
	After time.Duration // pause that was asked for; 0: unknown
}

// Error implements error.
func (e *RateLimited) Error() string { return "provider asks to come back in " + e.After.String() }

// Credentials of a connector, by the names of the provider's credential schema. They are
// sealed at rest, never returned, and cut out of the errors that a provider reports.
type Credentials map[string]string

// ProviderInfo describes a provider.
type ProviderInfo struct {
	Name             string // lower case letters, digits, _ and -; starts with a letter
	Category         string
	ConnectorType    string
	ObjectTypes      []string
	AuthTypes        []string        // AuthToken, AuthOAuth, AuthNone; the first is the default; none: AuthNone
	CredentialSchema json.RawMessage // JSON Schema of the credentials; required, properties and additionalProperties are enforced
	Searchable       []ProviderField
	Filterable       []ProviderField
	SetupGuide       string
	MinInterval      time.Duration // of syncs; default 300 s
	MaxInterval      time.Duration // default 7 days
	DefaultInterval  time.Duration // default 1 h
	Alpha, Beta      bool
}

// Ways in which a connector proves itself to its provider.
const (
	AuthToken = "api_token"
	AuthOAuth = "oauth"
	AuthNone  = "none"
)

// ProviderField is a field of a provider's objects.
type ProviderField struct {
	Name, DataType, FilterKey, Description string
}

// ProviderResource is something that can be synced: a folder, a channel, a repository.
type ProviderResource struct {
	ID, Name, Type string
	Metadata       map[string]any
}

// SyncRequest asks a provider for changes of one resource.
type SyncRequest struct {
	Credentials Credentials
	ResourceID  string
	Type        string
	Filters     map[string]any
	Cursor      string
	Since       time.Time // first sync: nothing older is wanted; zero: everything
	Limit       int       // objects, a hint
	MaxBytes    int64     // a larger file will be refused
	// Supported reports false when the name and media type alone show that a file can't be read. Never nil.
	Supported func(name, contentType string) bool
	// Parse reads a part of an object, such as an attachment, with the service's parsers and limits. Never nil.
	Parse func(ctx context.Context, in ParseInput) (*Document, error)
}

// SyncPage is what a provider read.
type SyncPage struct {
	Objects []SyncObject
	Deleted []string // external ids that are gone
	Cursor  string
	More    bool
	// Complete says that Present names every object that the resource holds now; those that the connector
	// ingested from it before and that are not named are removed. It is for systems that don't tell deletions.
	Complete bool
	Present  []string // external ids
}

// SyncObject is one object: a file or an app item, of which exactly one is set. Its own ID is
// replaced by one derived from provider, account, connector, resource and ExternalID.
type SyncObject struct {
	ExternalID string // unique in the resource and stable, at most 1024 bytes
	File       *File  // Open is used before the next call of Sync
	App        *AppItem
}

// ConnectorSpec describes a connector to make.
type ConnectorSpec struct {
	Provider     string // required
	Name         string // label; default: the provider's name
	Tenant, Sub  string // where objects go; without a tenant every resource needs an override
	AccountScope string // external account; distinct among connectors of a provider, unless empty
	AuthType     string // default: the provider's first
	Credentials  Credentials
	DeploymentID string
	Plan         string
	SyncEngine   string        // "" or "classic"
	Interval     time.Duration // between syncs; 0: the provider's default; outside its bounds is refused
	UserID       string
}

// ConnectorStatus is the lifecycle of a connector.
type ConnectorStatus string

// Lifecycle states. ConnectorError is set when the provider refuses the credentials and
// ends when new ones are stored or a sync succeeds.
const (
	ConnectorActive ConnectorStatus = "active"
	ConnectorPaused ConnectorStatus = "paused"
	ConnectorError  ConnectorStatus = "error"
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
	Status                             ConnectorStatus
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

// ConnectorEdit changes a connector; nil fields stay.
type ConnectorEdit struct {
	Name        *string
	Status      *ConnectorStatus // ConnectorActive or ConnectorPaused; pausing stops a sync that runs
	Interval    *time.Duration   // 0: the default; outside the bounds is refused; the next sync is one interval from now
	Credentials Credentials      // merged by key and checked; a refusal of the old ones is forgotten
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

// ConnectorResource is a resource that a connector syncs. Its settings are given to
// AddResources; the fields below them are kept by the service and ignored there.
type ConnectorResource struct {
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

// Providers lists the providers that connectors can use, by name.
func (s *Service) Providers() []ProviderInfo { return s.providerInfos() }

// DiscoverRequest asks a provider for resources without a connector.
type DiscoverRequest struct {
	Provider    string // required
	AuthType    string // one of the provider's; default: its first
	Credentials Credentials
	Cursor      string // from the previous page
	Limit       int    // as in Discover
}

// DiscoverWith previews resources without a connector and keeps nothing of the credentials.
// It returns the cursor of the next page, empty at the end. ErrUpstream when the provider fails.
func (o Organisation) DiscoverWith(ctx context.Context, r DiscoverRequest) ([]ProviderResource, string, error) {
	return o.svc.discoverWith(ctx, r)
}

// CreateConnector makes a connector after the provider took its credentials. ErrConflict when another one of
// the provider has the same non-empty AccountScope, ErrUpstream when the provider can't be asked.
func (o Organisation) CreateConnector(ctx context.Context, spec ConnectorSpec) (Connector, error) {
	return o.svc.createConnector(ctx, o.id, spec)
}

// Connectors lists the organisation's connectors by id; an empty provider lists all.
func (o Organisation) Connectors(ctx context.Context, provider string) ([]Connector, error) {
	return o.svc.connectors(ctx, o.id, provider)
}

// Connector returns one connector.
func (o Organisation) Connector(ctx context.Context, id string) (Connector, error) {
	return o.svc.connector(ctx, o.id, id)
}

// EditConnector changes a connector.
func (o Organisation) EditConnector(ctx context.Context, id string, e ConnectorEdit) (Connector, error) {
	return o.svc.editConnector(ctx, o.id, id, e)
}

// DeleteConnector removes a connector with its resources and credentials. What it ingested
// stays, unless withObjects. A sync that runs is stopped first.
func (o Organisation) DeleteConnector(ctx context.Context, id string, withObjects bool) error {
	return o.svc.deleteConnector(ctx, o.id, id, withObjects)
}

// Discover lists resources that the connector could sync; limit 1 to 100, larger ones are clamped; 0: 100.
func (o Organisation) Discover(ctx context.Context, id, cursor string, limit int) ([]ProviderResource, string, error) {
	return o.svc.discover(ctx, o.id, id, cursor, limit)
}

// AddResources adds or changes resources of a connector, all or none; cursors survive. New ones
// are synced soon. It returns them as stored.
func (o Organisation) AddResources(ctx context.Context, id string, rs []ConnectorResource) ([]ConnectorResource, error) {
	return o.svc.addResources(ctx, o.id, id, rs)
}

// Resources lists the resources of a connector by id.
func (o Organisation) Resources(ctx context.Context, id string) ([]ConnectorResource, error) {
	return o.svc.resources(ctx, o.id, id)
}

// DeleteResource stops syncing a resource. What it ingested stays.
func (o Organisation) DeleteResource(ctx context.Context, id, resource string) error {
	return o.svc.deleteResource(ctx, o.id, id, resource)
}

// SyncNow runs a connector now, in the background, and returns the run's id. ErrConflict while
// one runs or the connector is paused.
func (o Organisation) SyncNow(ctx context.Context, id string) (string, error) {
	return o.svc.syncNow(ctx, o.id, id)
}
