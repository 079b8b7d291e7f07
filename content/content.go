// Package content has the types of stored items. They are the inputs, such as memories, files, app items, relations, supplied graphs,
// metadata fields and filters, and the outputs, such as descriptions, originals and states.
package content

import "time"

// Pair is one exchange of a conversation.
type Pair struct {
	User, Assistant string
}

// Memory is a user fact, note or conversation to remember. Exactly one of Text, Pairs and Messages is required.
type Memory struct {
	ID       string    // upsert key, at most 1024 bytes; default: 32 random hexadecimal characters
	Text     string    // raw text or markdown
	Markdown bool      // Text is markdown
	Pairs    []Pair    // a conversation
	Messages []Message // a conversation with who said what when; at most 10000
	// EachMessage stores every message as a separate memory. Its id consists of this id, "#" and the number of the message, from 1. Session defaults to
	// this id then. False: the conversation is one memory.
	EachMessage bool
	Infer       bool          // also extract preferences, facts and entities about UserName
	Title       string        // display title
	UserName    string        // default "User"
	TTL         time.Duration // the memory is deleted after it; 0 never
	// Instructions guide inference; they are ignored without Infer. Which instructions are followed depends on the extractor: see package
	// extract/rules. A language model gets them unchanged. Parts that were not followed are warnings of the item, see ItemStatus.
	Instructions      string
	Metadata          map[string]any     // tenant-level; at most 16384 bytes of compact JSON
	Additional        map[string]any     // document-level; at most Options.MaxAdditionalBytes of compact JSON
	ForcefulRelations *ForcefulRelations // connections to other memories of the sub-tenant
	// Time is when it was said or happened; relative dates in the text ("yesterday") are read in its zone. Default: a timestamp, time, date or observation_date in the metadata, if it can
	// be read; else that of the last message that has one; else, for a memory that is added alone, the time of the call.
	Time time.Time
	// Session ties memories of one conversation together. Default: session_id, session, conversation_id or thread_id in the metadata;
	// else memories close in time belong together.
	Session string
}

// Class selects a store of a tenant.
type Class uint8

// Classes. If a call needs one class, the zero value means ClassKnowledge.
const (
	ClassKnowledge Class = 1 // files and app content
	ClassMemory    Class = 2 // user facts and conversations
	ClassAll       Class = 9 // both, merged by score; recall only
)
