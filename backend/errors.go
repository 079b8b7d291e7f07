package backend

import "errors"

// Errors that backends return, wrapped with a description of the operation.
var (
	// ErrNotFound: the named record does not exist, or no longer exists.
	ErrNotFound = errors.New("not found")
	// ErrExists: another record has the id already.
	ErrExists = errors.New("already exists")
	// ErrConflict: the record changed since it was read, or is not in a state
	// that allows the change.
	ErrConflict = errors.New("conflict")
	// ErrFull: the change would exceed a limit that the caller gave.
	ErrFull = errors.New("limit reached")
	// ErrClosed: the backend or workspace was closed.
	ErrClosed = errors.New("closed")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("in use by another process")
	// ErrCorrupt: stored bytes fail their checksum or cannot be read back.
	ErrCorrupt = errors.New("stored data is damaged")
	// ErrNewerSchema: the data was written by a newer release.
	ErrNewerSchema = errors.New("written by a newer version")
	// ErrKey: the data is encrypted with another key than the one given. It is also returned for encrypted data without a key, and for
	// unencrypted data with one.
	ErrKey = errors.New("the encryption key does not fit")
	// ErrMoved: the content is now in another deployment, or is still being copied from one.
	ErrMoved = errors.New("moved to another deployment")
	// ErrFeedGone: the requested part of the change feed was compacted away.
	// The index has to be rebuilt from the start of the feed.
	ErrFeedGone = errors.New("change feed starts later")
	// ErrUnavailable: the storage cannot answer now, because it is full, busy, or has an
	// I/O error. The same call may succeed later.
	ErrUnavailable = errors.New("storage unavailable")
)
