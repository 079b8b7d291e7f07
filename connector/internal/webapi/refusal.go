package webapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
)

// refusal returns the error for an answer with an error status.
func (c *Client) refusal(a *Answer) error {
	if c.Refusal != nil {
		if err := c.Refusal(a); err != nil {
			return err
		}
	}
	code := a.code()
	switch {
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		return c.Limited(a)
	case a.Status == http.StatusUnauthorized:
		return c.Reauth("")
	case code == "invalid_grant":
		return c.Reauth(code)
	}
	return &StatusError{name: c.Name, Status: a.Status, Code: code}
}

// Refused returns the *StatusError for an answer that the provider itself recognised as an error, even with a good status.
// code may be empty.
func (c *Client) Refused(a *Answer, code string) error {
	return &StatusError{name: c.Name, Status: a.Status, Code: Code(code)}
}

// Reauth returns the error for credentials that the API no longer accepts. code is the reason and may be empty.
func (c *Client) Reauth(code string) error {
	if code = Code(code); code == "" {
		return fmt.Errorf("%s: %w", c.Name, connector.ErrReauth)
	}
	return fmt.Errorf("%s: %s: %w", c.Name, code, connector.ErrReauth)
}

// Limited returns the rate-limit error for an answer. The pause is the answer's Retry-After.
func (c *Client) Limited(a *Answer) error {
	d, ok := RetryAfter(a.Header, a.Sent)
	if !ok {
		if d = c.Pause; d <= 0 {
			d = DefaultPause
		}
	}
	return c.LimitedFor(d)
}

// LimitedFor returns the rate-limit error for a pause, clamped to between one second and the client's MaxPause.
func (c *Client) LimitedFor(d time.Duration) error {
	most := c.MaxPause
	if most <= 0 {
		most = DefaultMaxPause
	}
	return &connector.RateLimited{After: min(max(d, time.Second), most)}
}

// RetryAfter returns the Retry-After header (RFC 9110, 10.2.3), seconds or a date, as a pause from now.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		const most = 100 * 365 * 24 * 3600
		return time.Duration(min(s, most) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// Code returns s when it has the form of an error code, else "".
func Code(s string) string {
	if len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return s
}

// code returns the error code of an answer: its member "code" or "error" (RFC 6749, 5.2).
func (a *Answer) code() string {
	var v struct {
		Code  any `json:"code"`
		Error any `json:"error"`
	}
	if json.Unmarshal(a.Body, &v) != nil {
		return ""
	}
	for _, s := range []any{v.Code, v.Error} {
		if s, _ := s.(string); Code(s) != "" {
			return s
		}
	}
	return ""
}
