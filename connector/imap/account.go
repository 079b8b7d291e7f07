package imap

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/connector"
)

// Values of the credential field that selects how a connection is secured.
const (
	secureTLS      = "tls"
	secureStartTLS = "starttls"
	secureNone     = "none"
)

// account holds validated credentials.
type account struct {
	host, port, security string
	user, password       string
	access               string // access token
	refresh              refreshGrant
}

// refreshGrant holds the parameters for fetching access tokens (RFC 6749, section 6).
type refreshGrant struct{ token, clientID, clientSecret, url string }

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", connector.ErrBadCredentials, fmt.Sprintf(format, args...))
}

// account validates credentials. An error names the field, never its value.
func (p *Provider) account(c connector.Credentials) (account, error) {
	a := account{host: c["host"], port: c["port"], security: c["security"], user: c["username"], password: c["password"], access: c["access_token"],
		refresh: refreshGrant{token: c["refresh_token"], clientID: c["client_id"], clientSecret: c["client_secret"], url: c["token_url"]}}
	for k, v := range c {
		if strings.ContainsAny(v, "\r\n\x00") {
			return a, bad("%s holds a line break", k)
		}
	}
	if err := p.address(&a); err != nil {
		return a, err
	}
	switch token := a.access != "" || a.refresh.token != ""; {
	case a.user == "":
		return a, bad("username is required")
	case a.password == "" && !token:
		return a, bad("a password, an access_token or a refresh_token is required")
	case a.password != "" && token:
		return a, bad("password and tokens exclude each other")
	case a.refresh.token != "":
		if err := p.grant(&a.refresh); err != nil {
			return a, err
		}
	}
	return a, nil
}

// address completes and validates host, security and port.
func (p *Provider) address(a *account) error {
	if a.host == "" {
		a.host = p.cfg.Host
		if a.port == "" && p.cfg.Port > 0 {
			a.port = strconv.Itoa(p.cfg.Port)
		}
	}
	if a.host == "" || len(a.host) > 253 || strings.ContainsAny(a.host, "/@ %") {
		return bad("host is missing or not a host name")
	}
	port := "143"
	switch a.security {
	case "", secureTLS:
		a.security, port = secureTLS, "993"
	case secureStartTLS:
	case secureNone:
		if !p.cfg.AllowLocal || !loopback(a.host) {
			return bad("security none is for the loopback interface only, where the deployment allows local servers")
		}
	default:
		return bad("security must be tls, starttls or none")
	}
	if a.port == "" {
		a.port = port
	}
	if n, err := strconv.Atoi(a.port); err != nil || n < 1 || n > 65535 {
		return bad("port must be 1 to 65535")
	}
	return nil
}

// grant completes and validates what a refresh token is used with.
func (p *Provider) grant(g *refreshGrant) error {
	if g.url == "" {
		g.url = p.cfg.TokenURL
	}
	u, err := url.Parse(g.url)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && p.cfg.AllowLocal && loopback(u.Hostname())) {
		return bad("token_url must be an https address")
	}
	if g.clientID == "" {
		return bad("client_id is required with refresh_token")
	}
	return nil
}

// loopback reports whether a host is this machine, without a DNS lookup.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || host == "localhost"
}

func (a *account) address() string { return net.JoinHostPort(a.host, a.port) }
