package content

import "time"

// InspectRequest asks what became of an item.
type InspectRequest struct {
	ID         string   // required
	Class      Class    // 0: knowledge, then memory
	From       int      // the first chunk, from 0
	Limit      int      // chunks, 1 to 200; default 20
	Principals []string // fault.ErrNotFound when none of these may see it; nil: no such check
}

// Inspection is what is stored of an item, without its original.
type Inspection struct {
	SourceInfo
	// Versions are those that are kept, the newest first: a new one stands beside the one that recall still finds until it is indexed.
	Versions []ItemVersion
	Chunks   []ItemChunk // of the version that recall finds, from InspectRequest.From on; of the newest where none is found
	More     bool        // there are chunks behind these
}

// ItemVersion is a version of an item.
type ItemVersion struct {
	Num          int64 // rises with each version of a tenant's items
	Status       Status
	ErrorCode    string
	ErrorMessage string
	Attempts     int
	CreatedAt    time.Time // of the item
	UpdatedAt    time.Time // when this version was accepted
	SizeBytes    int64
	Found        bool // recall finds it
}

// ItemChunk is a piece of an item that is embedded and found.
type ItemChunk struct {
	ID       string
	Ordinal  int // from 0
	Text     string
	Heading  string // headings above it, outermost first, with " > " between them
	Page     int    // on which it begins, from 1; 0: the document has none
	Inferred bool   // statements that follow from the item, not its words
}
