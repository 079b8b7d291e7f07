package content

// ItemChunksRequest asks for the chunks of one item.
type ItemChunksRequest struct {
	ID         string
	Class      Class    // 0: knowledge, then memory
	From       int      // ordinal of the first, from 0
	Limit      int      // 1 to 1000; default 100
	Principals []string // fault.ErrNotFound when none of these may see it; nil: no such check
}

// ItemChunk is a piece of an item as recall finds it.
type ItemChunk struct {
	ID      string // that of Chunk.ID in results
	Ordinal int    // place in the item, from 0
	Text    string
	Heading string // headings above it, outermost first, with " > " between them
	Layout  string // JSON: {"offsets":{"document_level_start_index":n,...},"page":n}
}

// ItemChunks are chunks of an item, in their order.
type ItemChunks struct {
	ID     string
	Class  Class
	Title  string
	Status Status // there are no chunks before the item is indexed
	Chunks []ItemChunk
	Next   int // From of the next page; 0: this was the last
}
