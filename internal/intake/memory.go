package intake

import (
	"fmt"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/item"
)

// DefaultUserName is the speaker of memories that name none.
const DefaultUserName = "User"

func (in *batch) memories(b Memories) error {
	if len(b.Memories) == 0 {
		return in.bad(fault.KindUnprocessed, "Memories", "needs at least one item")
	}
	count := 0
	for i := range b.Memories {
		count += memoriesOf(&b.Memories[i])
	}
	if n := in.MaxMemories; count > n {
		return in.bad(fault.KindInvalid, "Memories", "%d items are over the limit of %d", count, n)
	}
	in.items = make([]backend.Incoming, 0, count)
	for i := range b.Memories {
		m, field := &b.Memories[i], fmt.Sprintf("Memories[%d].", i)
		var err error
		if m.EachMessage {
			err = in.eachMessage(field, m, b)
		} else {
			err = in.memory(field, m, b, len(b.Memories) == 1)
		}
		if err != nil {
			return err
		}
	}
	return in.graphs(b.Graphs)
}

func (in *batch) memory(field string, m *content.Memory, b Memories, alone bool) error {
	text, pairs := m.Text, false
	var turns []item.Turn
	switch {
	case m.Text != "" && len(m.Pairs) > 0:
		return in.bad(fault.KindUnprocessed, field+"Text", "text and user_assistant_pairs exclude each other")
	case len(m.Messages) > 0 && (m.Text != "" || len(m.Pairs) > 0):
		return in.bad(fault.KindUnprocessed, field+"Messages", "excludes text and user_assistant_pairs")
	case m.Messages != nil && m.Text == "" && len(m.Pairs) == 0:
		if err := in.checkMessages(field, m.Messages); err != nil {
			return err
		}
		text, turns = rendered(m)
		pairs = true
	case len(m.Pairs) > 0:
		cp := make([]chunk.Pair, len(m.Pairs))
		for i, p := range m.Pairs {
			if strings.TrimSpace(p.User) == "" && strings.TrimSpace(p.Assistant) == "" {
				return in.bad(fault.KindUnprocessed, fmt.Sprintf("%sPairs[%d]", field, i), "has neither user nor assistant text")
			}
			cp[i] = chunk.Pair{User: p.User, Assistant: p.Assistant}
		}
		var said []chunk.Turn
		text, said = chunk.Pairs(cp, m.UserName)
		for _, t := range said {
			turns = append(turns, item.Turn{Start: t.Start, End: t.End, Role: roleOf(t.User)})
		}
		pairs = true
	case strings.TrimSpace(m.Text) == "":
		return in.bad(fault.KindUnprocessed, field+"Text", "text, messages or user_assistant_pairs is required")
	}
	if err := fault.CheckText(in.op, field+"Text", text, in.MaxMemoryBytes); err != nil {
		return err
	}
	if m.TTL < 0 {
		return in.bad(fault.KindInvalid, field+"TTL", "must not be negative")
	}
	id, err := in.id(field+"ID", m.ID)
	if err != nil {
		return err
	}
	inc := backend.Incoming{Source: backend.Source{ID: id, Title: m.Title, MediaType: "text/plain", SizeBytes: int64(len(text)), Infer: m.Infer, Time: m.Time.UTC(), Session: m.Session}}
	if m.Time.IsZero() {
		inc.Time = time.Time{}
	}
	if m.TTL > 0 {
		inc.ExpiresAt = in.now.Add(m.TTL)
	}
	if m.Markdown {
		inc.MediaType = "text/markdown"
	}
	inc.Blobs = []backend.Blob{{Kind: backend.Original, Data: []byte(text)}}
	doc := &item.Doc{UserName: m.UserName, Markdown: m.Markdown, Pairs: pairs, Turns: turns, NamedTitle: m.Title != "", Zone: zoneOf(m.Time)}
	if doc.UserName == "" {
		doc.UserName = DefaultUserName
	}
	if m.Infer {
		doc.Instructions = m.Instructions
	}
	if err := in.relate(field, m.ForcefulRelations, doc); err != nil {
		return err
	}
	if err := in.common(field, &inc, doc, b.Metadata, m.Metadata, b.Additional, m.Additional); err != nil {
		return err
	}
	if last := lastTime(m.Messages); inc.Time.IsZero() && !last.IsZero() {
		inc.Time, doc.Zone = last.UTC(), zoneOf(last)
		if inc.Doc, err = doc.Encode(); err != nil {
			return fault.Wrap(in.op, "", inc.ID, err)
		}
	}
	if inc.Time.IsZero() && alone {
		inc.Time = in.now
	}
	in.add(inc, Item{ID: id, Title: m.Title, Infer: m.Infer}, m.ForcefulRelations)
	return nil
}
