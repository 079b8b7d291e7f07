package slack

import (
	"context"
	"strings"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
	"github.com/contextmem/contextmem/content"
)

const (
	maxTextBytes   = 256 << 10
	maxAttachments = 20
)

// message is a message of a channel or a thread.
type message struct {
	TS          string `json:"ts"`
	ThreadTS    string `json:"thread_ts"`
	Subtype     string `json:"subtype"`
	User        string `json:"user"`
	BotID       string `json:"bot_id"`
	Username    string `json:"username"`
	Text        string `json:"text"`
	ReplyCount  int    `json:"reply_count"`
	LatestReply string `json:"latest_reply"`
	Edited      struct {
		TS string `json:"ts"`
	} `json:"edited"`
	Attachments []struct {
		Title    string `json:"title"`
		Text     string `json:"text"`
		Fallback string `json:"fallback"`
		Link     string `json:"title_link"`
	} `json:"attachments"`
	Files []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Title     string `json:"title"`
		Mimetype  string `json:"mimetype"`
		Size      int64  `json:"size"`
		Permalink string `json:"permalink"`
		Preview   string `json:"preview"` // first lines of a snippet
	} `json:"files"`
}

// shown reports whether a message was written by someone. It is false for channel events such as a join, and for the
// tombstone of a deleted message that has replies.
func (m *message) shown() bool {
	switch m.Subtype {
	case "", "bot_message", "file_share", "me_message", "thread_broadcast":
		return true
	}
	return false
}

func (s *run) external(at stamp) string { return s.id + ":" + at.String() }

// object converts a message to an object. It returns none for a message without content.
func (s *run) object(ctx context.Context, m *message, at stamp) ([]connector.Object, error) {
	text, mentions, err := s.plain(ctx, webapi.Clip(m.Text, s.text))
	if err != nil {
		return nil, err
	}
	author := m.Username
	if author == "" {
		if author, err = s.p.names.user(ctx, s.client, m.User); err != nil {
			return nil, err
		}
	}
	if author == "" {
		author = m.BotID
	}
	var attached []map[string]any
	for i, a := range m.Attachments {
		if i >= maxAttachments {
			break
		}
		body := a.Text
		if body == "" {
			body = a.Fallback
		}
		if body, _, err = s.plain(ctx, webapi.Clip(body, s.text)); err != nil {
			return nil, err
		}
		attached = append(attached, map[string]any{"title": webapi.Clip(a.Title, 500), "url": a.Link, "content": map[string]any{"text": strings.TrimSpace(a.Title + "\n" + body)}})
	}
	names := ""
	for i, f := range m.Files {
		if i >= maxAttachments {
			break
		}
		title := f.Title
		if title == "" {
			title = f.Name
		}
		names += "\n" + webapi.Clip(title, 500)
		att := map[string]any{"id": f.ID, "title": webapi.Clip(title, 500), "url": f.Permalink, "content_type": f.Mimetype, "size_bytes": f.Size}
		if f.Preview != "" {
			att["content"] = map[string]any{"text": webapi.Clip(f.Preview, s.text)}
		}
		attached = append(attached, att)
	}
	if strings.TrimSpace(text) == "" { // a file without text is indexed by its name
		text = strings.TrimSpace(names)
	}
	if text == "" && len(attached) == 0 {
		return nil, nil
	}
	id, typ, link := s.external(at), "message", ""
	if s.site != "" {
		link = s.site + "/archives/" + s.id + "/p" + strings.ReplaceAll(at.String(), ".", "")
	}
	fields := map[string]any{"kind": "message", "body": text, "author": author, "created_at": at.time()}
	extra := map[string]any{"ts": at.String()}
	thread := ""
	if root, ok := parseStamp(m.ThreadTS); ok {
		thread = s.external(root)
		fields["thread_id"] = thread
		extra["thread_ts"] = root.String()
		if root != at {
			typ = "thread_reply"
			fields["parent_id"] = thread
			if link != "" {
				link += "?thread_ts=" + root.String() + "&cid=" + s.id
			}
		}
	}
	if link != "" {
		fields["url"] = link
	}
	if mentions != nil {
		fields["mentions"] = mentions
	}
	return []connector.Object{{ExternalID: id, App: &content.AppItem{
		Type: typ, Kind: content.AppMessage, Provider: Name, ExternalID: id, ThreadID: thread, URL: link, Timestamp: at.time(),
		Fields: fields, Attachments: attached, Additional: extra,
		Metadata: map[string]any{"container_type": "channel", "container_id": s.id, "container_name": s.name, "workspace": webapi.Clip(s.team, 200), "object_type": typ},
	}}}, nil
}
