package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// statusError is an error that only the REST layer returns.
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

// answer is an error as it is written to the client.
type answer struct {
	status int
	code   string
}

// errorRow is a row of the error table. An empty resource matches any resource without a row of its own. A zero family matches all families.
type errorRow struct {
	kind     fault.Kind
	resource fault.Resource
	family   family
	answer
}

// errorTable maps (kind, resource, family) to status and code. The first matching row applies.
var errorTable = []errorRow{
	{fault.KindInvalid, fault.Tenant, 0, answer{400, "INVALID_TENANT_ID"}},
	{fault.KindInvalid, "", 0, answer{400, "INVALID_PARAMETERS"}},
	{fault.KindUnprocessed, fault.Memory, 0, answer{422, "INVALID_MEMORY_FORMAT"}},
	{fault.KindUnprocessed, fault.Embedding, 0, answer{422, "INVALID_EMBEDDING_FORMAT"}},
	{fault.KindUnprocessed, "", 0, answer{422, "VALIDATION_ERROR"}},
	{fault.KindNotFound, fault.Tenant, gen1, answer{404, "TENANT_NOT_FOUND"}},
	{fault.KindNotFound, fault.Tenant, 0, answer{404, "DATABASE_NOT_FOUND"}},
	{fault.KindNotFound, fault.Source, 0, answer{404, "SOURCE_NOT_FOUND"}},
	{fault.KindNotFound, fault.Memory, gen1, answer{404, "MEMORY_NOT_FOUND"}},
	{fault.KindNotFound, fault.Memory, 0, answer{404, "SOURCE_NOT_FOUND"}},
	{fault.KindNotFound, fault.File, 0, answer{404, "FILE_NOT_FOUND"}},
	{fault.KindNotFound, fault.Sub, 0, answer{404, "COLLECTION_NOT_FOUND"}},
	{fault.KindNotFound, fault.Connector, 0, answer{404, "CONNECTOR_NOT_FOUND"}},
	{fault.KindNotFound, fault.Webhook, 0, answer{404, "WEBHOOK_NOT_FOUND"}},
	{fault.KindNotFound, fault.Delivery, 0, answer{404, "DELIVERY_NOT_FOUND"}},
	{fault.KindNotFound, "", 0, answer{404, "NOT_FOUND"}},
	{fault.KindExists, fault.Tenant, gen1, answer{409, "TENANT_ALREADY_EXISTS"}},
	{fault.KindExists, fault.Tenant, aliases, answer{409, "INVALID_INPUT"}},
	{fault.KindExists, fault.Tenant, 0, answer{409, "DATABASE_ALREADY_EXISTS"}},
	{fault.KindExists, "", 0, answer{409, "CONFLICT"}},
	{fault.KindConflict, fault.Delivery, 0, answer{409, "DELIVERY_NOT_RETRYABLE"}},
	{fault.KindConflict, fault.Sync, 0, answer{409, "SYNC_RUNNING"}},
	{fault.KindConflict, "", 0, answer{409, "CONFLICT"}},
	{fault.KindNotReady, "", 0, answer{422, "TENANT_INFRA_NOT_READY"}},
	{fault.KindProcessing, "", 0, answer{409, "SOURCE_PROCESSING"}},
	{fault.KindTooLarge, "", 0, answer{400, "FILE_TOO_LARGE"}},
	{fault.KindFormat, "", 0, answer{400, "INVALID_FILE_FORMAT"}},
	{fault.KindUnauthorized, "", 0, answer{401, "UNAUTHORIZED"}},
	{fault.KindForbidden, "", 0, answer{403, "FORBIDDEN"}},
	{fault.KindRateLimited, "", 0, answer{429, "RATE_LIMITED"}},
	{fault.KindUnavailable, "", 0, answer{503, "SERVICE_UNAVAILABLE"}},
	{fault.KindClosed, "", 0, answer{503, "SERVICE_UNAVAILABLE"}},
	{fault.KindUpstream, "", 0, answer{502, "BACKEND_ERROR"}},
	{fault.KindInternal, "", 0, answer{500, "INTERNAL_ERROR"}},
}

func lookup(kind fault.Kind, res fault.Resource, f family) answer {
	for _, r := range errorTable {
		if r.kind == kind && (r.resource == "" || r.resource == res) && (r.family == 0 || r.family == f) {
			return r.answer
		}
	}
	return answer{http.StatusInternalServerError, "INTERNAL_ERROR"}
}

// describe converts any error to a status, a code and a message.
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
		if ce.Kind == fault.KindInvalid && c.rt.invalidCode != "" && ce.Resource == fault.Search {
			a.code = c.rt.invalidCode
		}
		switch {
		case ce == errHeld || ce == errSpool:
		case ce.Kind == fault.KindInternal && fault.Damaged(err):
			c.log(err)
			return a, "stored data is damaged: ingest the item again, or restore a backup"
		case ce.Kind == fault.KindInternal:
			c.log(err)
			return a, "internal error"
		case ce.Kind == fault.KindUnavailable: // hide the text of a backend error, which may contain paths
			c.log(err)
			return a, "the storage can't answer now; try again later"
		}
		return a, c.message(ce)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return answer{http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE"}, "the request was cut off"
	}
	c.log(err)
	return answer{http.StatusInternalServerError, "INTERNAL_ERROR"}, "internal error"
}

// log logs a failure of the service.
func (c *call) log(err error) {
	c.api.o.Logger.Error("request failed", "request", c.id, "route", c.rt.path, "err", err)
}

// wireField returns the REST name of a field of the service request that the route makes.
func (c *call) wireField(field string) string {
	return wire.Field(field, c.rt.request, c.rt.family == gen1)
}

// message returns the text of an error with the field's REST name.
func (c *call) message(e *contextmem.Error) string {
	renamed := *e
	renamed.Field = c.wireField(e.Field)
	return renamed.Message()
}

// fail writes an error response.
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
	message = c.rt.family.words(message)
	if len(message) > errorMessageMaxBytes {
		message = message[:errorMessageMaxBytes]
	}
	c.deprecationHeaders()
	if a.status == http.StatusRequestEntityTooLarge || a.status == http.StatusRequestTimeout {
		h.Set("Connection", "close") // the rest of the body is not read, so the connection cannot be reused
	}
	c.answered(a.status)
	writeJSON(c.w, a.status, c.errorBody(a.code, message, err))
}

// failure is an error in the format of the first generation.
type failure struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Code    string `json:"error_code"`
}

// detailBody is the whole response of the first generation for an error.
type detailBody struct {
	Detail  failure `json:"detail"`
	Message string  `json:"message"`
}

// errorDetail is an error in the format of the second generation.
type errorDetail struct {
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Results []wire.DeletedRow `json:"results,omitempty"`
}

// errorBody returns the error in the format of the route's family.
func (c *call) errorBody(code, message string, err error) any {
	detail := failure{false, message, code}
	if c.rt.family == gen1 {
		return detailBody{detail, message}
	}
	e := envelope{Error: &errorDetail{Code: code, Message: message}, Meta: c.meta(scopeNames{}), Message: message}
	var strict *strictDelete
	if errors.As(err, &strict) {
		e.Error.Results = strict.results
	}
	if c.rt.family == connectors || c.rt.family == webhooks {
		e.Detail = &detail
	}
	return e
}

// bad returns an error for a parameter: KindInvalid for a missing or bad value, KindUnprocessed for a wrong type.
func bad(kind fault.Kind, field, format string, args ...any) *contextmem.Error {
	return &contextmem.Error{Kind: kind, Field: field, Err: fmt.Errorf(format, args...)}
}
