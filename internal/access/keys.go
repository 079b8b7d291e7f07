package access

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
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/readcache"
	"github.com/contextmem/contextmem/internal/uid"
)

// Kinds of registry records for keys. A key is stored by its id under kindKey, without
// organisation, because the caller of Verify does not know it yet. Under kindOrgKey it is listed.
const (
	kindKey    = "key"
	kindOrgKey = "orgkey"
)

const (
	maxCachedKeys = 10_000
	keyPage       = 500
)

// Key is content.Key.
type Key = content.Key

// storedKey is the registry record of a key. Hash is SHA-256 of the secret: it has
// 256 random bits, so a slow hash would add nothing.
type storedKey struct {
	Key
	Hash []byte
}

var keyPrefix = regexp.MustCompile(`^[A-Za-z0-9_]{1,16}$`)

// CheckPrefix reports whether prefix is allowed in the text of a key: 1 to 16 letters, digits or _.
func CheckPrefix(prefix string) bool { return keyPrefix.MatchString(prefix) }

// Keys manages the API keys of a deployment. It is safe for concurrent use.
type Keys struct {
	reg   backend.Registry
	cache *readcache.Cache[string, storedKey] // existing keys only
	uses  *uses
}

// NewKeys returns the keys in a registry.
func NewKeys(reg backend.Registry) *Keys {
	return &Keys{reg: reg, cache: readcache.New[string, storedKey](maxCachedKeys), uses: newUses()}
}

// Forget clears the cache, because another process may have changed keys.
func (k *Keys) Forget() { k.cache.Clear() }

// check validates a spec and fills in defaults.
func check(op string, s *content.KeySpec) error {
	s.Env, s.Prefix = cmp.Or(s.Env, "live"), cmp.Or(s.Prefix, "sk")
	if s.Env != "live" && s.Env != "test" {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "Env", "must be live or test")
	}
	if !CheckPrefix(s.Prefix) {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "Prefix", "must be 1 to 16 letters, digits or _")
	}
	for _, x := range s.Scopes {
		if x != content.ScopeIngest && x != content.ScopeQuery && x != content.ScopeManage {
			return fault.Fieldf(op, fault.KindInvalid, fault.Key, "Scopes", "unknown scope %q", fault.ShortID(string(x)))
		}
	}
	if s.TTL < 0 {
		return fault.Fieldf(op, fault.KindInvalid, fault.Key, "TTL", "must not be negative")
	}
	return fault.CheckText(op, "Owner", s.Owner, 1024)
}

// Create stores a key and returns it with its text, "prefix_env_id.secret". The caller checks that the spec's tenants have valid names.
func (k *Keys) Create(ctx context.Context, op, org string, spec content.KeySpec) (Key, string, error) {
	if err := check(op, &spec); err != nil {
		return Key{}, "", err
	}
	key := Key{ID: uid.New(), Org: org, Owner: spec.Owner, Scopes: slices.Clone(spec.Scopes), Tenants: slices.Clone(spec.Tenants), Env: spec.Env, CreatedAt: time.Now().UTC()}
	if spec.TTL > 0 {
		key.ExpiresAt = key.CreatedAt.Add(spec.TTL)
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:])
	text := base64.RawURLEncoding.EncodeToString(secret[:])
	h := sha256.Sum256([]byte(text))
	b, err := json.Marshal(storedKey{Key: key, Hash: h[:]})
	if err == nil {
		err = k.reg.WriteRecords(ctx, []backend.RecordWrite{
			{Record: backend.Record{Kind: kindKey, ID: key.ID, Data: b}},
			{Record: backend.Record{Kind: kindOrgKey, Org: key.Org, ID: key.ID, Data: b}},
		})
	}
	if err != nil {
		return Key{}, "", fault.Wrap(op, fault.Key, "", err)
	}
	return key, spec.Prefix + "_" + key.Env + "_" + key.ID + "." + text, nil
}

// List returns the keys of an organisation, sorted by id.
func (k *Keys) List(ctx context.Context, op, org string) ([]Key, error) {
	var out []Key
	for after := ""; ; {
		rs, err := k.reg.Records(ctx, kindOrgKey, org, after, keyPage)
		if err != nil {
			return nil, fault.Wrap(op, fault.Key, "", err)
		}
		for _, r := range rs {
			s, err := decodeKey(r)
			if err != nil {
				return nil, fault.Wrap(op, fault.Key, "", err)
			}
			if err := k.addUse(ctx, &s.Key); err != nil {
				return nil, fault.Wrap(op, fault.Key, "", err)
			}
			out, after = append(out, s.Key), r.ID
		}
		if len(rs) < keyPage {
			return out, nil
		}
	}
}

func decodeKey(r backend.Record) (s storedKey, err error) {
	if json.Unmarshal(r.Data, &s) != nil {
		return s, backend.ErrCorrupt
	}
	return s, nil
}

// Revoke ends a key at once. It returns fault.ErrNotFound if the organisation has no key with the id.
func (k *Keys) Revoke(ctx context.Context, op, org, id string) error {
	if _, err := k.reg.Record(ctx, kindOrgKey, org, id); err != nil {
		return fault.Wrap(op, fault.Key, id, err)
	}
	err := k.reg.WriteRecords(ctx, []backend.RecordWrite{
		{Record: backend.Record{Kind: kindKey, ID: id}, Delete: true, IfRev: -1},
		{Record: backend.Record{Kind: kindOrgKey, Org: org, ID: id}, Delete: true, IfRev: -1},
		{Record: backend.Record{Kind: kindKeyUse, Org: org, ID: id}, Delete: true, IfRev: -1},
	})
	k.cache.Drop(id)
	return fault.Wrap(op, fault.Key, id, err)
}

var errKey = errors.New("missing, unknown, revoked or expired key")

// Verify returns the key with the given text. It returns fault.ErrUnauthorized if the key is unknown, revoked or expired.
// It compares secrets in constant time.
func (k *Keys) Verify(ctx context.Context, op, text string) (Key, error) {
	refuse := &fault.Error{Op: op, Kind: fault.KindUnauthorized, Err: errKey}
	name, secret, ok := strings.Cut(text, ".")
	if !ok || len(name) < 32 || len(secret) != 43 {
		return Key{}, refuse
	}
	id := name[len(name)-32:]
	if _, err := hex.DecodeString(id); err != nil {
		return Key{}, refuse
	}
	s, err := k.cache.Get(id, func() (storedKey, error) {
		r, err := k.reg.Record(ctx, kindKey, "", id)
		if err != nil {
			return storedKey{}, err
		}
		return decodeKey(r)
	})
	if errors.Is(err, backend.ErrNotFound) {
		return Key{}, refuse
	}
	if err != nil {
		return Key{}, fault.Wrap(op, fault.Key, "", err)
	}
	h := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(h[:], s.Hash) != 1 || !s.ExpiresAt.IsZero() && !time.Now().Before(s.ExpiresAt) {
		return Key{}, refuse
	}
	k.uses.note(&s.Key)
	return s.Key, nil
}
