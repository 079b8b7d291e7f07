// Package webapi asks the web APIs of external systems on behalf of connector providers: one request at a time, answers
// within bounds, failures that may pass tried again. What an API says about credentials and pace becomes the errors that
// steer the scheduler of syncs. No error repeats an address, a token or an answer.
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

// Tries of one request, and the pauses between them: the n-th is random, between half of firstPause * 2^n and all of it.
const (
	maxTries   = 3
	firstPause = 250 * time.Millisecond
	maxRefused = 64 << 10 // bytes that are read of an answer that refuses
)

// Client asks one API with the credentials of one account. It is safe for concurrent use and holds nothing that must be
// closed.
type Client struct {
	// Name begins the text of every error.
	Name string
	// HTTP sends the requests.
	HTTP *http.Client
	// Base begins every address; it ends without a slash.
	Base string
	// Token is sent as a bearer token; empty sends none.
	Token string
	// Header is sent with every request: names and values in turn.
	Header []string
	// MaxAnswer bounds the answers in bytes; 0: DefaultMaxAnswer.
	MaxAnswer int64
	// Pause is what is asked of the scheduler when the API says "too fast" without a time; 0: DefaultPause. MaxPause
	// bounds what the API may ask for; 0: DefaultMaxPause.
	Pause, MaxPause time.Duration
	// MaxWait is the longest pause that is waited for here when the API asks for it, rather than asked of the scheduler.
	// 0: none is.
	MaxWait time.Duration
	// Refusal judges an answer with a status other than 200 and 304. Without an error the common rules decide: 401 and
	// invalid_grant are a matter of credentials, 429 and 503 with Retry-After one of pace, the rest is a *StatusError. May
	// be nil.
	Refusal func(*Answer) error
}

// Request is one request: a GET, or a POST when it has a form or a body.
type Request struct {
	Path   string // escaped; begins with a slash, or is empty
	Query  url.Values
	Form   url.Values // sent as a form
	Body   any        // sent as JSON
	Accept string     // default: application/json
	ETag   string     // of the answer that is known
	Since  string     // Last-Modified of the answer that is known
	Limit  int64      // of the answer's bytes; 0: the client's
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte    // nil when it was too long
	Sent   time.Time // by the server's clock, where it tells
	// Same: nothing changed since the answer that is known (304).
	Same bool
	// TooLong: there is more than the limit allows.
	TooLong bool
}

// Next reports whether the answer says that there is another page (RFC 8288).
func (a *Answer) Next() bool { return strings.Contains(a.Header.Get("Link"), `rel="next"`) }

// StatusError is a refusal that is neither a matter of credentials nor of pace.
type StatusError struct {
	name   string
	Status int
	// Code is the error code of the answer, lower case letters, digits and _; empty when it has none.
	Code string
}

// Error implements error.
func (e *StatusError) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%s answered with status %d", e.name, e.Status)
	}
	return fmt.Sprintf("%s answered with status %d, %s", e.name, e.Status, e.Code)
}

// HasStatus reports whether err is a refusal with one of the statuses.
func HasStatus(err error, statuses ...int) bool {
	e, ok := errors.AsType[*StatusError](err)
	for _, s := range statuses {
		if ok && e.Status == s {
			return true
		}
	}
	return false
}

// HasCode reports whether err is a refusal with one of the error codes.
func HasCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*StatusError](err)
	for _, c := range codes {
		if ok && e.Code == c {
			return true
		}
	}
	return false
}

// Bearer checks the shape of a token: it must be fit for a header.
func Bearer(name, token string) error {
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s: token is missing or malformed: %w", name, connector.ErrBadCredentials)
	}
	return nil
}

// JSON reads an answer into v, unless it is the same as before.
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

// Do asks. The errors are those of ctx, connector.ErrReauth, *connector.RateLimited, *StatusError, what Refusal says
// and those of a connection.
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

// again says whether a failure may pass, and how long to wait before the next try. a is nil when there was no answer.
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

// temporary tells the statuses of servers that are overloaded or being replaced.
func temporary(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// once sends the request a single time.
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

// transportError keeps the context's own error and drops addresses.
func (c *Client) transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: request failed: %w", c.Name, err)
}
