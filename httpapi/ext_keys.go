package httpapi

import (
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// keyRow describes a key without its secret.
type keyRow struct {
	ID        string   `json:"api_key_id"`
	Owner     string   `json:"owner"`
	Scopes    []string `json:"scopes"`
	Tenants   []string `json:"databases"`
	Env       string   `json:"env"`
	CreatedAt string   `json:"created_at"`
	ExpiresAt string   `json:"expires_at"`
	LastUsed  string   `json:"last_used_at"`
	Uses      int      `json:"uses"`
}

func newKeyRow(k contextmem.Key) keyRow {
	r := keyRow{ID: k.ID, Owner: k.Owner, Scopes: []string{}, Tenants: append([]string{}, k.Tenants...), Env: k.Env, CreatedAt: wire.Time(k.CreatedAt), ExpiresAt: wire.Time(k.ExpiresAt),
		LastUsed: wire.Time(k.LastUsedAt), Uses: int(k.Uses)}
	for _, s := range k.Scopes {
		r.Scopes = append(r.Scopes, string(s))
	}
	return r
}

type noRequest struct{}

type keysAnswer struct {
	Keys []keyRow `json:"keys"`
}

func extKeys(c *call) (any, error) {
	ks, err := c.org.Keys(c.ctx)
	if err != nil {
		return nil, err
	}
	a := keysAnswer{make([]keyRow, len(ks))}
	for i, k := range ks {
		a.Keys[i] = newKeyRow(k)
	}
	return a, nil
}

type newKeyRequest struct {
	Owner   string   `json:"owner"`
	Scopes  []string `json:"scopes"`
	Tenants []string `json:"databases"`
	Env     string   `json:"env" default:"live" oneof:"live,test"`
	Expires int      `json:"expires_in_seconds" default:"0" range:"0,315360000"` // 0: never
}

type newKeyAnswer struct {
	keyRow
	Key string `json:"full_api_key"`
}

func extCreateKey(c *call) (any, error) {
	var r newKeyRequest
	if err := c.readAll(&r); err != nil {
		return nil, err
	}
	spec := contextmem.KeySpec{Owner: r.Owner, Tenants: r.Tenants, Env: r.Env, TTL: c.lifetime(r.Expires)}
	for _, s := range r.Scopes {
		spec.Scopes = append(spec.Scopes, contextmem.Scope(s))
	}
	if len(spec.Scopes) == 0 {
		spec.Scopes = c.who.Key.Scopes
	}
	for _, s := range spec.Scopes {
		if !c.who.Key.Allows(s) {
			return nil, &contextmem.Error{Kind: fault.KindForbidden, Err: errScope}
		}
	}
	k, text, err := c.org.CreateKey(c.ctx, spec)
	if err != nil {
		return nil, err
	}
	return newKeyAnswer{newKeyRow(k), text}, nil
}

// readAll is like read, but refuses members that no field has: a key must not get more rights because a restriction was misspelt.
func (c *call) readAll(to any) error {
	plan := planOf(valueOf(to).Type())
	for name := range c.in.members.all() {
		if !plan.names[name] {
			return bad(fault.KindInvalid, cut(name), "is not a field of a key")
		}
	}
	return c.read(to)
}

// lifetime returns the lifetime of a key that the caller creates or changes; 0: unlimited. A key cannot create a key that outlives it.
func (c *call) lifetime(seconds int) time.Duration {
	ttl := time.Duration(seconds) * time.Second
	if own := c.who.Key.ExpiresAt; !own.IsZero() {
		if left := time.Until(own); ttl == 0 || ttl > left {
			ttl = left
		}
	}
	return ttl
}

type expireKeyRequest struct {
	Expires int `json:"expires_in_seconds" default:"0" range:"0,315360000"` // 0: never
}

func extExpireKey(c *call) (any, error) {
	var r expireKeyRequest
	if err := c.readAll(&r); err != nil {
		return nil, err
	}
	var at time.Time
	if ttl := c.lifetime(r.Expires); ttl > 0 {
		at = time.Now().Add(ttl)
	}
	k, err := c.org.ExpireKey(c.ctx, c.r.PathValue("api_key_id"), at)
	if err != nil {
		return nil, err
	}
	return newKeyRow(k), nil
}

// revokedKey names a revoked key.
type revokedKey struct {
	ID      string `json:"api_key_id"`
	Revoked bool   `json:"revoked"`
}

func extRevokeKey(c *call) (any, error) {
	id := c.r.PathValue("api_key_id")
	if err := c.org.RevokeKey(c.ctx, id); err != nil {
		return nil, err
	}
	return revokedKey{id, true}, nil
}
