// Package fault holds the errors of contextmem: one type, [Error], whose [Kind] says what sort of failure it is, and
// sentinels to match with errors.Is. Errors never hold content, metadata values, keys or secrets.
package fault

import (
	"fmt"
	"strings"
	"time"

	"github.com/contextmem/contextmem/content"
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

// Resource names what an [Error] is about.
type Resource string

// Resources.
const (
	Tenant    Resource = "tenant"
	Sub       Resource = "sub-tenant"
	Source    Resource = "source"
	Memory    Resource = "memory"
	File      Resource = "file"
	Search    Resource = "search"
	Schema    Resource = "schema"
	Embedding Resource = "embedding"
	Webhook   Resource = "webhook"
	Delivery  Resource = "delivery"
	Connector Resource = "connector"
	Sync      Resource = "sync"
	Key       Resource = "key"
	Feedback  Resource = "feedback"
)

// Error is the type of the errors of all exported calls. Its text never holds content,
// metadata values, keys or secrets.
type Error struct {
	Op         string // the call, for example "recall"
	Kind       Kind
	Resource   Resource      // what it is about; may be empty
	ID         string        // the id given, cut to 200 bytes; may be empty
	Field      string        // the field at fault as a Go path below the call's request, for example "Memories[2].Text"; may be empty
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

// Warning says that a call did less than requested, or something else: content.Warning.
type Warning = content.Warning
