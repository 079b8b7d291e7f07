// Package slack is a connector provider for the channels of a Slack workspace. Each message and each thread reply is an item of
// its own. Items are linked by thread and parent.
//
// Slack lists a channel newest first and offers no change feed. A sync therefore reads the channel from now back to the newest
// known message, and on to the end of a window of several days. Within the window it looks for edited messages, threads with
// new replies and deleted messages. It does not notice changes of messages older than the window, nor deleted replies.
package slack

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
)

// Name is the provider's name.
const Name = "slack"

// Config configures the provider. The zero value works with slack.com.
type Config struct {
	BaseURL    string        // of the Web API; default https://slack.com/api
	HTTPClient *http.Client  // default: a client with a timeout of one minute
	PageSize   int           // messages or channels in one answer; default 100, maximum 200
	Window     time.Duration // age up to which edits, deletions and new replies are noticed; default 14 days
}

// Provider implements connector.Provider. It is safe for concurrent use.
type Provider struct {
	cfg   Config
	names names
}

var _ connector.Provider = (*Provider)(nil)

// New returns a provider.
func New(cfg Config) *Provider {
	if cfg.BaseURL == "" {
		cfg.BaseURL = "https://slack.com/api"
	}
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Timeout: time.Minute}
	}
	if cfg.PageSize <= 0 {
		cfg.PageSize = 100
	}
	cfg.PageSize = min(cfg.PageSize, 200)
	if cfg.Window <= 0 {
		cfg.Window = 14 * 24 * time.Hour
	}
	return &Provider{cfg: cfg}
}

const credentialSchema = `{"type":"object","required":["token"],"additionalProperties":false,"properties":{"token":{"type":"string","minLength":1,"title":"Bot or user token","description":"OAuth token of an app with channels:read, channels:history, groups:read, groups:history and users:read"}}}`

// Describe implements connector.Provider.
func (p *Provider) Describe() connector.Info {
	return connector.Info{
		Name: Name, Category: "communication", ConnectorType: "api",
		ObjectTypes:      []string{"message", "thread_reply"},
		AuthTypes:        []string{"oauth", "api_token"},
		CredentialSchema: json.RawMessage(credentialSchema),
		Searchable: []connector.Field{
			{Name: "body", DataType: "VARCHAR", Description: "text of the message"},
			{Name: "attachments", DataType: "VARCHAR", Description: "texts of link previews and snippets"},
		},
		Filterable: []connector.Field{
			{Name: "container_id", DataType: "VARCHAR", FilterKey: "container_id", Description: "id of the channel"},
			{Name: "container_name", DataType: "VARCHAR", FilterKey: "container_name", Description: "name of the channel"},
			{Name: "object_type", DataType: "VARCHAR", FilterKey: "object_type", Description: "message or thread_reply"},
			{Name: "thread_ts", DataType: "VARCHAR", FilterKey: "additional_metadata.thread_ts", Description: "time stamp of the thread's first message"},
		},
		SetupGuide: "Create a Slack app with the scopes channels:read, channels:history, groups:read, groups:history and users:read, install it, invite it to the channels and give its token. " +
			"A resource is a channel, by its id.",
	}
}

// workspace is the answer of auth.test.
type workspace struct {
	envelope
	URL  string `json:"url"`
	Team string `json:"team"`
}

// Check implements connector.Provider.
func (p *Provider) Check(ctx context.Context, c connector.Credentials) error {
	cl, err := p.client(c)
	if err != nil {
		return err
	}
	_, err = cl.call(ctx, "auth.test", nil, &workspace{})
	return err
}

// Discover implements connector.Provider. It lists the channels that the token can see, except archived ones. An answer may be
// short or empty although next is not empty.
func (p *Provider) Discover(ctx context.Context, c connector.Credentials, cursor string, limit int) ([]connector.Resource, string, error) {
	cl, err := p.client(c)
	if err != nil {
		return nil, "", err
	}
	args := url.Values{"types": {"public_channel,private_channel"}, "exclude_archived": {"true"}, "limit": {strconv.Itoa(webapi.Size(limit, p.cfg.PageSize))}}
	if cursor != "" {
		args.Set("cursor", cursor)
	}
	var list struct {
		envelope
		Channels []channel `json:"channels"`
	}
	if _, err := cl.call(ctx, "conversations.list", args, &list); err != nil {
		return nil, "", err
	}
	var out []connector.Resource
	for _, ch := range list.Channels {
		if isID(ch.ID) {
			out = append(out, connector.Resource{ID: ch.ID, Name: ch.Name, Type: "channel", Metadata: map[string]any{
				"private": ch.Private, "member": ch.Member, "topic": webapi.Clip(ch.Topic.Value, 300), "members": ch.Members,
			}})
		}
	}
	return out, list.Metadata.NextCursor, nil
}

// channel is a Slack conversation.
type channel struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Private bool   `json:"is_private"`
	Member  bool   `json:"is_member"`
	Members int    `json:"num_members"`
	Topic   struct {
		Value string `json:"value"`
	} `json:"topic"`
}

// isID reports whether s has the form of a channel or user id.
func isID(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}
