package backend

import (
	"slices"
	"time"
)

// Class separates the stores of a workspace.
type Class uint8

// Classes of content.
const (
	Knowledge Class = 1 // files and app content
	Memory    Class = 2 // user facts and conversations
	Raw       Class = 3 // vectors supplied by the caller (embeddings tenants)
)

// Partition is a class of a sub-tenant. One search covers one partition.
type Partition struct {
	Class Class
	Sub   string
}

// State is the processing state of a source.
type State uint8

// States of a source. Chunks of a source are visible from GraphCreation on.
const (
	Queued        State = 1
	Processing    State = 2
	GraphCreation State = 3
	Completed     State = 4
	Errored       State = 5
)

// Terminal reports whether the state is final.
func (s State) Terminal() bool { return s == Completed || s == Errored }

// Version identifies a state of a source. Num is the number of the version, and Rev counts the
// changes made to it in place. The zero Version means none.
//
// A caller that writes a value derived from a source passes the Version that it has read. If
// the newest version is another one or has changed since, the Store rejects the write, and
// the caller reads again. So no write overwrites another one that its caller has not seen.
type Version struct {
	Num, Rev int64
}

// Source is one version of one ingested item. (Part, ID) names the item; Num
// names the version. Lists, reads and status show the newest version. An older version
// that was indexed stays visible to search until the newer one is indexed. The same
// transaction then removes it.
type Source struct {
	Num          int64 // assigned by the Store, ascending in the workspace, never reused
	Rev          int64 // assigned by the Store: 0 at first, increased by each UpdateMetadata and each Index
	Part         Partition
	ID           string
	State        State
	ErrorCode    string // may be set while a retry waits
	ErrorMessage string
	Attempts     int // claims so far
	Title        string
	Kind         string // category shown to users, as given
	Filename     string
	MediaType    string
	SizeBytes    int64 // of the original content
	Infer        bool
	CreatedAt    time.Time // when the item was first accepted; the same in all versions
	UpdatedAt    time.Time // when this version was accepted or its metadata last edited
	Time         time.Time // the content's own time; zero: unknown
	ExpiresAt    time.Time // zero: never
	Session      string    // explicit session of a memory; empty: none
	Metadata     []byte    // compact JSON object or nil
	Additional   []byte    // compact JSON object or nil
	Doc          []byte    // the caller's record of everything else
	Tags         []uint64  // tags that a Filter matches
	NotBefore    time.Time // earliest next claim while a retry waits
	Token        string    // identifies the holder of the claim
	LeaseUntil   time.Time
	// Replaced reports whether a newer version was accepted. Until that is indexed, only searches return this one.
	Replaced bool
	// Older is the Num of the older version that searches return until this one is indexed; 0: none.
	Older int64
}

// Version returns the Version of the source as it was read.
func (s *Source) Version() Version { return Version{s.Num, s.Rev} }

// ContentKind names a blob of a source.
type ContentKind uint8

// Blobs of a source. Each has a checksum, which each read verifies. A damaged blob is an
// [ErrCorrupt].
const (
	Original ContentKind = 1 // the original bytes
	Text     ContentKind = 2 // parsed text, when it differs from the original
	Inferred ContentKind = 3 // inferred statements
	Supplied ContentKind = 4 // a graph supplied with the source
	Usage    ContentKind = 5 // usage of the model that read the source
	Past     ContentKind = 6 // content of earlier versions
)

// Blob is the content of a source.
type Blob struct {
	Kind ContentKind
	Data []byte
}

// Chunk is the unit that is embedded and recalled.
type Chunk struct {
	Num     int64  // assigned by the Store, ascending in the workspace, never reused
	Source  int64  // Num of its source version
	Ordinal int    // place in the source, from 0
	Key     string // chunk_uuid on the wire, unique in the workspace's partition
	Text    string // text that recall returns
	Heading string // headings above the text
	Layout  []byte // JSON: offsets and page
	Vector  []float32
	Extra   []byte // hints for indexes (fields, speaker), passed to them verbatim; see RowExtra
}

// Filter limits a search to chunks whose source has at least one tag of each group of All,
// and no tag of Not. A tag is a 64-bit hash that the caller computes from a field and a
// value, an id or a title; see [Tag]. Backends compare only tags and never read metadata.
type Filter struct {
	All [][]uint64
	Not []uint64
}

// Matches reports whether a source with these tags passes the filter.
func (f Filter) Matches(tags []uint64) bool {
	for _, group := range f.All {
		if !slices.ContainsFunc(group, func(t uint64) bool { return slices.Contains(tags, t) }) {
			return false
		}
	}
	return !slices.ContainsFunc(f.Not, func(t uint64) bool { return slices.Contains(tags, t) })
}
