// Package imap is a connector provider for mailboxes on any IMAP server (RFC 3501, RFC 9051), including Gmail:
//
//	p := imap.New(imap.Config{})      // the credentials name the server
//	g := imap.New(imap.Gmail())       // imap.gmail.com
//	svc, err := contextmem.Open(ctx, "data", &contextmem.Options{Providers: []connector.Provider{p, g}})
//
// A resource is a mailbox; its id is the mailbox's name. A mail is an app item of kind email, with subject, body,
// correspondents and the text of its attachments. Its external id is its Message-ID, so that replies are linked to the
// mails that they answer. Its thread is the first Message-ID of the conversation.
//
// A sync reads mails whose UIDs are new, oldest first. A mail's content never changes. A sync detects expunged or moved
// mails by the mailbox's mail count and removes them. When the server changes UIDVALIDITY, the provider reads the whole
// mailbox again. Mailboxes are opened read-only, so no mail is marked as seen.
//
// Connections use TLS and reach only public addresses. With Config.AllowLocal they may reach any address, and may omit TLS
// on the loopback interface.
package imap

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	goimap "github.com/emersion/go-imap/v2"

	"github.com/contextmem/contextmem/connector"
)

// Name is the provider's default name.
const Name = "imap"

// TypeMailbox is the resource type.
const TypeMailbox = "mailbox"

// Defaults of Config.
const (
	// DefaultTimeout is 2 minutes.
	DefaultTimeout = 2 * time.Minute
	// DefaultMaxMessageBytes is 32 MiB.
	DefaultMaxMessageBytes int64 = 32 << 20
	// maxMailboxes bounds the mailboxes that Discover lists.
	maxMailboxes = 10_000
)

// Config configures a provider. The zero value is usable.
type Config struct {
	// Name of the provider. One deployment may have several with different names. Default "imap".
	Name string
	// Host and Port apply to credentials without a host. Default: no host, and port 993 or the security mode's port.
	Host string
	Port int
	// TokenURL is the OAuth token endpoint for credentials that hold a refresh token but no endpoint. Default: none.
	TokenURL string
	// AllowLocal permits non-public addresses, and security "none" on the loopback interface.
	AllowLocal bool
	// TLS is the base TLS configuration, with roots and client certificates. Default: the system's. TLS 1.2 is the minimum.
	TLS *tls.Config
	// HTTPClient refreshes tokens. Default: a client that reaches only public addresses, or any address with AllowLocal.
	HTTPClient *http.Client
	// Timeout bounds connecting, and the wait for one command's answer. Default DefaultTimeout.
	Timeout time.Duration
	// MaxMessageBytes bounds the bytes read of one mail. A larger mail is truncated, and its metadata says so. The
	// service's limit for files applies too. Default DefaultMaxMessageBytes.
	MaxMessageBytes int64
}

// Gmail returns the configuration for Gmail and Google Workspace. Credentials are app passwords or OAuth tokens with the scope
// https://mail.google.com/.
func Gmail() Config {
	return Config{Name: "gmail", Host: "imap.gmail.com", TokenURL: "https://oauth2.googleapis.com/token"}
}

// Provider implements connector.Provider. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	tokens tokens
}

var _ connector.Provider = (*Provider)(nil)

// New returns a provider.
func New(cfg Config) *Provider {
	if cfg.Name == "" {
		cfg.Name = Name
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.MaxMessageBytes <= 0 {
		cfg.MaxMessageBytes = DefaultMaxMessageBytes
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Transport: connector.GuardedTransport(cfg.AllowLocal), Timeout: cfg.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &Provider{cfg: cfg, dial: connector.GuardedDial(cfg.AllowLocal)}
}

const credentialSchema = `{"type":"object","required":["username"],"additionalProperties":false,"properties":{
"host":{"type":"string","title":"Server","description":"host name of the IMAP server"},
"port":{"type":"string","title":"Port","description":"default 993, with starttls 143"},
"security":{"type":"string","enum":["tls","starttls","none"],"description":"default tls; none only on the loopback interface, where the deployment allows it"},
"username":{"type":"string","minLength":1,"title":"User name","description":"often the mail address"},
"password":{"type":"string","title":"Password","description":"or an app password; not with tokens"},
"access_token":{"type":"string","title":"OAuth access token"},
"refresh_token":{"type":"string","title":"OAuth refresh token","description":"fetches access tokens; needs client_id"},
"client_id":{"type":"string","title":"OAuth client id"},
"client_secret":{"type":"string","title":"OAuth client secret"},
"token_url":{"type":"string","title":"OAuth token endpoint","description":"https address"}}}`

// Describe implements connector.Provider.
func (p *Provider) Describe() connector.Info {
	return connector.Info{
		Name: p.cfg.Name, Category: "email", ConnectorType: "email", ObjectTypes: []string{"email"},
		AuthTypes:        []string{connector.AuthToken, connector.AuthOAuth},
		CredentialSchema: json.RawMessage(credentialSchema),
		Searchable: []connector.Field{{Name: "subject", DataType: "string", Description: "subject of the mail"},
			{Name: "body", DataType: "string", Description: "text of the mail"}, {Name: "attachments", DataType: "string", Description: "text of attached documents"}},
		Filterable: []connector.Field{{Name: "mailbox", DataType: "string", FilterKey: "container_id", Description: "name of the mailbox"},
			{Name: "account_email", DataType: "string", FilterKey: "additional_metadata.account_email", Description: "user name of the account"},
			{Name: "from", DataType: "string", FilterKey: "additional_metadata.from", Description: "address of the sender"}},
		SetupGuide: "Name the server and log in with a user name and a password (an app password where the provider asks for one), or with OAuth tokens (XOAUTH2). Discover lists the mailboxes.",
	}
}

// Check implements connector.Provider: it logs in to the server.
func (p *Provider) Check(ctx context.Context, c connector.Credentials) error {
	s, err := p.connect(ctx, c)
	if err != nil {
		return err
	}
	s.end()
	return nil
}

// Discover lists the mailboxes by name. The cursor is the last listed name.
func (p *Provider) Discover(ctx context.Context, c connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	s, err := p.connect(ctx, c)
	if err != nil {
		return nil, "", err
	}
	defer s.end()
	var all []connector.Resource
	cmd := s.client.List("", "*", nil)
	for m := cmd.Next(); m != nil; m = cmd.Next() {
		if len(all) == maxMailboxes {
			s.close() // the rest of the answer is not read
			return nil, "", errors.New("imap: the account has more than 10000 mailboxes")
		}
		if slices.ContainsFunc(m.Attrs, func(a goimap.MailboxAttr) bool {
			return a == goimap.MailboxAttrNoSelect || a == goimap.MailboxAttrNonExistent
		}) {
			continue
		}
		r := connector.Resource{ID: m.Mailbox, Name: m.Mailbox, Type: TypeMailbox, Metadata: map[string]any{}}
		if m.Delim != 0 {
			r.Metadata["delimiter"] = string(m.Delim)
		}
		for _, a := range m.Attrs {
			if use := specialUse[a]; use != "" {
				r.Metadata["special_use"] = use
			}
		}
		all = append(all, r)
	}
	if err := cmd.Close(); err != nil {
		return nil, "", s.failure("list mailboxes", err)
	}
	slices.SortFunc(all, func(a, b connector.Resource) int { return strings.Compare(a.ID, b.ID) })
	all = slices.CompactFunc(all, func(a, b connector.Resource) bool { return a.ID == b.ID })
	from := 0
	if cursor != "" {
		from, _ = slices.BinarySearchFunc(all, cursor+"\x00", func(r connector.Resource, id string) int { return strings.Compare(r.ID, id) })
	}
	to := min(from+max(limit, 1), len(all))
	next := ""
	if to < len(all) {
		next = all[to-1].ID
	}
	return all[from:to], next, nil
}

// specialUse returns the purpose of a mailbox (RFC 6154).
var specialUse = map[goimap.MailboxAttr]string{goimap.MailboxAttrAll: "all", goimap.MailboxAttrArchive: "archive", goimap.MailboxAttrDrafts: "drafts",
	goimap.MailboxAttrFlagged: "flagged", goimap.MailboxAttrJunk: "junk", goimap.MailboxAttrSent: "sent", goimap.MailboxAttrTrash: "trash"}
