// Package chat reads requests and answers of OpenAI-compatible chat APIs, for programs that put a memory in front of one.
package chat

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Request is the body of a call of /chat/completions. What it holds beside messages stays as it is.
type Request struct {
	members  map[string]json.RawMessage
	messages []json.RawMessage
}

// Parse reads a body. One without a list of messages, of at least one, is an error.
func Parse(body []byte) (*Request, error) {
	var r Request
	if json.Unmarshal(body, &r.members) != nil || json.Unmarshal(r.members["messages"], &r.messages) != nil || len(r.messages) == 0 {
		return nil, errors.New("chat: the body is no JSON object with messages")
	}
	return &r, nil
}

// Question is the text of the last message when a user wrote it, else "". Of a message in parts it is that of the text parts,
// one a line.
func (r *Request) Question() string {
	var m struct {
		Role    string
		Content any // a text or a list of parts
	}
	if json.Unmarshal(r.messages[len(r.messages)-1], &m) != nil || m.Role != "user" {
		return ""
	}
	text, _ := m.Content.(string)
	parts, _ := m.Content.([]any)
	for _, part := range parts {
		if x, _ := part.(map[string]any); x["type"] == "text" {
			s, _ := x["text"].(string)
			text += s + "\n"
		}
	}
	return strings.TrimSpace(text)
}

// Body is the body with a system message of that text in front of the last message.
func (r *Request) Body(system string) []byte {
	m, _ := json.Marshal(map[string]string{"role": "system", "content": system}) // texts have a JSON form
	members := maps.Clone(r.members)
	members["messages"], _ = json.Marshal(slices.Insert(slices.Clone(r.messages), len(r.messages)-1, json.RawMessage(m)))
	body, _ := json.Marshal(members) // so has what was read as JSON
	return body
}

// Answer is what the assistant said in the first choice of an answer: its whole body, or of a stream all its events. It is ""
// when nothing was said, as in a call of a tool, and where body is no such answer.
func Answer(body []byte, stream bool) string {
	events := []string{"data:" + string(body)} // an answer in one piece is like one event of a stream
	if stream {
		events = strings.SplitAfter(string(body), "\n")
	}
	var text strings.Builder
	for _, e := range events {
		var c struct {
			Choices []struct{ Message, Delta struct{ Content string } }
		}
		if data, ok := strings.CutPrefix(e, "data:"); ok && json.Unmarshal([]byte(data), &c) == nil && len(c.Choices) > 0 {
			text.WriteString(c.Choices[0].Message.Content + c.Choices[0].Delta.Content)
		}
	}
	return strings.TrimSpace(text.String())
}
