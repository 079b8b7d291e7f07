package contextmem

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/access"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Keys are declared in package content.
type (
	// Scope is something that an API key may do: content.Scope.
	Scope = content.Scope
	// KeySpec describes an API key to make: content.KeySpec.
	KeySpec = content.KeySpec
	// Key describes an API key: content.Key.
	Key = content.Key
)

// Scopes. A key without scopes may do everything.
const (
	ScopeIngest = content.ScopeIngest // put, edit and delete content
	ScopeQuery  = content.ScopeQuery  // recall, list, read, feedback
	ScopeManage = content.ScopeManage // tenants, webhooks, connectors, keys
)

// CreateKey makes an API key and returns its text, "prefix_env_id.secret" with a
// random 256-bit secret, this once.
func (o Organisation) CreateKey(ctx context.Context, spec KeySpec) (k Key, text string, err error) {
	const op = "create key"
	if err := workspace.CheckOrg(op, o.id); err != nil {
		return Key{}, "", err
	}
	for _, t := range spec.Tenants {
		if err := workspace.CheckTenantID(op, t); err != nil {
			return Key{}, "", err
		}
	}
	err = o.svc.call(func() error {
		k, text, err = o.svc.keys.Create(ctx, op, o.id, spec)
		return err
	})
	return k, text, err
}

// Keys lists the organisation's keys by id.
func (o Organisation) Keys(ctx context.Context) ([]Key, error) {
	return called(o.svc, func() ([]Key, error) { return o.svc.keys.List(ctx, "list keys", o.id) })
}

// RevokeKey ends a key at once. fault.ErrNotFound when the organisation has none of that id.
func (o Organisation) RevokeKey(ctx context.Context, id string) error {
	return o.svc.call(func() error { return o.svc.keys.Revoke(ctx, "revoke key", o.id, id) })
}

// ExpireKey sets when a key ends; a time that has passed ends it now, the zero time means never. fault.ErrNotFound when the
// organisation has none of that id.
func (o Organisation) ExpireKey(ctx context.Context, id string, at time.Time) (Key, error) {
	return called(o.svc, func() (Key, error) { return o.svc.keys.Expire(ctx, "expire key", o.id, id, at.UTC()) })
}

// VerifyKey finds the key with the given text. fault.ErrUnauthorized when it is
// unknown, revoked or expired. Comparison takes constant time.
func (s *Service) VerifyKey(ctx context.Context, text string) (Key, error) {
	return called(s, func() (Key, error) { return s.keys.Verify(ctx, "verify key", text) })
}

// leaseOfSecret is held by who replaces the key, or needs it to stay.
const leaseOfSecret = "secret"

// RotateSecretKey replaces the key that seals webhook secrets and connector credentials and seals all of them again.
// The new key has 32 bytes; nil makes a random one, which the key file or the registry keeps. A deployment that was opened with
// Options.SecretKey needs a key, which is given at the next opening; until then the old one opens it as well. When the call fails or
// is cut off nothing is lost: a repeat or the next opening finishes it. Presigned URLs made before stop working.
func (s *Service) RotateSecretKey(ctx context.Context, key []byte) error {
	const op = "rotate secret key"
	if n := len(key); n != 0 && n != access.KeyBytes {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "key", "%d bytes, want %d", n, access.KeyBytes)
	}
	if len(key) == 0 && s.opts.SecretKey != nil {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "key", "is required: the deployment was opened with option SecretKey")
	}
	return s.call(func() error {
		return fault.Wrap(op, fault.Key, "", s.leases.HoldSoon(ctx, leaseOfSecret, func(ctx context.Context) error {
			return s.secrets.Rotate(ctx, key, s.webhooks, s.connectors)
		}))
	})
}
