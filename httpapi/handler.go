// Package httpapi serves a contextmem service over REST. One http.Handler serves both generations of the API and can be mounted at any path.
//
//	h, err := httpapi.New(svc, httpapi.Options{Keys: map[string]string{"key": contextmem.DefaultOrg}})
//	http.Handle("/memory/", http.StripPrefix("/memory", h))
//
// A handler decodes a request, calls one method of the service, and encodes the result. The table of routes defines the mux,
// the table of errors defines the status codes, and the table of aliases defines the deprecation notices.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// Default limits of requests, used for fields of Options that are 0.
const (
	DefaultMaxBodyBytes  = 100 << 20
	DefaultMaxJSONDepth  = 64
	DefaultMaxJSONBytes  = 32 << 20 // of a JSON body of an ingestion
	DefaultMaxQueryBytes = 1 << 20  // of any other JSON body
	DefaultMaxHeldBytes  = 256 << 20
	DefaultBodyTimeout   = time.Minute
	apiVersion           = "2"
	feedbackPerMinute    = 100
	maxQueryStringBytes  = 64 << 10
	errorMessageMaxBytes = 1000
)

// Options configure a handler. At least one way to authenticate is required.
type Options struct {
	// Authenticator identifies the sender of a request. Default: Keys, then keys created by Organisation.CreateKey.
	Authenticator Authenticator
	// Keys are fixed API keys and their organisations.
	Keys map[string]string
	// StoredKeys accepts keys created by Organisation.CreateKey. It is always on if Keys is used.
	StoredKeys bool
	// MaxBodyBytes is the maximal size of a request body. Default DefaultMaxBodyBytes; negative: no limit.
	MaxBodyBytes int64
	// MaxHeldBytes is the maximal number of bytes of request bodies in memory, summed over all requests. The first 64 KiB of each body
	// do not count, and files above 1 MiB are on disk. A request beyond the limit gets status 503 with Retry-After.
	// Default DefaultMaxHeldBytes; negative: no limit.
	MaxHeldBytes int64
	// BodyTimeout is the time that a client may take to send a body, plus one second for each 64 KiB of it. A
	// slower client gets status 408. Default 1 min; negative: no limit.
	BodyTimeout time.Duration
	// MaxJSONDepth is the maximal nesting depth of JSON. Default DefaultMaxJSONDepth.
	MaxJSONDepth int
	// RequestsPerSecond is the rate limit of one key. Bursts may have twice as many requests. Default 0: no limit.
	RequestsPerSecond float64
	// RateLimit replaces RequestsPerSecond if several handlers share one limit, such as this handler and a console. Its names are Principal.ID.
	RateLimit *RateLimit
	// TrustedProxies are the addresses of proxies whose X-Forwarded-Host, -Proto and -Prefix headers are used for presigned URLs if
	// contextmem.Options.PublicURL is not set. The headers of other senders are ignored. Default: none.
	TrustedProxies []netip.Prefix
	// Console is the handler for /console/, such as a console.Console. Default: none.
	Console http.Handler
	// Logger receives one record for each failure of the service, and at level Info one record for each request with its id. Default: silent.
	Logger *slog.Logger
	// Audit receives one record for each request that changes data, including refused requests. A record has the key's id, the route, the
	// database, the collection and the status. It never has content. Default: none.
	Audit *slog.Logger
}

type api struct {
	svc  *contextmem.Service
	o    Options
	auth Authenticator
	mux  *http.ServeMux
	held *held

	bodies bodyWatch
	rate   *RateLimit
	feed   *RateLimit

	tallies *tallies
	meters  meters
	known   map[string][]string // path pattern -> methods
}

// New returns a handler for svc. It returns an error if a required option is missing.
func New(svc *contextmem.Service, o Options) (http.Handler, error) {
	a, err := newAPI(svc, o)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(a.serve), nil
}

func newAPI(svc *contextmem.Service, o Options) (*api, error) {
	if svc == nil {
		return nil, errors.New("httpapi: no service")
	}
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if o.MaxHeldBytes == 0 {
		o.MaxHeldBytes = DefaultMaxHeldBytes
	}
	if o.BodyTimeout == 0 {
		o.BodyTimeout = DefaultBodyTimeout
	}
	if o.MaxJSONDepth == 0 {
		o.MaxJSONDepth = DefaultMaxJSONDepth
	}
	if o.MaxJSONDepth < 1 {
		return nil, errors.New("httpapi: MaxJSONDepth must be positive")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if f, ok := o.Authenticator.(AuthenticatorFunc); ok && f == nil {
		return nil, errors.New("httpapi: option Authenticator: holds a nil function")
	}
	a := &api{svc: svc, o: o, auth: o.Authenticator, tallies: newTallies(), known: map[string][]string{}}
	if a.auth == nil {
		if len(o.Keys) == 0 && !o.StoredKeys {
			return nil, errors.New("httpapi: no authentication configured: set Keys, StoredKeys or Authenticator")
		}
		k, err := newKeyring(svc, o.Keys)
		if err != nil {
			return nil, err
		}
		a.auth = k
	}
	a.held = &held{limit: o.MaxHeldBytes}
	if a.rate = o.RateLimit; a.rate == nil {
		a.rate = NewRateLimit(o.RequestsPerSecond)
	}
	a.feed = newRateLimit(feedbackPerMinute/60.0, feedbackPerMinute)
	a.mux = http.NewServeMux()
	for i := range routes {
		a.mount(&routes[i])
	}
	for i := range extensions {
		a.mount(&extensions[i].route)
	}
	a.mux.HandleFunc("GET "+contextmem.PresignedPath+"{token}", a.content)
	a.mux.HandleFunc("GET /healthz", a.healthy("ok", "unavailable"))
	a.mux.HandleFunc("GET /readyz", a.healthy("ready", "unavailable"))
	if o.Console != nil {
		a.mux.Handle("/console/", o.Console)
		a.mux.Handle("/console", o.Console)
	}
	a.mux.HandleFunc("GET /openapi.json", serveOpenAPI("v1"))
	a.mux.HandleFunc("GET /v2/openapi.json", serveOpenAPI("v2"))
	a.mux.HandleFunc("GET /ext/openapi.json", serveExtensions())
	a.mux.HandleFunc("/", a.unrouted)
	return a, nil
}

// health is the response of /healthz.
type health struct {
	Status     string `json:"status"`
	APIVersion string `json:"api_version"`
}

// mount registers a route in the mux. Second-generation routes are also registered under /v2.
func (a *api) mount(r *route) {
	paths := []string{r.path}
	if r.family != gen1 && !isExtension(r.path) {
		paths = append(paths, "/v2"+r.path)
	}
	for _, p := range paths {
		a.known[p] = append(a.known[p], r.method)
		a.mux.HandleFunc(r.method+" "+p, func(w http.ResponseWriter, req *http.Request) { a.handle(w, req, r) })
	}
}

// serve is the outermost handler. It sets the request id, recovers from panics, and answers requests that match no route.
func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	id := requestIDOf(r)
	h := w.Header()
	h[requestIDHeader], h["X-Content-Type-Options"] = []string{id}, noSniff
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			a.o.Logger.Error("panic in a handler", "request", id, "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			c := a.call(w, r, nil, id)
			c.fail(errors.New("internal error"))
		}
	}()
	if len(r.URL.RawQuery) > maxQueryStringBytes {
		a.call(w, r, a.family(r.URL.Path), id).fail(&statusError{http.StatusRequestURITooLong, "INVALID_PARAMETERS", "the query string is too long"})
		return
	}
	if p := r.URL.EscapedPath(); p != "/" && path.Clean(p) != strings.TrimSuffix(p, "/") { // the mux would redirect, which API clients do not expect
		a.call(w, r, nil, id).fail(&statusError{http.StatusNotFound, "NOT_FOUND", "no such path"})
		return
	}
	a.mux.ServeHTTP(w, r)
}

// requestIDHeader is X-Request-ID in canonical form. If the client sends a lower-case UUID, the response, the logs and feedback use it.
// Any other value is replaced by a new id.
const requestIDHeader = "X-Request-Id"

// isUUID reports whether s is a lower-case UUID in the usual form.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

// requestID returns the id that serve assigned to a request.
func requestID(w http.ResponseWriter) string { return w.Header()[requestIDHeader][0] }

// family guesses the route family of a path without a route.
func (a *api) family(path string) *route {
	p := strings.TrimPrefix(path, "/v2")
	for _, prefix := range []string{"/databases", "/context", "/query", "/feedback"} {
		if p == prefix || strings.HasPrefix(p, prefix+"/") {
			return &route{family: gen2}
		}
	}
	if isExtension(p) {
		return &route{family: gen2}
	}
	if strings.HasPrefix(p, "/connector") {
		return &route{family: connectors}
	}
	return &route{family: gen1}
}

// unrouted answers a request without a route: 405 if the path has other methods, else 404.
func (a *api) unrouted(w http.ResponseWriter, r *http.Request) {
	id := requestID(w)
	c := a.call(w, r, a.family(r.URL.Path), id)
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut} {
		if m == r.Method {
			continue
		}
		probe := r.Clone(r.Context())
		probe.Method = m
		if _, pattern := a.mux.Handler(probe); pattern != "/" && pattern != "" {
			allow = append(allow, m)
		}
	}
	if len(allow) > 0 {
		w.Header().Set("Allow", strings.Join(allow, ", "))
		c.fail(&statusError{http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "this path takes " + strings.Join(allow, ", ")})
		return
	}
	c.fail(&statusError{http.StatusNotFound, "NOT_FOUND", "no such path"})
}

// handle wraps the execution of a route.
func (a *api) handle(w http.ResponseWriter, r *http.Request, rt *route) {
	c := desks.Get().(*call)
	c.begin(a, w, r, rt, requestID(w))
	c.run()
	c.release()
}

// run executes the route and writes the response.
func (c *call) run() {
	a, w, r, rt := c.api, c.w, c.r, c.rt
	p, err := a.auth.Authenticate(r)
	if err == nil && p.Org == "" {
		err = errNoOrg
	}
	if err != nil {
		c.fail(refusal(err))
		return
	}
	c.who = p
	c.org = a.svc.Org(p.Org)
	wait, ok := a.rate.Take(p.ID)
	a.rate.headers(w, p.ID)
	if !ok {
		c.fail(&contextmem.Error{Kind: fault.KindRateLimited, RetryAfter: wait, Err: errors.New("rate limit of the key exceeded")})
		return
	}
	if rt.scope != "" && !p.Key.Allows(rt.scope) {
		c.fail(&contextmem.Error{Kind: fault.KindForbidden, Err: fmt.Errorf("the key lacks the scope %q", rt.scope)})
		return
	}
	if rt.wholeOrg && len(p.Key.Tenants) > 0 {
		c.fail(&contextmem.Error{Kind: fault.KindForbidden, Err: errors.New("the key is restricted to tenants, and this is the organisation's")})
		return
	}
	if a.o.MaxBodyBytes > 0 {
		if r.ContentLength > a.o.MaxBodyBytes {
			c.fail(errBodyTooLarge(a.o.MaxBodyBytes))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, a.o.MaxBodyBytes)
	}
	if err := c.decode(); err != nil {
		c.fail(err)
		return
	}
	defer c.cleanup()
	if rt.text != nil && wantsText(r) {
		if err := rt.text(c); err != nil {
			c.fail(err)
		}
		return
	}
	c.in.tell = rt.tell || isExtension(rt.path)
	out, err := rt.do(c)
	if err != nil {
		c.fail(err)
		return
	}
	c.warnOf(c.in.unknown)
	c.succeed(out)
}

// call is the state of one request.
type call struct {
	api     *api
	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context
	rt      *route
	id      string
	started time.Time
	who     Principal
	org     contextmem.Organisation
	scope   scopeNames
	in      input
	outer   decoder // decodes the request itself
	inner   decoder // decodes values inside the request
	body    reading
	success envelope // envelope of the response, for families that have one
	query   queryMeta
	warn    []fault.Warning
	desk
}

func (a *api) call(w http.ResponseWriter, r *http.Request, rt *route, id string) *call {
	if rt == nil {
		rt = a.family(r.URL.Path)
	}
	c := new(call)
	c.begin(a, w, r, rt, id)
	return c
}

// begin makes a call whose fields are zero that of a request.
func (c *call) begin(a *api, w http.ResponseWriter, r *http.Request, rt *route, id string) {
	c.api, c.w, c.r, c.ctx, c.rt, c.id, c.started = a, w, r, r.Context(), rt, id, time.Now()
	c.inner = decoder{depth: a.o.MaxJSONDepth, in: &c.in}
	c.outer = c.inner
	c.outer.top = true
}
