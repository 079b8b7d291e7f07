// Package github is a connector provider for repositories on GitHub and GitHub Enterprise:
// issues and pull requests with their comments as tickets, Markdown files as files.
//
// Issues come in the order of their last change, so that a cursor is a time and the few
// numbers that share it. A comment changes its issue, which is then read anew with all its
// comments; closing one changes its status and deletes nothing. Files are found by comparing
// the trees of two commits: only those whose content differs are fetched, those that went are
// reported as deleted. The API does not tell of deleted or transferred issues.
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

// Name of the provider.
const Name = "github"

// Kinds of objects, as ObjectTypes, resource types and values of the filter "object_types" name them.
const (
	TypeIssue       = "issue"
	TypePullRequest = "pull_request"
	TypeFile        = "file"
)

// Config of the provider; the zero value is ready for github.com.
type Config struct {
	BaseURL      string       // of the REST API; default https://api.github.com
	HTTPClient   *http.Client // default: one with a timeout of a minute
	PageSize     int          // issues, comments or repositories in one answer; default and maximum 100
	MaxComments  int          // kept of one issue or pull request, the oldest ones; default 500
	MaxFileBytes int64        // larger files are left out; default 5 MiB
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

// Check implements connector.Provider. It asks for the quota, which every token may see and
// which costs nothing.
func (p *Provider) Check(ctx context.Context, c connector.Credentials) error {
	cl, err := p.client(c)
	if err != nil {
		return err
	}
	_, err = cl.Do(ctx, webapi.Request{Path: "/rate_limit"})
	if webapi.HasStatus(err, http.StatusNotFound) { // an Enterprise server without limits
		return nil
	}
	return err
}

// Discover implements connector.Provider. It lists the repositories that the token's user can
// read; limit is at most 100, 0 is the page size.
func (p *Provider) Discover(ctx context.Context, c connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	cl, err := p.client(c)
	if err != nil {
		return nil, "", err
	}
	size, page := webapi.Size(limit, p.cfg.PageSize), 1
	if cursor != "" {
		// The page size is part of the cursor: pages of another size would not fit together.
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

// repository is the escaped API path of "owner/name".
func repository(id string) (string, bool) {
	owner, name, ok := strings.Cut(id, "/")
	if !ok || !plain(owner) || !plain(name) {
		return "", false
	}
	return "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name), true
}

// plain reports whether s is a name as GitHub gives them to owners and repositories.
func plain(s string) bool {
	return s != "" && len(s) <= 100 && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}
