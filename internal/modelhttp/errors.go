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

// StatusError is an answer of the server other than success. Its message is not kept: it may repeat the key or
// the texts.
type StatusError struct {
	// Status is that of the HTTP answer.
	Status int
	// Code is the error's machine-readable code if the server gave one that is a plain word, such as
	// "rate_limit_exceeded"; else "".
	Code string

	name       string
	retryAfter time.Duration // < 0 if the server gave none
}

// Error gives the status and the code.
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
		return e.Code != "insufficient_quota" // that does not pass by itself
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return e.Status >= 500
}

// statusError reads what is worth keeping of an answer that is not a success.
func (c *Client) statusError(resp *http.Response) *StatusError {
	e := &StatusError{Status: resp.StatusCode, name: c.Name, retryAfter: RetryAfter(resp.Header, time.Now())}
	var body struct {
		Error struct{ Code, Type any }
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil || json.Unmarshal(data, &body) != nil {
		return e // the status says enough
	}
	for _, v := range []any{body.Error.Code, body.Error.Type} {
		if code, ok := v.(string); ok && isCode(code) {
			e.Code = code
			break
		}
	}
	return e
}

// isCode accepts only words that cannot be a key or a sentence.
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
	cut        bool // it ended early, so another try may bring all of it
}

// Error says what is wrong.
func (e *AnswerError) Error() string { return e.name + ": bad answer: " + e.what }

// Bad is an answer of which format and args say what is wrong, without quoting it.
func (c *Client) Bad(format string, args ...any) error {
	return &AnswerError{name: c.Name, what: fmt.Sprintf(format, args...)}
}

// Malformed describes a decoder's err about an answer of size bytes without quoting it, as the decoder's own
// errors do.
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
