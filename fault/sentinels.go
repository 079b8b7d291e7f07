package fault

import "errors"

// Errors of a wrong request. Repeating the request unchanged fails again.
var (
	// ErrInvalid: a parameter is missing, malformed or does not go with another.
	ErrInvalid = errors.New("invalid")
	// ErrUnprocessed: a parameter is well-formed and breaks a rule of meaning, such as the metadata schema.
	ErrUnprocessed = errors.New("validation failed")
	// ErrTooLarge: a file is over its limit.
	ErrTooLarge = errors.New("too large")
	// ErrFormat: no parser reads the format of a file.
	ErrFormat = errors.New("unsupported format")
)

// Errors of missing rights.
var (
	// ErrUnauthorized: there is no key, or an unknown, revoked or expired one.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden: the key does not allow the call, or a limit of the organisation is reached.
	ErrForbidden = errors.New("forbidden")
	// ErrRateLimited: the caller asks too often; Error.RetryAfter says when to come back.
	ErrRateLimited = errors.New("rate limited")
)

// Errors of the state of the store.
var (
	// ErrNotFound: the thing named does not exist in this scope.
	ErrNotFound = errors.New("not found")
	// ErrExists: the id is taken.
	ErrExists = errors.New("already exists")
	// ErrConflict: the thing is in a state that does not allow the call, or was changed meanwhile.
	ErrConflict = errors.New("conflict")
	// ErrNotReady: the tenant is still being provisioned.
	ErrNotReady = errors.New("not ready")
	// ErrProcessing: the source is still being indexed.
	ErrProcessing = errors.New("still being indexed")
)

// Temporary errors: repeating the call later may succeed, except after ErrClosed.
var (
	// ErrUnavailable: the storage can't answer now.
	ErrUnavailable = errors.New("unavailable")
	// ErrUpstream: a provider behind contextmem failed.
	ErrUpstream = errors.New("provider failed")
	// ErrClosed: the service was closed.
	ErrClosed = errors.New("the service is closed")
)

var kindSentinels = map[Kind]error{
	KindInvalid: ErrInvalid, KindUnprocessed: ErrUnprocessed, KindNotFound: ErrNotFound, KindExists: ErrExists,
	KindConflict: ErrConflict, KindNotReady: ErrNotReady, KindProcessing: ErrProcessing, KindTooLarge: ErrTooLarge,
	KindFormat: ErrFormat, KindUnauthorized: ErrUnauthorized, KindForbidden: ErrForbidden, KindRateLimited: ErrRateLimited,
	KindUnavailable: ErrUnavailable, KindUpstream: ErrUpstream, KindClosed: ErrClosed,
}
