package content

import (
	"slices"
	"time"
)

// Scope is something that an API key may do.
type Scope string

// Scopes. A key without scopes may do everything.
const (
	ScopeIngest Scope = "ingest" // put, edit and delete content
	ScopeQuery  Scope = "query"  // recall, list, read, feedback
	ScopeManage Scope = "manage" // tenants, webhooks, connectors, keys
)

// KeySpec describes an API key to make.
type KeySpec struct {
	Owner   string        // free text
	Scopes  []Scope       // none: all
	Tenants []string      // only these tenants; none: all of the organisation
	Env     string        // "live" (default) or "test"; part of the key's text
	Prefix  string        // default "sk"; 1 to 16 letters, digits or _
	TTL     time.Duration // 0: never expires
}

// Key describes an API key. Only a hash of its secret is stored.
type Key struct {
	ID        string
	Org       string
	Owner     string
	Scopes    []Scope
	Tenants   []string
	Env       string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	// LastUsedAt is the last time at which the key passed VerifyKey, and Uses the number of times. If the process is killed, up to a minute of uses is lost.
	LastUsedAt time.Time `json:",omitzero"` // zero: never
	Uses       int64     `json:",omitzero"`
}

// Allows reports whether the key has the scope.
func (k Key) Allows(s Scope) bool { return len(k.Scopes) == 0 || slices.Contains(k.Scopes, s) }

// AllowsTenant reports whether the key may touch the tenant.
func (k Key) AllowsTenant(id string) bool {
	return len(k.Tenants) == 0 || slices.Contains(k.Tenants, id)
}

// AllowsOrganisation reports whether the key may touch what belongs to the whole organisation: the webhook and its
// deliveries, connectors, keys. One that is limited to tenants may not.
func (k Key) AllowsOrganisation() bool { return len(k.Tenants) == 0 }
