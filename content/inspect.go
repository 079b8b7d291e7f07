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

// Inspection is everything stored for an item, except its original.
type Inspection struct {
	SourceInfo
	// Versions are the stored versions, newest first. Until a new version is indexed, the older one that recall finds is kept.
	Versions []ItemVersion
	Chunks   []ItemChunk // chunks of the version that recall finds, or of the newest if it finds none, from InspectRequest.From on
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
