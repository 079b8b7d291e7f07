// Package feed is a connector provider that follows RSS, Atom and JSON feeds:
//
//	p := feed.New(feed.Config{Feeds: []feed.Feed{{URL: "https://example.org/news.xml", Name: "News"}}})
//	svc, err := contextmem.Open(ctx, "data", &contextmem.Options{Providers: []connector.Provider{p}})
//
// A resource is a feed; its id is the feed's address. Discover lists the feeds of Config. Any other address that the HTTP
// client can reach may be configured as a resource too. A sync sends the ETag and Last-Modified of the previous answer, so
// an unchanged feed costs one small request. Entries are app items of kind knowledge_base. The service keeps entries that
// leave the feed, because feeds show only their newest entries.
package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
)

// Name is the provider's name.
const Name = "feed"

const (
	requestTimeout = 60 * time.Second
	maxRedirects   = 5
	maxEntries     = 10_000
	defaultBytes   = 10 << 20
)

// Feed is a feed that Discover lists.
type Feed struct {
	URL  string
	Name string // default: the URL
}

// Config configures a provider. The zero value is usable.
type Config struct {
	// Feeds are the feeds that Discover lists. Other feeds may be synced too.
	Feeds []Feed
	// Client fetches feeds. Users name the addresses, so it should refuse addresses in the private network.
	// Default: a client that reaches only public addresses (connector.GuardedTransport), follows 5 redirects and times out
	// after 60 s.
	Client *http.Client
	// MaxBytes bounds the size of a feed. Default 10 MiB.
	MaxBytes int64
	// UserAgent is the User-Agent header of requests. Default "contextmem-feed/1".
	UserAgent string
}

// Provider follows feeds. It is safe for concurrent use.
type Provider struct{ c Config }

// New returns a provider.
func New(c Config) *Provider {
	if c.Client == nil {
		c.Client = &http.Client{Transport: connector.GuardedTransport(false), Timeout: requestTimeout, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("too many redirects")
			}
			return nil
		}}
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = defaultBytes
	}
	if c.UserAgent == "" {
		c.UserAgent = "contextmem-feed/1"
	}
	return &Provider{c}
}

// Describe implements connector.Provider.
func (p *Provider) Describe() connector.Info {
	return connector.Info{
		Name: Name, Category: "web", ConnectorType: "feed", ObjectTypes: []string{"entry"}, AuthTypes: []string{connector.AuthNone, connector.AuthToken},
		CredentialSchema: json.RawMessage(`{"type":"object","properties":{"token":{"type":"string","description":"sent as a bearer token"}},"additionalProperties":false}`),
		Searchable:       []connector.Field{{Name: "title", DataType: "string", Description: "title of the entry"}, {Name: "body", DataType: "string", Description: "text of the entry"}},
		Filterable: []connector.Field{{Name: "feed", DataType: "string", FilterKey: "additional_metadata.feed", Description: "title of the feed"},
			{Name: "author", DataType: "string", FilterKey: "additional_metadata.author", Description: "who wrote the entry"}},
		SetupGuide: "Add the address of an RSS, Atom or JSON feed as a resource. A private feed takes a token.",
	}
}

// Check implements connector.Provider. It does not test a token, because the feed's address is not known yet.
func (p *Provider) Check(_ context.Context, c connector.Credentials) error {
	if strings.ContainsAny(c["token"], "\r\n") {
		return fmt.Errorf("%w: the token holds a line break", connector.ErrBadCredentials)
	}
	return nil
}

// Discover lists the feeds of Config. The cursor is the number of feeds listed so far.
func (p *Provider) Discover(_ context.Context, _ connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	from := 0
	if cursor != "" {
		n, err := strconv.Atoi(cursor)
		if err != nil || n < 0 || n > len(p.c.Feeds) {
			return nil, "", errors.New("the cursor is not one that was handed out")
		}
		from = n
	}
	to := min(from+max(limit, 1), len(p.c.Feeds))
	var out []connector.Resource
	for _, f := range p.c.Feeds[from:to] {
		name := f.Name
		if name == "" {
			name = f.URL
		}
		out = append(out, connector.Resource{ID: f.URL, Name: name, Type: "feed"})
	}
	if to < len(p.c.Feeds) {
		return out, strconv.Itoa(to), nil
	}
	return out, "", nil
}

// position is the cursor: the validators of a conditional request, and a content hash for servers without validators.
type position struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"modified,omitempty"`
	Hash         string `json:"hash,omitempty"`
}

// Sync implements connector.Provider. A feed is one page.
func (p *Provider) Sync(ctx context.Context, r connector.SyncRequest) (*connector.Page, error) {
	var pos position
	if r.Cursor != "" && json.Unmarshal([]byte(r.Cursor), &pos) != nil {
		return nil, errors.New("the stored position can't be read")
	}
	u, err := url.Parse(r.ResourceID)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return nil, errors.New("the resource is not the address of a feed")
	}
	body, next, err := p.fetch(ctx, u, r.Credentials["token"], pos)
	if err != nil {
		return nil, err
	}
	page := &connector.Page{Cursor: r.Cursor}
	if body == nil {
		return page, nil
	}
	c, err := json.Marshal(next)
	if err != nil {
		return nil, err
	}
	page.Cursor = string(c)
	if next.Hash == pos.Hash {
		return page, nil
	}
	f, err := parse(body, u)
	if err != nil {
		return nil, err
	}
	for _, e := range f.entries {
		if !r.Since.IsZero() && !e.time.IsZero() && e.time.Before(r.Since) {
			continue
		}
		if r.MaxBytes > 0 && int64(len(e.body)) > r.MaxBytes {
			continue // the service would refuse it
		}
		page.Objects = append(page.Objects, e.object(f.title))
	}
	return page, nil
}
