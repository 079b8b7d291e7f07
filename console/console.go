// Package console serves a web page for inspecting and operating a contextmem service. It shows the stored items and their states, explains
// the results of recalls, and manages connectors, webhooks, keys and backups. It needs no other host and no JavaScript.
//
//	c, err := console.New(svc, console.Options{})
//	defer c.Close()
//	mux.Handle("/console/", c)
//
// Users sign in with an API key and see the data to which the key has access. See docs/console.md.
package console

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// Prefix is the path under which the console must be mounted, after the prefix that http.StripPrefix removes.
const Prefix = "/console/"

// Options configure a console.
type Options struct {
	// Verify returns the key with the given text, or fault.ErrUnauthorized if the key is invalid. The console calls Verify at every request
	// of a session, so that revoking a key ends its sessions at once. Default: Service.VerifyKey.
	Verify func(ctx context.Context, text string) (contextmem.Key, error)
	// Limit counts a request of the key with an id, and reports whether the request is within the key's rate limit. If it is not, wait is
	// the time until the next allowed request. The method Take of a httpapi.RateLimit fits. Default: no limit.
	Limit func(key string) (wait time.Duration, ok bool)
	// BackupDir is the directory to which backups are written. If it is empty, the console offers no backups.
	BackupDir string
	// Secure marks cookies as HTTPS-only. Set it if TLS ends before this process. With TLS in this process, cookies are always marked.
	Secure bool
	// Audit logs each change by a user: the action, the key's id, and the object. Default: none.
	Audit *slog.Logger
	// Logger receives failures of the service. Default: silent.
	Logger *slog.Logger
}

// Console is an http.Handler. It is safe for concurrent use.
type Console struct {
	svc      *contextmem.Service
	o        Options
	mux      *http.ServeMux
	sessions *sessions
	jobs     *jobs
	pages    func() (pages, error) // parsed once, by the first request
	guard    *http.CrossOriginProtection
}

// New returns a console for svc. The caller must call Close.
func New(svc *contextmem.Service, o Options) (*Console, error) {
	if svc == nil {
		return nil, errors.New("console: no service")
	}
	if o.Verify == nil {
		o.Verify = svc.VerifyKey
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Audit == nil {
		o.Audit = slog.New(slog.DiscardHandler)
	}
	c := &Console{svc: svc, o: o, mux: http.NewServeMux(), sessions: newSessions(), jobs: newJobs(), pages: sync.OnceValues(loadPages), guard: http.NewCrossOriginProtection()}
	c.routes()
	return c, nil
}

// Close cancels a running backup or check and waits for it.
func (c *Console) Close() error {
	c.jobs.close()
	return nil
}

// routes registers all pages and actions.
func (c *Console) routes() {
	c.mux.HandleFunc("GET "+Prefix+"static/{name}", c.static)
	c.mux.HandleFunc("GET "+Prefix+"login", c.loginPage)
	c.mux.HandleFunc("POST "+Prefix+"login", c.login)
	page := func(pattern string, f func(*view) error) { c.mux.HandleFunc("GET "+Prefix+pattern, c.page(f)) }
	act := func(pattern string, f func(*view) error) { c.mux.HandleFunc("POST "+Prefix+pattern, c.action(f)) }
	page("{$}", overview)
	page("t/{tenant}", tenantPage)
	page("t/{tenant}/item", itemPage)
	page("t/{tenant}/recall", recallPage)
	page("t/{tenant}/timeline", timelinePage)
	page("t/{tenant}/graph", graphPage)
	page("connectors", connectorsPage)
	page("connectors/{id}", connectorPage)
	page("webhooks", webhooksPage)
	page("keys", keysPage)
	page("system", systemPage)
	act("logout", logout)
	act("t/{tenant}/retry", retry)
	act("t/{tenant}/restore", restore)
	act("t/{tenant}/fact/restore", restoreFact)
	act("t/{tenant}/fact/retire", retireFact)
	act("t/{tenant}/merge/undo", undoMerge)
	act("connectors", createConnector)
	act("connectors/{id}/sync", syncConnector)
	act("connectors/{id}/pause", pauseConnector)
	act("connectors/{id}/resume", resumeConnector)
	act("connectors/{id}/resources", addResource)
	act("connectors/{id}/delete", deleteConnector)
	act("webhooks", setWebhook)
	act("webhooks/test", testWebhook)
	act("webhooks/delete", deleteWebhook)
	act("webhooks/resend", resend)
	act("keys", createKey)
	act("keys/revoke", revokeKey)
	act("keys/expire", expireKey)
	act("system/backup", startBackup)
	act("system/verify", startVerify)
	c.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, nil, &contextmem.Error{Kind: fault.KindNotFound, Err: errors.New("no such page")})
	})
}

const (
	maxForm  = 64 << 10 // bytes of a form
	maxQuery = 16 << 10 // bytes of a query string
)

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			c.o.Logger.Error("panic in the console", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			c.fail(w, r, nil, errors.New("internal error"))
		}
	}()
	refused := func(kind fault.Kind, why string) {
		c.fail(w, r, nil, &contextmem.Error{Kind: kind, Err: errors.New(why)})
	}
	switch p := r.URL.EscapedPath(); {
	case r.URL.Path+"/" == Prefix:
		http.Redirect(w, r, "console/", http.StatusSeeOther)
		return
	case !strings.HasPrefix(r.URL.Path, Prefix), path.Clean(p) != strings.TrimSuffix(p, "/"):
		refused(fault.KindNotFound, "no such page")
		return
	case len(r.URL.RawQuery) > maxQuery:
		refused(fault.KindInvalid, "the address is too long")
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		h.Set("Allow", "GET, HEAD, POST")
		c.write(w, http.StatusMethodNotAllowed, "error", c.bare(r, "error", errorData{Status: http.StatusMethodNotAllowed, Message: "this method is not used here"}))
		return
	}
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := c.guard.Check(r); err != nil {
			refused(fault.KindForbidden, "the form was sent from another site")
			return
		}
		if err := r.ParseForm(); err != nil {
			refused(fault.KindInvalid, "the form could not be read")
			return
		}
	}
	c.mux.ServeHTTP(w, r)
}

// page returns a handler that serves a page to signed-in users.
func (c *Console) page(f func(*view) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s, key, ok := c.signedIn(r)
		if !ok {
			c.toLogin(w, r)
			return
		}
		v := c.view(w, r, s, key)
		if !c.within(v) {
			return
		}
		if err := f(v); err != nil {
			c.fail(w, r, v, err)
		}
	}
}

// action returns a handler for a form of a signed-in user. It checks the form's token.
func (c *Console) action(f func(*view) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s, key, ok := c.signedIn(r)
		if !ok {
			c.toLogin(w, r)
			return
		}
		v := c.view(w, r, s, key)
		if !c.within(v) {
			return
		}
		if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("csrf")), []byte(s.csrf)) != 1 {
			c.fail(w, r, v, &contextmem.Error{Kind: fault.KindForbidden, Err: errors.New("the form is out of date: go back, load the page again and repeat")})
			return
		}
		err := f(v)
		c.o.Audit.Info("write", "action", strings.TrimPrefix(r.URL.Path, Prefix), "key", key.ID, "org", key.Org, "tenant", v.Tenant, "sub", v.Sub, "ok", err == nil)
		if err != nil {
			c.fail(w, r, v, err)
		}
	}
}

// within reports whether a request is within the rate limit of its key. If it is not, within writes the response.
func (c *Console) within(v *view) bool {
	if c.o.Limit == nil {
		return true
	}
	wait, ok := c.o.Limit(v.Key.ID)
	if !ok {
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		c.fail(v.w, v.r, v, &contextmem.Error{Kind: fault.KindRateLimited, RetryAfter: wait, Err: errors.New("rate limit of the key exceeded")})
	}
	return ok
}

// statusOf returns the HTTP status for an error.
func statusOf(err error) int {
	e, ok := errors.AsType[*contextmem.Error](err)
	if !ok {
		return http.StatusInternalServerError
	}
	switch e.Kind {
	case fault.KindInvalid, fault.KindFormat:
		return http.StatusBadRequest
	case fault.KindUnprocessed:
		return http.StatusUnprocessableEntity
	case fault.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.KindUnauthorized:
		return http.StatusUnauthorized
	case fault.KindForbidden:
		return http.StatusForbidden
	case fault.KindRateLimited:
		return http.StatusTooManyRequests
	case fault.KindNotFound:
		return http.StatusNotFound
	case fault.KindExists, fault.KindConflict, fault.KindNotReady, fault.KindProcessing:
		return http.StatusConflict
	case fault.KindUnavailable, fault.KindClosed:
		return http.StatusServiceUnavailable
	case fault.KindUpstream:
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}

// fail shows an error. v is nil if the user is not signed in.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, v *view, err error) {
	status, message := statusOf(err), err.Error()
	if status >= http.StatusInternalServerError && status != http.StatusBadGateway {
		if r.Context().Err() == nil {
			c.o.Logger.Error("the console met an error", "path", r.URL.Path, "err", err)
		}
		message = "the service met an error"
	}
	if v == nil {
		v = c.bare(r, "error", nil)
	}
	v.Page, v.Data = "error", errorData{status, strings.TrimPrefix(message, "contextmem: ")}
	c.write(w, status, "error", v)
}

type errorData struct {
	Status  int
	Message string
}

// admin reports whether a key has access to the whole deployment. Such a key belongs to the default organisation, has the scope manage,
// and is not restricted to tenants.
func admin(k contextmem.Key) bool {
	return k.Org == contextmem.DefaultOrg && k.AllowsOrganisation() && k.Allows(contextmem.ScopeManage)
}

// idle is the lifetime of an unused session, and longest the maximal lifetime of any session.
const (
	idle    = time.Hour
	longest = 12 * time.Hour
)
