package feed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/contextmem/contextmem/connector/internal/webapi"
)

const (
	maxRetryAfter     = 24 * time.Hour
	maxValidatorBytes = 1024 // of an ETag or Last-Modified value
	accepted          = "application/feed+json, application/atom+xml, application/rss+xml, application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.1"
)

// fetch requests a feed. body is nil when the feed has not changed.
func (p *Provider) fetch(ctx context.Context, u *url.URL, token string, pos position) (body []byte, next position, err error) {
	c := &webapi.Client{Name: "the feed", HTTP: p.c.Client, Base: u.String(), Token: token, MaxAnswer: p.c.MaxBytes, MaxPause: maxRetryAfter,
		Header: []string{"User-Agent", p.c.UserAgent}}
	c.Refusal = func(a *webapi.Answer) error {
		switch {
		case a.Status != http.StatusUnauthorized && a.Status != http.StatusForbidden:
			return nil
		case token != "":
			return c.Reauth("")
		}
		return c.Refused(a, "") // a feed has no credentials to renew
	}
	a, err := c.Do(ctx, webapi.Request{Accept: accepted, ETag: pos.ETag, Since: pos.LastModified})
	switch {
	case err != nil:
		return nil, next, err
	case a.Same:
		return nil, pos, nil
	case a.TooLong:
		return nil, next, fmt.Errorf("the feed is over the limit of %d bytes", p.c.MaxBytes)
	case len(a.Body) == 0:
		return nil, next, errors.New("the feed is empty")
	}
	sum := sha256.Sum256(a.Body)
	next = position{ETag: validator(a.Header.Get("ETag")), LastModified: validator(a.Header.Get("Last-Modified")), Hash: hex.EncodeToString(sum[:16])}
	return a.Body, next, nil
}

func validator(s string) string {
	if len(s) > maxValidatorBytes {
		return ""
	}
	return s
}
