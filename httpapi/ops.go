package httpapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/meter"
)

// meters counts requests for Prometheus.
type meters struct {
	requests meter.Family[meter.Histogram] // by method, route and status class
	keys     meter.Family[meter.Counter]   // by key id and status class
}

// classOf returns the class of a status, such as 2xx.
func classOf(status int) string {
	switch status / 100 {
	case 2:
		return "2xx"
	case 3:
		return "3xx"
	case 4:
		return "4xx"
	}
	return "5xx"
}

// observed counts and logs a response.
func (c *call) observed(status int) {
	took, route, class := time.Since(c.started), c.rt.path, classOf(status)
	if route == "" {
		route = "none"
	}
	method := c.r.Method
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead:
	default:
		method = "other" // callers must not be able to create metric series
	}
	c.api.meters.requests.Of(method, route, class).Observe(took)
	if c.who.ID != "" {
		c.api.meters.keys.Of(c.who.ID, class).Add(1)
	}
	if c.api.o.Logger.Enabled(c.ctx, slog.LevelInfo) {
		c.api.o.Logger.Info("request", "request", c.id, "method", c.r.Method, "route", route, "status", status, "took", took, "key", c.who.ID)
	}
	if a := c.api.o.Audit; a != nil && c.who.Org != "" && c.r.Method != http.MethodGet && (c.rt.scope == ingest || c.rt.scope == manage) {
		a.Info("write", "request", c.id, "key", c.who.ID, "org", c.who.Org, "method", c.r.Method, "route", route, "database", c.scope.database, "collection", c.scope.collection, "status", status)
	}
}

// IsAdmin reports whether a principal has access to the whole deployment: metrics, profiles, backups. Its key must belong to the default
// organisation, have the scope manage, and not be restricted to tenants.
func (p Principal) IsAdmin() bool {
	return p.Org == contextmem.DefaultOrg && p.Key.AllowsOrganisation() && p.Key.Allows(contextmem.ScopeManage)
}

var errAdmin = &contextmem.Error{Kind: fault.KindForbidden, Err: errors.New("this is of the whole deployment: it needs a key of the organisation \"default\" with the scope manage that is not restricted to tenants")}

// RequireAdmin serves h only to principals for which IsAdmin returns true. It can protect profiles, for example.
func RequireAdmin(a Authenticator, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := a.Authenticate(r)
		switch {
		case err != nil:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a valid API key is required: Authorization: Bearer <key>", http.StatusUnauthorized)
		case !p.IsAdmin():
			http.Error(w, errAdmin.Err.Error(), http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// wantsText reports whether a metrics request comes from a scraper, which accepts text rather than JSON.
func wantsText(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return !strings.Contains(accept, "application/json") && (strings.Contains(accept, "text/plain") || strings.Contains(accept, "application/openmetrics-text"))
}

const prometheusType = "text/plain; version=0.0.4; charset=utf-8"

// metricsText writes all metrics in the Prometheus text format.
func metricsText(c *call) error {
	if !c.who.IsAdmin() {
		return errAdmin
	}
	var b bytes.Buffer
	w := meter.NewWriter(&b)
	w.Histograms("contextmem_http_request_duration_seconds", "How long requests took.", []string{"method", "route", "status"}, &c.api.meters.requests)
	w.Counters("contextmem_http_key_requests_total", "Requests by the id of the key.", []string{"key", "status"}, &c.api.meters.keys)
	if err := w.Flush(); err != nil {
		return err
	}
	if err := c.api.svc.WriteMetrics(c.ctx, &b); err != nil {
		return err
	}
	c.answered(http.StatusOK)
	h := c.w.Header()
	h.Set("Content-Type", prometheusType)
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	c.w.WriteHeader(http.StatusOK)
	_, _ = c.w.Write(b.Bytes())
	return nil
}

// pingPatience is the time limit for the registry's answer.
const pingPatience = 2 * time.Second

// healthy answers /healthz and /readyz. Both check that the registry answers.
func (a *api) healthy(up, down string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pingPatience)
		defer cancel()
		if err := a.svc.Ping(ctx); err != nil {
			if r.Context().Err() == nil {
				a.o.Logger.Warn("the registry does not answer", "err", err)
			}
			writeJSON(w, http.StatusServiceUnavailable, health{down, openAPIVersion})
			return
		}
		writeJSON(w, http.StatusOK, health{up, openAPIVersion})
	}
}

// requestIDOf returns the id of a request: the header X-Request-ID, or the trace id of a traceparent (W3C Trace Context) as a UUID, or a new id.
func requestIDOf(r *http.Request) string {
	if id := r.Header.Get(requestIDHeader); isUUID(id) {
		return id
	}
	if id, ok := traceID(r.Header.Get("Traceparent")); ok {
		return id
	}
	return contextmem.NewRequestID()
}

// traceID parses "00-<32 hexadecimal digits>-<16>-<2>".
func traceID(s string) (string, bool) {
	if len(s) < 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" {
		return "", false
	}
	t := s[3:35]
	id := t[:8] + "-" + t[8:12] + "-" + t[12:16] + "-" + t[16:20] + "-" + t[20:]
	return id, isUUID(id) && strings.Trim(t, "0") != ""
}
