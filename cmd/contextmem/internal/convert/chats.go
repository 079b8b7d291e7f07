package convert

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// chatNode is a place in the tree of a conversation of ChatGPT.
type chatNode struct {
	Parent  string       `json:"parent"`
	Message *chatMessage `json:"message"`
}

// chatMessage is what was said there. Besides what both said there are messages to tools and from them, thoughts, and instructions.
type chatMessage struct {
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Recipient string  `json:"recipient"`
	Created   float64 `json:"create_time"`
	Content   struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Metadata struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// turn returns what a person would see of the message; false when that is nothing.
func (m *chatMessage) turn() (turn, bool) {
	role := m.Author.Role
	if role != "user" && role != "assistant" || m.Metadata.Hidden || m.Recipient != "" && m.Recipient != "all" {
		return turn{}, false
	}
	switch m.Content.Type {
	case "", "text", "multimodal_text":
	default:
		return turn{}, false
	}
	var said []string
	for _, p := range m.Content.Parts {
		var s string
		if json.Unmarshal(p, &s) != nil {
			var part struct {
				Type string `json:"content_type"`
				Text string `json:"text"`
			}
			if json.Unmarshal(p, &part) != nil || part.Type != "audio_transcription" { // pictures and recordings have no words
				continue
			}
			s = part.Text
		}
		said = append(said, citation.ReplaceAllString(s, ""))
	}
	t := turn{user: role == "user", text: strings.Join(said, "\n")}
	if m.Created > 0 {
		t.at = time.UnixMilli(int64(m.Created * 1000)).UTC()
	}
	return t, true
}

// citation is a mark of ChatGPT that only its page can show.
var citation = lazyregexp.New("\ue200[^\ue201]*\ue201|\u3010\\d+\u2020[^\u3011]*\u3011")

// chatgpt reads conversations.json of an export of ChatGPT: of every conversation the branch that was shown last.
func chatgpt(b []byte) ([]Item, error) {
	type chat struct {
		ID      string              `json:"conversation_id"`
		Old     string              `json:"id"`
		Title   string              `json:"title"`
		Mapping map[string]chatNode `json:"mapping"`
		Current string              `json:"current_node"`
	}
	chats, err := elements[chat](b)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, c := range chats {
		if c.ID == "" {
			c.ID = c.Old
		}
		if _, ok := c.Mapping[c.Current]; !ok {
			c.Current = latestLeaf(c.Mapping)
		}
		var turns []turn
		for id, steps := c.Current, 0; id != "" && steps <= len(c.Mapping); steps++ { // a cycle ends
			n := c.Mapping[id]
			if n.Message != nil {
				if t, ok := n.Message.turn(); ok {
					turns = append(turns, t)
				}
			}
			id = n.Parent
		}
		slices.Reverse(turns)
		if c.ID == "" {
			c.ID = hash(joined(turns[:min(1, len(turns))]))
		}
		out = append(out, conversation("chatgpt", c.ID, c.Title, turns)...)
	}
	return out, nil
}

// latestLeaf is the latest message that nothing follows, for conversations that do not say which is current.
func latestLeaf(nodes map[string]chatNode) (leaf string) {
	parents := map[string]bool{}
	for _, n := range nodes {
		parents[n.Parent] = true
	}
	at := -1.0
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		if m := nodes[id].Message; m != nil && !parents[id] && m.Created > at {
			leaf, at = id, m.Created
		}
	}
	return leaf
}

// claudeMessage is a message of a conversation of Claude.
type claudeMessage struct {
	ID      string `json:"uuid"`
	Parent  string `json:"parent_message_uuid"`
	Text    string `json:"text"`
	Sender  string `json:"sender"`
	Created string `json:"created_at"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Attachments []struct {
		Name string `json:"file_name"`
		Text string `json:"extracted_content"`
	} `json:"attachments"`
}

// unsupported stands in the text of messages of Claude for calls of tools and for thoughts.
const unsupported = "```\nThis block is not supported on your current device yet.\n```"

// said is the text of a message without calls of tools, their results and thoughts.
func (m *claudeMessage) said() string {
	var parts []string
	for _, p := range m.Content {
		if p.Type == "text" && strings.TrimSpace(p.Text) != "" {
			parts = append(parts, p.Text)
		}
	}
	if parts == nil {
		return strings.ReplaceAll(m.Text, unsupported, "")
	}
	return strings.Join(parts, "\n")
}

// claude reads conversations.json of an export of Claude: of every conversation the branch that was shown last, and what was read of
// attached files as documents.
func claude(b []byte) ([]Item, error) {
	type chat struct {
		ID       string          `json:"uuid"`
		Name     string          `json:"name"`
		Leaf     string          `json:"current_leaf_message_uuid"`
		Messages []claudeMessage `json:"chat_messages"`
	}
	chats, err := elements[chat](b)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, c := range chats {
		var turns []turn
		var files []Item
		for _, m := range claudeBranch(c.Messages, c.Leaf) {
			turns = append(turns, turn{user: m.Sender == "human", text: m.said(), at: moment(m.Created)})
			for _, a := range m.Attachments {
				if strings.TrimSpace(a.Text) != "" {
					files = append(files, Item{File: text("claude-"+c.ID+"-"+hash(a.Name, a.Text), cmp.Or(a.Name, c.Name), a.Text, nil)})
				}
			}
		}
		out = append(append(out, conversation("claude", c.ID, c.Name, turns)...), files...)
	}
	return out, nil
}

// claudeBranch are the messages that lead to leaf, or to the last one, where messages say which they follow; else all.
func claudeBranch(all []claudeMessage, leaf string) []*claudeMessage {
	byID := map[string]*claudeMessage{}
	linked := false
	list := make([]*claudeMessage, len(all))
	for i := range all {
		m := &all[i]
		list[i], byID[m.ID] = m, m
		linked = linked || byID[m.Parent] != nil && m.Parent != m.ID
	}
	if !linked {
		return list
	}
	at := byID[leaf]
	if at == nil {
		at = list[len(list)-1]
	}
	var branch []*claudeMessage
	for ; at != nil && len(branch) < len(all); at = byID[at.Parent] { // a cycle ends
		branch = append(branch, at)
	}
	slices.Reverse(branch)
	return branch
}

// langchain reads message histories of LangChain: a list of messages as messages_to_dict or dumpd write them, or such lists
// under messages, each with its session.
func langchain(b []byte) ([]Item, error) {
	type message struct {
		Type string `json:"type"`
		Data struct {
			Content json.RawMessage `json:"content"`
		} `json:"data"`
		ID     json.RawMessage `json:"id"`
		Kwargs struct {
			Content json.RawMessage `json:"content"`
		} `json:"kwargs"`
	}
	type history struct {
		message
		Session  string    `json:"session_id"`
		Messages []message `json:"messages"`
	}
	rows, err := elements[history](b)
	if err != nil {
		return nil, err
	}
	read := func(m message) (turn, bool) {
		kind, raw := m.Type, m.Data.Content
		if kind == "constructor" {
			var path []string
			if json.Unmarshal(m.ID, &path) == nil && len(path) > 0 {
				kind = path[len(path)-1]
			}
			raw = m.Kwargs.Content
		}
		var text string
		if json.Unmarshal(raw, &text) != nil {
			var parts []struct{ Type, Text string }
			_ = json.Unmarshal(raw, &parts) // content of another form has no text
			for _, p := range parts {
				text += p.Text + "\n"
			}
		}
		switch kind {
		case "human", "HumanMessage", "HumanMessageChunk":
			return turn{user: true, text: text}, true
		case "ai", "AIMessage", "AIMessageChunk":
			return turn{text: text}, true
		}
		return turn{}, false
	}
	var out []Item
	var loose []turn
	for i, h := range rows {
		if h.Messages == nil {
			if t, ok := read(h.message); ok {
				loose = append(loose, t)
			}
			continue
		}
		var turns []turn
		for _, m := range h.Messages {
			if t, ok := read(m); ok {
				turns = append(turns, t)
			}
		}
		if h.Session == "" {
			h.Session = hash(string(rune(i)), joined(turns))
		}
		out = append(out, conversation("langchain", h.Session, "", turns)...)
	}
	if len(loose) > 0 {
		out = append(out, conversation("langchain", hash(joined(loose[:1])), "", loose)...)
	}
	return out, nil
}

func joined(turns []turn) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(t.text)
	}
	return b.String()
}
