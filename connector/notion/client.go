package notion

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

const (
	apiVersion     = "2022-06-28"
	maxAnswerBytes = 16 << 20
)

// client calls the API with one token.
type client struct{ *webapi.Client }

func (p *Provider) client(c connector.Credentials) (*client, error) {
	t := c["token"]
	if err := webapi.Bearer(Name, t); err != nil {
		return nil, err
	}
	return &client{&webapi.Client{Name: Name, HTTP: p.cfg.HTTPClient, Base: p.cfg.BaseURL, Token: t, MaxAnswer: maxAnswerBytes,
		Header: []string{"Notion-Version", apiVersion}}}, nil
}

// call requests a path and decodes the answer into v. A request with a body is a POST. call returns the server's time.
func (c *client) call(ctx context.Context, path string, body, v any) (time.Time, error) {
	a, err := c.JSON(ctx, webapi.Request{Path: path, Body: body}, v)
	if err != nil {
		return time.Time{}, err
	}
	return a.Sent, nil
}
