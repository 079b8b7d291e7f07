package contextmem

import "github.com/contextmem/contextmem/fault"

// Error is the error of every exported call; package fault describes its kinds and resources.
type Error = fault.Error

// Sentinels for errors.Is, one for each kind that callers tend to branch on; see package fault, where they are grouped
// by the moment at which they occur.
var (
	ErrInvalid      = fault.ErrInvalid
	ErrUnprocessed  = fault.ErrUnprocessed
	ErrTooLarge     = fault.ErrTooLarge
	ErrFormat       = fault.ErrFormat
	ErrUnauthorized = fault.ErrUnauthorized
	ErrForbidden    = fault.ErrForbidden
	ErrRateLimited  = fault.ErrRateLimited
	ErrNotFound     = fault.ErrNotFound
	ErrExists       = fault.ErrExists
	ErrConflict     = fault.ErrConflict
	ErrNotReady     = fault.ErrNotReady
	ErrProcessing   = fault.ErrProcessing
	ErrUnavailable  = fault.ErrUnavailable
	ErrUpstream     = fault.ErrUpstream
	ErrClosed       = fault.ErrClosed
)
