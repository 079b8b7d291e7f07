package content

import "time"

// Role is who speaks in a message.
type Role string

// Roles of messages. What a user says is believed of that user; what the others say is stored and found, but states nothing about anybody.
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
	// Name is who speaks, of one line and at most 256 bytes. Of RoleUser it is whom "I" stands for; default: Memory.UserName.
	Name string
	Text string // required
	// Time is when it was said; relative dates in the message are read against it. Default: the time of the memory.
	Time time.Time
}
