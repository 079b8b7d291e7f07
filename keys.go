package contextmem

import (
	"context"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/access"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Types of API keys. They are declared in package content.
type (
	// Scope is a group of calls that an API key may make: content.Scope.
	Scope = content.Scope
	// KeySpec describes an API key to make: content.KeySpec.
	KeySpec = content.KeySpec
	// Key describes an API key: content.Key.
	Key = content.Key
)

// Scopes. A key without scopes has all of them.
const (
	ScopeIngest = content.ScopeIngest // put, edit and delete content
	ScopeQuery  = content.ScopeQuery  // recall, list, read, feedback
	ScopeManage = content.ScopeManage // tenants, webhooks, connectors, keys
)

// CreateKey makes an API key and returns its text, "prefix_env_id.secret" with a
// random 256-bit secret. The text cannot be read again.
func (o Organisation) CreateKey(ctx context.Context, spec KeySpec) (k Key, text string, err error) {
	const op = "create key"
	if err := workspace.CheckOrg(op, o.id); err != nil {
		return Key{}, "", err
	}
	for i, t := range spec.Tenants {
		if err := workspace.CheckTenantID(op, fmt.Sprintf("Tenants[%d]", i), t); err != nil {
			return Key{}, "", err
		}
	}
	err = o.svc().call(func() error {
		k, text, err = o.svc().keys.Create(ctx, op, o.id, spec)
		return err
	})
	return k, text, err
}

// Keys lists the organisation's keys, sorted by id.
func (o Organisation) Keys(ctx context.Context) ([]Key, error) {
	return called(o.svc(), func() ([]Key, error) { return o.svc().keys.List(ctx, "list keys", o.id) })
}

// RevokeKey invalidates a key at once. It returns fault.ErrNotFound if the organisation has no key with that id.
func (o Organisation) RevokeKey(ctx context.Context, id string) error {
	return o.svc().call(func() error { return o.svc().keys.Revoke(ctx, "revoke key", o.id, id) })
}

// ExpireKey sets the time at which a key expires. With a time in the past the key expires now, with the zero time never. It
// returns fault.ErrNotFound if the organisation has no key with that id.
func (o Organisation) ExpireKey(ctx context.Context, id string, at time.Time) (Key, error) {
	return called(o.svc(), func() (Key, error) { return o.svc().keys.Expire(ctx, "expire key", o.id, id, at.UTC()) })
}

// VerifyKey returns the key with the given text. It returns fault.ErrUnauthorized if the key is
// unknown, revoked or expired. The comparison takes constant time.
func (s *Service) VerifyKey(ctx context.Context, text string) (Key, error) {
	return called(s, func() (Key, error) { return s.keys.Verify(ctx, "verify key", text) })
}

// leaseOfSecret names the lease that a process holds while it replaces the secret key, or while the key must not change.
const leaseOfSecret = "secret"

// RotateSecretKey replaces the key that encrypts webhook secrets and connector credentials, and encrypts all of them again.
// The new key has 32 bytes; nil makes a random one, which is stored in the key file or the registry. A deployment opened with
// Options.SecretKey must be given a new key here, and the same key at the next opening; until then the old key opens it too. If
// the call fails or is interrupted, nothing is lost: a repeat or the next opening completes it. Earlier presigned URLs stop working.
func (s *Service) RotateSecretKey(ctx context.Context, key []byte) error {
	const op = "rotate secret key"
	if n := len(key); n != 0 && n != access.KeyBytes {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "key", "%d bytes, want %d", n, access.KeyBytes)
	}
	return s.call(func() error {
		if len(key) == 0 && s.opts.SecretKey != nil {
			return fault.Fieldf(op, fault.KindInvalid, fault.Key, "key", "is required: the deployment was opened with option SecretKey")
		}
		return fault.Wrap(op, fault.Key, "", s.leases.HoldSoon(ctx, leaseOfSecret, func(ctx context.Context) error {
			return s.secrets.Rotate(ctx, key, s.webhooks, s.connectors)
		}))
	})
}
