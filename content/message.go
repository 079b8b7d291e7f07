package content

import "time"

// Role is who speaks in a message.
type Role string

// Roles of messages. Statements of a user are facts about that user. Messages of other roles are stored and can be found, but no facts are extracted from them.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
)

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool {
	switch r {
	case RoleUser, RoleAssistant, RoleSystem, RoleTool:
		return true
	}
	return false
}

// Message is one turn of a conversation.
type Message struct {
	Role Role
	// Name is the speaker's name, one line of at most 256 bytes. For RoleUser "I" refers to this name; default: Memory.UserName.
	Name string
	Text string // required
	// Time is when it was said; relative dates in the message are read against it. Default: the time of the memory.
	Time time.Time
}
