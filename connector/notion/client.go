package notion

import (
	"bytes"
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
	apiVersion     = "2022-06-28"
	maxAnswerBytes = 16 << 20
	maxPause       = time.Hour
	defaultPause   = 30 * time.Second
)

// apiError is an error code of the API, such as object_not_found.
type apiError struct {
	status int
	code   string
}

// Error implements error.
func (e *apiError) Error() string {
	return fmt.Sprintf("notion answered with status %d, %s", e.status, e.code)
}

func hasCode(err error, code string) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.code == code
}

// client speaks to the API with one token.
type client struct {
	http  *http.Client
	base  string
	token string
}

// call asks for a path, with a body as POST, and reads the answer into v. It returns the server's time.
func (c *client) call(ctx context.Context, path string, body, v any) (time.Time, error) {
	method, r := http.MethodGet, io.Reader(nil)
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return time.Time{}, errors.New("notion: request can't be formed")
		}
		method, r = http.MethodPost, bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, r)
	if err != nil {
		return time.Time{}, errors.New("notion: address can't be formed")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Notion-Version", apiVersion)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return time.Time{}, transportError(ctx, err)
	}
	defer res.Body.Close()
	now := time.Now()
	if t, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		now = t
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes+1))
	if err != nil {
		return now, transportError(ctx, err)
	}
	switch {
	case res.StatusCode == http.StatusOK && len(data) > maxAnswerBytes:
		return now, errors.New("notion: the answer is too long")
	case res.StatusCode == http.StatusOK:
		if json.Unmarshal(data, v) != nil {
			return now, errors.New("notion: the answer is not the expected JSON")
		}
		return now, nil
	case res.StatusCode == http.StatusUnauthorized:
		return now, fmt.Errorf("notion: %w", contextmem.ErrReauth)
	case res.StatusCode == http.StatusTooManyRequests:
		d := defaultPause
		if s, err := strconv.Atoi(strings.TrimSpace(res.Header.Get("Retry-After"))); err == nil && s >= 0 {
			d = time.Duration(min(s, int(maxPause/time.Second))) * time.Second
		}
		return now, &contextmem.RateLimited{After: max(d, time.Second)}
	}
	var e struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(data, &e) != nil || e.Code == "" || len(e.Code) > 64 || strings.Trim(e.Code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		e.Code = "an unknown error"
	}
	if e.Code == "invalid_grant" {
		return now, fmt.Errorf("notion: %s: %w", e.Code, contextmem.ErrReauth)
	}
	return now, &apiError{res.StatusCode, e.Code}
}

// transportError keeps the context's own error and drops addresses.
func transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("notion: request failed: %w", err)
}
