package chunk

import "strings"

// Message is one message to render.
type Message struct {
	Label string // what names the speaker, without a colon
	User  bool   // a user speaks
	Text  string
}

// Render renders messages as the stored text of a memory, each after its label, and returns their positions.
// It trims messages. An empty message has an empty range.
func Render(messages []Message) (text string, turns []Turn) {
	var b strings.Builder
	turns = make([]Turn, len(messages))
	for i, m := range messages {
		t := strings.TrimSpace(m.Text)
		if t != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(m.Label)
			b.WriteString(": ")
		}
		turns[i] = Turn{Role: m.Label, User: m.User, Start: b.Len(), End: b.Len() + len(t)}
		b.WriteString(t)
	}
	return b.String(), turns
}

// Conversation splits a text made by [Render] or [Pairs] by its turns. Unlike Split, it ignores labels inside messages.
func Conversation(text string, turns []Turn, markdown bool, o Options) []Chunk {
	start, end := trim(text, 0, len(text))
	if start == end {
		return nil
	}
	var msgs []message
	for _, t := range turns {
		if t.Start >= t.End || t.End > end || t.Start < start {
			continue
		}
		from := start
		if n := len(msgs); n > 0 {
			from, _ = trim(text, msgs[n-1].end, t.Start)
		}
		msgs = append(msgs, message{start: from, end: t.End, user: t.User})
	}
	if len(msgs) < 2 {
		msgs = nil
	}
	return split(text, start, end, msgs, markdown, nil, o)
}
