package content

// DeleteItemsRequest names items to delete.
type DeleteItemsRequest struct {
	IDs          []string // 1 to 1000
	Class        Class    // 0: knowledge, then memory
	KeepIndexing bool     // leave items alone that are still being indexed; their error is fault.ErrProcessing
}

// DeleteItem is the outcome for one id.
type DeleteItem struct {
	ID      string
	Deleted bool
	Err     error // fault.ErrNotFound, fault.ErrProcessing
}

// DeleteItemsResult is the result of DeleteItems, in input order.
type DeleteItemsResult struct {
	Items   []DeleteItem
	Deleted int
}

// EditMetadataRequest merges metadata onto a source without ingesting it again. Given
// keys overwrite, a nil value removes the key. At least one of Metadata, Additional and
// ACL has to be there.
type EditMetadataRequest struct {
	ID                   string
	Class                Class // 0: knowledge, then memory
	Metadata, Additional map[string]any
	ACL                  *[]string // new list of principals that may see it, at most 1000; an empty list: everybody; nil: no change
}

// EditMetadataResult is the outcome of an edit.
type EditMetadataResult struct {
	ID                             string
	Class                          Class
	MetadataKeys, AdditionalKeys   []string // written or removed
	Metadata, Additional           map[string]any
	Chunks                         int  // chunks that carry the metadata
	Updated, Reembedded, Reindexed bool // Updated: something changed; Reembedded: an embedding field did
}
