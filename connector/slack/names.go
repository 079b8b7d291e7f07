package slack

import (
	"context"
	"crypto/sha256"
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem/connector/internal/webapi"
)

const (
	nameTTL     = time.Hour
	maxNames    = 20000 // cached names of all workspaces together
	maxMentions = 20    // names resolved in one message; further mentions keep their id
)

// names caches user names for a limited time, separately for each token.
type names struct {
	mu sync.Mutex
	m  map[nameKey]name
}

type nameKey struct {
	token [32]byte
	id    string
}

type name struct {
	text string
	at   time.Time
}

// user returns a user's name, or the id if the API does not return a name.
func (n *names) user(ctx context.Context, c *client, id string) (string, error) {
	if !isID(id) {
		return "", nil
	}
	key := nameKey{sha256.Sum256([]byte(c.Token)), id}
	n.mu.Lock()
	known, ok := n.m[key]
	n.mu.Unlock()
	if ok && time.Since(known.at) < nameTTL {
		return known.text, nil
	}
	var u struct {
		envelope
		User struct {
			Name     string `json:"name"`
			RealName string `json:"real_name"`
			Profile  struct {
				DisplayName string `json:"display_name"`
			} `json:"profile"`
		} `json:"user"`
	}
	_, err := c.call(ctx, "users.info", url.Values{"user": {id}}, &u)
	if err != nil && !webapi.HasCode(err, "user_not_found", "users_not_found", "user_not_visible", "missing_scope") {
		return "", err
	}
	text := id
	for _, s := range []string{u.User.Name, u.User.RealName, u.User.Profile.DisplayName} {
		if s != "" {
			text = webapi.Clip(s, 200)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.m == nil || len(n.m) >= maxNames {
		n.m = map[nameKey]name{}
	}
	n.m[key] = name{text, time.Now()}
	return text, nil
}

// markup matches Slack's markup in angle brackets: users, channels, groups and links.
var markup = regexp.MustCompile(`<([^<>\n]+)>`)

// plain converts Slack's markup to text and returns the mentioned users.
func (s *run) plain(ctx context.Context, text string) (string, []any, error) {
	var mentions []any
	var b strings.Builder
	at := 0
	for _, m := range markup.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[at:m[0]])
		at = m[1]
		body, label, _ := strings.Cut(text[m[2]:m[3]], "|")
		switch body[0] {
		case '@':
			if label == "" && len(mentions) < maxMentions {
				var err error
				if label, err = s.p.names.user(ctx, s.client, body[1:]); err != nil {
					return "", nil, err
				}
			}
			if label = strings.TrimPrefix(label, "@"); label == "" {
				label = body[1:]
			}
			if len(mentions) < maxMentions {
				mentions = append(mentions, label)
			}
			b.WriteString("@" + label)
		case '#', '!':
			if label == "" {
				label = strings.TrimPrefix(body[1:], "subteam^")
			}
			b.WriteString(map[byte]string{'#': "#", '!': "@"}[body[0]] + strings.TrimLeft(label, "@#"))
		default:
			body = strings.TrimPrefix(body, "mailto:")
			if label != "" && label != body {
				body = label + " (" + body + ")"
			}
			b.WriteString(body)
		}
	}
	b.WriteString(text[at:])
	return html.UnescapeString(b.String()), mentions, nil
}
