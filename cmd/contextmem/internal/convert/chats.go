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

// chatNode is a node in the message tree of a ChatGPT conversation.
type chatNode struct {
	Parent  string       `json:"parent"`
	Message *chatMessage `json:"message"`
}

// chatMessage is the message of a node. Besides messages of the user and the assistant there are tool calls, tool results, reasoning and instructions.
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

// turn returns the part of the message that a user would see. The boolean is false if nothing is visible.
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
			if json.Unmarshal(p, &part) != nil || part.Type != "audio_transcription" { // pictures and recordings have no text
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

// citation matches a citation mark that only the ChatGPT website can display.
var citation = lazyregexp.New("\ue200[^\ue201]*\ue201|\u3010\\d+\u2020[^\u3011]*\u3011")

// chatgpt reads conversations.json of a ChatGPT export. It keeps the branch of each conversation that was displayed last.
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
		for id, steps := c.Current, 0; id != "" && steps <= len(c.Mapping); steps++ { // the bound stops cycles
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

// latestLeaf returns the latest message without a successor, for conversations that do not name their current message.
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

// claudeMessage is a message of a Claude conversation.
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

// unsupported is the text that a Claude export contains in place of tool calls and reasoning.
const unsupported = "```\nThis block is not supported on your current device yet.\n```"

// said returns the text of a message without tool calls, tool results and reasoning.
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

// claude reads conversations.json of a Claude export. It keeps the branch of each conversation that was displayed last.
// It returns the extracted text of attached files as documents.
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

// claudeBranch returns the messages from the root to leaf, or to the last message. It returns all messages if they do not name their parents.
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
	for ; at != nil && len(branch) < len(all); at = byID[at.Parent] { // the bound stops cycles
		branch = append(branch, at)
	}
	slices.Reverse(branch)
	return branch
}

// langchain reads LangChain message histories. A history is a list of messages in the format of messages_to_dict or dumpd. The file may also
// contain several such lists under "messages", each with its session.
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
			_ = json.Unmarshal(raw, &parts) // content of another type has no text
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
