package contextmem

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Kinds of registry records for keys. A key is found by its id under kindKey (no
// organisation: the caller does not know it yet), and listed under kindOrgKey.
const (
	kindKey    = "key"
	kindOrgKey = "orgkey"
)

// storedKey is the registry record of a key. Hash is SHA-256 of the secret: it has
// 256 random bits, so a slow hash would add nothing.
type storedKey struct {
	Key
	Hash []byte
}

var keyPrefix = regexp.MustCompile(`^[A-Za-z0-9_]{1,16}$`)

func (s *Service) createKey(ctx context.Context, org string, spec KeySpec) (Key, string, error) {
	const op = "create key"
	bad := func(field, format string, args ...any) (Key, string, error) {
		return Key{}, "", fieldError(op, KindInvalid, ResourceKey, field, format, args...)
	}
	if spec.Env == "" {
		spec.Env = "live"
	}
	if spec.Prefix == "" {
		spec.Prefix = "sk"
	}
	if spec.Env != "live" && spec.Env != "test" {
		return bad("env", "must be live or test")
	}
	if !keyPrefix.MatchString(spec.Prefix) {
		return bad("prefix", "must be 1 to 16 letters, digits or _")
	}
	for _, x := range spec.Scopes {
		if x != ScopeIngest && x != ScopeQuery && x != ScopeManage {
			return bad("scopes", "unknown scope %q", shortID(string(x)))
		}
	}
	for _, t := range spec.Tenants {
		if err := checkTenantID(op, t); err != nil {
			return Key{}, "", err
		}
	}
	if spec.TTL < 0 {
		return bad("ttl", "must not be negative")
	}
	if err := cmp.Or(checkOrg(op, org), checkText(op, "owner", spec.Owner, 1024)); err != nil {
		return Key{}, "", err
	}
	if err := s.begin(); err != nil {
		return Key{}, "", err
	}
	defer s.end()
	now := time.Now().UTC()
	k := storedKey{Key: Key{ID: newUID(), Org: org, Owner: spec.Owner, Scopes: slices.Clone(spec.Scopes), Tenants: slices.Clone(spec.Tenants), Env: spec.Env, CreatedAt: now}}
	if spec.TTL > 0 {
		k.ExpiresAt = now.Add(spec.TTL)
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:])
	text := base64.RawURLEncoding.EncodeToString(secret[:])
	h := sha256.Sum256([]byte(text))
	k.Hash = h[:]
	b, err := json.Marshal(k)
	if err != nil {
		return Key{}, "", wrap(op, ResourceKey, "", err)
	}
	err = s.reg.WriteRecords(ctx, []backend.RecordWrite{
		{Record: backend.Record{Kind: kindKey, ID: k.ID, Data: b}},
		{Record: backend.Record{Kind: kindOrgKey, Org: org, ID: k.ID, Data: b}},
	})
	if err != nil {
		return Key{}, "", wrap(op, ResourceKey, "", err)
	}
	return k.Key, spec.Prefix + "_" + spec.Env + "_" + k.ID + "." + text, nil
}

func (s *Service) keys(ctx context.Context, org string) ([]Key, error) {
	const op = "list keys"
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	var out []Key
	err := eachRecord(ctx, s.reg, kindOrgKey, org, func(r backend.Record) error {
		var k storedKey
		if err := json.Unmarshal(r.Data, &k); err != nil {
			return backend.ErrCorrupt
		}
		out = append(out, k.Key)
		return nil
	})
	return out, wrap(op, ResourceKey, "", err)
}

// eachRecord calls f for every record of a kind in an organisation, by id.
func eachRecord(ctx context.Context, reg backend.Registry, kind, org string, f func(r backend.Record) error) error {
	after := ""
	for {
		rs, err := reg.Records(ctx, kind, org, after, 500)
		if err != nil {
			return err
		}
		for _, r := range rs {
			if err := f(r); err != nil {
				return err
			}
			after = r.ID
		}
		if len(rs) < 500 {
			return nil
		}
	}
}

func (s *Service) revokeKey(ctx context.Context, org, id string) error {
	const op = "revoke key"
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	if _, err := s.reg.Record(ctx, kindOrgKey, org, id); err != nil {
		return wrap(op, ResourceKey, id, err)
	}
	s.keyCache.Delete(id)
	err := s.reg.WriteRecords(ctx, []backend.RecordWrite{
		{Record: backend.Record{Kind: kindKey, ID: id}, Delete: true, IfRev: -1},
		{Record: backend.Record{Kind: kindOrgKey, Org: org, ID: id}, Delete: true, IfRev: -1},
	})
	s.keyCache.Delete(id)
	return wrap(op, ResourceKey, id, err)
}

var errKey = errors.New("missing, unknown, revoked or expired key")

func (s *Service) verifyKey(ctx context.Context, text string) (Key, error) {
	const op = "verify key"
	refuse := &Error{Op: op, Kind: KindUnauthorized, Err: errKey}
	name, secret, ok := strings.Cut(text, ".")
	if !ok || len(name) < 32 || len(secret) != 43 {
		return Key{}, refuse
	}
	id := name[len(name)-32:]
	if _, err := hex.DecodeString(id); err != nil {
		return Key{}, refuse
	}
	if err := s.begin(); err != nil {
		return Key{}, err
	}
	defer s.end()
	k, ok := s.keyCache.get(id)
	if !ok {
		r, err := s.reg.Record(ctx, kindKey, "", id)
		if errors.Is(err, backend.ErrNotFound) {
			return Key{}, refuse
		}
		if err != nil {
			return Key{}, wrap(op, ResourceKey, "", err)
		}
		if err := json.Unmarshal(r.Data, &k); err != nil {
			return Key{}, wrap(op, ResourceKey, "", backend.ErrCorrupt)
		}
		s.keyCache.put(id, k)
	}
	h := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(h[:], k.Hash) != 1 || !k.ExpiresAt.IsZero() && !time.Now().Before(k.ExpiresAt) {
		return Key{}, refuse
	}
	return k.Key, nil
}
