package imap

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-sasl"

	"github.com/contextmem/contextmem/connector/internal/webapi"
)

const (
	maxTokenAnswer = 64 << 10
	maxTokens      = 10_000
	tokenMargin    = time.Minute // a token counts as expired this long before its end
)

// tokens caches access tokens until they expire. Safe for concurrent use.
type tokens struct {
	mu sync.Mutex
	by map[[32]byte]accessToken // guarded by mu; keyed by hash of the grant
}

type accessToken struct {
	value   string
	expires time.Time
}

func (g *refreshGrant) key() [32]byte {
	return sha256.Sum256([]byte(strings.Join([]string{g.token, g.clientID, g.clientSecret, g.url}, "\x00")))
}

func (t *tokens) get(k [32]byte) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, ok := t.by[k]; ok && time.Now().Before(a.expires) {
		return a.value
	}
	return ""
}

func (t *tokens) put(k [32]byte, a accessToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil || len(t.by) >= maxTokens {
		t.by = map[[32]byte]accessToken{}
	}
	t.by[k] = a
}

func (t *tokens) drop(k [32]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.by, k)
}

// accessToken returns an access token for a login. If the account has a refresh token, it fetches one or takes it from the cache.
func (p *Provider) accessToken(ctx context.Context, a *account) (string, error) {
	if a.refresh.token == "" {
		return a.access, nil
	}
	k := a.refresh.key()
	if t := p.tokens.get(k); t != "" {
		return t, nil
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {a.refresh.token}, "client_id": {a.refresh.clientID}}
	if a.refresh.clientSecret != "" {
		form.Set("client_secret", a.refresh.clientSecret)
	}
	c := &webapi.Client{Name: "imap: the token endpoint", HTTP: p.cfg.HTTPClient, Base: a.refresh.url, MaxAnswer: maxTokenAnswer, MaxPause: maxPause, Pause: defaultPause}
	c.Refusal = func(a *webapi.Answer) error {
		if a.Status == http.StatusServiceUnavailable {
			return c.Limited(a)
		}
		var answer struct {
			Error string `json:"error"`
		}
		_ = json.Unmarshal(a.Body, &answer) // an error answer may have any form
		switch answer.Error {
		case "invalid_grant", "invalid_client", "unauthorized_client":
			return c.Reauth(answer.Error)
		}
		if a.Status == http.StatusUnauthorized {
			return c.Refused(a, answer.Error) // the client or the request was refused; the grant may still be valid
		}
		return nil
	}
	var answer struct {
		Token   string `json:"access_token"`
		Expires int    `json:"expires_in"`
	}
	if _, err := c.JSON(ctx, webapi.Request{Form: form}, &answer); err != nil {
		return "", err
	}
	if answer.Token == "" {
		return "", errors.New("imap: the token endpoint answered without a token")
	}
	if answer.Expires > 0 {
		p.tokens.put(k, accessToken{answer.Token, time.Now().Add(time.Duration(min(answer.Expires, 24*3600))*time.Second - tokenMargin)})
	}
	return answer.Token, nil
}

// xoauth2 is the SASL mechanism of Gmail and Outlook, older than OAUTHBEARER.
type xoauth2 struct{ user, token string }

var _ sasl.Client = (*xoauth2)(nil)

// Start implements sasl.Client.
func (x *xoauth2) Start() (string, []byte, error) {
	return "XOAUTH2", []byte("user=" + x.user + "\x01auth=Bearer " + x.token + "\x01\x01"), nil
}

// Next implements sasl.Client. A challenge holds the server's reason for refusing; the client acknowledges it with an empty answer.
func (x *xoauth2) Next([]byte) ([]byte, error) { return []byte{}, nil }
