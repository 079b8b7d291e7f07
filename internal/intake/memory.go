package intake

import (
	"cmp"
	"fmt"
	"strings"

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
	s, err := in.said(field, m)
	if err != nil {
		return err
	}
	if err := fault.CheckText(in.op, field+"Text", s.text, in.MaxMemoryBytes); err != nil {
		return err
	}
	if m.TTL < 0 {
		return in.bad(fault.KindInvalid, field+"TTL", "must not be negative")
	}
	id, err := in.id(field+"ID", m.ID)
	if err != nil {
		return err
	}
	inc, doc := in.incoming(id, m, &s)
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

// saying is what a memory says: its text, or a conversation as a text with its turns.
type saying struct {
	text         string
	turns        []item.Turn
	conversation bool
}

// said reads the one of text, messages and pairs that a memory has.
func (in *batch) said(field string, m *content.Memory) (saying, error) {
	switch {
	case m.Text != "" && len(m.Pairs) > 0:
		return saying{}, in.bad(fault.KindUnprocessed, field+"Text", "text and pairs (over REST user_assistant_pairs) exclude each other")
	case len(m.Messages) > 0 && (m.Text != "" || len(m.Pairs) > 0):
		return saying{}, in.bad(fault.KindUnprocessed, field+"Messages", "excludes text and pairs (over REST user_assistant_pairs)")
	case m.Messages != nil && m.Text == "" && len(m.Pairs) == 0:
		if err := in.checkMessages(field, m.Messages); err != nil {
			return saying{}, err
		}
		text, turns := rendered(m)
		return saying{text, turns, true}, nil
	case len(m.Pairs) > 0:
		return in.saidInPairs(field, m)
	case strings.TrimSpace(m.Text) == "":
		return saying{}, in.bad(fault.KindUnprocessed, field+"Text", "text, messages or pairs (over REST user_assistant_pairs) is required")
	}
	return saying{text: m.Text}, nil
}

func (in *batch) saidInPairs(field string, m *content.Memory) (s saying, err error) {
	cp := make([]chunk.Pair, len(m.Pairs))
	for i, p := range m.Pairs {
		if strings.TrimSpace(p.User) == "" && strings.TrimSpace(p.Assistant) == "" {
			return s, in.bad(fault.KindUnprocessed, fmt.Sprintf("%sPairs[%d]", field, i), "has neither user nor assistant text")
		}
		cp[i] = chunk.Pair{User: p.User, Assistant: p.Assistant}
	}
	text, said := chunk.Pairs(cp, m.UserName)
	s = saying{text: text, conversation: true}
	for _, t := range said {
		s.turns = append(s.turns, item.Turn{Start: t.Start, End: t.End, Role: roleOf(t.User)})
	}
	return s, nil
}

// incoming makes the rows of a memory, without relations and metadata.
func (in *batch) incoming(id string, m *content.Memory, s *saying) (backend.Incoming, *item.Doc) {
	inc := backend.Incoming{Source: backend.Source{ID: id, Title: m.Title, MediaType: "text/plain", SizeBytes: int64(len(s.text)), Infer: m.Infer, Session: m.Session}}
	if !m.Time.IsZero() {
		inc.Time = m.Time.UTC()
	}
	if m.TTL > 0 {
		inc.ExpiresAt = in.now.Add(m.TTL)
	}
	if m.Markdown {
		inc.MediaType = "text/markdown"
	}
	inc.Blobs = []backend.Blob{{Kind: backend.Original, Data: []byte(s.text)}}
	doc := &item.Doc{UserName: cmp.Or(m.UserName, DefaultUserName), Markdown: m.Markdown, Pairs: s.conversation, Turns: s.turns, NamedTitle: m.Title != "", Zone: zoneOf(m.Time)}
	if m.Infer {
		doc.Instructions = m.Instructions
	}
	return inc, doc
}
