package contextmem

import (
	"context"
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

// Key describes an API key. Its secret is not stored, only a hash of it.
type Key struct {
	ID        string
	Org       string
	Owner     string
	Scopes    []Scope
	Tenants   []string
	Env       string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

// Allows tells whether the key has the scope.
func (k Key) Allows(s Scope) bool {
	for _, x := range k.Scopes {
		if x == s {
			return true
		}
	}
	return len(k.Scopes) == 0
}

// AllowsTenant tells whether the key may touch the tenant.
func (k Key) AllowsTenant(id string) bool {
	for _, x := range k.Tenants {
		if x == id {
			return true
		}
	}
	return len(k.Tenants) == 0
}

// CreateKey makes an API key and returns its text, "prefix_env_id.secret" with a
// random 256-bit secret, this once.
func (o Organisation) CreateKey(ctx context.Context, spec KeySpec) (Key, string, error) {
	return o.svc.createKey(ctx, o.id, spec)
}

// Keys lists the organisation's keys by id.
func (o Organisation) Keys(ctx context.Context) ([]Key, error) { return o.svc.keys(ctx, o.id) }

// RevokeKey ends a key at once. ErrNotFound when the organisation has none of that id.
func (o Organisation) RevokeKey(ctx context.Context, id string) error {
	return o.svc.revokeKey(ctx, o.id, id)
}

// VerifyKey finds the key with the given text. ErrUnauthorized when it is
// unknown, revoked or expired. Comparison takes constant time.
func (s *Service) VerifyKey(ctx context.Context, text string) (Key, error) {
	return s.verifyKey(ctx, text)
}
