package github

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

// Bounds of one answer and of one pause.
const (
	maxAnswerBytes = 32 << 20 // a recursive tree is at most 7 MB; issue bodies are at most 256 KiB each
	maxPause       = time.Hour
	apiVersion     = "2022-11-28"
)

// statusError is an answer that is neither wanted nor a matter of credentials or pace.
type statusError struct{ code int }

// Error implements error.
func (e *statusError) Error() string { return "github answered with status " + strconv.Itoa(e.code) }

func hasStatus(err error, codes ...int) bool {
	if e, ok := errors.AsType[*statusError](err); ok {
		for _, c := range codes {
			if e.code == c {
				return true
			}
		}
	}
	return false
}

// client speaks to the API with one token.
type client struct {
	http  *http.Client
	base  string
	token string
}

// answer is a body with the parts of its header that matter.
type answer struct {
	body    []byte
	etag    string
	next    bool // there is another page
	same    bool // 304: nothing changed since the ETag that was sent
	sent    time.Time
	tooLong bool
}

// request is one GET.
type request struct {
	path   string // escaped, begins with a slash
	query  url.Values
	accept string
	etag   string
	limit  int64 // of the body; 0: maxAnswerBytes
}

func (c *client) get(ctx context.Context, r request) (*answer, error) {
	u := c.base + r.path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, errors.New("github: address can't be formed")
	}
	if r.accept == "" {
		r.accept = "application/vnd.github+json"
	}
	req.Header.Set("Accept", r.accept)
	req.Header.Set("X-GitHub-Api-Version", apiVersion)
	req.Header.Set("User-Agent", "contextmem")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if r.etag != "" {
		req.Header.Set("If-None-Match", r.etag)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, transportError(ctx, err)
	}
	defer res.Body.Close()
	now := time.Now()
	if t, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		now = t
	}
	a := &answer{etag: res.Header.Get("ETag"), sent: now, next: strings.Contains(res.Header.Get("Link"), `rel="next"`)}
	if res.StatusCode == http.StatusNotModified {
		a.same = true
		return a, nil
	}
	if res.StatusCode != http.StatusOK {
		return nil, refusal(res, now)
	}
	if r.limit <= 0 {
		r.limit = maxAnswerBytes
	}
	if a.body, err = io.ReadAll(io.LimitReader(res.Body, r.limit+1)); err != nil {
		return nil, transportError(ctx, err)
	}
	if int64(len(a.body)) > r.limit {
		a.body, a.tooLong = nil, true
	}
	return a, nil
}

// getJSON reads an answer into v.
func (c *client) getJSON(ctx context.Context, r request, v any) (*answer, error) {
	a, err := c.get(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case a.same:
		return a, nil
	case a.tooLong:
		return nil, errors.New("github: the answer is too long")
	}
	if json.Unmarshal(a.body, v) != nil {
		return nil, errors.New("github: the answer is not the expected JSON")
	}
	return a, nil
}

// transportError keeps the context's own error and drops addresses.
func transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("github: request failed: %w", err)
}

// refusal reads a status: credentials, pace, or something else. GitHub says "too fast" with
// 429 or 403, either with Retry-After or with an empty quota and the time when it is filled
// again; secondary limits may carry neither and are to be met with a pause of a minute
// (docs.github.com, "Rate limits for the REST API").
func refusal(res *http.Response, now time.Time) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, 4096))
	switch res.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Errorf("github: %w", contextmem.ErrReauth)
	case http.StatusForbidden, http.StatusTooManyRequests:
		if s, err := strconv.Atoi(strings.TrimSpace(res.Header.Get("Retry-After"))); err == nil && s >= 0 {
			return limited(time.Duration(min(s, int(maxPause/time.Second))) * time.Second)
		}
		if res.Header.Get("X-RateLimit-Remaining") == "0" {
			if at, err := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
				return limited(time.Unix(at, 0).Sub(now) + time.Second)
			}
			return limited(time.Minute)
		}
		if res.StatusCode == http.StatusTooManyRequests || strings.Contains(strings.ToLower(string(text)), "rate limit") {
			return limited(time.Minute)
		}
	}
	return &statusError{res.StatusCode}
}

func limited(d time.Duration) error {
	return &contextmem.RateLimited{After: min(max(d, time.Second), maxPause)}
}
