package intake

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/item"
)

// Bounds of conversations.
const (
	maxMessages   = 10_000 // messages of one memory
	maxNameOfTurn = 256    // bytes of a speaker's name
)

// memoriesOf returns the number of items that a memory is stored as.
func memoriesOf(m *content.Memory) int {
	if m.EachMessage {
		return len(m.Messages)
	}
	return 1
}

// eachMessage adds each message of a conversation as a separate memory.
func (in *batch) eachMessage(field string, m *content.Memory, b Memories) error {
	if len(m.Messages) == 0 {
		return in.bad(fault.KindUnprocessed, field+"Messages", "needs at least one entry where each is a memory")
	}
	if err := in.checkMessages(field, m.Messages); err != nil {
		return err
	}
	id, err := in.id(field+"ID", m.ID)
	if err != nil {
		return err
	}
	for i := range m.Messages {
		one := *m
		one.EachMessage, one.Messages = false, m.Messages[i:i+1]
		one.ID, one.Session = id+"#"+strconv.Itoa(i+1), cmp.Or(m.Session, id)
		if !m.Messages[i].Time.IsZero() {
			one.Time = m.Messages[i].Time
		}
		if err := in.memory(field, &one, b, len(b.Memories) == 1); err != nil {
			return err
		}
	}
	return nil
}

// checkMessages returns an error if a message has no text or no speaker.
func (in *batch) checkMessages(field string, ms []content.Message) error {
	if len(ms) == 0 || len(ms) > maxMessages {
		return in.bad(fault.KindUnprocessed, field+"Messages", "needs 1 to %d entries", maxMessages)
	}
	for i := range ms {
		m, at := &ms[i], fmt.Sprintf("%sMessages[%d].", field, i)
		if !m.Role.Valid() {
			return in.bad(fault.KindUnprocessed, at+"Role", "must be user, assistant, system or tool")
		}
		if strings.TrimSpace(m.Text) == "" {
			return in.bad(fault.KindUnprocessed, at+"Text", "is required and must not be blank")
		}
		if err := fault.CheckText(in.op, at+"Name", m.Name, maxNameOfTurn); err != nil {
			return err
		}
		if strings.ContainsFunc(m.Name, unicode.IsControl) {
			return in.bad(fault.KindInvalid, at+"Name", "must be one line")
		}
		if err := fault.CheckTime(in.op, at+"Time", m.Time); err != nil {
			return err
		}
	}
	return nil
}

// rendered returns the stored text of the messages of a memory, and the range of each message in it.
func rendered(m *content.Memory) (string, []item.Turn) {
	ms := make([]chunk.Message, len(m.Messages))
	for i, x := range m.Messages {
		ms[i] = chunk.Message{Label: string(x.Role), User: x.Role == content.RoleUser, Text: x.Text}
		if name := strings.TrimSpace(x.Name); name != "" && name != m.UserName && x.Role == content.RoleUser {
			ms[i].Label = name
		}
	}
	text, said := chunk.Render(ms)
	turns := make([]item.Turn, len(said))
	for i, t := range said {
		x := &m.Messages[i]
		turns[i] = item.Turn{Start: t.Start, End: t.End, Name: strings.TrimSpace(x.Name)}
		if !t.User {
			turns[i].Role = string(x.Role)
		}
		if !x.Time.IsZero() {
			turns[i].Time = &x.Time
		}
	}
	return text, turns
}

// roleOf returns the recorded role of a turn of a pair.
func roleOf(user bool) string {
	if user {
		return ""
	}
	return string(content.RoleAssistant)
}

// lastTime returns the latest time of messages, or zero if none has a time.
func lastTime(ms []content.Message) (last time.Time) {
	for i := range ms {
		if ms[i].Time.After(last) {
			last = ms[i].Time
		}
	}
	return last
}
