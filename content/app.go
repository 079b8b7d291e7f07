package content

// AppKind is the kind of an app item.
type AppKind string

// Kinds of app items, with the searchable text of their fields.
const (
	AppEmail         AppKind = "email"          // subject, body
	AppMessage       AppKind = "message"        // body
	AppTicket        AppKind = "ticket"         // title, description
	AppKnowledgeBase AppKind = "knowledge_base" // title, body
	AppComment       AppKind = "comment"        // body
	AppCustom        AppKind = "custom"         // every value of data; the default
)

// AppItem is content that an application made: a mail, a message, a ticket, a
// page. Typed items carry their text in Fields, untyped ones in Content.
type AppItem struct {
	ID                     string // upsert key; default: 32 random hexadecimal characters
	Title                  string
	Type                   string // free category such as slack or jira, shown as type
	Kind                   AppKind
	Provider               string // makes ExternalID unique
	ExternalID             string // the provider's id of this item
	ParentExternalID       string
	ThreadID               string
	Description, Note, URL string
	Timestamp              string         // ISO 8601 as given; drives recency
	Fields                 map[string]any // by kind; see the contract
	Content                *AppContent    // instead of Fields
	Attachments            []map[string]any
	Comments               []map[string]any
	Metadata, Additional   map[string]any
	Meta                   map[string]any
	ForcefulRelations      *ForcefulRelations
	ACL                    []string
	// Fault is the error of a decoder that concerns only this item. The item is reported as failed
	// with this error; other items are not affected.
	Fault error `json:"-"`
}

// AppContent is the content of an untyped item; exactly one member is set.
type AppContent struct {
	Text, Markdown, HTMLBase64, CSVBase64 string
	Files, Layout                         []any // kept, not searched
}
