package contextmem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/access"
	"github.com/contextmem/contextmem/internal/workspace"
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
	// LastUsedAt is when the key last passed VerifyKey, and Uses how often it did. Of a kill, up to a minute of it is lost.
	LastUsedAt time.Time // zero: never
	Uses       int64
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

func publicKey(k access.Key) Key {
	out := Key{ID: k.ID, Org: k.Org, Owner: k.Owner, Tenants: k.Tenants, Env: k.Env, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt, Uses: k.Uses}
	for _, s := range k.Scopes {
		out.Scopes = append(out.Scopes, Scope(s))
	}
	return out
}

// check refuses what is wrong with a spec and fills in defaults.
func (s *KeySpec) check(op string) error {
	s.Env, s.Prefix = cmp.Or(s.Env, "live"), cmp.Or(s.Prefix, "sk")
	if s.Env != "live" && s.Env != "test" {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "Env", "must be live or test")
	}
	if !access.CheckPrefix(s.Prefix) {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "Prefix", "must be 1 to 16 letters, digits or _")
	}
	for _, x := range s.Scopes {
		if x != ScopeIngest && x != ScopeQuery && x != ScopeManage {
			return fault.Fieldf(op, fault.KindInvalid, fault.Key, "Scopes", "unknown scope %q", fault.ShortID(string(x)))
		}
	}
	for _, t := range s.Tenants {
		if err := workspace.CheckTenantID(op, t); err != nil {
			return err
		}
	}
	if s.TTL < 0 {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "TTL", "must not be negative")
	}
	return fault.CheckText(op, "Owner", s.Owner, 1024)
}

// CreateKey makes an API key and returns its text, "prefix_env_id.secret" with a
// random 256-bit secret, this once.
func (o Organisation) CreateKey(ctx context.Context, spec KeySpec) (k Key, text string, err error) {
	const op = "create key"
	if err := spec.check(op); err != nil {
		return Key{}, "", err
	}
	if err := workspace.CheckOrg(op, o.id); err != nil {
		return Key{}, "", err
	}
	err = o.svc.call(func() error {
		made := access.Key{Org: o.id, Owner: spec.Owner, Tenants: spec.Tenants, Env: spec.Env, CreatedAt: time.Now().UTC()}
		for _, s := range spec.Scopes {
			made.Scopes = append(made.Scopes, string(s))
		}
		if spec.TTL > 0 {
			made.ExpiresAt = made.CreatedAt.Add(spec.TTL)
		}
		made, text, err = o.svc.keys.Create(ctx, op, spec.Prefix, made)
		k = publicKey(made)
		return err
	})
	k.Tenants = slices.Clone(k.Tenants)
	return k, text, err
}

// Keys lists the organisation's keys by id.
func (o Organisation) Keys(ctx context.Context) (out []Key, err error) {
	err = o.svc.call(func() error {
		ks, err := o.svc.keys.List(ctx, "list keys", o.id)
		for _, k := range ks {
			out = append(out, publicKey(k))
		}
		return err
	})
	return out, err
}

// RevokeKey ends a key at once. fault.ErrNotFound when the organisation has none of that id.
func (o Organisation) RevokeKey(ctx context.Context, id string) error {
	return o.svc.call(func() error { return o.svc.keys.Revoke(ctx, "revoke key", o.id, id) })
}

// ExpireKey sets when a key ends; a time that has passed ends it now, the zero time means never. fault.ErrNotFound when the
// organisation has none of that id.
func (o Organisation) ExpireKey(ctx context.Context, id string, at time.Time) (k Key, err error) {
	err = o.svc.call(func() error {
		found, err := o.svc.keys.Expire(ctx, "expire key", o.id, id, at.UTC())
		k = publicKey(found)
		return err
	})
	return k, err
}

// VerifyKey finds the key with the given text. fault.ErrUnauthorized when it is
// unknown, revoked or expired. Comparison takes constant time.
func (s *Service) VerifyKey(ctx context.Context, text string) (k Key, err error) {
	err = s.call(func() error {
		found, err := s.keys.Verify(ctx, "verify key", text)
		k = publicKey(found)
		return err
	})
	return k, err
}

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
		return fault.Wrap(op, fault.Key, "", s.secrets.Rotate(ctx, key, s.webhooks, s.connectors))
	})
}
