package chunk

import "strings"

// Pair is one exchange of a conversation; either part may be empty.
type Pair struct{ User, Assistant string }

// Turn is one message in the text that [Pairs] or [Render] renders.
type Turn struct {
	// Role is the label of the speaker. For user messages of Pairs it is userName, or "user" if userName is empty.
	Role string
	// User reports whether the speaker is a user.
	User bool
	// Start and End are the byte offsets of the message without its label.
	Start, End int
}

const (
	userLabel      = "user: "
	assistantLabel = "assistant: "
)

// Pairs renders pairs as the stored text of a memory and returns the positions of the messages.
// Each pair becomes a line "user: ..." and a line "assistant: ...". Clients parse these labels, so they do not depend on userName;
// userName only sets Role of the user's turns. Pairs trims messages, keeps their line breaks and leaves out empty messages.
func Pairs(pairs []Pair, userName string) (text string, turns []Turn) {
	if userName = strings.TrimSpace(userName); userName == "" {
		userName = "user"
	}
	var b strings.Builder
	add := func(label, role, message string) {
		if message = strings.TrimSpace(message); message == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(label)
		turns = append(turns, Turn{Role: role, User: label == userLabel, Start: b.Len(), End: b.Len() + len(message)})
		b.WriteString(message)
	}
	for _, p := range pairs {
		add(userLabel, userName, p.User)
		add(assistantLabel, "assistant", p.Assistant)
	}
	return b.String(), turns
}

// message is one turn of a conversation in the source, with its label.
type message struct {
	start, end int
	user       bool
}

// messages finds the turns of src[start:end] if it is a conversation: it opens
// with a label and has at least two of them. Otherwise it returns nil.
func messages(src string, start, end int) []message {
	if _, ok := label(src[start:end]); !ok {
		return nil
	}
	var msgs []message
	for l := range lines(src, start, end) {
		if user, ok := label(l.raw(src)); ok {
			msgs = append(msgs, message{start: l.start, user: user})
		}
		msgs[len(msgs)-1].end = l.end
	}
	if len(msgs) < 2 {
		return nil
	}
	for i := range msgs {
		_, msgs[i].end = trim(src, msgs[i].start, msgs[i].end)
	}
	return msgs
}

// label reports whether a line opens a turn, and whether the user speaks.
func label(text string) (user, ok bool) {
	for _, l := range [...]struct {
		name string
		user bool
	}{{"user:", true}, {"human:", true}, {"assistant:", false}, {"ai:", false}, {"system:", false}} {
		if len(text) >= len(l.name) && strings.EqualFold(text[:len(l.name)], l.name) {
			return l.user, true
		}
	}
	return false, false
}

// addConversation appends the atoms of a conversation. A user message and its replies form one atom,
// or several blocks if they are too long. Each such pair is a section without a title, so it joins other pairs only as a whole.
func (d *document) addConversation(msgs []message, markdown bool) {
	for i := 0; i < len(msgs); {
		j := i + 1
		for j < len(msgs) && msgs[j].user && msgs[j-1].user { // several in a row are one question
			j++
		}
		for j < len(msgs) && !msgs[j].user {
			j++
		}
		sec := int32(len(d.sections))
		d.sections = append(d.sections, section{level: 1})
		if start, end := msgs[i].start, msgs[j-1].end; end-start <= d.o.MaxBytes {
			d.atoms = append(d.atoms, atom{start: start, end: end, section: sec, kind: turn})
		} else {
			for _, m := range msgs[i:j] {
				d.addMessage(m, sec, markdown)
			}
		}
		i = j
	}
}

// addMessage appends the blocks of one message. Headings inside a message do not open sections,
// because they structure an answer and not the conversation.
func (d *document) addMessage(m message, sec int32, markdown bool) {
	if m.end-m.start <= d.o.TargetBytes {
		d.atoms = append(d.atoms, atom{start: m.start, end: m.end, section: sec, kind: turn})
		return
	}
	p := &parser{src: d.src, markdown: markdown}
	p.parse(m.start, m.end)
	for _, b := range p.blocks {
		if b.kind == heading {
			b.kind = item
		}
		d.addAtoms(b, sec)
	}
}
