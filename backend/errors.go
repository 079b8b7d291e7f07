package backend

import "errors"

// Errors that backends return, wrapped with a description of the operation.
var (
	// ErrNotFound: the thing named is not there (any more).
	ErrNotFound = errors.New("not found")
	// ErrExists: the id is taken.
	ErrExists = errors.New("already exists")
	// ErrConflict: the record changed since it was read, or is not in a state
	// that allows the change.
	ErrConflict = errors.New("conflict")
	// ErrFull: a limit that the caller gave is reached.
	ErrFull = errors.New("limit reached")
	// ErrClosed: the backend or workspace was closed.
	ErrClosed = errors.New("closed")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("in use by another process")
	// ErrCorrupt: stored bytes fail their checksum or cannot be read back.
	ErrCorrupt = errors.New("stored data is damaged")
	// ErrNewerSchema: the data was written by a newer release.
	ErrNewerSchema = errors.New("written by a newer version")
	// ErrKey: the data is encrypted with another key than the one given, or one of them is missing.
	ErrKey = errors.New("the encryption key does not fit")
	// ErrMoved: the content lives in another deployment now, or is still being copied from one.
	ErrMoved = errors.New("moved to another deployment")
	// ErrFeedGone: the part of the change feed asked for was compacted away;
	// the index has to start again from zero.
	ErrFeedGone = errors.New("change feed starts later")
	// ErrUnavailable: the storage cannot answer now (disk full, I/O error, busy);
	// the same call may succeed later.
	ErrUnavailable = errors.New("storage unavailable")
)
