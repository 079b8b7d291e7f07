package imap

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-sasl"

	"github.com/contextmem/contextmem"
)

const (
	maxTokenAnswer = 64 << 10
	maxTokens      = 10_000
	tokenMargin    = time.Minute // before its end a token counts as expired
)

// tokens keeps access tokens until they expire. Safe for concurrent use.
type tokens struct {
	mu sync.Mutex
	by map[[32]byte]accessToken // guarded by mu; by hash of the grant
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

// accessToken returns a token for a login, fetching one where there is a refresh token.
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.refresh.url, strings.NewReader(form.Encode()))
	if err != nil {
		return "", errors.New("imap: the token endpoint's address can't be formed")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	res, err := p.cfg.HTTPClient.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return "", fmt.Errorf("imap: the token endpoint can't be reached: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable {
		s, _ := strconv.Atoi(strings.TrimSpace(res.Header.Get("Retry-After")))
		return "", limited(time.Duration(min(max(s, 0), 24*3600)) * time.Second)
	}
	var answer struct {
		Token   string `json:"access_token"`
		Expires int    `json:"expires_in"`
		Error   string `json:"error"`
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxTokenAnswer))
	if err != nil || json.Unmarshal(body, &answer) != nil {
		return "", fmt.Errorf("imap: the token endpoint answered with status %d and no JSON", res.StatusCode)
	}
	switch {
	case answer.Error == "invalid_grant", answer.Error == "invalid_client", answer.Error == "unauthorized_client":
		return "", fmt.Errorf("imap: %s: %w", answer.Error, contextmem.ErrReauth)
	case res.StatusCode != http.StatusOK || answer.Token == "":
		return "", fmt.Errorf("imap: the token endpoint answered with status %d", res.StatusCode)
	}
	if answer.Expires > 0 {
		p.tokens.put(k, accessToken{answer.Token, time.Now().Add(time.Duration(min(answer.Expires, 24*3600))*time.Second - tokenMargin)})
	}
	return answer.Token, nil
}

// xoauth2 is the mechanism of Gmail and Outlook, older than OAUTHBEARER.
type xoauth2 struct{ user, token string }

var _ sasl.Client = (*xoauth2)(nil)

// Start implements sasl.Client.
func (x *xoauth2) Start() (string, []byte, error) {
	return "XOAUTH2", []byte("user=" + x.user + "\x01auth=Bearer " + x.token + "\x01\x01"), nil
}

// Next implements sasl.Client: a challenge is the server's reason, which an answer without content acknowledges.
func (x *xoauth2) Next([]byte) ([]byte, error) { return []byte{}, nil }
