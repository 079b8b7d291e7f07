// Package adk makes contextmem the memory service of agents built with google.golang.org/adk. Session events become memories of
// their user. The tools load_memory and preload_memory search them.
package adk

import (
	"context"
	"strings"
	"time"

	"google.golang.org/adk/memory"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/contextmem/contextmem"
)

// Service is a memory.Service. It is safe for concurrent use.
type Service struct {
	// Partition returns the partition for a user of an app. Required.
	Partition func(app, user string) contextmem.Memories
	// Max bounds the number of search results. Default 10.
	Max int
}

var _ memory.Service = Service{}

// Keys of the additional metadata that holds an event's author and id.
const (
	authorKey = "author"
	eventKey  = "event_id"
)

// AddSessionToMemory implements memory.Service. It returns when the session is searchable. Adding a session again adds its new
// events and overwrites the others with the same content.
func (s Service) AddSessionToMemory(ctx context.Context, cur session.Session) error {
	var b contextmem.MemoryBatch
	for e := range cur.Events().All() {
		text := textOf(e.Content)
		if text == "" {
			continue
		}
		b.Memories = append(b.Memories, contextmem.Memory{ID: cur.ID() + "/" + e.ID, Text: e.Author + ": " + text, Time: e.Timestamp, Session: cur.ID(),
			Additional: map[string]any{authorKey: e.Author, eventKey: e.ID, "session_id": cur.ID(), "timestamp": e.Timestamp.Format(time.RFC3339Nano)}})
	}
	if len(b.Memories) == 0 {
		return nil
	}
	m := s.Partition(cur.AppName(), cur.UserID())
	res, err := m.AddMemories(ctx, b)
	if err != nil {
		return err
	}
	return contextmem.Settled(ctx, m, res)
}

// textOf returns the text of a content. It leaves out thoughts, calls and files.
func textOf(c *genai.Content) string {
	if c == nil {
		return ""
	}
	var parts []string
	for _, p := range c.Parts {
		if p.Text != "" && !p.Thought {
			parts = append(parts, p.Text)
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// SearchMemory implements memory.Service. It searches the documents of the partition as well as the sessions.
func (s Service) SearchMemory(ctx context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	out := &memory.SearchResponse{}
	if strings.TrimSpace(req.Query) == "" {
		return out, nil
	}
	res, err := s.Partition(req.AppName, req.UserID).Recall(ctx, contextmem.Recall{Query: req.Query, Class: contextmem.ClassAll, MaxResults: s.Max})
	if err != nil {
		return nil, err
	}
	for _, c := range res.Chunks {
		author, _ := c.Additional[authorKey].(string)
		id, _ := c.Additional[eventKey].(string)
		if id == "" {
			id = c.SourceID
		}
		role := genai.Role(genai.RoleModel)
		if author == "user" {
			role = genai.RoleUser
		}
		e := memory.Entry{ID: id, Author: author, Content: genai.NewContentFromText(strings.TrimPrefix(c.Text, author+": "), role)}
		if at, ok := c.Additional["timestamp"].(string); ok {
			e.Timestamp, _ = time.Parse(time.RFC3339Nano, at) // an unparseable time stays zero
		}
		out.Memories = append(out.Memories, e)
	}
	return out, nil
}
