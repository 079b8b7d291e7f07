package slack

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

// client calls Web API methods with one token.
type client struct{ *webapi.Client }

func (p *Provider) client(c connector.Credentials) (*client, error) {
	t := c["token"]
	if err := webapi.Bearer(Name, t); err != nil {
		return nil, err
	}
	return &client{&webapi.Client{Name: Name, HTTP: p.cfg.HTTPClient, Base: p.cfg.BaseURL, Token: t}}, nil
}

// envelope holds the fields of every answer.
type envelope struct {
	OK       bool   `json:"ok"`
	Error    string `json:"error"`
	Metadata struct {
		NextCursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

func (e *envelope) head() *envelope { return e }

// call calls a method and decodes the answer into v, which embeds an envelope. It returns the server's time.
func (c *client) call(ctx context.Context, method string, args url.Values, v interface{ head() *envelope }) (time.Time, error) {
	if args == nil {
		args = url.Values{}
	}
	a, err := c.Do(ctx, webapi.Request{Path: "/" + method, Form: args})
	switch {
	case err != nil:
		return time.Time{}, err
	case a.TooLong:
		return a.Sent, errors.New("slack: the answer is too long")
	case json.Unmarshal(a.Body, v) != nil:
		return a.Sent, errors.New("slack: the answer is not the expected JSON")
	}
	e := v.head()
	if e.OK {
		return a.Sent, nil
	}
	switch e.Error { // error answers have status 200 too
	case "ratelimited", "rate_limited":
		return a.Sent, c.Limited(a)
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "invalid_grant":
		return a.Sent, c.Reauth(e.Error)
	}
	if webapi.Code(e.Error) == "" {
		e.Error = "an_unknown_error"
	}
	return a.Sent, c.Refused(a, e.Error)
}
