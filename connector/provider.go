// Package connector is the contract between contextmem and the external systems that it syncs from. A [Provider] reads
// objects of an external system. A [Connector] syncs one account of it into a tenant. Providers need no storage package.
package connector

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/contextmem/contextmem/content"
)

// Provider reads objects from an external system. Implementations are safe for concurrent use.
type Provider interface {
	// Describe returns the provider's properties. It does no I/O and always returns the same value.
	Describe() Info
	// Check validates credentials without storing them. It may contact the external system.
	// ErrBadCredentials and ErrReauth mean that the credentials are wrong. Any other error is the external system's.
	Check(ctx context.Context, c Credentials) error
	// Discover lists the resources that can be synced, one page a call. next is empty after the last page.
	Discover(ctx context.Context, c Credentials, cursor string, limit int) (resources []Resource, next string, err error)
	// Sync reads the changes of a resource since cursor, about r.Limit objects at most. The first call's cursor is "".
	// The returned page holds the next cursor. More means that the caller should call Sync again at once.
	// A cursor is stored only after its objects are durable, so an object may be delivered again after a failure.
	// Delivering an unchanged object again is cheap.
	// ErrReauth and *RateLimited steer the scheduler; it retries later after any other error.
	Sync(ctx context.Context, r SyncRequest) (*Page, error)
}

// Errors that steer the sync scheduler.
var (
	// ErrReauth means that the external system no longer accepts the credentials (invalid_grant).
	ErrReauth = errors.New("credentials are no longer accepted")
	// ErrBadCredentials means that the credentials do not match the provider's schema.
	ErrBadCredentials = errors.New("credentials are not valid")
)

// RateLimited is returned when the external system asks the provider to come back later.
type RateLimited struct {
	After time.Duration // requested pause; 0: unknown
}

// Error implements error.
func (e *RateLimited) Error() string { return "provider asks to come back in " + e.After.String() }

// Credentials of a connector, keyed by the names in the provider's credential schema. They are encrypted at rest, never
// returned, and removed from the errors that a provider returns.
type Credentials map[string]string

// Info describes a provider.
type Info struct {
	Name             string // lower-case letters, digits, _ and -; starts with a letter
	Category         string
	ConnectorType    string
	ObjectTypes      []string
	AuthTypes        []string        // AuthToken, AuthOAuth, AuthNone; the first is the default; empty: AuthNone
	CredentialSchema json.RawMessage // JSON Schema of the credentials; required, properties and additionalProperties are enforced
	Searchable       []Field
	Filterable       []Field
	SetupGuide       string
	MinInterval      time.Duration // shortest sync interval; default 300 s
	MaxInterval      time.Duration // longest sync interval; default 7 days
	DefaultInterval  time.Duration // sync interval when none is set; default 1 h
	Alpha, Beta      bool
}

// Authentication types of a connector.
const (
	AuthToken = "api_token"
	AuthOAuth = "oauth"
	AuthNone  = "none"
)

// Field describes one field of a provider's objects.
type Field struct {
	Name, DataType, FilterKey, Description string
}

// Resource is something that can be synced: a folder, a channel, a repository.
type Resource struct {
	ID, Name, Type string
	Metadata       map[string]any
}

// SyncRequest asks a provider for the changes of one resource.
type SyncRequest struct {
	Credentials Credentials
	ResourceID  string
	Type        string
	Filters     map[string]any
	Cursor      string
	Since       time.Time // first sync: skip objects older than this; zero: read everything
	Limit       int       // maximum number of objects, a hint
	MaxBytes    int64     // the service refuses larger files
	// Supported reports whether the service can read a file, judged by its name and media type. Never nil.
	Supported func(name, contentType string) bool
	// Parse reads a part of an object, such as an attachment, with the service's parsers and limits. Never nil.
	Parse func(ctx context.Context, in ParseInput) (*Document, error)
}

// Page is the result of one Sync call.
type Page struct {
	Objects []Object
	Deleted []string // external ids of deleted objects
	Cursor  string
	More    bool
	// Complete means that Present lists every object in the resource. Objects that the connector ingested from the
	// resource earlier and that Present omits are removed. For external systems that do not report deletions.
	Complete bool
	Present  []string // external ids
}

// Object is a file or an app item; exactly one of the two is set. The service replaces its ID by one derived from
// provider, account, connector, resource and ExternalID.
type Object struct {
	ExternalID string        // unique in the resource and stable, at most 1024 bytes
	File       *content.File // Open is called before the next call of Sync
	App        *content.AppItem
}
