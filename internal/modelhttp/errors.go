package modelhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ErrTimeout says that the server did not answer within Client.Timeout.
var ErrTimeout = errors.New("no answer in time")

// StatusError is an unsuccessful answer of the server. The server's message is dropped, because it may contain the key or the
// texts.
type StatusError struct {
	// Status is the HTTP status code.
	Status int
	// Code is the server's machine-readable error code if it is a plain word, such as "rate_limit_exceeded"; else "".
	Code string

	name       string
	retryAfter time.Duration // negative if the server gave none
}

// Error returns the status and the code as text.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("%s: status %d", e.name, e.Status)
	if e.Code != "" {
		s += " " + e.Code
	}
	return s
}

// Temporary reports whether the same request may succeed later: the server was overloaded, limited the rate, or failed.
func (e *StatusError) Temporary() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	case http.StatusTooManyRequests:
		return e.Code != "insufficient_quota" // an exhausted quota is not temporary
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return e.Status >= 500
}

// statusError extracts the status, code and pause of an unsuccessful answer.
func (c *Client) statusError(resp *http.Response) *StatusError {
	e := &StatusError{Status: resp.StatusCode, name: c.Name, retryAfter: RetryAfter(resp.Header, time.Now())}
	var body struct {
		Error struct{ Code, Type any }
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || json.Unmarshal(data, &body) != nil {
		return e // the status suffices
	}
	for _, v := range []any{body.Error.Code, body.Error.Type} {
		if code, ok := v.(string); ok && isCode(code) {
			e.Code = code
			break
		}
	}
	return e
}

// isCode reports whether s is a plain word, which cannot be a key or a sentence.
func isCode(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return true
}

// AnswerError is a successful answer that cannot be used. Its text never quotes the answer.
type AnswerError struct {
	name, what string
	cut        bool // the answer was truncated, so that a retry may succeed
}

// Error describes the fault of the answer.
func (e *AnswerError) Error() string { return e.name + ": bad answer: " + e.what }

// Bad returns an AnswerError whose text is made from format and args. They must not quote the answer.
func (c *Client) Bad(format string, args ...any) error {
	return &AnswerError{name: c.Name, what: fmt.Sprintf(format, args...)}
}

// Malformed returns an error for a decoder's err about an answer of size bytes. Unlike the decoder's errors, it does not quote
// the answer.
func (c *Client) Malformed(err error, size int) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		if syntax.Offset >= int64(size) {
			return &AnswerError{name: c.Name, what: "it ends early", cut: true}
		}
		return c.Bad("not JSON at byte %d", syntax.Offset)
	}
	return c.Bad("not the documented structure")
}
