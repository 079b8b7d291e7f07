package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

// limited checks the size of a page and fills in the default.
func limited(op string, limit int) (int, error) {
	limit = cmp.Or(limit, 100)
	if limit < 1 || limit > 1000 {
		return 0, fault.Fieldf(op, fault.KindInvalid, "", "Limit", "must be between 1 and 1000")
	}
	return limit, nil
}

// Sessions returns a page of the named sessions in a sub-tenant, given by its stored name.
func Sessions(ctx context.Context, ref *workspace.Ref, sub string, r content.SessionsRequest) (*content.SessionPage, error) {
	const op = "sessions"
	limit, err := limited(op, r.Limit)
	if err != nil {
		return nil, err
	}
	visible := item.VisibleTo(r.Principals)
	q := backend.SessionsQuery{Part: backend.Partition{Class: backend.Memory, Sub: sub}, After: r.Cursor, Limit: limit, Now: time.Now()}
	st := ref.Intact()
	page := &content.SessionPage{Sessions: []content.Session{}}
	for {
		found, err := st.Sessions(ctx, q)
		if err != nil {
			return nil, fault.Wrap(op, fault.Sub, sub, err)
		}
		for _, s := range found {
			x := content.Session{Name: s.Session, Memories: s.Sources, First: s.First, Last: s.Last}
			if len(visible.All) > 0 {
				if x, err = seenSession(ctx, st, q.Part, s.Session, visible, q.Now); err != nil {
					return nil, fault.Wrap(op, fault.Sub, sub, err)
				}
			}
			if x.Memories == 0 {
				continue
			}
			if page.Sessions = append(page.Sessions, x); len(page.Sessions) == limit {
				page.Next, page.Warnings = x.Name, st.Warnings()
				return page, nil
			}
		}
		if len(found) < limit {
			page.Warnings = st.Warnings()
			return page, nil
		}
		q.After = found[limit-1].Session
	}
}

// sessionBatch is the number of memories of a session read in one call.
const sessionBatch = 500

// seenSession describes a session by the memories that the caller may see.
func seenSession(ctx context.Context, st backend.Store, part backend.Partition, name string, visible backend.Filter, now time.Time) (content.Session, error) {
	out := content.Session{Name: name}
	q := backend.SessionQuery{Part: part, Session: name, Limit: sessionBatch, Now: now}
	for {
		srcs, err := st.SessionSources(ctx, q)
		if err != nil {
			return out, err
		}
		for _, src := range srcs {
			q.AfterTime, q.AfterNum = src.Time, src.Num
			if !item.Live(visible, src.Tags) {
				continue
			}
			out.Memories++
			if t := src.Time; !t.IsZero() {
				if out.First.IsZero() || t.Before(out.First) {
					out.First = t
				}
				if t.After(out.Last) {
					out.Last = t
				}
			}
		}
		if len(srcs) < q.Limit {
			return out, nil
		}
	}
}

// place is the start of a page of messages: a message of a memory.
type place struct {
	micros, num int64 // time and number of the memory
	next        int   // index of the message in the memory
	timed       bool  // the memory has a time
}

func (p place) String() string {
	return fmt.Sprintf("%t.%d.%d.%d", p.timed, p.micros, p.num, p.next)
}

func readPlace(op, cursor string) (p place, err error) {
	if cursor == "" {
		return p, nil
	}
	if n, err := fmt.Sscanf(strings.ReplaceAll(cursor, ".", " "), "%t %d %d %d", &p.timed, &p.micros, &p.num, &p.next); err != nil || n != 4 || p.num < 1 || p.next < 0 {
		return p, fault.Fieldf(op, fault.KindInvalid, "", "Cursor", "is not one that a page returned")
	}
	return p, nil
}

// Messages returns a page of the messages of a named session.
func Messages(ctx context.Context, ref *workspace.Ref, sub string, r content.SessionMessagesRequest) (*content.MessagePage, error) {
	const op = "session messages"
	limit, err := limited(op, r.Limit)
	if err != nil {
		return nil, err
	}
	if r.Session == "" {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Session", "is required")
	}
	at, err := readPlace(op, r.Cursor)
	if err != nil {
		return nil, err
	}
	visible := item.VisibleTo(r.Principals)
	st := ref.Intact()
	page := &content.MessagePage{Messages: []content.SessionMessage{}}
	q := backend.SessionQuery{Part: backend.Partition{Class: backend.Memory, Sub: sub}, Session: r.Session, Limit: min(limit, 100) + 1, Now: time.Now(), AfterNum: max(0, at.num-1)}
	if at.timed {
		q.AfterTime = time.UnixMicro(at.micros).UTC()
	}
	for {
		srcs, err := st.SessionSources(ctx, q)
		if err != nil {
			return nil, fault.Wrap(op, fault.Sub, sub, err)
		}
		for _, src := range srcs {
			if !item.Live(visible, src.Tags) {
				q.AfterTime, q.AfterNum = src.Time, src.Num
				continue
			}
			said, err := messagesOf(ctx, st, src)
			if errors.Is(err, backend.ErrNotFound) || st.Skips(err) { // not found: deleted after it was listed
				q.AfterTime, q.AfterNum = src.Time, src.Num
				continue
			}
			if err != nil {
				return nil, workspace.SourceError(op, content.ClassMemory, src.ID, err)
			}
			first := 0
			if src.Num == at.num {
				first = min(at.next, len(said))
			}
			for i := first; i < len(said); i++ {
				if len(page.Messages) == limit {
					page.Next = place{src.Time.UnixMicro(), src.Num, i, !src.Time.IsZero()}.String()
					page.Warnings = st.Warnings()
					return page, nil
				}
				page.Messages = append(page.Messages, said[i])
			}
			q.AfterTime, q.AfterNum = src.Time, src.Num
		}
		if len(srcs) < q.Limit {
			page.Warnings = st.Warnings()
			return page, nil
		}
	}
}

// messagesOf returns the messages of a memory. The text of a memory that is no conversation is a single message.
func messagesOf(ctx context.Context, st backend.Store, src *backend.Source) ([]content.SessionMessage, error) {
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, err
	}
	data, err := st.Content(ctx, src.Num, backend.Original)
	if err != nil {
		return nil, err
	}
	if len(doc.Turns) == 0 {
		return []content.SessionMessage{{MemoryID: src.ID, Message: content.Message{Role: content.RoleUser, Name: doc.UserName, Text: string(data), Time: src.Time}}}, nil
	}
	out := make([]content.SessionMessage, len(doc.Turns))
	for i := range doc.Turns {
		t := &doc.Turns[i]
		m := content.Message{Role: content.Role(cmp.Or(t.Role, string(content.RoleUser))), Name: t.Name, Text: string(data[min(t.Start, len(data)):min(t.End, len(data))]), Time: src.Time}
		if m.Name == "" && t.User() {
			m.Name = doc.UserName
		}
		if t.Time != nil {
			m.Time = *t.Time
		}
		out[i] = content.SessionMessage{MemoryID: src.ID, Index: i, Message: m}
	}
	return out, nil
}
