package contextmem

import "github.com/contextmem/contextmem/content"

// What goes in, and some of what comes out, is declared in package content, which has the rest of it: kinds of app items, data
// types, supplied graphs.
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
	// VerifyReport is what Service.Verify has found: content.VerifyReport.
	VerifyReport = content.VerifyReport
	// Problem is something in a deployment that is not as it was stored: content.Problem.
	Problem = content.Problem
)

// Classes. The zero value is ClassKnowledge where one class is meant.
const (
	ClassKnowledge = content.ClassKnowledge // files and app content
	ClassMemory    = content.ClassMemory    // user facts and conversations
	ClassAll       = content.ClassAll       // both, merged by score; recall only
)
