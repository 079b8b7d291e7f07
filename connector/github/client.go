package github

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

const (
	apiVersion   = "2022-11-28"
	acceptJSON   = "application/vnd.github+json"
	defaultPause = time.Minute // pause after a secondary rate limit that names no time
)

// client calls the API with one token.
func (p *Provider) client(c connector.Credentials) (*webapi.Client, error) {
	t := c["token"]
	if err := webapi.Bearer(Name, t); err != nil {
		return nil, err
	}
	cl := &webapi.Client{Name: Name, HTTP: p.cfg.HTTPClient, Base: p.cfg.BaseURL, Token: t, Pause: defaultPause,
		Header: []string{"X-GitHub-Api-Version", apiVersion, "Accept", acceptJSON}}
	cl.Refusal = func(a *webapi.Answer) error { return refusal(cl, a) }
	return cl, nil
}

// refusal detects rate limits. GitHub sends 429 or 403, with either Retry-After or an empty quota and its reset time. A secondary
// limit may carry neither (docs.github.com, "Rate limits for the REST API").
func refusal(c *webapi.Client, a *webapi.Answer) error {
	if a.Status != http.StatusForbidden && a.Status != http.StatusTooManyRequests {
		return nil
	}
	if _, ok := webapi.RetryAfter(a.Header, a.Sent); ok {
		return c.Limited(a)
	}
	if a.Header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(a.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return c.LimitedFor(time.Unix(at, 0).Sub(a.Sent) + time.Second)
		}
		return c.Limited(a)
	}
	if strings.Contains(strings.ToLower(string(a.Body)), "rate limit") {
		return c.Limited(a)
	}
	return nil
}
