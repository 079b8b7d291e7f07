package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/text"
)

// formats lists the JSON export formats, each with words that occur at the beginning of such a file.
var formats = []struct {
	name  string
	array bool
	marks []string
	read  func(c *writer, ctx context.Context, data []byte) error
}{
	{"ChatGPT", true, []string{`"mapping"`, `"create_time"`}, readChatGPT},
	{"Claude", true, []string{`"chat_messages"`}, readClaude},
	{"Slack", true, []string{`"ts"`, `"type"`, `"text"`}, readSlack},
	{"Telegram", false, []string{`"messages"`, `"date_unixtime"`, `"from`}, readTelegram},
	{"Discord", false, []string{`"guild"`, `"channel"`, `"messages"`}, readDiscord},
}

// headBytes is the number of leading bytes in which the words of formats must occur.
const headBytes = 64 << 10

// ParseJSON reads JSON: an export of ChatGPT, Claude, Slack, Telegram or Discord (as DiscordChatExporter writes it) as
// conversations, anything else as text.ParseJSON does.
func ParseJSON(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	head := bytes.TrimLeft(clean.Head(in.Data, headBytes), "\xef\xbb\xbf \t\r\n")
	for _, f := range formats {
		if !bytes.HasPrefix(head, []byte("{")) && !f.array || !bytes.HasPrefix(head, []byte("[")) && f.array ||
			slices.ContainsFunc(f.marks, func(mark string) bool { return !bytes.Contains(head, []byte(mark)) }) {
			continue
		}
		c := newWriter(lim, len(in.Data))
		if err := f.read(c, ctx, bytes.TrimPrefix(in.Data, []byte("\xef\xbb\xbf"))); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			break // truncated, or another format that looks similar: read it as plain JSON
		}
		if doc := c.document(); doc != nil {
			doc.Meta = map[string]string{"format": f.name}
			return doc, nil
		}
	}
	return text.ParseJSON(ctx, in, lim)
}

// each decodes the elements of an array one by one.
func each[T any](ctx context.Context, d *json.Decoder, visit func(*T)) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errShape
	}
	for d.More() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var x T
		if err := d.Decode(&x); err != nil {
			return err
		}
		visit(&x)
	}
	_, err := d.Token()
	return err
}

// members visits the members of an object; visit has to decode the value.
func members(d *json.Decoder, visit func(key string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errShape
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := visit(key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

type shapeError string

func (e shapeError) Error() string { return string(e) }

const errShape = shapeError("not the shape of an export")

// gptTalk is a conversation of ChatGPT: a tree of messages with one branch that was shown last.
type gptTalk struct {
	Title   string             `json:"title"`
	Current string             `json:"current_node"`
	Created float64            `json:"create_time"`
	Mapping map[string]gptNode `json:"mapping"`
}

type gptNode struct {
	Parent  string `json:"parent"`
	Message *struct {
		Author struct {
			Role string `json:"role"`
		} `json:"author"`
		Created float64 `json:"create_time"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
			Text  string            `json:"text"`
		} `json:"content"`
		Metadata struct {
			Hidden bool `json:"is_visually_hidden_from_conversation"`
		} `json:"metadata"`
	} `json:"message"`
}

func readChatGPT(c *writer, ctx context.Context, data []byte) error {
	return each(ctx, json.NewDecoder(bytes.NewReader(data)), func(t *gptTalk) {
		var branch []gptNode
		seen := map[string]bool{}
		for id := t.last(); id != "" && !seen[id]; id = t.Mapping[id].Parent {
			if _, ok := t.Mapping[id]; !ok {
				c.lost++
				break
			}
			seen[id] = true
			branch = append(branch, t.Mapping[id])
		}
		slices.Reverse(branch)
		c.begin(t.Title)
		for _, n := range branch {
			m := n.Message
			if m == nil || m.Metadata.Hidden || m.Author.Role == "system" {
				continue
			}
			said := m.Content.Text
			for _, p := range m.Content.Parts {
				var s string
				if json.Unmarshal(p, &s) == nil && s != "" { // others are pictures
					said = strings.TrimSpace(said + "\n\n" + s)
				}
			}
			c.say(message{m.Author.Role, c.at(seconds(m.Created)), said})
		}
	})
}

// last returns the newest message of the branch shown last: the current message, else the latest message without a reply.
func (t *gptTalk) last() string {
	if _, ok := t.Mapping[t.Current]; ok {
		return t.Current
	}
	parents := map[string]bool{}
	for _, n := range t.Mapping {
		parents[n.Parent] = true
	}
	best, at := "", -1.0
	for id, n := range t.Mapping {
		if n.Message != nil && !parents[id] && (n.Message.Created > at || n.Message.Created == at && id < best) {
			best, at = id, n.Message.Created
		}
	}
	return best
}

func readClaude(c *writer, ctx context.Context, data []byte) error {
	return each(ctx, json.NewDecoder(bytes.NewReader(data)), func(t *struct {
		Name     string `json:"name"`
		Messages []struct {
			Sender  string    `json:"sender"`
			Text    string    `json:"text"`
			Created time.Time `json:"created_at"`
			Content []struct {
				Type string  `json:"type"`
				Text *string `json:"text"`
			} `json:"content"`
			Attachments []struct {
				Name string `json:"file_name"`
				Text string `json:"extracted_content"`
			} `json:"attachments"`
		} `json:"chat_messages"`
	}) {
		c.begin(t.Name)
		for _, m := range t.Messages {
			said := m.Text
			if said == "" {
				for _, p := range m.Content {
					if p.Text != nil {
						said = strings.TrimSpace(said + "\n\n" + *p.Text)
					} else if p.Type == "text" {
						c.lost++
					}
				}
			}
			for _, a := range m.Attachments {
				said += "\n\n" + strings.TrimSpace(a.Name+"\n\n"+a.Text)
			}
			c.say(message{m.Sender, c.at(m.Created), said})
		}
	})
}

// slackRef matches a reference in a Slack message: a user, a channel or a link, optionally with its label after a bar.
var slackRef = lazyregexp.New(`<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>`)

// SlackUsers returns the user names by user id of the users.json of a Slack export. It returns nil for any other file.
func SlackUsers(data []byte) map[string]string {
	var list []struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Real    string `json:"real_name"`
		Profile struct {
			Real    string `json:"real_name"`
			Display string `json:"display_name"`
		} `json:"profile"`
	}
	if json.Unmarshal(data, &list) != nil {
		return nil
	}
	users := map[string]string{}
	for _, u := range list {
		if name := clean.FirstOf(u.Profile.Real, u.Real, u.Profile.Display, u.Name); u.ID != "" && name != "" {
			users[u.ID] = name
		}
	}
	return users
}

func readSlack(c *writer, ctx context.Context, data []byte) error {
	users := usersOf(ctx)
	c.begin("")
	return each(ctx, json.NewDecoder(bytes.NewReader(data)), func(m *struct {
		User    string `json:"user"`
		Name    string `json:"username"`
		Text    string `json:"text"`
		TS      string `json:"ts"`
		Type    string `json:"type"`
		Profile struct {
			Real    string `json:"real_name"`
			Display string `json:"display_name"`
		} `json:"user_profile"`
		Files []struct {
			Title string `json:"title"`
		} `json:"files"`
		Blocks json.RawMessage `json:"blocks"`
	}) {
		ts, err := strconv.ParseFloat(m.TS, 64)
		if m.Type != "message" || err != nil {
			return
		}
		if m.Text == "" { // programs may send blocks alone
			m.Text = blockText(m.Blocks)
		}
		said := slackRef.ReplaceAllStringFunc(m.Text, func(ref string) string {
			p := slackRef.FindStringSubmatch(ref)
			return clean.FirstOf(p[3], users[p[2]], p[2])
		})
		said = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(said)
		for _, f := range m.Files {
			said += "\n\n" + f.Title
		}
		c.say(message{clean.FirstOf(m.Profile.Real, users[m.User], m.Profile.Display, m.Name, m.User), c.at(seconds(ts)), said})
	})
}

// telegramText is a text that the file holds as a string or as a list of strings and objects with a text.
type telegramText string

// UnmarshalJSON accepts both forms. Any other value gives an empty text.
func (t *telegramText) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*t = telegramText(s)
		return nil
	}
	var pieces []json.RawMessage
	if json.Unmarshal(data, &pieces) != nil {
		return nil
	}
	for _, p := range pieces {
		var o struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(p, &s) == nil {
			*t += telegramText(s)
		} else if json.Unmarshal(p, &o) == nil {
			*t += telegramText(o.Text)
		}
	}
	return nil
}

type telegramMessage struct {
	Type string       `json:"type"`
	Date string       `json:"date"`
	Unix string       `json:"date_unixtime"`
	From string       `json:"from"`
	Text telegramText `json:"text"`
	File string       `json:"file_name"`
}

// blockText returns the texts of the blocks of a Slack message, one a line.
func blockText(blocks json.RawMessage) string {
	var lines []string
	d := json.NewDecoder(bytes.NewReader(blocks))
	key := false
	for t, err := d.Token(); err == nil; t, err = d.Token() {
		s, ok := t.(string)
		if ok && key && strings.TrimSpace(s) != "" {
			lines = append(lines, s)
		}
		key = ok && !key && s == "text"
	}
	return strings.Join(lines, "\n")
}

// readTelegram reads the export of a chat, or of all chats.
func readTelegram(c *writer, ctx context.Context, data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	return telegramChat(c, ctx, d)
}

func telegramChat(c *writer, ctx context.Context, d *json.Decoder) error {
	name := ""
	return members(d, func(key string) error {
		switch key {
		case "name":
			return d.Decode(&name)
		case "messages":
			c.begin(name)
			return each(ctx, d, func(m *telegramMessage) {
				if m.Type != "message" {
					return
				}
				at := ""
				if s, err := strconv.ParseInt(m.Unix, 10, 64); err == nil {
					at = c.at(seconds(float64(s)))
				}
				c.say(message{m.From, clean.FirstOf(at, strings.Replace(m.Date, "T", " ", 1)), strings.TrimSpace(string(m.Text) + "\n\n" + m.File)})
			})
		case "chats", "left_chats":
			return members(d, func(key string) error {
				if key != "list" {
					return d.Decode(new(json.RawMessage))
				}
				if t, err := d.Token(); err != nil || t != json.Delim('[') {
					return errShape
				}
				for d.More() {
					if err := telegramChat(c, ctx, d); err != nil {
						return err
					}
				}
				_, err := d.Token()
				return err
			})
		}
		return d.Decode(new(json.RawMessage))
	})
}

func readDiscord(c *writer, ctx context.Context, data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	var guild, channel struct {
		Name string `json:"name"`
	}
	return members(d, func(key string) error {
		switch key {
		case "guild":
			return d.Decode(&guild)
		case "channel":
			return d.Decode(&channel)
		case "messages":
			c.begin(strings.Trim(guild.Name+" / "+channel.Name, " /"))
			return each(ctx, d, func(m *struct {
				Time   time.Time `json:"timestamp"`
				Text   string    `json:"content"`
				Author struct {
					Name string `json:"name"`
					Nick string `json:"nickname"`
				} `json:"author"`
				Attachments []struct {
					Name string `json:"fileName"`
				} `json:"attachments"`
			}) {
				said := m.Text
				for _, a := range m.Attachments {
					said += "\n\n" + a.Name
				}
				c.say(message{clean.FirstOf(m.Author.Nick, m.Author.Name), c.at(m.Time), said})
			})
		}
		return d.Decode(new(json.RawMessage))
	})
}
