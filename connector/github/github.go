// Package github is a connector provider for repositories on GitHub and GitHub Enterprise. Issues and pull requests with their
// comments become tickets. Markdown files become files.
//
// A sync reads issues in order of change time. The cursor is a time and the numbers of the issues with that time. A comment
// changes its issue, so the sync reads the issue again with all comments. Closing an issue changes its status and deletes
// nothing. A sync finds changed files by comparing the trees of two commits. It fetches only files whose content differs, and
// reports removed files as deleted. The API does not report deleted or transferred issues.
package github

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
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

// Name is the provider's name.
const Name = "github"

// Kinds of objects, used in ObjectTypes, as resource types and as values of the filter "object_types".
const (
	TypeIssue       = "issue"
	TypePullRequest = "pull_request"
	TypeFile        = "file"
)

// Config configures the provider. The zero value works with github.com.
type Config struct {
	BaseURL      string       // of the REST API; default https://api.github.com
	HTTPClient   *http.Client // default: a client with a timeout of one minute
	PageSize     int          // issues, comments or repositories in one answer; default and maximum 100
	MaxComments  int          // oldest comments kept of one issue or pull request; default 500
	MaxFileBytes int64        // larger files are skipped; default 5 MiB
}

// Provider implements connector.Provider. It is safe for concurrent use.
type Provider struct{ cfg Config }

var _ connector.Provider = (*Provider)(nil)

// New returns a provider.
func New(cfg Config) *Provider {
	if cfg.BaseURL == "" {
		cfg.BaseURL = "https://api.github.com"
	}
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Timeout: time.Minute}
	}
	if cfg.PageSize <= 0 || cfg.PageSize > 100 {
		cfg.PageSize = 100
	}
	if cfg.MaxComments <= 0 {
		cfg.MaxComments = 500
	}
	if cfg.MaxFileBytes <= 0 {
		cfg.MaxFileBytes = 5 << 20
	}
	return &Provider{cfg}
}

const credentialSchema = `{"type":"object","required":["token"],"additionalProperties":false,"properties":{"token":{"type":"string","minLength":1,"title":"Access token","description":"Personal access token or OAuth access token that may read the repositories"}}}`

// Describe implements connector.Provider.
func (p *Provider) Describe() connector.Info {
	return connector.Info{
		Name: Name, Category: "developer_tools", ConnectorType: "api",
		ObjectTypes:      []string{TypeIssue, TypePullRequest, TypeFile},
		AuthTypes:        []string{"api_token", "oauth"},
		CredentialSchema: json.RawMessage(credentialSchema),
		Searchable: []connector.Field{
			{Name: "title", DataType: "VARCHAR", Description: "title of the issue or pull request"},
			{Name: "description", DataType: "VARCHAR", Description: "its first text"},
			{Name: "comments", DataType: "VARCHAR", Description: "comments and review comments"},
			{Name: "content", DataType: "VARCHAR", Description: "text of a Markdown file"},
		},
		Filterable: []connector.Field{
			{Name: "container_id", DataType: "VARCHAR", FilterKey: "container_id", Description: "owner/name of the repository"},
			{Name: "object_type", DataType: "VARCHAR", FilterKey: "object_type", Description: "issue, pull_request or file"},
			{Name: "state", DataType: "VARCHAR", FilterKey: "additional_metadata.state", Description: "open, closed or merged"},
			{Name: "number", DataType: "INT64", FilterKey: "additional_metadata.number", Description: "number of the issue or pull request"},
			{Name: "path", DataType: "VARCHAR", FilterKey: "additional_metadata.path", Description: "path of the file"},
		},
		SetupGuide: "Create a fine-grained personal access token with read access to Contents, Issues, Metadata and Pull requests of the repositories, and give it as token. " +
			"A resource is a repository (owner/name). The filter object_types, a list of issue, pull_request and file, narrows what is read.",
	}
}

// Check implements connector.Provider. It requests the rate limit, which every token may read and which costs no quota.
func (p *Provider) Check(ctx context.Context, c connector.Credentials) error {
	cl, err := p.client(c)
	if err != nil {
		return err
	}
	_, err = cl.Do(ctx, webapi.Request{Path: "/rate_limit"})
	if webapi.HasStatus(err, http.StatusNotFound) { // an Enterprise server without rate limits
		return nil
	}
	return err
}

// Discover implements connector.Provider. It lists the repositories that the token's user can read. limit is at most 100;
// 0 means the page size.
func (p *Provider) Discover(ctx context.Context, c connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	cl, err := p.client(c)
	if err != nil {
		return nil, "", err
	}
	size, page := webapi.Size(limit, p.cfg.PageSize), 1
	if cursor != "" {
		// The cursor contains the page size, because pages of different sizes do not align.
		if n, err := fmt.Sscanf(cursor, "%d/%d", &page, &size); n != 2 || err != nil || page < 1 || size < 1 || size > 100 {
			return nil, "", errors.New("github: the cursor is not valid")
		}
	}
	var list []struct {
		FullName    string `json:"full_name"`
		Private     bool   `json:"private"`
		Archived    bool   `json:"archived"`
		Description string `json:"description"`
		HTMLURL     string `json:"html_url"`
	}
	a, err := cl.JSON(ctx, webapi.Request{Path: "/user/repos", Query: url.Values{
		"sort": {"full_name"}, "per_page": {strconv.Itoa(size)}, "page": {strconv.Itoa(page)},
	}}, &list)
	if err != nil {
		return nil, "", err
	}
	var out []connector.Resource
	for _, r := range list {
		if _, ok := repository(r.FullName); ok {
			out = append(out, connector.Resource{ID: r.FullName, Name: r.FullName, Type: "repository", Metadata: map[string]any{
				"private": r.Private, "archived": r.Archived, "description": webapi.Clip(r.Description, 300), "url": r.HTMLURL,
			}})
		}
	}
	next := ""
	if a.Next() {
		next = fmt.Sprintf("%d/%d", page+1, size)
	}
	return out, next, nil
}

// repository returns the escaped API path of "owner/name".
func repository(id string) (string, bool) {
	owner, name, ok := strings.Cut(id, "/")
	if !ok || !plain(owner) || !plain(name) {
		return "", false
	}
	return "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name), true
}

// plain reports whether s is a valid name of a GitHub owner or repository.
func plain(s string) bool {
	return s != "" && len(s) <= 100 && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}
