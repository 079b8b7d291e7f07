package main

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/cmd/contextmem/internal/mcpserver"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/httpapi"
)

func (a *app) mcpCmd() *cobra.Command {
	var perClient bool
	c := &cobra.Command{Use: "mcp", Short: "Serve the Model Context Protocol over standard input and output", Args: takes(0, 0),
		Long: `Mcp is started by an MCP client. Any number of clients may start it on one directory, or with --url let it work through a server.

In the configuration of a client:

  {"mcpServers": {"memory": {"command": "contextmem", "args": ["mcp"]}}}`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, h home) error {
				tenants := ensured{home: h}
				s := mcpserver.New(mcpserver.Config{Version: version(), Place: func(ctx context.Context, c mcpserver.Caller) (mcpserver.Place, error) {
					if err := tenants.ensure(ctx, a.tenant); err != nil {
						return mcpserver.Place{}, err
					}
					sub := a.sub
					if perClient {
						sub = subOf(c.Client)
					}
					return mcpserver.Place{Memories: h.Sub(a.tenant, sub), Name: a.tenant + "\x00" + sub}, nil
				}})
				err := s.Run(ctx, &mcp.IOTransport{Reader: reader{a.in}, Writer: writer{a.out}})
				if ctx.Err() != nil || errors.Is(err, mcp.ErrConnectionClosed) { // the client is gone
					return nil
				}
				return err
			})
		}}
	c.Flags().BoolVar(&perClient, "sub-per-client", false, "give each client a sub-tenant by the name that it gives itself, instead of --sub")
	return c
}

// ensured creates a tenant at most once.
type ensured struct {
	home interface {
		EnsureTenant(ctx context.Context, id string) error
	}
	mu   sync.Mutex
	done map[string]bool
}

func (e *ensured) ensure(ctx context.Context, tenant string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done[tenant] {
		return nil
	}
	if err := e.home.EnsureTenant(ctx, tenant); err != nil {
		return err
	}
	if e.done == nil {
		e.done = map[string]bool{}
	}
	e.done[tenant] = true
	return nil
}

var notInNames = regexp.MustCompile(`[^a-z0-9._-]+`)

// subOf derives a sub-tenant from the name of a client.
func subOf(client string) string {
	s := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(client), "-"), "-")
	if s == "" {
		return "unknown-client"
	}
	return s[:min(len(s), 100)]
}

// Headers with which a client of the server selects its tenant and sub-tenant. The defaults are --tenant and --sub.
const (
	tenantHeader = "X-Contextmem-Tenant"
	subHeader    = "X-Contextmem-Sub"
)

// mcpSession is the idle time after which a session ends.
const mcpSession = time.Hour

// mcpHandler serves MCP over HTTP to callers that ring authenticates. Streams end when life ends, or after a long idle time.
func (a *app) mcpHandler(life context.Context, svc *contextmem.Service, ring *keyring, limit *httpapi.RateLimit) http.Handler {
	c := mcpserver.Config{Version: version(), Place: func(ctx context.Context, c mcpserver.Caller) (mcpserver.Place, error) {
		who, ok := c.Token.Extra["who"].(httpapi.Principal)
		if !ok {
			return mcpserver.Place{}, errNoKey
		}
		tenant, sub := c.Header.Get(tenantHeader), c.Header.Get(subHeader)
		if tenant == "" {
			tenant = a.tenant
			if len(who.Key.Tenants) == 1 {
				tenant = who.Key.Tenants[0]
			}
		}
		if sub == "" {
			sub = a.sub
		}
		if !who.Key.AllowsTenant(tenant) {
			return mcpserver.Place{}, &fault.Error{Kind: fault.KindForbidden, Err: errors.New("the key is restricted to other tenants")}
		}
		if err := ready(ctx, svc.Org(who.Org), tenant, who.Key.Allows(contextmem.ScopeManage)); err != nil {
			return mcpserver.Place{}, err
		}
		return mcpserver.Place{Memories: svc.Org(who.Org).Tenant(tenant).Sub(sub), Name: strings.Join([]string{who.Org, tenant, sub}, "\x00"),
			ReadOnly: !who.Key.Allows(contextmem.ScopeIngest), NoRead: !who.Key.Allows(contextmem.ScopeQuery)}, nil
	}}
	s := sync.OnceValue(func() *mcp.Server { return mcpserver.New(c) }) // builds the schemas when the first client connects
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s() }, &mcp.StreamableHTTPOptions{SessionTimeout: mcpSession})
	verify := func(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		who, err := ring.Authenticate(r)
		if err != nil {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: who.Org + "/" + who.ID, Expiration: who.Key.ExpiresAt, Extra: map[string]any{"who": who}}, nil
	}
	streams := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, _ := auth.TokenInfoFromContext(r.Context()).Extra["who"].(httpapi.Principal)
		if wait, ok := limit.Take(who.ID); !ok {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			http.Error(w, "rate limit of the key exceeded", http.StatusTooManyRequests)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // if the deadline can't be removed, clients must reconnect
		h.ServeHTTP(w, r.WithContext(ctx))
	})
	return http.NewCrossOriginProtection().Handler(auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(streams))
}

// ready waits until a tenant is ready. If there is none and make is set, it creates the tenant.
func ready(ctx context.Context, org contextmem.Organisation, tenant string, make bool) error {
	i, err := org.Tenant(tenant).Info(ctx)
	if err == nil && i.Ready() {
		return nil
	}
	if errors.Is(err, contextmem.ErrNotFound) && make {
		_, err = org.CreateTenant(ctx, contextmem.TenantSpec{ID: tenant})
		if errors.Is(err, contextmem.ErrExists) {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	return org.Tenant(tenant).WaitReady(ctx)
}

// reader and writer wrap standard streams, so that the transport does not close them.
type reader struct{ io.Reader }

// Close implements io.Closer.
func (reader) Close() error { return nil }

type writer struct{ io.Writer }

// Close implements io.Closer.
func (writer) Close() error { return nil }
