package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
)

const (
	maxAnswerBytes = 32 << 20
	maxPause       = time.Hour
	defaultPause   = 30 * time.Second // ok:false "ratelimited" carries no time
)

// apiError is an error code of the API, such as channel_not_found.
type apiError struct{ code string }

// Error implements error.
func (e *apiError) Error() string { return "slack answered " + e.code }

func hasCode(err error, codes ...string) bool {
	if e, ok := errors.AsType[*apiError](err); ok {
		for _, c := range codes {
			if e.code == c {
				return true
			}
		}
	}
	return false
}

// client calls methods of the Web API with one token.
type client struct {
	http  *http.Client
	base  string
	token string
}

// envelope is what every answer has.
type envelope struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error"`
	Metadata struct {
		NextCursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

func (e *envelope) head() *envelope { return e }

// call asks a method and reads the answer into v, which embeds an envelope. It returns the
// server's time.
func (c *client) call(ctx context.Context, method string, args url.Values, v interface{ head() *envelope }) (time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/"+method, strings.NewReader(args.Encode()))
	if err != nil {
		return time.Time{}, errors.New("slack: address can't be formed")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", "contextmem")
	res, err := c.http.Do(req)
	if err != nil {
		return time.Time{}, transportError(ctx, err)
	}
	defer res.Body.Close()
	now := time.Now()
	if t, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		now = t
	}
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized:
		return now, fmt.Errorf("slack: %w", contextmem.ErrReauth)
	case http.StatusTooManyRequests:
		return now, limited(res)
	default:
		return now, fmt.Errorf("slack answered with status %d", res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes+1))
	if err != nil {
		return now, transportError(ctx, err)
	}
	if len(body) > maxAnswerBytes {
		return now, errors.New("slack: the answer is too long")
	}
	if json.Unmarshal(body, v) != nil {
		return now, errors.New("slack: the answer is not the expected JSON")
	}
	e := v.head()
	if e.OK {
		return now, nil
	}
	switch e.Error {
	case "ratelimited", "rate_limited":
		return now, limited(res)
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "invalid_grant":
		return now, fmt.Errorf("slack: %s: %w", e.Error, contextmem.ErrReauth)
	}
	return now, &apiError{code(e.Error)}
}

// code is an error code that is fit for a message.
func code(s string) string {
	if s == "" || len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return "an unknown error"
	}
	return s
}

func limited(res *http.Response) error {
	d := defaultPause
	if s, err := strconv.Atoi(strings.TrimSpace(res.Header.Get("Retry-After"))); err == nil && s >= 0 {
		d = time.Duration(min(s, int(maxPause/time.Second))) * time.Second
	}
	return &contextmem.RateLimited{After: max(d, time.Second)}
}

// transportError keeps the context's own error and drops addresses.
func transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("slack: request failed: %w", err)
}
