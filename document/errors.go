package document

import (
	"fmt"
)

// Kind is the class of an [Error].
type Kind int

// The kinds of [Error].
const (
	// Internal: a fault of the parser, not of the document.
	Internal Kind = iota
	// Unsupported: a format that no parser reads.
	Unsupported
	// Malformed: damaged, truncated, or not what it claims to be.
	Malformed
	// Encrypted: needs a password.
	Encrypted
	// NoText: read without fault, but holds no text; a scan needs OCR.
	NoText
	// LimitExceeded: beyond one of the Limits.
	LimitExceeded
	// Timeout: beyond Limits.Timeout.
	Timeout
)

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Unsupported:
		return "unsupported format"
	case Malformed:
		return "malformed"
	case Encrypted:
		return "encrypted"
	case NoText:
		return "no text"
	case LimitExceeded:
		return "limit exceeded"
	case Timeout:
		return "timeout"
	default:
		return "internal error"
	}
}

// Code returns the E-code that a failed item carries: E1xxx is input and format, E2xxx is parsing.
func (k Kind) Code() string {
	switch k {
	case Unsupported:
		return "E1001"
	case Malformed:
		return "E2001"
	case Encrypted:
		return "E2002"
	case NoText:
		return "E2003"
	case LimitExceeded:
		return "E2004"
	case Timeout:
		return "E2005"
	default:
		return "E2006"
	}
}

// Error says why a document has no text. It never holds content of the document.
type Error struct {
	Kind Kind
	// Code is Kind.Code(): E1001 unsupported, E2001 malformed, E2002 encrypted, E2003 no text, E2004 limit,
	// E2005 timeout, E2006 internal.
	Code string
	// Reason is a sentence for people, lower case, without a full stop.
	Reason string
	// Hint says what the sender can do about it: "save it as .docx", "its text needs OCR". It may be empty.
	Hint string
	// Err is the cause; it may be nil.
	Err error
}

// NewError returns an error of kind with its code. err may be nil.
func NewError(kind Kind, reason string, err error) *Error {
	return &Error{Kind: kind, Code: kind.Code(), Reason: reason, Err: err}
}

// WithHint sets Hint and returns e.
func (e *Error) WithHint(hint string) *Error {
	e.Hint = hint
	return e
}

// Message returns the reason and the hint. A failed item shows this text.
func (e *Error) Message() string {
	if e.Hint == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Hint
}

// Error returns the kind, the message and the cause.
func (e *Error) Error() string {
	s := "document: " + e.Kind.String()
	if m := e.Message(); m != "" {
		s += ": " + m
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error of kind whose reason is formatted as by [fmt.Sprintf].
func Errorf(kind Kind, format string, args ...any) *Error {
	return NewError(kind, fmt.Sprintf(format, args...), nil)
}
