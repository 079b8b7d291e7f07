// Package connector is the contract between contextmem and what it syncs from: a [Provider] reads objects of an external
// system, a [Connector] is one account of it that is synced into a tenant. Providers import this package and no storage.
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
	// Describe says what the provider is. It does no I/O and always answers the same.
	Describe() Info
	// Check validates credentials without storing them. It may ask the external system.
	// ErrBadCredentials and ErrReauth blame the caller, any other error the external system.
	Check(ctx context.Context, c Credentials) error
	// Discover lists resources that can be synced, a page at a time; next is empty at the end.
	Discover(ctx context.Context, c Credentials, cursor string, limit int) (resources []Resource, next string, err error)
	// Sync reads what changed in a resource since cursor ("" for the first time),
	// at most about r.Limit objects. It returns the cursor to go on from; More says that the
	// caller should go on at once. A cursor is stored only after its objects are durable, so
	// an object may come again after a failure; one that comes unchanged costs little.
	// ErrReauth and *RateLimited steer the scheduler; any other error is tried again later.
	Sync(ctx context.Context, r SyncRequest) (*Page, error)
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

// Info describes a provider.
type Info struct {
	Name             string // lower case letters, digits, _ and -; starts with a letter
	Category         string
	ConnectorType    string
	ObjectTypes      []string
	AuthTypes        []string        // AuthToken, AuthOAuth, AuthNone; the first is the default; none: AuthNone
	CredentialSchema json.RawMessage // JSON Schema of the credentials; required, properties and additionalProperties are enforced
	Searchable       []Field
	Filterable       []Field
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

// Field is a field of a provider's objects.
type Field struct {
	Name, DataType, FilterKey, Description string
}

// Resource is something that can be synced: a folder, a channel, a repository.
type Resource struct {
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

// Page is what a provider read.
type Page struct {
	Objects []Object
	Deleted []string // external ids that are gone
	Cursor  string
	More    bool
	// Complete says that Present names every object that the resource holds now; those that the connector
	// ingested from it before and that are not named are removed. It is for systems that don't tell deletions.
	Complete bool
	Present  []string // external ids
}

// Object is one object: a file or an app item, of which exactly one is set. Its own ID is
// replaced by one derived from provider, account, connector, resource and ExternalID.
type Object struct {
	ExternalID string        // unique in the resource and stable, at most 1024 bytes
	File       *content.File // Open is used before the next call of Sync
	App        *content.AppItem
}
