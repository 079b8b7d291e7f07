package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem"
)

// statusError is an error of the wire alone.
type statusError struct {
	status  int
	code    string
	message string
}

// Error implements error.
func (e *statusError) Error() string { return e.message }

func errBodyTooLarge(limit int64) error {
	return &statusError{http.StatusRequestEntityTooLarge, "REQUEST_TOO_LARGE", fmt.Sprintf("the request body is over the limit of %d bytes", limit)}
}

// answer is what an error looks like on the wire.
type answer struct {
	status int
	code   string
}

// errorRow is a row of the error table. An empty resource matches any that has
// no row of its own; a zero family matches all.
type errorRow struct {
	kind     contextmem.Kind
	resource contextmem.Resource
	family   family
	answer
}

// errorTable maps (kind, resource, family) to status and code: the first row that fits.
var errorTable = []errorRow{
	{contextmem.KindInvalid, contextmem.ResourceTenant, 0, answer{400, "INVALID_TENANT_ID"}},
	{contextmem.KindInvalid, "", 0, answer{400, "INVALID_PARAMETERS"}},
	{contextmem.KindUnprocessed, contextmem.ResourceMemory, 0, answer{422, "INVALID_MEMORY_FORMAT"}},
	{contextmem.KindUnprocessed, contextmem.ResourceEmbedding, 0, answer{422, "INVALID_EMBEDDING_FORMAT"}},
	{contextmem.KindUnprocessed, "", 0, answer{422, "VALIDATION_ERROR"}},
	{contextmem.KindNotFound, contextmem.ResourceTenant, gen1, answer{404, "TENANT_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceTenant, 0, answer{404, "DATABASE_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceSource, 0, answer{404, "SOURCE_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceMemory, gen1, answer{404, "MEMORY_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceMemory, 0, answer{404, "SOURCE_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceFile, 0, answer{404, "FILE_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceSub, 0, answer{404, "COLLECTION_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceConnector, 0, answer{404, "CONNECTOR_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceWebhook, 0, answer{404, "WEBHOOK_NOT_FOUND"}},
	{contextmem.KindNotFound, contextmem.ResourceDelivery, 0, answer{404, "DELIVERY_NOT_FOUND"}},
	{contextmem.KindNotFound, "", 0, answer{404, "NOT_FOUND"}},
	{contextmem.KindExists, contextmem.ResourceTenant, gen1, answer{409, "TENANT_ALREADY_EXISTS"}},
	{contextmem.KindExists, contextmem.ResourceTenant, aliases, answer{409, "INVALID_INPUT"}},
	{contextmem.KindExists, contextmem.ResourceTenant, 0, answer{409, "DATABASE_ALREADY_EXISTS"}},
	{contextmem.KindExists, "", 0, answer{409, "CONFLICT"}},
	{contextmem.KindConflict, contextmem.ResourceDelivery, 0, answer{409, "DELIVERY_NOT_RETRYABLE"}},
	{contextmem.KindConflict, contextmem.ResourceSync, 0, answer{409, "SYNC_RUNNING"}},
	{contextmem.KindConflict, "", 0, answer{409, "CONFLICT"}},
	{contextmem.KindNotReady, "", 0, answer{422, "TENANT_INFRA_NOT_READY"}},
	{contextmem.KindProcessing, "", 0, answer{409, "SOURCE_PROCESSING"}},
	{contextmem.KindTooLarge, "", 0, answer{400, "FILE_TOO_LARGE"}},
	{contextmem.KindFormat, "", 0, answer{400, "INVALID_FILE_FORMAT"}},
	{contextmem.KindUnauthorized, "", 0, answer{401, "UNAUTHORIZED"}},
	{contextmem.KindForbidden, "", 0, answer{403, "FORBIDDEN"}},
	{contextmem.KindRateLimited, "", 0, answer{429, "RATE_LIMITED"}},
	{contextmem.KindUnavailable, "", 0, answer{503, "SERVICE_UNAVAILABLE"}},
	{contextmem.KindClosed, "", 0, answer{503, "SERVICE_UNAVAILABLE"}},
	{contextmem.KindUpstream, "", 0, answer{502, "BACKEND_ERROR"}},
	{contextmem.KindInternal, "", 0, answer{500, "INTERNAL_ERROR"}},
}

func lookup(kind contextmem.Kind, res contextmem.Resource, f family) answer {
	for _, r := range errorTable {
		if r.kind == kind && (r.resource == "" || r.resource == res) && (r.family == 0 || r.family == f) {
			return r.answer
		}
	}
	return answer{http.StatusInternalServerError, "INTERNAL_ERROR"}
}

// describe turns any error into status, code and message.
func (c *call) describe(err error) (answer, string) {
	var se *statusError
	var ce *contextmem.Error
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return c.describe(errBodyTooLarge(big.Limit))
	case errors.As(err, &se):
		return answer{se.status, se.code}, se.message
	case errors.As(err, &ce):
		a := lookup(ce.Kind, ce.Resource, c.rt.family)
		if ce.Kind == contextmem.KindInvalid && c.rt.invalidCode != "" && ce.Resource == contextmem.ResourceSearch {
			a.code = c.rt.invalidCode
		}
		if a.status >= 500 && ce.Kind == contextmem.KindInternal {
			c.api.o.Logger.Error("request failed", "request", c.id, "route", c.rt.path, "err", err)
			return a, "internal error"
		}
		renamed := *ce
		renamed.Field = c.wireField(ce.Field)
		return a, renamed.Message()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return answer{http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE"}, "the request was cut off"
	}
	c.api.o.Logger.Error("request failed", "request", c.id, "route", c.rt.path, "err", err)
	return answer{http.StatusInternalServerError, "INTERNAL_ERROR"}, "internal error"
}

// fail answers with an error.
func (c *call) fail(err error) {
	a, message := c.describe(err)
	h := c.w.Header()
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable || a.code == "SOURCE_PROCESSING" {
		wait := 1
		var ce *contextmem.Error
		if errors.As(err, &ce) && ce.RetryAfter > 0 {
			wait = max(1, int(math.Ceil(ce.RetryAfter.Seconds())))
		}
		h.Set("Retry-After", strconv.Itoa(wait))
	}
	if a.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if len(message) > errorMessageMaxBytes {
		message = message[:errorMessageMaxBytes]
	}
	c.deprecationHeaders()
	if a.status == http.StatusRequestEntityTooLarge || a.status == http.StatusRequestTimeout {
		h.Set("Connection", "close") // the rest of the body is not read
	}
	c.answered(a.status)
	writeJSON(c.w, a.status, c.errorBody(a.code, message, err))
}

// errorBody is the error in the shape of the route's family.
func (c *call) errorBody(code, message string, err error) any {
	detail := map[string]any{"success": false, "message": message, "error_code": code}
	if c.rt.family == gen1 || c.rt.family == webhooks {
		return map[string]any{"detail": detail}
	}
	e := map[string]any{"code": code, "message": message}
	var strict *strictDelete
	if errors.As(err, &strict) {
		e["results"] = strict.results
	}
	body := map[string]any{"success": false, "data": nil, "error": e, "meta": meta{c: c}}
	if c.rt.family == connectors {
		body["detail"] = detail
	}
	return body
}

// bad is an error of a parameter: KindInvalid for values, KindUnprocessed for types.
func bad(kind contextmem.Kind, field, format string, args ...any) error {
	return &contextmem.Error{Kind: kind, Field: field, Err: fmt.Errorf(format, args...)}
}

// wireNames maps the service's names of fields to those of a family of routes.
// The schema and the files have names of their own in each.
var wireNames = map[family]map[string]string{
	gen1: {"schema": "tenant_metadata_schema"},
	gen2: {"schema": "database_metadata_schema", "tenant_id": "database", "sub_tenant_id": "collection", "files": "documents"},
}

func init() { wireNames[aliases] = wireNames[gen2] }

// wireField is the name under which the caller knows a field: "files[0].id" is
// "documents[0].id" in the second generation.
func (c *call) wireField(field string) string {
	end := strings.IndexAny(field, "[.")
	if end < 0 {
		end = len(field)
	}
	if name, ok := wireNames[c.rt.family][field[:end]]; ok {
		return name + field[end:]
	}
	return field
}
