package feed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	maxRetryAfter     = 24 * time.Hour
	maxValidatorBytes = 1024 // of an ETag or Last-Modified that is sent back
)

// fetch reads a feed; body is nil when it did not change.
func (p *Provider) fetch(ctx context.Context, u *url.URL, token string, pos position) (body []byte, next position, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, next, err
	}
	req.Header.Set("User-Agent", p.c.UserAgent)
	req.Header.Set("Accept", "application/feed+json, application/atom+xml, application/rss+xml, application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.1")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if pos.ETag != "" {
		req.Header.Set("If-None-Match", pos.ETag)
	}
	if pos.LastModified != "" {
		req.Header.Set("If-Modified-Since", pos.LastModified)
	}
	res, err := p.c.Client.Do(req)
	if err != nil {
		return nil, next, plain(err)
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		return nil, pos, nil
	case http.StatusUnauthorized, http.StatusForbidden:
		if token != "" {
			return nil, next, contextmem.ErrReauth
		}
		return nil, next, fmt.Errorf("the feed answered with status %d", res.StatusCode)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return nil, next, &contextmem.RateLimited{After: retryAfter(res.Header.Get("Retry-After"), time.Now())}
	default:
		return nil, next, fmt.Errorf("the feed answered with status %d", res.StatusCode)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, p.c.MaxBytes+1))
	if err != nil {
		return nil, next, plain(err)
	}
	if int64(len(body)) > p.c.MaxBytes {
		return nil, next, fmt.Errorf("the feed is over the limit of %d bytes", p.c.MaxBytes)
	}
	if len(body) == 0 {
		return nil, next, errors.New("the feed is empty")
	}
	sum := sha256.Sum256(body)
	next = position{ETag: validator(res.Header.Get("ETag")), LastModified: validator(res.Header.Get("Last-Modified")), Hash: hex.EncodeToString(sum[:16])}
	return body, next, nil
}

// plain is an error without the address, which may hold a secret in its query string.
func plain(err error) error {
	if ue := new(url.Error); errors.As(err, &ue) {
		return fmt.Errorf("the feed can't be fetched: %w", ue.Err)
	}
	return err
}

func validator(s string) string {
	if len(s) > maxValidatorBytes {
		return ""
	}
	return s
}

// retryAfter reads the header: seconds or a date (RFC 9110, section 10.2.3).
func retryAfter(s string, now time.Time) time.Duration {
	var d time.Duration
	if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && n >= 0 {
		if n > int(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		d = time.Duration(n) * time.Second
	} else if t, err := http.ParseTime(s); err == nil {
		d = t.Sub(now)
	}
	return min(max(d, 0), maxRetryAfter)
}
