// Package client is a client for a contextmem server over REST. It uses the types of package contextmem:
//
//	c, err := client.New("http://127.0.0.1:8080", key, nil)
//	alice := c.Tenant("acme").Sub("alice") // a contextmem.Memories
//	_, err = alice.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: "Alice takes her coffee black."}}})
//	res, err := alice.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "how does she drink coffee?"})
//
// Errors are *contextmem.Error with the kinds of the library, so errors.Is works with contextmem.ErrNotFound and the other
// sentinels. Calls that are safe to repeat are repeated after connection failures, and if the server asks to retry
// later; see [Options].
//
// REST supports less than the library. A call that sets an unsupported field returns contextmem.ErrInvalid. These fields are
// Progress, Recall.RequestID, Rejected and Missing, AppItem.Fault, FetchRequest.Class, cursors and states of lists, and
// TenantSpec.Instructions. Results lack Chunk.Class of a recall over both classes, Chunk.Time and Related,
// Result.Instructions and the raw scores of Explain. Memory.Time and Memory.Session are sent as timestamp and session_id of
// the additional metadata.
package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// Defaults of [Options].
const (
	DefaultRetries = 4
	DefaultPause   = 100 * time.Millisecond
)

// maxPause is the longest pause between two tries.
const maxPause = 10 * time.Second

// Options configure a client. The zero value has all defaults.
type Options struct {
	// HTTPClient sends the requests. Default: a client with the default transport that follows no redirects, so that the key is
	// not sent to another server.
	HTTPClient *http.Client
	// Retries is how often a call is tried again after a failure of the connection, and after the statuses 429, 502, 503 and 504. Default
	// DefaultRetries; negative: never. Additions are repeated because every memory has an id before it is sent. Additions with FailIfExists
	// are repeated only if the server reported that it did nothing.
	Retries int
	// Pause is the first pause before a repeat, which doubles up to 10 s, unless the server names one. Default DefaultPause.
	Pause time.Duration
}

// Client speaks to one server with one key. It is safe for concurrent use.
type Client struct {
	base, key string
	http      *http.Client
	retries   int
	pause     time.Duration
}

// New returns a client of the server at an address such as "https://memory.example.com/prefix". It does no I/O. o may be nil.
func New(address, key string, o *Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &fault.Error{Op: "client", Kind: fault.KindInvalid, Field: "address", Err: errors.New("must be an http or https address without user, query and fragment")}
	}
	c := &Client{base: strings.TrimSuffix(u.String(), "/"), key: key, retries: DefaultRetries, pause: DefaultPause}
	if o != nil {
		c.http = o.HTTPClient
		if o.Retries != 0 {
			c.retries = max(o.Retries, 0)
		}
		if o.Pause > 0 {
			c.pause = o.Pause
		}
	}
	if c.http == nil {
		c.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return c, nil
}

// Tenant returns a handle on a tenant. It does no I/O.
func (c *Client) Tenant(id string) Tenant { return Tenant{scope{c: c, tenant: id}} }

// Tenant is a handle on a tenant of the key's organisation. Its data methods work on the default sub-tenant.
type Tenant struct{ scope }

// Sub is a handle on one partition of a tenant.
type Sub struct{ scope }

// scope is a partition that data methods work on.
type scope struct {
	c           *Client
	tenant, sub string
}

var (
	_ contextmem.Memories = Sub{}
	_ contextmem.Memories = Tenant{}
)

// ID returns the tenant's id.
func (t Tenant) ID() string { return t.tenant }

// Sub returns the handle of a sub-tenant; an empty name is the default one.
func (t Tenant) Sub(name string) Sub { return Sub{scope{t.c, t.tenant, name}} }

// CreateTenant registers a tenant, which the server provisions in the background; [Tenant.WaitReady] waits for it. It returns
// contextmem.ErrExists if the id is taken, and contextmem.ErrInvalid for a TenantSpec with Instructions.
func (c *Client) CreateTenant(ctx context.Context, spec contextmem.TenantSpec) error {
	const op = "create tenant"
	if spec.Instructions != "" {
		return notOverREST(op, "Instructions")
	}
	type field struct {
		Name      string `json:"name"`
		Type      string `json:"data_type,omitempty"`
		MaxLength int    `json:"max_length,omitempty"`
		Match     bool   `json:"enable_match"`
		Dense     bool   `json:"enable_dense_embedding"`
		Sparse    bool   `json:"enable_sparse_embedding"`
		Analyzer  bool   `json:"enable_analyzer"`
		Nullable  bool   `json:"nullable"`
	}
	body := struct {
		ID         string  `json:"database"`
		Embeddings bool    `json:"is_embeddings_tenant,omitempty"`
		Dimension  int     `json:"embeddings_dimension,omitempty"`
		Schema     []field `json:"database_metadata_schema,omitempty"`
	}{ID: spec.ID, Embeddings: spec.Embeddings, Dimension: spec.Dimension}
	for _, f := range spec.Schema {
		body.Schema = append(body.Schema, field{f.Name, string(f.Type), f.MaxLength, f.Match, f.Dense, f.Sparse, f.Analyzer, !f.Required})
	}
	_, err := c.send(ctx, request{op: op, method: http.MethodPost, path: "/databases", json: body, once: true, of: spec}, nil)
	return err
}

// Tenants returns the organisation's tenants by id. It leaves out failed tenants.
func (c *Client) Tenants(ctx context.Context) ([]contextmem.TenantInfo, error) {
	var a struct {
		Details []struct {
			Database  string `json:"database"`
			Status    string `json:"status"`
			CreatedAt string `json:"created_at"`
		} `json:"details"`
	}
	if _, err := c.send(ctx, request{op: "list tenants", method: http.MethodGet, path: "/databases"}, &a); err != nil {
		return nil, err
	}
	out := make([]contextmem.TenantInfo, len(a.Details))
	for i, d := range a.Details {
		out[i] = contextmem.TenantInfo{ID: d.Database, State: contextmem.TenantState(d.Status), CreatedAt: wire.ReadTime(d.CreatedAt)}
	}
	return out, nil
}

// Delete removes the tenant and everything in it.
func (t Tenant) Delete(ctx context.Context) error {
	_, err := t.c.send(ctx, request{op: "delete tenant", method: http.MethodDelete, path: "/databases", query: url.Values{"database": {t.tenant}}, once: true}, nil)
	return err
}

// Ready reports whether items can be put into the tenant.
func (t Tenant) Ready(ctx context.Context) (bool, error) {
	var a struct {
		Infra struct {
			Ready bool `json:"ready_for_ingestion"`
		} `json:"infra"`
	}
	_, err := t.c.send(ctx, request{op: "tenant status", method: http.MethodGet, path: "/databases/status", query: url.Values{"database": {t.tenant}}}, &a)
	return a.Infra.Ready, err
}

// WaitReady waits until items can be put into the tenant.
func (t Tenant) WaitReady(ctx context.Context) error {
	return t.c.until(ctx, func() (bool, error) { return t.Ready(ctx) })
}

// Subs returns the number of items of each non-empty sub-tenant, by name.
func (t Tenant) Subs(ctx context.Context) ([]contextmem.SubStats, error) {
	var a struct {
		Details []struct {
			Name      string `json:"collection"`
			Knowledge int    `json:"knowledge"`
			Memories  int    `json:"memories"`
			Raw       int    `json:"embeddings"`
		} `json:"details"`
	}
	if _, err := t.c.send(ctx, request{op: "list sub-tenants", method: http.MethodGet, path: "/databases/collections", query: url.Values{"database": {t.tenant}}}, &a); err != nil {
		return nil, err
	}
	out := make([]contextmem.SubStats, len(a.Details))
	for i, d := range a.Details {
		out[i] = contextmem.SubStats{Name: d.Name, Knowledge: d.Knowledge, Memory: d.Memories, Raw: d.Raw}
	}
	return out, nil
}

// Delete removes the sub-tenant with everything in it.
func (s Sub) Delete(ctx context.Context) error {
	_, err := s.c.send(ctx, request{op: "delete sub-tenant", method: http.MethodDelete, path: "/databases/collections",
		query: url.Values{"database": {s.tenant}, "collection": {s.sub}}, once: true}, nil)
	return err
}

// Name returns the name of the sub-tenant.
func (s Sub) Name() string { return s.sub }

// CreateKey creates an API key with at most the rights of the client's own key, and returns its text, which cannot be read
// again. The new key has the tenants and the TTL of the client's key; setting KeySpec.Tenants or TTL returns contextmem.ErrInvalid.
func (c *Client) CreateKey(ctx context.Context, spec contextmem.KeySpec) (contextmem.Key, string, error) {
	const op = "create key"
	if len(spec.Tenants) > 0 {
		return contextmem.Key{}, "", notOverREST(op, "Tenants")
	}
	if spec.TTL != 0 {
		return contextmem.Key{}, "", notOverREST(op, "TTL")
	}
	body := struct {
		Owner  string             `json:"owner,omitempty"`
		Scopes []contextmem.Scope `json:"scopes,omitempty"`
		Env    string             `json:"env,omitempty"`
		Prefix string             `json:"prefix,omitempty"`
	}{spec.Owner, spec.Scopes, spec.Env, spec.Prefix}
	var a struct {
		ID        string             `json:"api_key_id"`
		Owner     string             `json:"owner"`
		Scopes    []contextmem.Scope `json:"scopes"`
		Env       string             `json:"env"`
		Text      string             `json:"full_api_key"`
		CreatedAt string             `json:"created_at"`
	}
	if _, err := c.send(ctx, request{op: op, method: http.MethodPost, path: "/api-keys/create_api_key", json: body, once: true, bare: true, of: spec}, &a); err != nil {
		return contextmem.Key{}, "", err
	}
	return contextmem.Key{ID: a.ID, Owner: a.Owner, Scopes: a.Scopes, Env: a.Env, CreatedAt: wire.ReadTime(a.CreatedAt)}, a.Text, nil
}
