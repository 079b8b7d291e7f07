// Package chat reads requests and answers of OpenAI-compatible chat APIs. Programs that put a memory in front of such an API use it.
package chat

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Request is the body of a call of /chat/completions. Members other than messages stay unchanged.
type Request struct {
	members  map[string]json.RawMessage
	messages []json.RawMessage
}

// Parse reads the body of a request. It returns an error when the body has no list of messages or an empty list.
func Parse(body []byte) (*Request, error) {
	var r Request
	if json.Unmarshal(body, &r.members) != nil || json.Unmarshal(r.members["messages"], &r.messages) != nil || len(r.messages) == 0 {
		return nil, errors.New("chat: the body is no JSON object with messages")
	}
	return &r, nil
}

// Question returns the text of the last message if a user wrote it, else "".
// For a message in parts it returns the text parts, one on each line.
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

// Body returns the body with a system message inserted before the last message. system is the text of that message.
func (r *Request) Body(system string) []byte {
	m, _ := json.Marshal(map[string]string{"role": "system", "content": system}) // strings always marshal
	members := maps.Clone(r.members)
	members["messages"], _ = json.Marshal(slices.Insert(slices.Clone(r.messages), len(r.messages)-1, json.RawMessage(m)))
	body, _ := json.Marshal(members) // values that came from JSON always marshal
	return body
}

// Answer returns the text of the assistant in the first choice of an answer. body is the whole answer, or all events of a stream.
// Answer returns "" when the assistant wrote no text, as in a tool call, and when body is not such an answer.
func Answer(body []byte, stream bool) string {
	events := []string{"data:" + string(body)} // treat an answer without streaming as one event
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
