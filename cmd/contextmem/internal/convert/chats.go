package convert

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// chatgpt reads conversations.json of an export of ChatGPT: of every conversation the branch that was shown last.
func chatgpt(b []byte) ([]Item, error) {
	type node struct {
		Parent  string `json:"parent"`
		Message *struct {
			Author struct {
				Role string `json:"role"`
			} `json:"author"`
			Created float64 `json:"create_time"`
			Content struct {
				Parts []json.RawMessage `json:"parts"`
			} `json:"content"`
		} `json:"message"`
	}
	type chat struct {
		ID      string          `json:"conversation_id"`
		Old     string          `json:"id"`
		Title   string          `json:"title"`
		Mapping map[string]node `json:"mapping"`
		Current string          `json:"current_node"`
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
		var turns []turn
		for id, steps := c.Current, 0; id != "" && steps <= len(c.Mapping); steps++ { // a cycle ends
			n := c.Mapping[id]
			if m := n.Message; m != nil && (m.Author.Role == "user" || m.Author.Role == "assistant") {
				var text []string
				for _, p := range m.Content.Parts {
					var s string
					if json.Unmarshal(p, &s) == nil { // pictures are objects
						text = append(text, s)
					}
				}
				t := turn{user: m.Author.Role == "user", text: strings.Join(text, "\n")}
				if m.Created > 0 {
					t.at = time.UnixMilli(int64(m.Created * 1000)).UTC()
				}
				turns = append(turns, t)
			}
			id = n.Parent
		}
		slices.Reverse(turns)
		out = append(out, conversation("chatgpt", c.ID, c.Title, turns)...)
	}
	return out, nil
}

// claude reads conversations.json of an export of Claude.
func claude(b []byte) ([]Item, error) {
	type chat struct {
		ID       string `json:"uuid"`
		Name     string `json:"name"`
		Messages []struct {
			Text    string `json:"text"`
			Sender  string `json:"sender"`
			Created string `json:"created_at"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"chat_messages"`
	}
	chats, err := elements[chat](b)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, c := range chats {
		var turns []turn
		for _, m := range c.Messages {
			t := turn{user: m.Sender == "human", text: m.Text, at: moment(m.Created)}
			if t.text == "" {
				for _, p := range m.Content {
					if p.Type == "text" {
						t.text += p.Text + "\n"
					}
				}
			}
			turns = append(turns, t)
		}
		out = append(out, conversation("claude", c.ID, c.Name, turns)...)
	}
	return out, nil
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
