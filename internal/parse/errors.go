package parse

import "fmt"

// Kind says what stopped a document.
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

// Error is why a document has no text. It never holds content of the document.
type Error struct {
	Kind Kind
	// Code is Kind.Code(): E1001 unsupported, E2001 malformed, E2002 encrypted, E2003 no text, E2004 limit,
	// E2005 timeout, E2006 internal.
	Code string
	// Reason is a sentence for people, lower case, without a full stop.
	Reason string
	// Err is the cause; it may be nil.
	Err error
}

// NewError returns an error of kind with its code. err may be nil.
func NewError(kind Kind, reason string, err error) *Error {
	return &Error{Kind: kind, Code: kind.Code(), Reason: reason, Err: err}
}

// Error returns the kind, the reason and the cause.
func (e *Error) Error() string {
	s := "parse: " + e.Kind.String()
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func malformed(format string, args ...any) *Error {
	return NewError(Malformed, fmt.Sprintf(format, args...), nil)
}

func noText(reason string) *Error { return NewError(NoText, reason, nil) }

func limitExceeded(format string, args ...any) *Error {
	return NewError(LimitExceeded, fmt.Sprintf(format, args...), nil)
}
