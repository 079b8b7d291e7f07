package imap_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-sasl"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/imap"
)

const (
	account  = "ann@mail.example"
	password = "hunter2-secret"
)

// server is an IMAP server on the loopback interface.
type server struct {
	host, port string
	security   string
	cert       tls.Certificate
	roots      *x509.CertPool
}

func (s *server) credentials() connector.Credentials {
	return connector.Credentials{"host": s.host, "port": s.port, "security": s.security, "username": account, "password": password}
}

func (s *server) provider(change ...func(*imap.Config)) *imap.Provider {
	cfg := imap.Config{AllowLocal: true, TLS: &tls.Config{RootCAs: s.roots}, Timeout: 20 * time.Second}
	for _, f := range change {
		f(&cfg)
	}
	return imap.New(cfg)
}

// newCertificate returns a self-signed certificate for 127.0.0.1.
func newCertificate(t *testing.T) (tls.Certificate, *x509.CertPool, []byte, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(certPEM))
	return pair, pool, certPEM, keyPEM
}

// memory is an in-memory server of the library, with faults set by a test.
type memory struct {
	server
	user  *imapmemserver.User
	plain string // port without TLS, with STARTTLS

	mu sync.Mutex
	f  faults // guarded by mu
}

// faults are the faults that a test sets.
type faults struct {
	onAuth func() error
	onRead func(op string) error
	token  string // accepted by XOAUTH2; empty: passwords are
}

func (m *memory) set(f faults) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.f = f
}

func (m *memory) faults() faults {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.f
}

// faulty is a session that calls the test's faults first.
type faulty struct {
	imapserver.Session
	m *memory
}

func (f *faulty) ask(op string) error {
	if on := f.m.faults().onRead; on != nil {
		return on(op)
	}
	return nil
}

func (f *faulty) Login(name, pass string) error {
	if on := f.m.faults().onAuth; on != nil {
		if err := on(); err != nil {
			return err
		}
	}
	return f.Session.Login(name, pass)
}

func (f *faulty) Select(box string, o *goimap.SelectOptions) (*goimap.SelectData, error) {
	if err := f.ask("select"); err != nil {
		return nil, err
	}
	return f.Session.Select(box, o)
}

func (f *faulty) Fetch(w *imapserver.FetchWriter, n goimap.NumSet, o *goimap.FetchOptions) error {
	op := "sizes"
	if len(o.BodySection) > 0 {
		op = "bodies"
	}
	if err := f.ask(op); err != nil {
		return err
	}
	return f.Session.Fetch(w, n, o)
}

// AuthenticateMechanisms implements imapserver.SessionSASL.
func (f *faulty) AuthenticateMechanisms() []string {
	if f.m.faults().token != "" {
		return []string{"XOAUTH2"}
	}
	return []string{sasl.Plain}
}

// Authenticate implements imapserver.SessionSASL.
func (f *faulty) Authenticate(mech string) (sasl.Server, error) {
	if mech == sasl.Plain {
		return sasl.NewPlainServer(func(_, name, pass string) error { return f.Login(name, pass) }), nil
	}
	return &tokenServer{f: f}, nil
}

// tokenServer is the server's side of XOAUTH2. It answers a wrong token with a challenge first.
type tokenServer struct {
	f       *faulty
	refused bool
}

func (s *tokenServer) Next(response []byte) ([]byte, bool, error) {
	if s.refused {
		return nil, false, &goimap.Error{Type: goimap.StatusResponseTypeNo, Code: goimap.ResponseCodeAuthenticationFailed, Text: "Invalid credentials " + string(response)}
	}
	token, ok := strings.CutPrefix(string(response), "user="+account+"\x01auth=Bearer ")
	if !ok || s.f.m.faults().token != strings.TrimRight(token, "\x01") {
		s.refused = true
		return []byte(`{"status":"400","schemes":"Bearer","scope":"https://mail.google.com/"}`), false, nil
	}
	return nil, true, s.f.Session.Login(account, password)
}

func newMemory(t *testing.T) *memory {
	t.Helper()
	m := &memory{user: imapmemserver.NewUser(account, password)}
	m.host, m.security = "127.0.0.1", "tls"
	m.cert, m.roots, _, _ = newCertificate(t)
	require.NoError(t, m.user.Create("INBOX", nil))
	mem := imapmemserver.New()
	mem.AddUser(m.user)
	srv := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return &faulty{mem.NewSession(), m}, nil, nil
		},
		Caps: goimap.CapSet{goimap.CapIMAP4rev1: {}, goimap.CapUIDPlus: {}}, Logger: log.New(io.Discard, "", 0), InsecureAuth: true,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{m.cert}},
	})
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{m.cert}})
	require.NoError(t, err)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, m.port, err = net.SplitHostPort(ln.Addr().String())
	require.NoError(t, err)
	_, m.plain, err = net.SplitHostPort(plain.Addr().String())
	require.NoError(t, err)
	done := make(chan error, 2)
	go func() { done <- srv.Serve(ln) }()
	go func() { done <- srv.Serve(plain) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
		<-done
	})
	return m
}

// client returns a mail program at the same account, which adds and removes mails.
func (s *server) client(t *testing.T) *imapclient.Client {
	t.Helper()
	c, err := imapclient.DialTLS(net.JoinHostPort(s.host, s.port), &imapclient.Options{TLSConfig: &tls.Config{RootCAs: s.roots, ServerName: s.host}})
	require.NoError(t, err)
	require.NoError(t, c.Login(account, password).Wait())
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// deliver adds a mail to a mailbox.
func deliver(t *testing.T, c *imapclient.Client, box, raw string) goimap.UID {
	t.Helper()
	raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n")
	cmd := c.Append(box, int64(len(raw)), nil)
	_, err := io.WriteString(cmd, raw)
	require.NoError(t, err)
	require.NoError(t, cmd.Close())
	data, err := cmd.Wait()
	require.NoError(t, err)
	return data.UID
}

// expunge removes mails.
func expunge(t *testing.T, c *imapclient.Client, box string, uids ...goimap.UID) {
	t.Helper()
	_, err := c.Select(box, nil).Wait()
	require.NoError(t, err)
	require.NoError(t, c.Store(goimap.UIDSetNum(uids...), &goimap.StoreFlags{Op: goimap.StoreFlagsAdd, Silent: true, Flags: []goimap.Flag{goimap.FlagDeleted}}, nil).Close())
	require.NoError(t, c.Expunge().Close())
	require.NoError(t, c.Unselect().Wait())
}

func write(t *testing.T, mode os.FileMode, content string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	require.NoError(t, os.WriteFile(name, []byte(content), mode))
	require.NoError(t, os.Chmod(name, mode))
	return name
}
