package imap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"

	"github.com/contextmem/contextmem/connector"
)

const (
	maxPause     = 24 * time.Hour
	defaultPause = 5 * time.Minute // IMAP servers cannot say how long to pause; they usually mean minutes
	// connBudget bounds the bytes that one connection may receive, beyond the requested mails.
	connBudget int64 = 64 << 20
	endWait          = 5 * time.Second
)

// session is the IMAP connection of one provider call.
type session struct {
	ctx     context.Context
	client  *imapclient.Client
	conn    *boundedConn
	account account
	stop    func() bool // stops watching ctx
}

// boundedConn is a connection whose reads fail after its byte budget is used up, or when the server is silent for too long.
type boundedConn struct {
	net.Conn
	left    atomic.Int64
	timeout time.Duration
}

var errTooMuch = errors.New("the server sends more than was asked for")

// Read implements net.Conn.
func (c *boundedConn) Read(b []byte) (int, error) {
	if c.left.Load() <= 0 {
		return 0, errTooMuch
	}
	n, err := c.Conn.Read(b)
	c.left.Add(-int64(n))
	return n, err
}

// SetReadDeadline implements net.Conn. The client library sets no deadline while it waits for an answer.
func (c *boundedConn) SetReadDeadline(t time.Time) error {
	if t.IsZero() || time.Until(t) > c.timeout {
		t = time.Now().Add(c.timeout)
	}
	return c.Conn.SetReadDeadline(t)
}

// connect dials the server and logs in.
func (p *Provider) connect(ctx context.Context, c connector.Credentials) (*session, error) {
	a, err := p.account(c)
	if err != nil {
		return nil, err
	}
	token, err := p.accessToken(ctx, &a)
	if err != nil {
		return nil, err
	}
	begin, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	raw, err := p.dial(begin, "tcp", a.address())
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("imap: can't connect: %w", cause(err))
	}
	s := &session{ctx: ctx, account: a, conn: &boundedConn{Conn: raw, timeout: p.cfg.Timeout}}
	s.conn.left.Store(connBudget)
	_ = s.conn.SetReadDeadline(time.Time{})
	// The client library takes no context, so a cancelled context closes the connection.
	s.stop = context.AfterFunc(ctx, func() { _ = raw.Close() })
	if err := s.secure(begin, p.cfg.TLS); err != nil {
		s.close()
		return nil, s.failure("connect", err)
	}
	if err := s.login(token); err != nil {
		s.close()
		if token != "" && errors.Is(err, connector.ErrReauth) && a.refresh.token != "" {
			p.tokens.drop(a.refresh.key())
		}
		return nil, err
	}
	return s, nil
}

// cause returns an error without network addresses.
func cause(err error) error {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Err
	}
	return err
}

// secure sets up the account's kind of connection security and waits for the greeting.
func (s *session) secure(ctx context.Context, base *tls.Config) error {
	cfg := &tls.Config{}
	if base != nil {
		cfg = base.Clone()
	}
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	if cfg.ServerName == "" {
		cfg.ServerName = s.account.host
	}
	opts := &imapclient.Options{TLSConfig: cfg}
	switch s.account.security {
	case secureStartTLS:
		var err error
		if s.client, err = imapclient.NewStartTLS(s.conn, opts); err != nil {
			return err
		}
	case secureTLS:
		conn := tls.Client(s.conn, cfg)
		if err := conn.HandshakeContext(ctx); err != nil {
			return fmt.Errorf("TLS: %w", cause(err))
		}
		s.client = imapclient.New(conn, opts)
	default:
		s.client = imapclient.New(s.conn, opts)
	}
	return s.client.WaitGreeting()
}

// login authenticates the account.
func (s *session) login(token string) error {
	if s.client.State() != goimap.ConnStateNotAuthenticated {
		return errors.New("imap: the server did not ask who it speaks to")
	}
	caps := s.client.Caps()
	var err error
	switch {
	case token != "" && caps.Has(goimap.AuthCap(sasl.OAuthBearer)) && !caps.Has(goimap.AuthCap("XOAUTH2")):
		port, _ := strconv.Atoi(s.account.port)
		err = s.client.Authenticate(sasl.NewOAuthBearerClient(&sasl.OAuthBearerOptions{Username: s.account.user, Token: token, Host: s.account.host, Port: port}))
		if _, refused := errors.AsType[*sasl.OAuthBearerError](err); refused {
			return fmt.Errorf("imap: log in: %w", connector.ErrReauth)
		}
	case token != "":
		err = s.client.Authenticate(&xoauth2{s.account.user, token})
	case caps.Has(goimap.AuthCap(sasl.Plain)):
		err = s.client.Authenticate(sasl.NewPlainClient("", s.account.user, s.account.password))
	case caps.Has(goimap.CapLoginDisabled):
		return errors.New("imap: the server offers no way to log in with a password")
	default:
		err = s.client.Login(s.account.user, s.account.password).Wait()
	}
	if err == nil {
		return nil
	}
	err = s.failure("log in", err)
	if _, pause := errors.AsType[*connector.RateLimited](err); pause {
		return err
	}
	if e, ok := errors.AsType[*statusError](err); ok && e.typ == goimap.StatusResponseTypeNo && !slices.Contains(transient, e.code) {
		return fmt.Errorf("imap: log in: %w", connector.ErrReauth)
	}
	return err
}

// statusError is an error answer of the server. It keeps the type and code but not the text, which may repeat sent data.
type statusError struct {
	op   string
	typ  goimap.StatusResponseType
	code goimap.ResponseCode
}

// Error implements error.
func (e *statusError) Error() string {
	if e.code == "" {
		return fmt.Sprintf("imap: %s: the server answered %s", e.op, e.typ)
	}
	return fmt.Sprintf("imap: %s: the server answered %s [%s]", e.op, e.typ, e.code)
}

// transient holds login error codes that do not mean wrong credentials (RFC 5530).
var transient = []goimap.ResponseCode{goimap.ResponseCodeServerBug, goimap.ResponseCodeContactAdmin, goimap.ResponseCodePrivacyRequired}

// pausing holds the rate-limit codes of RFC 9051 and of Gmail.
var pausing = []goimap.ResponseCode{goimap.ResponseCodeLimit, goimap.ResponseCodeOverQuota, "THROTTLED", "TOOMANY", goimap.ResponseCodeUnavailable, goimap.ResponseCodeInUse}

// slower matches rate-limit messages that servers send without a code: Exchange, Gmail, Dovecot, Yahoo.
var slower = regexp.MustCompile(`(?i)throttl|rate.?limit|too many (simultaneous|connections|requests|login)|exceeded (command or )?bandwidth|maximum number of connections|try again later|temporar`)

// backoff matches the pause that Exchange names in a message.
var backoff = regexp.MustCompile(`(?i)backoff time: (\d{1,9}) milliseconds`)

func limited(d time.Duration) error {
	if d <= 0 {
		d = defaultPause
	}
	return &connector.RateLimited{After: min(max(d, time.Second), maxPause)}
}

// failure converts an error of the client library to the error of a provider call.
func (s *session) failure(op string, err error) error {
	if err == nil {
		return nil
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if e, ok := errors.AsType[*goimap.Error](err); ok {
		if m := backoff.FindStringSubmatch(e.Text); m != nil {
			ms, _ := strconv.Atoi(m[1])
			return limited(time.Duration(ms) * time.Millisecond)
		}
		code := goimap.ResponseCode(strings.ToUpper(string(e.Code)))
		if slices.Contains(pausing, code) || slower.MatchString(e.Text) {
			return limited(0)
		}
		switch code {
		case goimap.ResponseCodeExpired, goimap.ResponseCodeAuthenticationFailed, goimap.ResponseCodeAuthorizationFailed:
			return fmt.Errorf("imap: %s: %w", op, connector.ErrReauth)
		}
		return &statusError{op, e.Type, code}
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("imap: %s: the server's certificate is not valid: %w", op, e.Err)
	}
	if errors.Is(err, errTooMuch) {
		return fmt.Errorf("imap: %s: %w", op, errTooMuch)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return fmt.Errorf("imap: %s: the server does not answer", op)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("imap: %s: the server closed the connection", op)
	}
	return fmt.Errorf("imap: %s: the answer is not the expected one", op)
}

// end logs out and closes the connection.
func (s *session) end() {
	hurry := time.AfterFunc(endWait, func() { _ = s.conn.Close() })
	_ = s.client.Logout().Wait()
	hurry.Stop()
	s.close()
}

func (s *session) close() {
	s.stop()
	if s.client != nil {
		_ = s.client.Close()
	}
	_ = s.conn.Close()
}
