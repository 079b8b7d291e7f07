package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/contextmem/contextmem/backend"
)

// Fieldf returns an error about a field of the request of call op.
func Fieldf(op string, kind Kind, res Resource, field, format string, args ...any) *Error {
	return &Error{Op: op, Kind: kind, Resource: res, Field: field, Err: fmt.Errorf(format, args...)}
}

// Wrap turns an error of a backend or of an engine into an *Error. Context
// errors and errors that are an *Error already pass unchanged; nil stays nil.
func Wrap(op string, res Resource, id string, err error) error {
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
		if res != "" {
			err = absent{res, err}
		}
	case errors.Is(err, backend.ErrExists):
		kind = KindExists
	case errors.Is(err, backend.ErrConflict), errors.Is(err, errors.ErrUnsupported):
		kind = KindConflict
	case errors.Is(err, backend.ErrClosed):
		kind = KindClosed
	case errors.Is(err, backend.ErrKey):
		kind = KindInvalid
	case errors.Is(err, backend.ErrUnavailable):
		kind = KindUnavailable
	}
	return &Error{Op: op, Kind: kind, Resource: res, ID: ShortID(id), Err: err}
}

// Damaged reports whether an error is about stored data that fail their checksum or cannot be read back.
func Damaged(err error) bool { return errors.Is(err, backend.ErrCorrupt) }

// absent says what is not there, in place of the name that a backend has for its row.
type absent struct {
	what Resource
	error
}

// Error implements error.
func (a absent) Error() string { return string(a.what) + " not found" }

// Unwrap returns the error of the backend.
func (a absent) Unwrap() error { return a.error }

// ShortID cuts an id to 200 bytes for use in an error.
func ShortID(id string) string {
	if len(id) > 200 {
		id = strings.ToValidUTF8(id[:200], "") + "…"
	}
	return id
}

// Guard runs a plug-in and turns its panic into an error that does not repeat what the panic said.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a plug-in panicked (%T)", p)
		}
	}()
	return f()
}
