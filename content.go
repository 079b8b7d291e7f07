package contextmem

import "github.com/contextmem/contextmem/content"

// Types of ingested content. They are declared in package content, which also declares the kinds of app items, the data types
// and the supplied graphs.
type (
	// Memory is a user fact, note or conversation to remember: content.Memory.
	Memory = content.Memory
	// Pair is one exchange of a conversation: content.Pair.
	Pair = content.Pair
	// Message is one turn of a conversation: content.Message.
	Message = content.Message
	// File is a document to parse: content.File.
	File = content.File
	// AppItem is a mail, message, ticket or page of an application: content.AppItem.
	AppItem = content.AppItem
	// ForcefulRelations are connections of an item to others: content.ForcefulRelations.
	ForcefulRelations = content.ForcefulRelations
	// Field declares a metadata field of a tenant: content.Field.
	Field = content.Field
	// Class selects a store of a tenant: content.Class.
	Class = content.Class
	// Filters select items by their metadata: content.Filters.
	Filters = content.Filters
	// Explain holds the parts of a score: content.Explain.
	Explain = content.Explain
	// VerifyReport is the result of Service.Verify: content.VerifyReport.
	VerifyReport = content.VerifyReport
	// Problem is a difference between the data of a deployment and what was stored: content.Problem.
	Problem = content.Problem
)

// Classes. Where a call needs a single class, the zero value means ClassKnowledge unless the call documents another default.
const (
	ClassKnowledge = content.ClassKnowledge // files and app content
	ClassMemory    = content.ClassMemory    // user facts and conversations
	ClassAll       = content.ClassAll       // both, merged by score; recall only
)
