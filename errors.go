package contextmem

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Kind says what sort of failure an [Error] is. Kinds are neutral: package
// httpapi maps them to the codes of each API generation.
type Kind uint8

// Kinds of error.
const (
	KindInternal     Kind = iota // a defect or an unexpected answer of a dependency
	KindInvalid                  // a missing, malformed or incompatible parameter
	KindUnprocessed              // well-formed, but breaks a rule of meaning (schema, types, lengths that must agree)
	KindNotFound                 // the thing named does not exist in this scope
	KindExists                   // the id is taken
	KindConflict                 // the thing is in a state that does not allow the call
	KindNotReady                 // the tenant is still being provisioned
	KindProcessing               // the source is still being indexed
	KindTooLarge                 // a file over its limit
	KindFormat                   // a file format that is not supported
	KindUnauthorized             // no key, or an unknown, revoked or expired one
	KindForbidden                // the key does not allow this
	KindRateLimited              // too many calls; see Error.RetryAfter
	KindUnavailable              // storage cannot answer now; the call may be repeated
	KindUpstream                 // a provider behind contextmem failed
	KindClosed                   // the service was closed
)

// Sentinels for errors.Is, one for each kind that callers tend to branch on.
var (
	ErrInvalid      = errors.New("invalid")
	ErrUnprocessed  = errors.New("validation failed")
	ErrNotFound     = errors.New("not found")
	ErrExists       = errors.New("already exists")
	ErrConflict     = errors.New("conflict")
	ErrNotReady     = errors.New("not ready")
	ErrProcessing   = errors.New("still being indexed")
	ErrTooLarge     = errors.New("too large")
	ErrFormat       = errors.New("unsupported format")
	ErrUnauthorized = errors.New("unauthorized")
	ErrForbidden    = errors.New("forbidden")
	ErrRateLimited  = errors.New("rate limited")
	ErrUnavailable  = errors.New("unavailable")
	ErrUpstream     = errors.New("provider failed")
	ErrClosed       = errors.New("the service is closed")
)

var kindSentinels = map[Kind]error{
	KindInvalid: ErrInvalid, KindUnprocessed: ErrUnprocessed, KindNotFound: ErrNotFound, KindExists: ErrExists,
	KindConflict: ErrConflict, KindNotReady: ErrNotReady, KindProcessing: ErrProcessing, KindTooLarge: ErrTooLarge,
	KindFormat: ErrFormat, KindUnauthorized: ErrUnauthorized, KindForbidden: ErrForbidden, KindRateLimited: ErrRateLimited,
	KindUnavailable: ErrUnavailable, KindUpstream: ErrUpstream, KindClosed: ErrClosed,
}

// Resource names what an [Error] is about.
type Resource string

// Resources.
const (
	ResourceTenant    Resource = "tenant"
	ResourceSub       Resource = "sub-tenant"
	ResourceSource    Resource = "source"
	ResourceMemory    Resource = "memory"
	ResourceFile      Resource = "file"
	ResourceSearch    Resource = "search"
	ResourceSchema    Resource = "schema"
	ResourceEmbedding Resource = "embedding"
	ResourceWebhook   Resource = "webhook"
	ResourceDelivery  Resource = "delivery"
	ResourceConnector Resource = "connector"
	ResourceSync      Resource = "sync"
	ResourceKey       Resource = "key"
	ResourceFeedback  Resource = "feedback"
)

// Error is the error of every exported call. Its text never holds content,
// metadata values, keys or secrets.
type Error struct {
	Op         string // the call, for example "recall"
	Kind       Kind
	Resource   Resource      // what it is about; may be empty
	ID         string        // the id given, cut to 200 bytes; may be empty
	Field      string        // the field at fault, dotted; may be empty
	RetryAfter time.Duration // when a repeat makes sense; 0 unknown
	Err        error         // what happened; never nil
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("contextmem: ")
	if e.Op != "" {
		b.WriteString(e.Op)
		if e.ID != "" {
			fmt.Fprintf(&b, " %q", e.ID)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Message())
	return b.String()
}

// Message is the text without the call's name, fit for a response body.
func (e *Error) Message() string {
	if e.Field != "" {
		return fmt.Sprintf("field %q: %v", e.Field, e.Err)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches the sentinel of the error's kind.
func (e *Error) Is(target error) bool {
	s, ok := kindSentinels[e.Kind]
	return ok && s == target
}

// shortID cuts an id for use in an error.
func shortID(id string) string {
	if len(id) > 200 {
		id = strings.ToValidUTF8(id[:200], "") + "…"
	}
	return id
}

func fieldError(op string, kind Kind, res Resource, field, format string, args ...any) *Error {
	return &Error{Op: op, Kind: kind, Resource: res, Field: field, Err: fmt.Errorf(format, args...)}
}

// wrap turns an error of a backend or of an engine into an *Error. Context
// errors and errors that are an *Error already pass unchanged.
func wrap(op string, res Resource, id string, err error) error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind := KindInternal
	switch {
	case errors.Is(err, backend.ErrNotFound):
		kind = KindNotFound
	case errors.Is(err, backend.ErrExists):
		kind = KindExists
	case errors.Is(err, backend.ErrConflict):
		kind = KindConflict
	case errors.Is(err, backend.ErrClosed):
		kind = KindClosed
	case errors.Is(err, backend.ErrUnavailable):
		kind = KindUnavailable
	}
	return &Error{Op: op, Kind: kind, Resource: res, ID: shortID(id), Err: err}
}
