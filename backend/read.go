package backend

import (
	"cmp"
	"context"
	"sort"
	"time"
)

// Read is the part of a [Store] that reads items and chunks. No method changes data, and
// each reads one snapshot. Methods that read several rows leave out damaged rows, as if they
// were missing, and return the others together with a [*DamageError].
type Read interface {
	// Sources returns the newest versions of ids, in the order of ids, with nil for missing ones.
	Sources(ctx context.Context, part Partition, ids []string) ([]*Source, error)
	// SourcesByNum returns versions in the order of nums, with nil for missing ones.
	SourcesByNum(ctx context.Context, nums []int64) ([]*Source, error)
	// FindSubs returns the sub-tenants that have an item with an id in a class.
	FindSubs(ctx context.Context, class Class, id string) ([]string, error)
	// Content returns a blob of a source version.
	Content(ctx context.Context, source int64, kind ContentKind) ([]byte, error)
	// List returns a page of sources and the number of sources on all pages.
	List(ctx context.Context, q ListQuery) ([]*Source, int, error)
	// Sessions returns the named sessions of a partition with names above after, by name.
	Sessions(ctx context.Context, q SessionsQuery) ([]SessionInfo, error)
	// SessionSources returns newest versions of a named session by Time, then by Num.
	// Versions without a Time come first.
	SessionSources(ctx context.Context, q SessionQuery) ([]*Source, error)
	// Chunks returns chunks in the order of nums, without their vectors. It leaves out
	// chunks that are missing, not yet visible, or expired by now. The rows may be shared
	// with other calls and must not be changed. The slice belongs to the caller.
	Chunks(ctx context.Context, nums []int64, now time.Time) ([]*Hydrated, error)
	// SourceChunks returns the chunks of a version with ordinals in [from, to), by ordinal.
	// The version may be in any state. The chunks have their vectors if vectors is true.
	SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) ([]Chunk, error)
	// ChunkNums returns the Nums of the visible chunks with these keys in a partition, in
	// the order of keys, with 0 for missing ones.
	ChunkNums(ctx context.Context, part Partition, keys []string) ([]int64, error)
	// Subs lists the sub-tenants that have sources, by name.
	Subs(ctx context.Context) ([]SubInfo, error)
	// LastNum returns the largest Num of a version so far. Versions that are accepted after the call have larger ones.
	LastNum(ctx context.Context) (int64, error)
	// Stats counts the visible chunks and live sources of a class.
	Stats(ctx context.Context, class Class) (Stats, error)
}

// ListQuery asks for newest versions of a partition, newest UpdatedAt first,
// then ID.
type ListQuery struct {
	Part   Partition
	IDs    []string // only sources with these ids; nil: all
	States []State  // only sources in one of these states; nil: in any
	Filter Filter   // All must not have an [IDTag]
	Offset int      // number of sources to skip
	Limit  int
	Now    time.Time // sources expired by now are left out
	// After is a cursor: the page has the first Limit sources after it. Before is a cursor too: the page has the last Limit sources before it.
	// At most one of them is set, and then Offset is 0. The total still counts the whole list. No source needs to be at the cursor.
	After, Before *ListPlace
}

// ListPlace is a cursor in a list: the place of a source with this UpdatedAt and ID.
type ListPlace struct {
	Updated time.Time
	ID      string
}

// Compare compares two places in the order of a list: newest first, then by ID.
func (p *ListPlace) Compare(o *ListPlace) int {
	return cmp.Or(o.Updated.Compare(p.Updated), cmp.Compare(p.ID, o.ID))
}

// Window returns the range [from, to) of a list of n sources that the query asks for. place returns the place of source i.
func (q *ListQuery) Window(n int, place func(i int) ListPlace) (from, to int) {
	search := func(p *ListPlace, behind bool) int { // index of the first source after p, or not before p
		return sort.Search(n, func(i int) bool {
			at := place(i)
			c := at.Compare(p)
			return c > 0 || !behind && c == 0
		})
	}
	limit := max(q.Limit, 0)
	switch {
	case q.After != nil:
		from = search(q.After, true)
	case q.Before != nil:
		to = search(q.Before, false)
		return max(to-limit, 0), to
	default:
		from = min(max(q.Offset, 0), n)
	}
	return from, from + min(limit, n-from)
}

// SessionsQuery asks for named sessions.
type SessionsQuery struct {
	Part  Partition
	After string // only names that sort after this one, for paging
	Limit int
	Now   time.Time // sources expired by now are left out
}

// SessionInfo describes a named session by the newest versions in it.
type SessionInfo struct {
	Session     string
	Sources     int
	First, Last time.Time // the earliest and the latest Time of the sources; zero: no source has a Time
}

// SessionQuery asks for the sources of a session.
type SessionQuery struct {
	Part      Partition
	Session   string    // not empty
	AfterTime time.Time // with AfterNum: only sources after the one with this Time and Num
	AfterNum  int64     // 0: from the start
	Limit     int
	Now       time.Time // sources expired by now are left out
}

// Hydrated is a chunk with the version it belongs to.
type Hydrated struct {
	Chunk
	Src *Source
}

// SubInfo counts the sources of a sub-tenant by class. Deleted and expired sources do not
// count.
type SubInfo struct {
	Sub       string
	Knowledge int
	Memory    int
	Raw       int
}

// Stats counts visible chunks and live sources of a class over all sub-tenants.
type Stats struct {
	Chunks, Sources int
}
