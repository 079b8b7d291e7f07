// Package notion is a connector provider for Notion. It delivers the pages of a database, a single page, or all pages shared
// with an integration, each as Markdown.
//
// A sync reads pages from the newest change back to the time of the previous sync. Notion rounds change times to minutes and
// its search lags behind, so a sync reads the last minutes again and skips the known pages. A single page that was archived
// or is no longer shared is reported as deleted.
//
// The API does not report pages that left a database. The provider therefore lists all pages of a database at intervals and
// reports missing pages as deleted. It does not do so for a workspace, because Notion's search may omit pages. Of a
// workspace it reports only pages that Notion returns as archived.
package notion

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

// Name is the provider's name.
const Name = "notion"

// Types of resources. Workspace is the id of the resource for all shared pages.
const (
	TypeDatabase = "database"
	TypePage     = "page"
	Workspace    = "workspace"
)

// Config configures the provider. The zero value works with notion.com.
type Config struct {
	BaseURL    string       // default https://api.notion.com
	HTTPClient *http.Client // default: a client with a timeout of one minute
	PageSize   int          // pages or blocks in one answer; default and maximum 100
	MaxBlocks  int          // maximum blocks read of one page, the rest is dropped; default 5000
	// ListEvery is the minimum time between full listings of a database. A full listing finds deleted pages and costs one
	// request for each PageSize pages. Default 30 minutes. Negative: no full listings.
	ListEvery time.Duration
}

// Provider implements connector.Provider. It is safe for concurrent use.
type Provider struct{ cfg Config }

var _ connector.Provider = (*Provider)(nil)

// New returns a provider.
func New(cfg Config) *Provider {
	if cfg.BaseURL == "" {
		cfg.BaseURL = "https://api.notion.com"
	}
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Timeout: time.Minute}
	}
	if cfg.PageSize <= 0 || cfg.PageSize > 100 {
		cfg.PageSize = 100
	}
	if cfg.MaxBlocks <= 0 {
		cfg.MaxBlocks = 5000
	}
	if cfg.ListEvery == 0 {
		cfg.ListEvery = 30 * time.Minute
	}
	return &Provider{cfg}
}

const credentialSchema = `{"type":"object","required":["token"],"additionalProperties":false,"properties":{"token":{"type":"string","minLength":1,"title":"Integration token","description":"Internal integration secret or OAuth access token that may read content"}}}`

// Describe implements connector.Provider.
func (p *Provider) Describe() connector.Info {
	return connector.Info{
		Name: Name, Category: "knowledge_base", ConnectorType: "api",
		ObjectTypes:      []string{TypePage},
		AuthTypes:        []string{"api_token", "oauth"},
		CredentialSchema: json.RawMessage(credentialSchema),
		Searchable: []connector.Field{
			{Name: "title", DataType: "VARCHAR", Description: "title of the page"},
			{Name: "body", DataType: "VARCHAR", Description: "properties and content as Markdown"},
		},
		Filterable: []connector.Field{
			{Name: "container_id", DataType: "VARCHAR", FilterKey: "container_id", Description: "id of the database, page or workspace that is synced"},
			{Name: "container_type", DataType: "VARCHAR", FilterKey: "container_type", Description: "database, page or workspace"},
			{Name: "parent_id", DataType: "VARCHAR", FilterKey: "additional_metadata.parent_id", Description: "id of the page or database above"},
		},
		SetupGuide: "Create an internal integration that may read content, share pages and databases with it, and give its secret as token. " +
			"A resource is a database, a single page without those under it, or workspace for everything that is shared.",
	}
}

// Check implements connector.Provider.
func (p *Provider) Check(ctx context.Context, c connector.Credentials) error {
	cl, err := p.client(c)
	if err != nil {
		return err
	}
	var v struct{}
	_, err = cl.call(ctx, "/v1/users/me", nil, &v)
	return err
}

// Discover implements connector.Provider. The first answer begins with the workspace, followed by databases and pages. Pages of
// a database are left out. An answer may be short although next is not empty.
func (p *Provider) Discover(ctx context.Context, c connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	cl, err := p.client(c)
	if err != nil {
		return nil, "", err
	}
	body := map[string]any{"page_size": webapi.Size(limit, p.cfg.PageSize)}
	var out []connector.Resource
	if cursor != "" {
		body["start_cursor"] = cursor
	} else {
		out = append(out, connector.Resource{ID: Workspace, Name: "All shared pages", Type: Workspace})
	}
	var l listing
	if _, err := cl.call(ctx, "/v1/search", body, &l); err != nil {
		return nil, "", err
	}
	for i := range l.Results {
		o := &l.Results[i]
		if id := compact(o.ID); id != "" && (o.Object == TypeDatabase || o.Object == TypePage && o.Parent.DatabaseID == "") {
			out = append(out, connector.Resource{ID: id, Name: webapi.Clip(o.title(), 300), Type: o.Object, Metadata: map[string]any{"url": o.URL}})
		}
	}
	return out, l.next(), nil
}

// compact returns an id without dashes, or "" if the id is malformed.
func compact(id string) string {
	id = strings.ToLower(strings.ReplaceAll(id, "-", ""))
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}
