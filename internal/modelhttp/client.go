// Package modelhttp sends JSON requests to a model server. It retries where that may help, and limits the size of answers.
// Errors never contain a key, an address, a text or an answer.
package modelhttp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client posts to one endpoint. It is safe for concurrent use and needs no closing.
type Client struct {
	// Name is the prefix of every error.
	Name string
	// Endpoint is the URL of the requests.
	Endpoint string
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string
	// HTTP sends the requests.
	HTTP *http.Client
	// Timeout limits one request, including its answer; 0 or less: only the context limits it.
	Timeout time.Duration
	// MaxRetries is the number of retries of a failed request; 0 or less: none.
	MaxRetries int
	// FirstPause and MaxPause bound the pauses between tries. The n-th pause is random, between half of FirstPause * 2^n and all of
	// it ("full jitter": Brooker, Exponential Backoff And Jitter, 2015).
	FirstPause, MaxPause time.Duration
	// MaxRetryAfter is the longest pause that a server may request. A longer request ends the call, since the caller can better
	// retry later.
	MaxRetryAfter time.Duration
}

// Complete sets the endpoint to path below baseURL, and fills in unset fields (0 or nil): timeout, retries, and an HTTP client
// that follows no redirects. It returns all faults of the address and the key.
func (c *Client) Complete(baseURL, path string, timeout time.Duration, retries int) (faults []error) {
	c.Timeout, c.MaxRetries = cmp.Or(c.Timeout, timeout), cmp.Or(c.MaxRetries, retries)
	if c.HTTP == nil {
		c.HTTP = NoRedirects()
	}
	c.Endpoint = strings.TrimRight(baseURL, "/") + path
	return c.faults(baseURL)
}

// NoRedirects returns a client that follows no redirects, so that a key reaches no other server.
func NoRedirects() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (c *Client) faults(baseURL string) (faults []error) {
	// The parser's error would contain the address, and any password in it.
	u, err := url.Parse(baseURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		faults = append(faults, errors.New(c.Name+": base URL is not an http or https address"))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		faults = append(faults, errors.New(c.Name+": base URL must not hold user information, a query or a fragment"))
	}
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		faults = append(faults, errors.New(c.Name+": API key has characters that cannot be sent"))
	}
	return faults
}

// Post sends v as JSON and calls decode with the answer of at most limit bytes. decode should create its errors with Bad and
// Malformed. Post retries temporary failures. It returns the error of ctx, a *StatusError, an *AnswerError, ErrTimeout or a
// connection error.
func (c *Client) Post(ctx context.Context, v any, limit int64, decode func([]byte) error) error {
	body, err := json.Marshal(v)
	if err != nil {
		return errors.New(c.Name + ": cannot write the request")
	}
	return c.PostBody(ctx, jsonType, body, limit, decode)
}

const jsonType = "application/json"

// PostBody is Post for an encoded body.
func (c *Client) PostBody(ctx context.Context, contentType string, body []byte, limit int64, decode func([]byte) error) error {
	for try := 0; ; try++ {
		err := c.once(ctx, contentType, body, limit, decode)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, context.DeadlineExceeded) { // not the caller's deadline
			err = fmt.Errorf("%s: %w", c.Name, ErrTimeout)
		}
		pause, again := c.pause(err, try)
		if !again || try >= c.MaxRetries {
			return err
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= pause { // the deadline would pass during the pause
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// pause reports whether err is temporary, and returns the pause before the next try.
func (c *Client) pause(err error, try int) (time.Duration, bool) {
	ceiling := min(c.MaxPause, c.FirstPause<<min(try, 16))
	pause := ceiling/2 + rand.N(ceiling/2)
	var status *StatusError
	if errors.As(err, &status) {
		if !status.Temporary() || status.retryAfter > c.MaxRetryAfter {
			return 0, false
		}
		return max(pause, status.retryAfter), true
	}
	var broken *AnswerError
	if errors.As(err, &broken) {
		return pause, broken.cut
	}
	return pause, true // a connection error
}

// once sends the request one time.
func (c *Client) once(ctx context.Context, contentType string, body []byte, limit int64, decode func([]byte) error) error {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	req, err := NewRequest(ctx, c.Endpoint, c.APIKey, body)
	if err != nil {
		return errors.New(c.Name + ": cannot make the request")
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("%s: request failed: %w", c.Name, err)
	}
	defer func() { _ = resp.Body.Close() }() // read only
	if resp.StatusCode != http.StatusOK {
		return c.statusError(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case int64(len(data)) > limit:
		return c.Bad("longer than %d bytes", limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &AnswerError{name: c.Name, what: "it ends early", cut: true}
	case err != nil:
		return fmt.Errorf("%s: reading the answer: %w", c.Name, err)
	}
	return decode(data)
}

// NewRequest returns a POST request with a JSON body and a bearer token. An empty apiKey sends no token.
func NewRequest(ctx context.Context, endpoint, apiKey string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", jsonType)
	req.Header.Set("Accept", "application/json")
	if apiKey != "" {
		req.Header.Set("Authorization", "Bearer "+apiKey)
	}
	return req, nil
}

// RetryAfter returns the pause requested by the Retry-After header, given in seconds (at most a day) or as a date. It returns
// -1 if there is none.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return time.Duration(min(s, 86400) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return -1
}
