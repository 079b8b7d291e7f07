// Package webapi sends requests to the web APIs of external systems for connector providers. A [Client] sends one request
// at a time, bounds the size of answers and retries transient failures. It maps authentication failures and rate limits to
// the connector errors that steer the sync scheduler. Error texts never contain an address, a token or an answer's body.
package webapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
)

// Defaults of a [Client].
const (
	// DefaultMaxAnswer is 32 MiB.
	DefaultMaxAnswer int64 = 32 << 20
	// DefaultMaxPause is an hour.
	DefaultMaxPause = time.Hour
	// DefaultPause is half a minute.
	DefaultPause = 30 * time.Second
)

// maxTries bounds the attempts at one request. The pause before retry n is random between firstPause*2^n/2 and firstPause*2^n.
const (
	maxTries   = 3
	firstPause = 250 * time.Millisecond
	maxRefused = 64 << 10 // bytes read of an error answer
)

// Client sends requests to one API with the credentials of one account. It is safe for concurrent use and needs no closing.
type Client struct {
	// Name begins the text of every error.
	Name string
	// HTTP sends the requests.
	HTTP *http.Client
	// Base is the prefix of every address, without a trailing slash.
	Base string
	// Token is sent as a bearer token. Empty: none is sent.
	Token string
	// Header is sent with every request. It alternates names and values.
	Header []string
	// MaxAnswer bounds an answer's body, in bytes. 0: DefaultMaxAnswer.
	MaxAnswer int64
	// Pause is the pause reported to the scheduler when the API limits the rate without naming a time. 0: DefaultPause.
	// MaxPause bounds the pause that an API may ask for. 0: DefaultMaxPause.
	Pause, MaxPause time.Duration
	// MaxWait is the longest rate-limit pause that Do waits for itself. Longer pauses are returned as *connector.RateLimited.
	// 0: Do never waits.
	MaxWait time.Duration
	// Refusal classifies an answer with a status other than 200 and 304. If it returns nil, the common rules apply:
	// 401 and invalid_grant are authentication failures, 429 and 503 with Retry-After are rate limits, and anything else
	// is a *StatusError. May be nil.
	Refusal func(*Answer) error
}

// Request is one request. It is a POST when Form or Body is set, else a GET.
type Request struct {
	Path   string // escaped; begins with a slash, or is empty
	Query  url.Values
	Form   url.Values // sent as a form
	Body   any        // sent as JSON
	Accept string     // default: application/json
	ETag   string     // ETag of the cached answer
	Since  string     // Last-Modified of the cached answer
	Limit  int64      // maximum bytes of the answer; 0: the client's MaxAnswer
}

// Answer is the API's answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte    // nil when it was too long
	Sent   time.Time // server's time, or the local time when the server sends none
	// Same reports whether the cached answer is still current (304).
	Same bool
	// TooLong reports whether the body exceeds the limit.
	TooLong bool
}

// Next reports whether the answer links to a next page (RFC 8288).
func (a *Answer) Next() bool { return strings.Contains(a.Header.Get("Link"), `rel="next"`) }

// StatusError is an error answer that is neither an authentication failure nor a rate limit.
type StatusError struct {
	name   string
	Status int
	// Code is the answer's error code: lower-case letters, digits and _. Empty: the answer has none.
	Code string
}

// Error implements error.
func (e *StatusError) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%s answered with status %d", e.name, e.Status)
	}
	return fmt.Sprintf("%s answered with status %d, %s", e.name, e.Status, e.Code)
}

// HasStatus reports whether err is a *StatusError with one of the statuses.
func HasStatus(err error, statuses ...int) bool {
	e, ok := errors.AsType[*StatusError](err)
	for _, s := range statuses {
		if ok && e.Status == s {
			return true
		}
	}
	return false
}

// HasCode reports whether err is a *StatusError with one of the error codes.
func HasCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*StatusError](err)
	for _, c := range codes {
		if ok && e.Code == c {
			return true
		}
	}
	return false
}

// Bearer checks that a token may stand in an HTTP header.
func Bearer(name, token string) error {
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s: token is missing or malformed: %w", name, connector.ErrBadCredentials)
	}
	return nil
}

// JSON sends a request and decodes the answer into v. It leaves v unchanged when the answer is Same.
func (c *Client) JSON(ctx context.Context, r Request, v any) (*Answer, error) {
	a, err := c.Do(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case a.Same:
		return a, nil
	case a.TooLong:
		return nil, errors.New(c.Name + ": the answer is too long")
	}
	if json.Unmarshal(a.Body, v) != nil {
		return nil, errors.New(c.Name + ": the answer is not the expected JSON")
	}
	return a, nil
}

// Do sends a request, with retries. It returns the context's error, connector.ErrReauth, *connector.RateLimited,
// *StatusError, an error from Refusal or a connection error.
func (c *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	body, contentType, err := c.body(r)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		a, err := c.once(ctx, r, body, contentType)
		if err == nil {
			if a.Status == http.StatusOK || a.Same {
				return a, nil
			}
			err = c.refusal(a)
		}
		pause, again := c.again(ctx, a, err, try)
		if !again {
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

func (c *Client) body(r Request) (body []byte, contentType string, err error) {
	switch {
	case r.Form != nil:
		return []byte(r.Form.Encode()), "application/x-www-form-urlencoded", nil
	case r.Body != nil:
		if body, err = json.Marshal(r.Body); err != nil {
			return nil, "", errors.New(c.Name + ": the request can't be formed")
		}
		return body, "application/json", nil
	}
	return nil, "", nil
}

// again reports whether a request should be retried, and the pause before the retry. a is nil when there was no answer.
func (c *Client) again(ctx context.Context, a *Answer, err error, try int) (time.Duration, bool) {
	if ctx.Err() != nil {
		return 0, false
	}
	pause := firstPause << (try - 1)
	pause = pause/2 + rand.N(pause/2)
	if limited, ok := errors.AsType[*connector.RateLimited](err); ok {
		pause = limited.After
		if pause > c.MaxWait {
			return 0, false
		}
	} else if try >= maxTries || errors.Is(err, connector.ErrReauth) || a != nil && !temporary(a.Status) {
		return 0, false
	}
	end, bounded := ctx.Deadline()
	return pause, !bounded || time.Until(end) > pause // else the caller would wait for nothing
}

// temporary reports whether a status means that the server is overloaded or restarting.
func temporary(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// once sends the request without retries.
func (c *Client) once(ctx context.Context, r Request, body []byte, contentType string) (*Answer, error) {
	address, method := c.Base+r.Path, http.MethodGet
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	content := io.Reader(nil)
	if contentType != "" {
		method, content = http.MethodPost, bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, errors.New(c.Name + ": the address can't be formed")
	}
	set := func(name, value string) {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	set("User-Agent", "contextmem")
	set("Accept", "application/json")
	set("Content-Type", contentType)
	for i := 0; i+1 < len(c.Header); i += 2 {
		set(c.Header[i], c.Header[i+1])
	}
	set("Accept", r.Accept)
	set("If-None-Match", r.ETag)
	set("If-Modified-Since", r.Since)
	if c.Token != "" {
		set("Authorization", "Bearer "+c.Token)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return nil, c.transportError(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // read only
	a := &Answer{Status: res.StatusCode, Header: res.Header, Sent: time.Now(), Same: res.StatusCode == http.StatusNotModified}
	if t, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		a.Sent = t
	}
	limit := r.Limit
	switch {
	case res.StatusCode != http.StatusOK:
		limit = maxRefused
	case limit <= 0 && c.MaxAnswer > 0:
		limit = c.MaxAnswer
	case limit <= 0:
		limit = DefaultMaxAnswer
	}
	if a.Body, err = io.ReadAll(io.LimitReader(res.Body, limit+1)); err != nil {
		return nil, c.transportError(ctx, err)
	}
	if int64(len(a.Body)) > limit {
		a.Body, a.TooLong = nil, true
	}
	return a, nil
}

// transportError returns the context's error if there is one, else an error without addresses.
func (c *Client) transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: request failed: %w", c.Name, err)
}
