package content

import "time"

// Session is a named session of memories.
type Session struct {
	Name        string
	Memories    int
	First, Last time.Time // of the memories' times; zero: none has one
}

// SessionsRequest asks for the named sessions of a sub-tenant.
type SessionsRequest struct {
	Principals []string // only memories that one of these may see count; nil: all
	Cursor     string   // SessionPage.Next of the page before; empty: the start
	Limit      int      // 1 to 1000; default 100
}

// SessionMessagesRequest asks for the messages of a named session.
type SessionMessagesRequest struct {
	Session    string
	Principals []string // only of memories that one of these may see; nil: all
	Cursor     string   // MessagePage.Next of the page before; empty: the start
	Limit      int      // 1 to 1000; default 100
}

// SessionPage is a page of sessions, by name.
type SessionPage struct {
	Sessions []Session
	Next     string    // the cursor of the next page; empty: none
	Warnings []Warning // what the page lacks: rows that are damaged (code "damaged")
}

// SessionMessage is a message of a session with its position.
type SessionMessage struct {
	Message
	MemoryID string
	Index    int // in the memory, from 0
}

// MessagePage is a page of messages, in order.
type MessagePage struct {
	Messages []SessionMessage
	Next     string    // the cursor of the next page; empty: none
	Warnings []Warning // what the page lacks: rows that are damaged (code "damaged")
}

// MemoryEdit is an edit of a memory. Fields that are nil are not changed.
type MemoryEdit struct {
	Text     *string   // takes the place of text and conversation alike
	Messages []Message // as Memory.Messages; excludes Text
	Markdown *bool
	Title    *string
	UserName *string
	Infer    *bool
	// Instructions guide the inference; they are ignored without Infer.
	Instructions *string
	Time         *time.Time
	Session      *string
	// TTL counts from now; 0: never deleted.
	TTL *time.Duration
	// Metadata and Additional are merged: given keys overwrite, a nil value removes the key.
	Metadata, Additional map[string]any
}

// Matching selects items by metadata or session. At least one of Filters and Session is required.
type Matching struct {
	Class   Class // default ClassMemory
	Filters Filters
	Session string // memories of this named session
}
